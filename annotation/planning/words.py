"""A forecast in words, as the page shows it. static/js/plan.js writes the same ones while the slider moves."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

from annotation.planning.assumptions import Assumptions
from annotation.planning.budget import Forecast, Spread, chance_over, deviation, likely_range
from annotation.planning.prices import HOUR_MS, THOUSAND

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
CENTS_BELOW = 100_00


def dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def rounded(value: float) -> int:
    """Half up, as browsers round."""
    return math.floor(value + 0.5)


def _range(value: float, relative: float) -> str:
    low, high = likely_range(value, relative)
    return f"[{rounded(low):,}–{rounded(high):,}]"


def _money_range(cents: int, relative: float) -> str:
    """Whole dollars, and cents where whole dollars would hide the width."""
    low, high = likely_range(cents, relative)
    if rounded(high) < CENTS_BELOW:
        return f"[{dollars(rounded(low))}–{dollars(rounded(high))}]"
    return f"[${rounded(low / 100):,}–${rounded(high / 100):,}]"


def _hours_range(milliseconds: int, relative: float) -> str:
    low, high = (f"{rounded(10 * side / HOUR_MS) / 10:,.1f}" for side in likely_range(milliseconds, relative))
    return f"[{low}–{high}]"


def tell(
    found: Forecast, spread: Spread, assumed: Assumptions, today: dt.date, months: Sequence[str] = MONTHS
) -> dict[str, str]:
    """Every number of a forecast, by the name that the page gives it."""
    total = deviation(found, spread)
    units = math.hypot(spread.units, spread.sentence(found.to_write))
    hours = math.hypot(units, spread.seconds)
    writing = 0.0 if spread.is_writing_certain else hours
    judging = math.hypot(spread.units, spread.third)
    finish = today + dt.timedelta(days=min(found.days, 36500))
    told = {
        "ratio": found.ratio,
        "effective": found.effective_ratio,
        "to_people": f"{found.to_people:,}",
        "to_stus": f"{found.to_stus:,}",
        "to_write": f"{found.to_write:,}",
        "people_percent": f"{rounded(100 * found.to_people / max(found.sentences, 1))} %",
        "units": f"{rounded(found.units / THOUSAND):,}",
        "units_range": _range(found.units / THOUSAND, units),
        "hours": f"{rounded(10 * found.writing_ms / HOUR_MS) / 10:,.1f} h",
        "hours_range": _hours_range(found.writing_ms, hours),
        "writing": dollars(found.writing),
        "writing_range": _money_range(found.writing, writing),
        "tasks": f"{found.tasks:,}",
        "votes": f"{found.votes:,}",
        "judging": dollars(found.judging),
        "judging_range": _money_range(found.judging, judging),
        "fees": dollars(found.fees),
        "fees_range": _money_range(found.fees, judging),
        "total": dollars(found.total),
        "total_range": _money_range(found.total, total),
        "slots": f"{found.slots:,}",
        "writing_pay": dollars(found.writing_pay) if found.writing_pay is not None else "",
        "pay": dollars(found.hourly_pay) if found.hourly_pay is not None else "",
        "finish": f"{finish.day} {months[finish.month - 1]} {finish.year}" if found.days else "",
    }
    if assumed.budget is not None:
        told["chance"] = f"{rounded(100 * chance_over(found, spread, int(assumed.budget * 100)))} %"
    return told
