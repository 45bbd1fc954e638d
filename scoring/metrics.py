"""SCORE: presence of units in summaries becomes numbers.

What was decided, in words:

* An empty summary is a summary: no unit is in it, so it scores 0.
* A reference without units (an empty one has none) measures nothing: the example is None, never 0, and does not count.
* A unit without a judgement makes the example None for that system: a part of the units would be another measure.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from math import fsum

ALPHA = 2.0
TOKEN = re.compile(r"\w+|[^\w\s]")


def score_example(presences: Sequence[float | None], weights: Sequence[int]) -> float | None:
    """Lite2 score of one summary: the weight of the units found over the weight of all, Σ w·f / Σ w, in 0–1.

    Presence is 0 or 1 for human labels, a probability for NLI. With weights of 1 it is the mean, which is Lite3.
    No units, or one without a judgement: not measured, None. (Zhang and Bansal 2021, section 3.)
    """
    found = [presence for presence in presences if presence is not None]
    total = sum(weights)
    if not total or len(found) < len(presences):
        return None
    return fsum(weight * presence for weight, presence in zip(weights, found, strict=True)) / total


def score_system(example_scores: Iterable[float | None]) -> float | None:
    """Mean over the examples that were measured; None if none was."""
    measured = [score for score in example_scores if score is not None]
    return fsum(measured) / len(measured) if measured else None


# --- length --------------------------------------------------------------------------------------------------------


def count_tokens(text: str) -> int:
    """Words and punctuation marks."""
    return len(TOKEN.findall(text))


def length_factor(summary_tokens: int, reference_tokens: float, alpha: float = ALPHA) -> float | None:
    """What a score is multiplied by to take back what length alone brings: exp(min(0, (1 − |s|/|r|)/α)).

    A summary no longer than its reference keeps its score. Without a reference text there is nothing to compare: None.
    """
    if reference_tokens <= 0:
        return None
    return math.exp(min(0.0, (1 - summary_tokens / reference_tokens) / alpha))


# --- pyramids ------------------------------------------------------------------------------------------------------


def best_sum(weights: Iterable[int], number: int) -> int:
    """The most that so many units can weigh."""
    return sum(sorted(weights, reverse=True)[:number])


def pyramid_quality(weight_found: float, weights: Sequence[int], size: int) -> float | None:
    """Weight found over the best sum for as many units as the summary has; it rewards leaving out the unimportant.

    Not defined (None) where all units weigh the same, since every summary would then be perfect, and without any unit.
    """
    if len(set(weights)) < 2 or size < 1:
        return None
    return weight_found / best_sum(weights, size)


def pyramid_coverage(weight_found: float, weights: Sequence[int], mean_units: float) -> float | None:
    """Weight found over the best sum for the mean number of units per reference, rounded down; None without units."""
    best = best_sum(weights, math.floor(mean_units))
    return min(1.0, weight_found / best) if best else None


def harmonic_mean(one: float | None, other: float | None) -> float | None:
    """Of quality and coverage (Gao et al. 2019, 4.6); 0 if one of them is, None if one is not defined."""
    if one is None or other is None:
        return None
    return 2 * one * other / (one + other) if one + other else 0.0


# --- LitePyramid ---------------------------------------------------------------------------------------------------


def sample_units(keys: Sequence[str], number: int, *, seed: int, example: str) -> list[str]:
    """K units of an example, the same for every system and every order of the units; all of them if there are fewer.

    (Shapira et al. 2019 sample per topic.) The seed and the example alone decide, so other examples change nothing.
    """
    ordered = sorted(keys)
    if len(ordered) <= number:
        return ordered
    return random.Random(f"{seed}/{example}").sample(ordered, number)  # noqa: S311
