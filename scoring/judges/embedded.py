"""The embedded judge: frozen MiniLM, spaCy and a small head of boosted trees. It works with no download.

Each text is normalised, parsed and encoded by itself, so that a judgement depends on the summary and the unit alone.
A summary or a unit without words says nothing, so its pair has p = 0. A long summary is read in windows, and cut off
only beyond 50,000 characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from annotation.encoder import WEIGHTS as ENCODER_WEIGHTS
from annotation.encoder import MiniLmEncoder
from annotation.parses import Parser
from annotation.spacy_parser import WEIGHTS as PARSER_WEIGHTS
from annotation.spacy_parser import load_parser
from scoring.judging import Pair, Verdict
from scoring.presence.features import VERSION
from scoring.presence.head import SHIPPED, Head, load_head
from scoring.presence.measuring_pairs import measure_pairs

NAME = "embedded"
DIGITS = 4
MAX_CHARACTERS = 50_000


class EmbeddedJudge:
    """Judges pairs by their features."""

    name = NAME
    readings = ("p",)

    def __init__(self, head: Head, parser: Parser) -> None:
        self.head = head
        self.parser = parser
        basis = [head.digest(), VERSION, parser.name, PARSER_WEIGHTS, MiniLmEncoder.name, ENCODER_WEIGHTS]
        self.revision = sha256(repr(basis).encode()).hexdigest()[:12]

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        # A "summary" of a whole book would keep the worker for an hour; what is beyond is told to be cut off.
        read = {pair: Pair(pair.summary[:MAX_CHARACTERS], pair.unit[:MAX_CHARACTERS]) for pair in pairs}
        asked = list(dict.fromkeys(read.values()))
        found = self.head.predict(measure_pairs(asked, self.parser))
        answers = {pair: round(p, DIGITS) for pair, p in zip(asked, found, strict=True)}
        return [Verdict(answers[read[pair]], was_truncated=read[pair] != pair) for pair in pairs]

    def has_seen(self, unit: str) -> bool:
        """Whether the head has learnt from this unit: a score over it is "in the training data"."""
        return self.head.has_seen(unit)


@lru_cache(maxsize=2)
def load_embedded_judge(path: Path | None = None) -> EmbeddedJudge:
    """The judge with the head of a file, or the one that ships; loaded once per process."""
    return EmbeddedJudge(load_head(path or SHIPPED), load_parser())
