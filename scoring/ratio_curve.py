"""The quality curve: how well Lite2.x agrees with people as STUs take over sentence after sentence.

An experiment on a corpus with SCUs and labels. STUs take the easiest sentences first, or a random order, or the hardest
first; at every tenth the scores are correlated with the human Pyramid, summary by summary and system by system.
Intervals come from resampled examples, the same draws for all orders, so that differences are paired.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.planning.power import pairs_apart, smallest_difference, typical_sigma
from scoring.presence.measuring import NUDGE

VERSION = "1"
LEVELS = tuple(range(0, 101, 10))
"""Percent of the sentences that STUs cover."""
RANDOM_ORDERS = 20
DRAWS, SEED = 1_000, 0
ORDERS = ("easiest", "random", "hardest")
MEASURES = ("summary", "system")


@dataclass(frozen=True, slots=True)
class CurveSentence:
    """A sentence with what a judge found of its units: for each system the sum over STUs, and over SCUs by weight."""

    example: int
    easiness: float
    stu_sums: Sequence[float]
    stus: int
    scu_sums: Sequence[float]
    scu_weight: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the middle 95 % over resampled examples."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        return {"value": round(self.value, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


def measure_levels(human: Sequence[Sequence[float]], sentences: Sequence[CurveSentence]) -> Iterator[dict[str, Any]]:
    """One record for each level. `human` has a row for each example with a value for each system."""
    import numpy

    people = numpy.array(human, dtype=float)
    examples = len(people)
    draws = numpy.random.default_rng(SEED).multinomial(examples, [1 / examples] * examples, size=DRAWS)
    mixer = _Mixer(sentences, examples)
    orders = _orders(sentences)
    for level in LEVELS:
        cut = len(sentences) * level // 100
        found: dict[str, list[dict[str, tuple[float, Any]]]] = {name: [] for name in ORDERS}
        best = None
        for name, own in orders.items():
            for order in own:
                scores, replaced = mixer.mix(order[:cut])
                found[name].append(_measures(people, scores, draws))
                if name == "easiest":
                    best = scores, replaced
        assert best is not None, "there is an easiest order"
        means = {name: _mean(own) for name, own in found.items()}
        record: dict[str, Any] = {"percent": level, "replaced": best[1]}
        for measure in MEASURES:
            record[measure] = {name: _estimate(*means[name][measure]).as_dict() for name in ORDERS}
            ours, chance = means["easiest"][measure], means["random"][measure]
            record[measure]["difference"] = _estimate(ours[0] - chance[0], ours[1] - chance[1]).as_dict()
        yield {**record, **_power(best[0].T.tolist(), examples)}


def _power(scores: list[list[float]], examples: int) -> dict[str, Any]:
    """What the scores of a level can tell apart."""
    sigma = typical_sigma(scores)
    if sigma is None:
        return {"sigma": None, "apart": 0, "pairs": 0}
    apart, pairs = pairs_apart(scores, smallest_difference(sigma, examples))
    return {"sigma": round(sigma, 4), "apart": apart, "pairs": pairs}


def _orders(sentences: Sequence[CurveSentence]) -> dict[str, list[list[int]]]:
    places = range(len(sentences))
    easiest = sorted(places, key=lambda place: -sentences[place].easiness)
    shuffled = []
    for seed in range(RANDOM_ORDERS):
        order = list(places)
        random.Random(seed).shuffle(order)  # noqa: S311
        shuffled.append(order)
    return {"easiest": [easiest], "random": shuffled, "hardest": [easiest[::-1]]}


class _Mixer:
    """Scores of examples as sentences go from people to STUs."""

    def __init__(self, sentences: Sequence[CurveSentence], examples: int) -> None:
        import numpy

        self.examples = numpy.array([one.example for one in sentences])
        self.number = examples
        self.sums = numpy.array([[one.scu_sums, one.stu_sums] for one in sentences], dtype=float)
        self.weights = numpy.array([[one.scu_weight, one.stus] for one in sentences], dtype=float)

    def mix(self, easy: Sequence[int]) -> tuple[Any, int]:
        """Scores by example and system, and how many examples had no unit at all and so got all their STUs."""
        import numpy

        kind = numpy.zeros(len(self.examples), dtype=int)
        kind[list(easy)] = 1
        places = numpy.arange(len(kind))
        totals = numpy.zeros((self.number, self.sums.shape[2]))
        weights = numpy.zeros(self.number)
        numpy.add.at(totals, self.examples, self.sums[places, kind])
        numpy.add.at(weights, self.examples, self.weights[places, kind])
        bare = weights == 0
        if bare.any():
            inside = bare[self.examples]
            numpy.add.at(totals, self.examples[inside], self.sums[inside, 1])
            numpy.add.at(weights, self.examples[inside], self.weights[inside, 1])
        return totals / numpy.maximum(weights, 1)[:, None], int(bare.sum())


def _measures(human: Any, scores: Any, draws: Any) -> dict[str, tuple[float, Any]]:
    """Each measure on all examples, and on every draw of them."""
    by_summary = _correlate(human, scores)
    number = len(human)
    return {
        "summary": (float(by_summary.mean()), draws @ by_summary / number),
        "system": (
            float(_correlate(human.mean(0)[None], scores.mean(0)[None])[0]),
            _correlate(draws @ human / number, draws @ scores / number),
        ),
    }


def _correlate(one: Any, other: Any) -> Any:
    """Pearson's correlation row by row. In a row of equal values the first gets 1e-10 more, as in the seed's code."""
    import numpy

    sides = []
    for side in (one, other):
        nudged = side.copy()
        nudged[(side == side[:, :1]).all(1), 0] += NUDGE
        sides.append(nudged - nudged.mean(1, keepdims=True))
    spread = numpy.sqrt((sides[0] ** 2).sum(1) * (sides[1] ** 2).sum(1))
    return (sides[0] * sides[1]).sum(1) / numpy.where(spread > 0, spread, 1.0)


def _mean(found: list[dict[str, tuple[float, Any]]]) -> dict[str, tuple[float, Any]]:
    """The mean over several orders of one kind."""
    return {
        measure: (
            sum(own[measure][0] for own in found) / len(found),
            sum(own[measure][1] for own in found) / len(found),
        )
        for measure in MEASURES
    }


def _estimate(value: float, drawn: Any) -> Estimate:
    import numpy

    low, high = numpy.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high))
