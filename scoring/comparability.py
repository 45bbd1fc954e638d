"""Who decides each unit, people or the judge, so that ranked systems are measured alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

# From this share of its units on, people count as having judged a system; below it, their labels are a sample.
JUDGED_SHARE = 0.5


class Source(StrEnum):
    """Where presence comes from."""

    PEOPLE = "people"  # labels only
    JUDGE = "judge"  # the judge only
    BOTH = "both"  # labels where people judged, the judge for the rest


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one unit in one summary."""

    label: bool | None
    presence: float | None


@dataclass(frozen=True, slots=True)
class Decided:
    """What counts: the value, and whether people decided it. None was not measured."""

    value: float | None
    by_people: bool


def judged_systems(labelled: Mapping[int, int], needed: int) -> frozenset[int]:
    """Systems that people have judged: at least half of what there is to judge. `labelled` counts labels per system."""
    return frozenset(
        system for system, number in labelled.items() if number and number >= JUDGED_SHARE * needed and needed
    )


def people_decide(judged: Collection[int], labelled_by: Collection[int]) -> bool:
    """Whether people decide a unit of an example: all systems that people judged have a label for it.

    A system that nobody judged does not change this, so that adding one changes no other score.
    """
    return bool(judged) and set(judged) <= set(labelled_by)


def decide(known: Known, source: Source, *, people: bool) -> Decided:
    """The value of a unit. Where people decide and this summary has no label, the judge stands in: not comparable."""
    if source == Source.PEOPLE:
        return Decided(None if known.label is None else float(known.label), True)
    if source == Source.BOTH and people and known.label is not None:
        return Decided(float(known.label), True)
    return Decided(known.presence, False)
