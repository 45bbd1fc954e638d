"""The budget of a project: sums over its sentences in the order in which STUs take them over, for every cut.

A cut is the number of free sentences (those without a pin) that STUs cover, the easiest first. All sums are whole
numbers; the browser adds up the same ones (static/js/plan.js), and a test compares the two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist

from annotation.planning.assumptions import PRIOR_WEIGHT, Assumptions, Observed
from annotation.planning.prices import HOUR_MS, THOUSAND, Prices, half_up, price, price_sentence
from annotation.planning.routing import PEOPLE, STEPS, STUS, ratio_words

# How far things differ from what was expected, as shares of it: the units of a sentence of given length (measured on
# REALSumm), the seconds of a unit (a guess: nobody has published them), third tasks from corpus to corpus.
UNITS_SPREAD, SECONDS_SPREAD, THIRD_SPREAD = 0.4, 0.8, 0.2
MIDDLE = NormalDist().inv_cdf(0.9)
"""80 % of outcomes lie within so many deviations."""


@dataclass(frozen=True, slots=True)
class PlanSentence:
    """A sentence as the budget sees it. `stus` are how many stand for it, `pin` where a lead sends it ("" if free).

    `written` writers are through with it, or not needed since it came with SCUs: nobody is paid for these, and its SCUs
    are judged all the same.
    """

    example: int
    words: int
    stus: int
    pin: str = ""
    written: int = 0


SUMS = ("to_write", "slots", "units", "milliseconds", "mills", "tasks", "judged")


@dataclass(frozen=True, slots=True)
class Budget:
    """Sums for every cut from 0 to the number of free sentences. `tasks` and `judged` are of all summaries.

    `cuts` tells for every share in thousandths how many free sentences STUs cover.
    """

    sentences: int
    pinned_people: int
    pinned_stus: int
    cuts: list[int]
    to_write: list[int]  # sentences that people have yet to write
    slots: list[int]  # writing tasks: one for each writer of these
    units: list[int]  # of these, in thousandths
    milliseconds: list[int]
    mills: list[int]
    tasks: list[int]
    judged: list[int]  # thousandths of units, once for each summary
    prices: Prices

    @property
    def free(self) -> int:
        return self.sentences - self.pinned_people - self.pinned_stus

    def as_dict(self) -> dict[str, object]:
        """For the browser."""
        names = ("sentences", "pinned_people", "pinned_stus", "cuts", *SUMS)
        return {**{name: getattr(self, name) for name in names}, "prices": self.prices.as_dict()}


def make_budget(
    sentences: Sequence[PlanSentence], cuts: Sequence[int], summaries: Mapping[int, int], assumed: Assumptions
) -> Budget:
    """The sums of sentences given easiest first. `summaries` tells for each example how many systems have one."""
    desk = _Desk(summaries, assumed)
    for sentence in sentences:
        desk.put(sentence, sentence.pin or PEOPLE)
    sums = {name: [value] for name, value in desk.sums.items()}
    for sentence in sentences:
        if not sentence.pin:
            desk.take(sentence, PEOPLE)
            desk.put(sentence, STUS)
            for name, value in desk.sums.items():
                sums[name].append(value)
    pins = [sentence.pin for sentence in sentences]
    return Budget(len(sentences), pins.count(PEOPLE), pins.count(STUS), list(cuts), **sums, prices=price(assumed))


class _Desk:
    """Sums of sentences as they lie now, some with people, some with STUs."""

    def __init__(self, summaries: Mapping[int, int], assumed: Assumptions) -> None:
        self.summaries, self.assumed = summaries, assumed
        self.sums = dict.fromkeys(SUMS, 0)
        self.in_example: Counter[int] = Counter()  # thousandths of units that are judged

    def put(self, sentence: PlanSentence, where: str) -> None:
        self._add(sentence, where, 1)

    def take(self, sentence: PlanSentence, where: str) -> None:
        self._add(sentence, where, -1)

    def _add(self, sentence: PlanSentence, where: str, sign: int) -> None:
        own, writers = price_sentence(sentence.words, self.assumed), self.assumed.writers
        if where == PEOPLE:
            judged, left = own.units, max(writers - sentence.written, 0)
            self.sums["to_write"] += sign * bool(left)
            self.sums["slots"] += sign * left
            self.sums["units"] += sign * own.units * bool(left)
            self.sums["milliseconds"] += sign * half_up(own.milliseconds * left, writers)
            self.sums["mills"] += sign * half_up(own.mills * left, writers)
        else:
            judged = sentence.stus * THOUSAND if self.assumed.judge_stus else 0
        times = self.summaries.get(sentence.example, 0)
        before = self.in_example[sentence.example]
        after = before + sign * judged
        self.in_example[sentence.example] = after
        self.sums["tasks"] += (self._tasks(after) - self._tasks(before)) * times
        self.sums["judged"] += (after - before) * times

    def _tasks(self, units: int) -> int:
        return -(-units // (self.assumed.units_per_task * THOUSAND))


# --- what a cut takes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a share of STUs takes. Money in cents, each line rounded half up, the total the sum of the lines."""

    share: int  # thousandths, as the slider stands
    effective: int  # thousandths of all sentences that STUs cover, pins included
    sentences: int
    to_people: int
    to_stus: int
    to_write: int  # of those that go to people, the ones that are not written
    slots: int  # writing tasks
    units: int  # thousandths
    writing_ms: int
    writing: int
    tasks: int  # of judging
    votes: int
    judging_ms: int
    judging: int
    fees: int
    judging_fees: int  # of these
    hourly_pay: int | None  # of judges paid by the task; None if there are none
    writing_pay: int | None  # of writers paid by the task
    days: int  # until the people at hand are through

    @property
    def total(self) -> int:
        return self.writing + self.judging + self.fees

    @property
    def ratio(self) -> str:
        return ratio_words(self.share)

    @property
    def effective_ratio(self) -> str:
        return ratio_words(self.effective)

    def as_dict(self) -> dict[str, int | None]:
        return {**asdict(self), "total": self.total}


