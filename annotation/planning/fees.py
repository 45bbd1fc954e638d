"""What a market takes on top of a reward."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class FeeSchedule:
    """Percentages of a reward, added: one always, one more from `many` assignments of a task on.

    A fee is counted for each assignment, rounded half up to a cent, and is at least a cent; without a percentage there
    is none. The defaults are those of Amazon Mechanical Turk while it was open; our own exchange takes nothing.
    """

    percent: Decimal = Decimal(20)
    many_percent: Decimal = Decimal(20)
    many: int = 10

    def per_assignment(self, reward: Decimal, assignments: int) -> Decimal:
        """The fee of one assignment in dollars."""
        percent = self.percent + (self.many_percent if assignments >= self.many else 0)
        if not percent:
            return Decimal(0)
        return max((reward * percent / 100).quantize(CENT, ROUND_HALF_UP), CENT)


def market_cost(*, tasks: int, assignments: int, reward: Decimal, fees: FeeSchedule) -> Decimal:
    """What tasks cost that a market hands out to several workers each, fees included."""
    return tasks * assignments * (reward + fees.per_assignment(reward, assignments))
