"""What a worker's parser and judge say of texts that people write. Never asked for by the web process itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from annotation.models import Sentence, TextCheck

LEAST_FOLLOWS = 0.1
SURELY_FOLLOWS = 0.95  # the judge is easily pleased by a text in the words of the sentence
"""Below this the judge doubts that the sentence says it. 4.5 and .2 % of the SCUs of REALSumm and PyrXSum lie below,
and 95 to 99 % of SCUs of other texts (docs/algorithms/writing.md)."""


@dataclass(frozen=True, slots=True)
class TextFinding:
    """Of one text: has it a verb, and does it follow from its sentence?"""

    text: str
    has_verb: bool
    follows: float

    @property
    def is_doubtful(self) -> bool:
        return self.follows < LEAST_FOLLOWS

    @property
    def is_sure(self) -> bool:
        return self.follows >= SURELY_FOLLOWS


def text_digest(text: str) -> str:
    return sha256(" ".join(text.split()).encode()).hexdigest()


def known_findings(sentence: Sentence, texts: Iterable[str]) -> dict[str, TextFinding]:
    """What is stored already, by text; the newest where several checkers have spoken."""
    digests = {text_digest(text): text for text in texts}
    rows = TextCheck.objects.filter(sentence=sentence, digest__in=digests).order_by("pk")
    return {digests[row.digest]: TextFinding(digests[row.digest], row.has_verb, row.follows) for row in rows}


def store_findings(sentence: Sentence, found: Sequence[TextFinding], *, checker: str, now: dt.datetime) -> None:
    """Keep what a worker has found. Twice the same is once."""
    TextCheck.objects.bulk_create(
        [
            TextCheck(
                sentence=sentence, digest=text_digest(one.text), has_verb=one.has_verb, follows=one.follows,
                checker=checker[:200], checked_at=now,
            )
            for one in found
        ],
        ignore_conflicts=True,
    )  # fmt: skip
