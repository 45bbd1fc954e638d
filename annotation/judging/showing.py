"""Texts as judges see them. The stored text never changes; a digest of what was shown is kept with each judgement."""

from __future__ import annotations

import re
from hashlib import sha256

SENTENCE_MARK = re.compile(r"\s*</?t>\s*")
UNKNOWN = re.compile(r"[☐□\ufffd]|\[UNK\]|<unk>|-UNK-", re.I)
BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?%)\]](?:\s|$))|(?<=[(\[])\s+|\s+(?=(?:n't|'s|'re|'ve|'ll|'d|'m)\b)")
BOX = "▢"


def as_shown(text: str) -> str:
    """Without marks of sentences, with one sign for words that a system could not print, no gap before a mark."""
    plain = UNKNOWN.sub(BOX, SENTENCE_MARK.sub(" ", text))
    return BEFORE_MARK.sub("", " ".join(plain.split()))


def shown_digest(summary: str, unit: str) -> str:
    """Names the two texts that a judge had before their eyes."""
    return sha256(f"{as_shown(summary)}\n{as_shown(unit)}".encode()).hexdigest()
