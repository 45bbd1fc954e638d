"""Statements that a summary cannot hold: whoever says that one is present has not looked."""

from __future__ import annotations

import random
from collections.abc import Sequence

from annotation.writing.checks import QUIET_WORDS, tokens

TRIES = 200


def choose_filler(summary: str, units: Sequence[str], others: Sequence[str], *, seed: str) -> str:
    """A unit of another example that shares no content word with the summary or its units; "" if there is none.

    It reads like the others on the sheet, so it cannot be told by its form, as REALSumm's "BLANK" could.
    """
    if not others:
        return ""
    known = {word for text in (summary, *units) for word in tokens(text)} - QUIET_WORDS
    chance = random.Random(f"filler/{seed}")  # noqa: S311
    for _ in range(min(TRIES, 4 * len(others))):
        text = others[chance.randrange(len(others))]
        words = set(tokens(text)) - QUIET_WORDS
        if len(words) > 1 and not words & known:
            return text
    return ""