def forecast(budget: Budget, share: int) -> Forecast:
    """What people and money a share takes."""
    cut, prices = budget.cuts[share], budget.prices
    to_people = budget.free - cut + budget.pinned_people
    to_stus = cut + budget.pinned_stus
    tasks, judged = budget.tasks[cut], budget.judged[cut]
    writing_ms = budget.milliseconds[cut]
    judging_ms = half_up(judged * prices.judged_ms, THOUSAND)
    here = writing_ms + (judging_ms if prices.is_judged_here else 0)
    judging = tasks * prices.task_mills + half_up(judged * prices.judged_mills, THOUSAND)
    pay = None
    if prices.reward_mills and prices.task_thousandths and tasks and judged:
        paid = tasks * prices.reward_mills * HOUR_MS
        pay = half_up(paid, judged * prices.ms_per_judgement)
    return Forecast(
        share=share,
        effective=half_up(to_stus * STEPS, budget.sentences) if budget.sentences else 0,
        sentences=budget.sentences,
        to_people=to_people,
        to_stus=to_stus,
        to_write=budget.to_write[cut],
        slots=budget.slots[cut],
        units=budget.units[cut],
        writing_ms=writing_ms,
        writing=half_up(budget.mills[cut], THOUSAND),
        tasks=half_up(tasks * prices.task_thousandths, THOUSAND),
        votes=half_up(judged * prices.vote_thousandths, THOUSAND * THOUSAND),
        judging_ms=judging_ms,
        judging=half_up(judging, THOUSAND),
        fees=half_up(budget.slots[cut] * prices.writing_fee + tasks * prices.task_fee, THOUSAND),
        judging_fees=half_up(tasks * prices.task_fee, THOUSAND),
        hourly_pay=pay,
        writing_pay=(
            half_up(budget.mills[cut] * HOUR_MS, writing_ms * THOUSAND)
            if prices.is_written_by_task and writing_ms
            else None
        ),
        days=-(-here * 7 // prices.week_ms),
    )


class CannotSolve(ValueError):
    """No share keeps within the bound. The message says what is the least."""


def solve_money(budget: Budget, dollars_in_cents: int) -> int:
    """The share with the most human work whose total is within a sum of money."""
    for share in range(STEPS + 1):
        if forecast(budget, share).total <= dollars_in_cents:
            return share
    least = min(forecast(budget, share).total for share in range(STEPS + 1))
    raise CannotSolve(f"Even the cheapest plan costs ${least / 100:,.2f}. Raise the budget, or have less judged.")


def solve_hours(budget: Budget, milliseconds: int) -> int:
    """The share with the most human work whose writing is within some hours."""
    for share in range(STEPS + 1):
        if forecast(budget, share).writing_ms <= milliseconds:
            return share
    least = forecast(budget, STEPS).writing_ms
    raise CannotSolve(f"Pins alone take {least / HOUR_MS:,.1f} hours of writing. Raise the hours, or take pins away.")


# --- how sure that is ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spread:
    """Relative deviations: of units (both writing and judging), of seconds, of third tasks.

    What writers are paid is certain where they are paid by the task.
    """

    units: float
    seconds: float
    third: float
    is_writing_certain: bool = False

    def sentence(self, sentences: int) -> float:
        """The deviation that is left because so many sentences are not all like the mean one."""
        return UNITS_SPREAD / math.sqrt(max(sentences, 1))

    def as_dict(self) -> dict[str, float]:
        return {
            "units": self.units, "seconds": self.seconds, "third": self.third, "sentence": UNITS_SPREAD,
            "certain": float(self.is_writing_certain),
        }  # fmt: skip


def spread_of(assumed: Assumptions, observed: Observed) -> Spread:
    """How far off a forecast may be: the less, the more the project has measured itself."""
    return Spread(
        units=UNITS_SPREAD / math.sqrt(PRIOR_WEIGHT + observed.sentences),
        seconds=SECONDS_SPREAD / math.sqrt(PRIOR_WEIGHT + observed.timed_units),
        is_writing_certain=assumed.writing_pay == "task",
        third=THIRD_SPREAD * float(assumed.third_tasks / (2 + assumed.third_tasks)) if assumed.adaptive else 0.0,
    )


def deviation(found: Forecast, spread: Spread) -> float:
    """The relative deviation of the total."""
    if not found.total:
        return 0.0
    writing = 0 if spread.is_writing_certain else found.writing
    judging = found.judging + found.judging_fees
    alone = writing * math.hypot(spread.seconds, spread.sentence(found.to_write))
    return math.hypot(alone, judging * spread.third, (writing + judging) * spread.units) / found.total


def likely_range(value: float, relative: float) -> tuple[float, float]:
    """The middle 80 % of outcomes. Costs are never negative, so factors are spread evenly, not sums."""
    factor = math.exp(MIDDLE * relative)
    return value / factor, value * factor


def chance_over(found: Forecast, spread: Spread, budget: int) -> float:
    """How likely the total is above a sum in cents."""
    relative = deviation(found, spread)
    if not relative:
        return float(found.total > budget)
    return 1 - NormalDist().cdf(math.log(budget / found.total) / relative)
