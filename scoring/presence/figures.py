"""Figures of a benchmark from judged pairs, and what the papers report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from statistics import fmean

from annotation.decomposing_benchmark import Figure
from scoring.judging import THRESHOLD
from scoring.presence.corpora import Corpus, Units
from scoring.presence.measuring import (
    Scores,
    accuracy,
    calibration_error,
    interval,
    matthews,
    pearson,
    spearman,
    summary_level,
    system_interval,
    system_level,
)

Sides = tuple[Scores, Scores]
"""People's scores and a metric's."""
# Zhang and Bansal (2021): RoBERTa-large, fine-tuned but for "zero shot", five folds by examples or by systems.
PAPER = {
    "realsumm": {
        "accuracy": 0.823, "summary_pearson": 0.64, "summary_pearson_zero_shot": 0.56, "summary_pearson_lite3": 0.57,
        "summary_pearson_lite25": 0.62, "summary_pearson_by_systems": 0.56,
    },
    "pyrxsum": {
        "accuracy": 0.925, "summary_pearson": 0.74, "summary_pearson_zero_shot": 0.73, "summary_pearson_lite3": 0.51,
        "summary_pearson_lite25": 0.64,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """The probabilities of a corpus's pairs, in the order of its pairs with some units."""

    corpus: Corpus
    units: Units
    values: Sequence[float]

    @cached_property
    def table(self) -> list[list[list[float]]]:
        """Documents x systems x units."""
        values = iter(self.values)
        return [[list(islice(values, len(units))) for _ in self.corpus.systems] for units in self.units]

    @cached_property
    def scores(self) -> Scores:
        """The mean over units; 0 where there is none."""
        return [[fmean(own) if own else 0.0 for own in document] for document in self.table]


def figures_of(key: str, suffix: str, who: str, judged: Judged) -> Iterator[Figure]:
    """Of pairs with labels: correlations at both levels, accuracy and calibration."""
    labels = judged.corpus.flat_labels
    values = [float(value) for value in judged.values]
    yield from level_figures(key, suffix, who, [(judged.corpus.human, judged.scores)])
    yield f"{key}.accuracy{suffix}", accuracy(values, labels), f"{who}: share of labels told right"
    sums = [
        (sum((value >= THRESHOLD) == bool(label) for value, label in pairs), len(pairs))
        for pairs in map(_judged_pairs, judged.table, judged.corpus.labels)
    ]
    bounds = interval(len(sums), lambda drawn: sum(sums[n][0] for n in drawn) / sum(sums[n][1] for n in drawn))
    yield from _bounds(f"{key}.accuracy{suffix}", who, bounds)
    yield f"{key}.mcc{suffix}", matthews(values, labels), f"{who}: Matthews's correlation"
    yield f"{key}.ece{suffix}", calibration_error(values, labels), f"{who}: expected calibration error, ten bins"


def level_figures(key: str, suffix: str, who: str, parts: Sequence[Sides]) -> Iterator[Figure]:
    """Correlations with people. Several parts (sets of systems) are measured one by one, and their mean is told."""
    levels = [summary_level(human, metric, pearson) for human, metric in parts]
    ranks = [summary_level(human, metric, spearman) for human, metric in parts]
    yield f"{key}.summary_pearson{suffix}", fmean(own.mean for own in levels), f"{who}: Pearson, mean over documents"
    by_document = [fmean(values) for values in zip(*(own.values for own in levels), strict=True)]
    bounds = interval(len(by_document), lambda drawn: fmean(by_document[place] for place in drawn))
    yield from _bounds(f"{key}.summary_pearson{suffix}", who, bounds)
    yield f"{key}.summary_spearman{suffix}", fmean(own.mean for own in ranks), f"{who}: Spearman, mean over documents"
    skipping = fmean(own.mean_skipping for own in levels)
    yield f"{key}.summary_pearson_skip{suffix}", skipping, f"{who}: without documents that do not vary"
    constant = sum(len(own.constant) for own in levels)
    yield f"{key}.constant_documents{suffix}", constant, f"{who}: documents that do not vary"
    for name, correlate in (("pearson", pearson), ("spearman", spearman)):
        value = fmean(system_level(*sides, correlate) for sides in parts)
        yield f"{key}.system_{name}{suffix}", value, f"{who}: {name.title()} over the means of systems"
    yield from _bounds(f"{key}.system_pearson{suffix}", who, system_interval(parts))


def paper_figures(key: str) -> Iterator[Figure]:
    for name, value in PAPER[key].items():
        yield f"{key}.{name}_paper", value, "the paper's figure, with its own models"


def _judged_pairs(values: list[list[float]], labels: list[list[int]]) -> list[tuple[float, int]]:
    return [pair for sides in zip(values, labels, strict=True) for pair in zip(*sides, strict=True)]


def _bounds(key: str, who: str, bounds: tuple[float, float]) -> Iterator[Figure]:
    for name, value in zip(("low", "high"), bounds, strict=True):
        yield f"{key}_{name}", value, f"{who}: 95 % interval over documents"
