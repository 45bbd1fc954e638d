"""Votes, and the majority of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

MAJORITY = "majority"
"""More than half of the votes say present; a tie is not present; "unsure" is no vote."""

Item = Hashable
"""What is voted on: a unit in a summary."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge on one item. `task` is the piece of work that it came with, `present` None for "unsure"."""

    item: Item
    judge: str
    task: Hashable
    present: bool | None
    is_filler: bool = False  # an attention check, of which the answer is known to be "not present"


@dataclass(frozen=True, slots=True)
class Tally:
    """How the votes on one item fell."""

    present: int = 0
    absent: int = 0

    @property
    def votes(self) -> int:
        return self.present + self.absent

    @property
    def label(self) -> bool:
        return 2 * self.present > self.votes

    @property
    def is_tie(self) -> bool:
        return self.votes > 0 and self.present == self.absent

    @property
    def is_unanimous(self) -> bool:
        return self.votes > 0 and not (self.present and self.absent)

    def without(self, present: bool) -> Tally:
        """The others' votes, if one of them was this one."""
        return Tally(self.present - present, self.absent - (not present))


def count_votes(votes: Iterable[Vote]) -> dict[Item, Tally]:
    """Tallies of all items; one with no vote but "unsure" has an empty one."""
    counts: dict[Item, list[int]] = {}
    for vote in votes:  # a million of them in seconds: one look at the table for each
        own = counts.get(vote.item)
        if own is None:
            own = counts[vote.item] = [0, 0, 0]
        own[2 if vote.present is None else 1 - vote.present] += 1
    return {item: Tally(present, absent) for item, (present, absent, _unsure) in counts.items()}


def majority(votes: Iterable[Vote]) -> dict[Item, bool]:
    """Labels of all items with a vote."""
    return {item: tally.label for item, tally in count_votes(votes).items() if tally.votes}


def by_task(votes: Iterable[Vote]) -> Mapping[Hashable, dict[str, list[Vote]]]:
    """Votes of each task by judge, in the order in which they came."""
    found: defaultdict[Hashable, dict[str, list[Vote]]] = defaultdict(dict)
    for vote in votes:
        found[vote.task].setdefault(vote.judge, []).append(vote)
    return found
