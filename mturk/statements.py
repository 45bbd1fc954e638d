"""Statements that writers of one reference gave: which of them LitePyramid would have kept. A proposal, no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.writing.checks import QUIET_WORDS, tokens

MOST_WORDS, FEWEST_WORDS = 20, 3
ALIKE = 0.95


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of one writer (a key of whoever lists them), and why it is left out; "" if it is kept."""

    key: tuple[int, int]
    text: str
    why: str = ""


def propose(texts: Sequence[tuple[tuple[int, int], str]]) -> list[Statement]:
    """All statements in their order, with LitePyramid's rules applied: 4 to 20 words, and no fact twice.

    Two are the same fact if their content words overlap by more than 95 % of the shorter one's; the longer one goes,
    the later one if they are as long. (LitePyramids compares lemmas, this compares words: it keeps a few more.)
    """
    found: list[Statement] = []
    kept: list[tuple[int, frozenset[str]]] = []
    for key, given in texts:
        text = " ".join(given.split())
        words = tokens(text)
        content = frozenset(words) - QUIET_WORDS
        why = "short" if len(words) <= FEWEST_WORDS else "long" if len(words) > MOST_WORDS else ""
        twin = next((one for one in kept if _alike(one[1], content)), None) if not why else None
        if twin is not None and len(twin[1]) > len(content):  # the shorter one says it better
            place = twin[0]
            found[place] = Statement(found[place].key, found[place].text, "twice")
            kept.remove(twin)
        elif twin is not None:
            why = "twice"
        if not why:
            kept.append((len(found), content))
        found.append(Statement(key, text, why))
    return found


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter = min(len(one), len(other))
    return bool(shorter) and len(one & other) / shorter > ALIKE
