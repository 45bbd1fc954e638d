"""Krippendorff's alpha for two answers with missing votes, and the definition that REALSumm's paper used."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.aggregating.votes import Tally

TOO_FEW = "no item has two votes"
NO_VARIATION = "all votes are the same"
DRAWS = 1000
MIDDLE = 0.95


@dataclass(frozen=True, slots=True)
class Alpha:
    """`value` is None where alpha is not defined, and `why` says so. The interval is over groups, drawn again."""

    value: float | None
    why: str = ""
    low: float | None = None
    high: float | None = None
    items: int = 0
    votes: int = 0


Histogram = Counter[tuple[int, int]]
"""How many items had so many votes for present and for not present. All that alpha depends on."""


def histogram(tallies: Iterable[Tally]) -> Histogram:
    return Counter((tally.present, tally.absent) for tally in tallies)


def alpha_of(counts: Mapping[tuple[int, int], int]) -> Alpha:
    """Alpha of items by their votes. Items with fewer than two votes cannot agree and are left out."""
    return _alpha(*_sums(counts))


def _sums(counts: Mapping[tuple[int, int], int]) -> tuple[int, int, int, float]:
    """All that alpha needs of some items: how many, their votes, those for present, and how far they disagree."""
    items = votes = present = 0
    observed = 0.0
    for (yes, no), number in counts.items():
        if yes + no > 1:
            items += number
            votes += (yes + no) * number
            present += yes * number
            observed += 2 * yes * no / (yes + no - 1) * number
    return items, votes, present, observed


def _alpha(items: int, votes: int, present: int, observed: float) -> Alpha:
    if not items:
        return Alpha(None, TOO_FEW)
    absent = votes - present
    if not present or not absent:
        return Alpha(None, NO_VARIATION, items=items, votes=votes)
    return Alpha(1 - observed * (votes - 1) / (2 * present * absent), items=items, votes=votes)


def alpha_with_interval(groups: Mapping[Hashable, Histogram], *, draws: int = DRAWS, seed: int = 0) -> Alpha:
    """Alpha over all groups (examples), with a bootstrap interval: groups are drawn, since their items are alike."""
    sums = [_sums(own) for own in groups.values()]
    found = _alpha(*_total(sums))
    if found.value is None or len(sums) < 2:
        return found
    chance = random.Random(seed)  # noqa: S311
    drawn = (_alpha(*_total(chance.choices(sums, k=len(sums)))).value for _ in range(draws))
    values = sorted(value for value in drawn if value is not None)
    if not values:
        return found
    edge = (1 - MIDDLE) / 2
    low, high = values[int(edge * len(values))], values[min(int((1 - edge) * len(values)), len(values) - 1)]
    return Alpha(found.value, "", low, high, found.items, found.votes)


def _total(sums: Sequence[tuple[int, int, int, float]]) -> tuple[int, int, int, float]:
    items, votes, present, observed = zip(*sums, strict=True) if sums else ((), (), (), ())
    return sum(items), sum(votes), sum(present), sum(observed)


def mean_of_tasks(tasks: Mapping[Hashable, Histogram]) -> Alpha:
    """As REALSumm's paper reports it: the mean over summaries of alpha, 1 where all answers of a summary are the same.

    Fillers must be left out before. A summary of which no item has two votes takes no part.
    """
    values = []
    items = votes = 0
    for own in tasks.values():
        found = alpha_of(own)
        if found.why == TOO_FEW:
            continue
        values.append(1.0 if found.value is None else found.value)
        items, votes = items + found.items, votes + found.votes
    return Alpha(sum(values) / len(values), items=items, votes=votes) if values else Alpha(None, TOO_FEW)


def group_histograms(
    tallies: Mapping[Hashable, Tally], group_of: Mapping[Hashable, Hashable]
) -> dict[Hashable, Histogram]:
    """Histograms of items by the group that each belongs to."""
    found: defaultdict[Hashable, Histogram] = defaultdict(Counter)
    for item, tally in tallies.items():
        found[group_of[item]][tally.present, tally.absent] += 1
    return found
