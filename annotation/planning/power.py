"""What a number of examples can tell apart (paired, two-sided .05, 80 % power, normal approximation)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, median, stdev

FACTOR = 2.80
"""1.96 for two sides of .05, and .84 for 80 % power."""


def smallest_difference(sigma: float, examples: int) -> float:
    """The smallest difference of scores that so many examples show."""
    return FACTOR * sigma / math.sqrt(examples)


def examples_needed(sigma: float, difference: float) -> int:
    """How many examples show a difference."""
    return math.ceil((FACTOR * sigma / difference) ** 2)


def typical_sigma(scores: Sequence[Sequence[float]]) -> float | None:
    """The median over pairs of systems of the deviation of their difference, example by example.

    `scores` holds a row for each system, the examples in one order. None with fewer than two systems or examples.
    """
    if len(scores) < 2 or len(scores[0]) < 2:
        return None
    return median(stdev(a - b for a, b in zip(*pair, strict=True)) for pair in combinations(scores, 2))


def pairs_apart(scores: Sequence[Sequence[float]], difference: float) -> tuple[int, int]:
    """Pairs of systems whose means differ by at least so much, and all pairs."""
    means = [fmean(own) for own in scores]
    pairs = list(combinations(means, 2))
    return sum(abs(one - other) >= difference for one, other in pairs), len(pairs)
