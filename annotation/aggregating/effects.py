"""What a change of labels does: how many change, and how far each system's score moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

Pair = tuple[int, int]
"""A unit and a summary."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label counts: the example and system of its summary, and the weight of its unit."""

    example: int
    system: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Effect:
    """Labels that turn, that are lost for want of votes, and the score of each system before and after."""

    turned: int
    lost: int
    gained: int
    scores: dict[str, tuple[float | None, float | None]]


def compare_labels(before: Mapping[Pair, bool], after: Mapping[Pair, bool], places: Mapping[Pair, Place]) -> Effect:
    turned = sum(1 for pair, present in before.items() if pair in after and after[pair] is not present)
    old, new = system_scores(before, places), system_scores(after, places)
    scores = {name: (old.get(name), new.get(name)) for name in sorted(old | new)}
    return Effect(turned, len(before.keys() - after.keys()), len(after.keys() - before.keys()), scores)


def system_scores(labels: Mapping[Pair, bool], places: Mapping[Pair, Place]) -> dict[str, float]:
    """Mean over examples of the weight found over the weight judged: Lite2 by people, over what they judged."""
    found: defaultdict[tuple[str, int], int] = defaultdict(int)
    judged: defaultdict[tuple[str, int], int] = defaultdict(int)
    for pair, present in labels.items():
        place = places[pair]
        judged[place.system, place.example] += place.weight
        found[place.system, place.example] += place.weight * present
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for key, weight in judged.items():
        shares[key[0]].append(found[key] / weight)
    return {name: sum(own) / len(own) for name, own in shares.items()}
