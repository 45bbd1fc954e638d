"""What a batch costs, to the cent, and what an hour of it pays. Whole cents everywhere; dollars only at the edge."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from annotation.planning.fees import FeeSchedule

NO_FEES = FeeSchedule(percent=Decimal(0), many_percent=Decimal(0))
"""Our own exchange takes nothing."""
AMAZON = FeeSchedule()
MASTERS_PERCENT = Decimal(5)
HOUR = 3600
_AMOUNT = re.compile(r"\s*\$?\s*(\d{1,9})(?:[.,](\d{1,2}))?\s*", re.ASCII)


class BadAmount(ValueError):
    """A text that is no sum of money."""


class OverCap(Exception):
    """The money that would be reserved is more than the cap of the batch. Nothing was reserved."""

    def __init__(self, wanted: int, cap: int) -> None:
        super().__init__(
            f"This may cost {dollars(wanted)}, the cap is {dollars(cap)}. Raise the cap by at least "
            f"{dollars(wanted - cap)}, or ask for less."
        )
        self.wanted, self.cap = wanted, cap


def dollars(cents: int) -> str:
    """For people: $1,234.50."""
    return f"{'−' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02}"


def amount(cents: int) -> str:
    """For the protocol: 0.15. Never through a float, which has no cents."""
    return f"{cents // 100}.{cents % 100:02}"


def read_cents(text: str) -> int:
    """Cents from what somebody typed: 0.15, $1.20, 3."""
    found = _AMOUNT.fullmatch(text)
    if not found:
        raise BadAmount(f"{text!r} is no sum of money. Write it as 0.15.")
    whole, part = found.groups()
    return int(whole) * 100 + int((part or "0").ljust(2, "0"))


def fee_cents(reward: int, assignments: int, fees: FeeSchedule, *, masters: bool = False) -> int:
    """The fee of one assignment: percentages added, rounded half up to a cent, at least a cent; none without any."""
    schedule = fees
    if masters and fees.percent:
        schedule = FeeSchedule(fees.percent + MASTERS_PERCENT, fees.many_percent, fees.many)
    return _cents(schedule.per_assignment(Decimal(reward) / 100, assignments))


def bonus_fee_cents(bonus: int, fees: FeeSchedule) -> int:
    """The fee of a bonus: the same percentage as of a reward, without what many assignments cost more."""
    return _cents(fees.per_assignment(Decimal(bonus) / 100, 1))


def _cents(value: Decimal) -> int:
    return int((value * 100).quantize(Decimal(1), ROUND_HALF_UP))


def fees_json(fees: FeeSchedule) -> dict[str, Any]:
    """A schedule as a batch keeps it, so that a later change of ours does not change what was confirmed."""
    return {name: str(value) for name, value in asdict(fees).items()}


def read_fees(given: dict[str, Any]) -> FeeSchedule:
    return FeeSchedule(Decimal(given["percent"]), Decimal(given["many_percent"]), int(given["many"]))


@dataclass(frozen=True, slots=True)
class PriceLine:
    """HITs that cost the same: one group of systems."""

    name: str
    hits: int
    assignments: int  # per HIT
    reward_cents: int
    fee_cents: int  # per assignment

    @property
    def all_assignments(self) -> int:
        return self.hits * self.assignments

    @property
    def rewards(self) -> int:
        return self.all_assignments * self.reward_cents

    @property
    def fees(self) -> int:
        return self.all_assignments * self.fee_cents

    @property
    def total(self) -> int:
        return self.rewards + self.fees


@dataclass(frozen=True, slots=True)
class Cost:
    """What a batch costs if every assignment is approved. `most` adds one more assignment wherever it may be asked."""

    lines: tuple[PriceLine, ...]
    extra_per_hit: int = 0

    @property
    def hits(self) -> int:
        return sum(line.hits for line in self.lines)

    @property
    def assignments(self) -> int:
        return sum(line.all_assignments for line in self.lines)

    @property
    def rewards(self) -> int:
        return sum(line.rewards for line in self.lines)

    @property
    def fees(self) -> int:
        return sum(line.fees for line in self.lines)

    @property
    def total(self) -> int:
        return self.rewards + self.fees

    @property
    def most(self) -> int:
        extra = sum(line.hits * (line.reward_cents + line.fee_cents) for line in self.lines)
        return self.total + self.extra_per_hit * extra


def price_line(
    name: str, *, hits: int, assignments: int, reward: int, fees: FeeSchedule, masters: bool = False
) -> PriceLine:
    return PriceLine(name, hits, assignments, reward, fee_cents(reward, assignments, fees, masters=masters))


def more_at_ten(line: PriceLine, fees: FeeSchedule) -> int:
    """How much of a line's cost comes from asking ten or more for each HIT: cents that nine would not cost each."""
    return line.all_assignments * (line.fee_cents - fee_cents(line.reward_cents, 1, fees))


def hourly_cents(reward: int, seconds: float) -> int | None:
    """What an hour pays, rounded down; None if nobody knows how long it takes."""
    return math.floor(reward * HOUR / seconds) if seconds > 0 else None


def least_reward(floor: int, seconds: float) -> int:
    """The least reward that pays an hourly floor, rounded up to a cent."""
    return math.ceil(round(floor * seconds / HOUR, 6))


@dataclass(frozen=True, slots=True)
class Worked:
    """A paid assignment: how long it took, what it pays, and what was given beside it so far."""

    key: int
    seconds: float | None
    reward_cents: int
    bonus_cents: int = 0


def median_seconds(works: Iterable[Worked]) -> float | None:
    known = [work.seconds for work in works if work.seconds]
    return statistics.median(known) if known else None


def top_ups(works: Sequence[Worked], floor: int) -> dict[int, int]:
    """Bonuses in cents that bring every assignment to the hourly floor, judged by the median time of all of them.

    The median, as Prolific judges pay: one who left the page open is not paid for the night, one who is quick is not
    paid less. Whoever has a bonus already gets the rest only. Nobody is listed where the reward suffices.
    """
    middle = median_seconds(works)
    if middle is None:
        return {}
    least = least_reward(floor, middle)
    missing = {work.key: least - work.reward_cents - work.bonus_cents for work in works}
    return {key: cents for key, cents in missing.items() if cents > 0}
