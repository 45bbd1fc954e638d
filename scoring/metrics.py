"""SCORE: presence of units in summaries becomes numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum


def score_example(presences: Sequence[float], weights: Sequence[int]) -> float | None:
    """Lite2 score of one summary: the weight of the units found over the weight of all, Σ w·f / Σ w, in 0–1.

    Presence is 0 or 1 for human labels, a probability for NLI. No units: not measured, None, never 0.
    (Zhang and Bansal 2021, section 3.)
    """
    total = sum(weights)
    if not total:
        return None
    return fsum(weight * presence for weight, presence in zip(weights, presences, strict=True)) / total


def score_system(example_scores: Iterable[float | None]) -> float | None:
    """Mean over the examples that were measured; None if none was."""
    measured = [score for score in example_scores if score is not None]
    return fsum(measured) / len(measured) if measured else None
