"""Reading a quality curve between its levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.planning.routing import STEPS


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a curve says of a share of STUs."""

    value: float
    low: float
    high: float


def read_point(content: Mapping[str, Any], share: int, measure: str, *, order: str = "easiest") -> CurvePoint:
    """The value at a share in thousandths, on the straight line between two levels."""
    levels = content["levels"]
    percent = share / (STEPS / 100)
    after = next((place for place, level in enumerate(levels) if level["percent"] >= percent), len(levels) - 1)
    before = max(after - 1, 0)
    one, other = levels[before], levels[after]
    gap = other["percent"] - one["percent"]
    part = (percent - one["percent"]) / gap if gap else 0.0
    return CurvePoint(
        *(
            (1 - part) * one[measure][order][side] + part * other[measure][order][side]
            for side in ("value", "low", "high")
        )
    )


def differs_from_random(content: Mapping[str, Any], share: int, measure: str) -> bool:
    """Whether the nearest measured level has an interval of the difference from random that leaves out 0."""
    percent = share / (STEPS / 100)
    nearest = min(content["levels"], key=lambda level: abs(level["percent"] - percent))
    difference = nearest[measure]["difference"]
    return bool(difference["low"] > 0 or difference["high"] < 0)
