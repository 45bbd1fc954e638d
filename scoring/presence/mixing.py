"""Lite2.5 for the benchmark: STUs for the easiest half of the sentences, SCUs for the rest, out of fold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from annotation.aligning import align_units
from annotation.decomposing.texts import decompose_split
from annotation.easiness_benchmark import FOLDS, read_references
from annotation.parses import Parser
from annotation.ranking.regressor import train_ranker
from annotation.ranking.rows import gold_easiness
from scoring.presence.corpora import Corpus
from scoring.presence.figures import Judged
from scoring.presence.measuring import Scores

EASY_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Mix:
    """Which units of a document stand for it. `stus` are those of all sentences, flat; `easy` and `hard` are places."""

    stus: list[list[str]]
    easy: list[list[int]]  # for each document the places of STUs of easy sentences
    hard: list[list[int]]  # and of SCUs of hard ones

    def scores(self, scus: Judged, stus: Judged) -> Scores:
        """The mean over the mixed units of each summary."""
        return [
            [
                fmean([auto[place] for place in easy] + [own[place] for place in hard])
                for auto, own in zip(*sides, strict=True)
            ]
            for easy, hard, *sides in zip(self.easy, self.hard, stus.table, scus.table, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Sentence:
    document: int
    stus: list[int]
    scus: list[int]
    features: tuple[float, ...]
    gold: float | None  # None without SCUs: nothing to learn from


def mix_units(folder: Path, corpus: Corpus, parser: Parser) -> Mix:
    """Decompose the references, rate their sentences by rankers that have not seen their fold, and part them."""
    stus: list[list[str]] = []
    sentences: list[_Sentence] = []
    given = list(read_references(folder))
    found = decompose_split((split for _, split, _ in given), parser, measured=True)
    for number, ((_, (text, spans), scus), own) in enumerate(zip(given, found, strict=True)):
        texts = [text[start:end] for start, end in spans]
        places = align_units(scus, texts)
        flat: list[str] = []
        for place, sentence in enumerate(own):
            units = [unit.text for unit in sentence.units]
            mine = [there for there, aligned in enumerate(places) if aligned == place]
            gold = gold_easiness([scus[there] for there in mine], units) if mine else None
            auto = list(range(len(flat), len(flat) + len(units)))
            sentences.append(_Sentence(number, auto, mine, sentence.features, gold))
            flat += units
        stus.append(flat)
    return _part(stus, sentences, rate_out_of_fold(sentences, corpus.folds))


def rate_out_of_fold(sentences: list[_Sentence], folds: list[int]) -> list[float]:
    rated = [0.0] * len(sentences)
    for fold in range(FOLDS):
        inside = [(one.features, one.gold) for one in sentences if folds[one.document] != fold and one.gold is not None]
        ranker = train_ranker([features for features, _ in inside], [gold for _, gold in inside if gold is not None])
        places = [place for place, one in enumerate(sentences) if folds[one.document] == fold]
        for place, value in zip(places, ranker.predict([sentences[place].features for place in places]), strict=True):
            rated[place] = value if sentences[place].stus else 0.0  # nothing can stand in
    return rated


def _part(stus: list[list[str]], sentences: list[_Sentence], rated: list[float]) -> Mix:
    order = sorted(range(len(sentences)), key=lambda place: (-rated[place], place))
    easy = set(order[: round(EASY_SHARE * len(sentences))])
    mix = Mix(stus, [[] for _ in stus], [[] for _ in stus])
    for place, one in enumerate(sentences):
        if place in easy:
            mix.easy[one.document].extend(one.stus)
        else:
            mix.hard[one.document].extend(one.scus)
    for document, units in enumerate(stus):
        if not mix.easy[document] and not mix.hard[document]:  # only hard sentences, and nobody wrote an SCU for them
            mix.easy[document].extend(range(len(units)))
    return mix
