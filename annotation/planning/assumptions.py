"""What a forecast takes for granted: prices, paces and habits of voting. Every one can be changed for a project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation.planning.fees import FeeSchedule

PRIOR_WEIGHT = 20
"""An assumption counts as much as this many observations of the project itself."""


class BadAssumption(ValueError):
    """A value that cannot be. `field` names it; the message says what can."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and most that a value may be, and how many digits behind the point."""

    least: Decimal
    most: Decimal
    places: int = 2


def _bounds(least: str, most: str, places: int = 2) -> Bounds:
    return Bounds(Decimal(least), Decimal(most), places)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Money in dollars, shares from 0 to 1.

    Units per word are those of REALSumm (.187) and PyrXSum (.232) together. Third votes: in REALSumm two workers differ
    on 13 % of the units, and 57 % of the summaries have such a unit. The pace is a guess until a project has measured
    its own.
    """

    wage: Decimal = Decimal("18.00")
    floor: Decimal = Decimal("15.00")  # the least that an hour of anybody's work may be paid
    writing_pay: str = "hour"  # or "task": a reward for each sentence
    writing_reward: Decimal = Decimal("0.50")
    seconds_per_unit: Decimal = Decimal("40")
    units_per_word: Decimal = Decimal("0.20")
    writers: int = 1  # people who write the same sentence
    rework: Decimal = Decimal("0.10")  # share that is written once more
    judging_pay: str = "task"  # or "hour"
    judging_reward: Decimal = Decimal("0.60")
    seconds_per_judgement: Decimal = Decimal("8")
    units_per_task: int = 16
    calibration: Decimal = Decimal("0.10")  # share of the summaries that people judge
    judge_stus: bool = False
    votes: int = 3
    adaptive: bool = True  # two votes, and a third where they differ
    third_votes: Decimal = Decimal("0.13")
    third_tasks: Decimal = Decimal("0.57")
    fee_percent: Decimal = Decimal("20")
    many_fee_percent: Decimal = Decimal("20")
    annotators: int = 2
    hours_per_week: Decimal = Decimal("10")
    budget: Decimal | None = None

    @property
    def fees(self) -> FeeSchedule:
        return FeeSchedule(self.fee_percent, self.many_fee_percent)

    @property
    def most_votes(self) -> int:
        """How many workers may get the same task: what the market's fee goes by."""
        return 3 if self.adaptive else self.votes

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it; Decimals as text, so that no digit is lost."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in values}


BOUNDS = {
    "wage": _bounds("0.01", "1000"),
    "floor": _bounds("0", "1000"),
    "writing_reward": _bounds("0.01", "1000"),
    "seconds_per_unit": _bounds("1", "3600"),
    "units_per_word": _bounds("0.01", "2", 4),
    "writers": _bounds("1", "2", 0),
    "rework": _bounds("0", "1", 4),
    "judging_reward": _bounds("0.01", "1000"),
    "seconds_per_judgement": _bounds("0.5", "600"),
    "units_per_task": _bounds("1", "16", 0),
    "calibration": _bounds("0", "1", 4),
    "votes": _bounds("1", "20", 0),
    "third_votes": _bounds("0", "1", 4),
    "third_tasks": _bounds("0", "1", 4),
    "fee_percent": _bounds("0", "100"),
    "many_fee_percent": _bounds("0", "100"),
    "annotators": _bounds("1", "10000", 0),
    "hours_per_week": _bounds("0.5", "168"),
    "budget": _bounds("0.01", "100000000"),
}
CHOICES = {"writing_pay": ("hour", "task"), "judging_pay": ("hour", "task")}
FLAGS = ("judge_stus", "adaptive")
WHOLE = ("writers", "units_per_task", "votes", "annotators")
PERCENT = ("rework", "calibration", "third_votes", "third_tasks")
"""Shares that pages show and take as percentages."""


def read_assumptions(given: Mapping[str, Any], base: Assumptions | None = None) -> Assumptions:
    """Assumptions from a form, a request or a stored row; those that are not told stay as in `base`."""
    base = base or Assumptions()
    known = {field.name for field in fields(Assumptions)}
    if unknown := sorted(set(given) - known):
        raise BadAssumption(unknown[0], f"{unknown[0]!r} is no assumption. Known are {', '.join(sorted(known))}.")
    return replace(base, **{name: _read(name, value) for name, value in given.items()})


def _read(name: str, value: Any) -> Any:
    if name in FLAGS:
        if not isinstance(value, bool):
            raise BadAssumption(name, "Say yes or no.")
        return value
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise BadAssumption(name, f"Choose one of: {', '.join(CHOICES[name])}.")
        return value
    if name == "budget" and value in (None, ""):
        return None
    number = read_number(name, value)
    return int(number) if name in WHOLE else number


THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


def plain_number(text: str) -> str:
    """A number without "$" and commas for thousands. A comma elsewhere is left, and so no number: 3,50 is not 350."""
    bare = text.replace("$", "").strip()
    return bare.replace(",", "") if THOUSANDS.fullmatch(bare) else bare


def read_number(name: str, value: Any) -> Decimal:
    """A number within its bounds; "$1,200.50" and "12 " are read as people write them."""
    bounds = BOUNDS[name]
    try:
        number = Decimal(plain_number(str(value)))
    except InvalidOperation as error:
        raise BadAssumption(name, "Write a number, such as 12 or 0.5.") from error
    if not number.is_finite() or not bounds.least <= number <= bounds.most:
        raise BadAssumption(name, f"Write a number from {bounds.least} to {bounds.most:,}.")
    if number != round(number, bounds.places):
        digits = f"at most {bounds.places} digits behind the point" if bounds.places else "a whole number"
        raise BadAssumption(name, f"Write {digits}.")
    return number


# --- what the project has measured itself --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Observed:
    """Sums of what happened in a project: units in words of sentences that people wrote, and seconds that they took."""

    sentences: int = 0
    words: int = 0
    units: int = 0
    timed_units: int = 0
    writing_seconds: Decimal = Decimal(0)
    judgements: int = 0
    judging_seconds: Decimal = Decimal(0)


def shrink(prior: Decimal, total: Decimal, count: int, *, places: int) -> Decimal:
    """A mean between an assumption and what was observed, by their numbers."""
    mean = (prior * PRIOR_WEIGHT + total) / (PRIOR_WEIGHT + count)
    return round(mean, places)


def learn(assumed: Assumptions, observed: Observed) -> Assumptions:
    """Assumptions as the project itself corrects them."""
    mean_words = Decimal(observed.words) / observed.sentences if observed.sentences else Decimal(0)
    rate = assumed.units_per_word
    if mean_words:  # an observation is a sentence; in words per sentence it counts against the assumption
        per_sentence = shrink(rate * mean_words, Decimal(observed.units), observed.sentences, places=6)
        rate = round(per_sentence / mean_words, 4)
    return replace(
        assumed,
        units_per_word=rate,
        seconds_per_unit=shrink(assumed.seconds_per_unit, observed.writing_seconds, observed.timed_units, places=2),
        seconds_per_judgement=shrink(
            assumed.seconds_per_judgement, observed.judging_seconds, observed.judgements, places=2
        ),
    )
