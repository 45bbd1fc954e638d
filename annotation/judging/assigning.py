"""Which pairs of example and system are judged, in which order, and how their units become sheets."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

MOST_UNITS = 16
"""As REALSumm and LitePyramid asked: no more units at a time."""
THOUSAND = 1000

Pair = TypeVar("Pair")
Unit = TypeVar("Unit")


def cut_sheets(units: Sequence[Unit], most: int = MOST_UNITS) -> list[list[Unit]]:
    """Units in sheets of nearly equal size, in their order: 17 become 9 and 8, not 16 and 1."""
    if not units:
        return []
    number = -(-len(units) // most)
    small, larger = divmod(len(units), number)
    found, start = [], 0
    for place in range(number):
        end = start + small + (place < larger)
        found.append(list(units[start:end]))
        start = end
    return found


def draw_pairs(summaries: Mapping[str, Sequence[Pair]], *, share: int, seed: int) -> list[Pair]:
    """A share (in thousandths) of all summaries, drawn at random: at least one, if there are any.

    Balanced over systems: at any point of the list no system is more than one ahead of another that has any left.
    """
    chance = random.Random(f"judging/{seed}")  # noqa: S311
    names = sorted(summaries)
    columns = []
    for name in names:
        own = list(summaries[name])
        chance.shuffle(own)
        columns.append(own)
    order = [pair for row in _rounds(columns, chance) for pair in row]
    wanted = -(-len(order) * share // THOUSAND)
    return order[:wanted]


def _rounds(columns: Sequence[Sequence[Pair]], chance: random.Random) -> Iterator[list[Pair]]:
    """One of each system, in another order each time."""
    missing = object()
    for row in zip_longest(*columns, fillvalue=missing):
        own = [pair for pair in row if pair is not missing]
        chance.shuffle(own)
        yield own  # type: ignore[misc]


def shuffled(units: Sequence[Unit], seed: str) -> list[Unit]:
    """Units in an order of their own for each judge, the same whenever they come back."""
    own = list(units)
    random.Random(f"sheet/{seed}").shuffle(own)  # noqa: S311
    return own
