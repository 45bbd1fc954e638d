"""How many judges a unit needs: a fixed number, or two and a third only where they differ."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from annotation.aggregating.votes import Tally

Item = TypeVar("Item", bound=Hashable)

FIRST_VOTES, ALL_VOTES = 2, 3


def first_slots(votes: int, *, is_adaptive: bool) -> int:
    """How many judges are asked at once."""
    return FIRST_VOTES if is_adaptive else votes


def disputed(tallies: Mapping[Item, Tally], items: Sequence[Item]) -> list[Item]:
    """Items on which the first two differ, or one was unsure: these need another judge, the others do not."""
    return [item for item in items if _is_open(tallies.get(item, Tally()))]


def short_of_votes(tallies: Mapping[Item, Tally], items: Sequence[Item], votes: int) -> list[Item]:
    """Items with fewer votes than were wanted, since somebody was unsure."""
    return [item for item in items if tallies.get(item, Tally()).votes < votes]


def undecided(tallies: Mapping[Item, Tally], items: Sequence[Item]) -> list[Item]:
    """Items that people have left open: as many for as against, or nobody sure. A rule calls them not present."""
    return [item for item in items if (tally := tallies.get(item, Tally())).is_tie or not tally.votes]


def _is_open(tally: Tally) -> bool:
    return tally.votes < FIRST_VOTES or tally.is_tie
