"""How a metric is measured against people: correlations at both levels, accuracy, calibration, intervals.

Scores come as one row for each document with one value for each system, the systems in the order of their names.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from scoring.judging import THRESHOLD

NUDGE = 1e-10
BINS = 10
RESAMPLES = 1_000
Scores = Sequence[Sequence[float]]
Correlate = Callable[[Sequence[float], Sequence[float]], float]


@dataclass(frozen=True, slots=True)
class SummaryLevel:
    """One correlation for each document. `constant` are the places of documents where either side does not vary."""

    values: tuple[float, ...]
    constant: frozenset[int]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def mean_skipping(self) -> float:
        """Without the documents that do not vary; 0 if none is left."""
        kept = [value for place, value in enumerate(self.values) if place not in self.constant]
        return fmean(kept) if kept else 0.0


def summary_level(human: Scores, metric: Scores, correlate: Correlate) -> SummaryLevel:
    """Over the systems, document by document. Where all values are equal the first gets 1e-10 more."""
    constant = frozenset(
        place for place, sides in enumerate(zip(human, metric, strict=True)) if any(map(_is_constant, sides))
    )
    values = [correlate(_nudged(own), _nudged(other)) for own, other in zip(human, metric, strict=True)]
    return SummaryLevel(tuple(values), constant)


def system_level(human: Scores, metric: Scores, correlate: Correlate) -> float:
    """Over the systems' means of all documents."""
    return correlate(_nudged(_means(human)), _nudged(_means(metric)))


def pearson(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson's correlation; 0 where a side does not vary."""
    first, second = fmean(one), fmean(other)
    shared = sum((a - first) * (b - second) for a, b in zip(one, other, strict=True))
    spread = math.sqrt(sum((a - first) ** 2 for a in one) * sum((b - second) ** 2 for b in other))
    return shared / spread if spread else 0.0


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson's correlation of the ranks; ties share theirs."""
    return pearson(_ranks(one), _ranks(other))


def accuracy(found: Sequence[float], labels: Sequence[int]) -> float:
    return fmean((value >= THRESHOLD) == bool(label) for value, label in zip(found, labels, strict=True))


def matthews(found: Sequence[float], labels: Sequence[int]) -> float:
    """Matthews's correlation of yes and no; 0 where a side does not vary."""
    return pearson([float(value >= THRESHOLD) for value in found], list(map(float, labels)))


def calibration_error(found: Sequence[float], labels: Sequence[int]) -> float:
    """How far probabilities lie from what happened: ten bins of equal width, weighted by how many fall into each."""
    bins: list[list[tuple[float, int]]] = [[] for _ in range(BINS)]
    for value, label in zip(found, labels, strict=True):
        bins[min(int(value * BINS), BINS - 1)].append((value, label))
    gaps = [abs(sum(value for value, _ in own) - sum(label for _, label in own)) for own in bins]
    return sum(gaps) / len(found) if found else 0.0


def interval(count: int, measure: Callable[[list[int]], float], *, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The middle 95 % of a measure of documents, given by their places, over resampled documents."""
    chance = random.Random(0)  # noqa: S311
    values = sorted(measure(chance.choices(range(count), k=count)) for _ in range(resamples))
    return values[round(0.025 * resamples)], values[round(0.975 * resamples) - 1]


def system_interval(parts: Sequence[tuple[Scores, Scores]], *, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The same for Pearson's correlation of systems' means, mean over parts: all resamples at once."""
    import numpy

    count = len(parts[0][0])
    drawn = numpy.random.default_rng(0).multinomial(count, [1 / count] * count, size=resamples)
    values = numpy.zeros(resamples)
    for sides in parts:
        human, metric = (drawn @ numpy.array(side, dtype=float) for side in sides)  # sums stand for means
        human, metric = (side - side.mean(1, keepdims=True) for side in (human, metric))
        spread = numpy.sqrt((human**2).sum(1) * (metric**2).sum(1))
        values += (human * metric).sum(1) / numpy.where(spread > 0, spread, 1.0) / len(parts)
    values.sort()
    return float(values[round(0.025 * resamples)]), float(values[round(0.975 * resamples) - 1])


def _is_constant(values: Sequence[float]) -> bool:
    return all(value == values[0] for value in values)


def _nudged(values: Sequence[float]) -> list[float]:
    first, *rest = values
    return [first + NUDGE, *rest] if _is_constant(values) else [first, *rest]


def _means(scores: Scores) -> list[float]:
    return [fmean(column) for column in zip(*scores, strict=True)]


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or values[order[end]] != values[order[start]]:
            for place in order[start:end]:
                ranks[place] = (start + end - 1) / 2
            start = end
    return ranks
