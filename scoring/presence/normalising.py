"""One spelling for tokenised and ordinary text, so that a judgement does not depend on how a corpus was stored.

Corpora write "6 - 1", "do n't" and " ." or print unknown words as boxes; people write none of this. Both sides of a
pair take the same path.
"""

from __future__ import annotations

import re
import unicodedata

from annotation.cleaning import clean
from annotation.judging.showing import UNKNOWN

QUOTES = str.maketrans({
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "`": "'", "´": "'",
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "…": ".", "\u00ad": None, "\u200b": None, "\ufeff": None,
})  # fmt: skip
# Quotes say nothing that a unit asks for, and tokenised text does not tell where they open and close. An apostrophe
# inside a word stays.
INNER_QUOTES = re.compile(r"(?<=\w) ?(?='(?:s|re|ve|ll|d|m|t)\b)|(?<=\w) (?=n't\b)", re.I)
OUTER_QUOTES = re.compile(r"\"|(?<!\w)'+|'+(?!\w)")
GAPS = re.compile(r"(?<=[(\[]) | (?=[.,;:!?)\]](?:\s|$))")
SENTENCE_START = re.compile(r"(^|[.!?][)\]]* )([(\[]*)([^\W\d_])")


def normalise(text: str) -> str:
    """The text as people would write it: single spaces, plain hyphens, no gaps before marks, no quotes, no markup."""
    plain = unicodedata.normalize("NFKC", UNKNOWN.sub(" ", text)).translate(QUOTES)
    view = INNER_QUOTES.sub("", clean(plain).text)
    view = clean(GAPS.sub("", " ".join(OUTER_QUOTES.sub(" ", view).split()))).text
    return with_capitals(view) if view == view.lower() else view


def with_capitals(text: str) -> str:
    """Text in lower case with a capital at the beginning of each sentence, without which none is found."""
    return SENTENCE_START.sub(lambda found: found[1] + found[2] + found[3].upper(), text)
