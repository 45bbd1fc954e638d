"""Sentences that a regressor learns from: features, gold easiness, and the example they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import fmean

from annotation.aligning import align_units
from annotation.decomposing.texts import DecomposedSentence, SplitText, decompose_split
from annotation.overlap import best_overlap
from annotation.parses import Parser


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One sentence with SCUs. `group` names its example: the sentences of one are never parted by a split."""

    group: str
    text: str
    features: tuple[float, ...]
    projected: tuple[float, ...]  # the paper's 69 features, on a projected tree
    easiness: float

    @property
    def digest(self) -> str:
        return sentence_digest(self.text)


def sentence_digest(text: str) -> str:
    """Names a sentence without showing it, however it is spaced: whether a model has seen it can be told by this."""
    return sha256("".join(text.split()).lower().encode()).hexdigest()[:16]


def gold_easiness(scus: Sequence[str], units: Sequence[str]) -> float:
    """How well units stand in for SCUs: the mean over SCUs of the best stemmed ROUGE-1 F1."""
    return fmean(best_overlap(scu, units) for scu in scus)


def training_rows(references: Iterable[tuple[str, SplitText, Sequence[str]]], parser: Parser) -> Iterator[TrainingRow]:
    """Rows of references, each given as (example, text with its sentences, SCUs). Without SCUs there is no row."""
    given = list(references)
    found = decompose_split((split for _, split, _ in given), parser, measured=True)
    for (group, (text, spans), scus), sentences in zip(given, found, strict=True):
        texts = [text[start:end] for start, end in spans]
        places = align_units(scus, texts)
        for place, sentence in enumerate(sentences):
            own = [scu for scu, there in zip(scus, places, strict=True) if there == place]
            if own:
                yield _row(group, texts[place], sentence, own)


def _row(group: str, text: str, sentence: DecomposedSentence, scus: Sequence[str]) -> TrainingRow:
    easiness = gold_easiness(scus, [unit.text for unit in sentence.units])
    return TrainingRow(group, text, sentence.features, sentence.projected, easiness)
