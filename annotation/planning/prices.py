"""Assumptions as whole numbers: milliseconds, thousandths of a unit, thousandths of a cent.

Whole numbers can be added up in any order, in Python and in the browser, and come out the same to the last digit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal

from annotation.planning.assumptions import Assumptions

THOUSAND = 1000
MILLS_PER_DOLLAR = 100 * THOUSAND
"""A mill, here, is a thousandth of a cent."""
HOUR_MS = 3600 * THOUSAND


def whole(number: Decimal) -> int:
    """Rounded half up."""
    return int(number.quantize(Decimal(1), ROUND_HALF_UP))


def half_up(dividend: int, divisor: int) -> int:
    """A quotient of whole numbers, rounded half up."""
    return (2 * dividend + divisor) // (2 * divisor)


@dataclass(frozen=True, slots=True)
class SentencePrice:
    """What one sentence takes if people write it: thousandths of units, milliseconds, and mills without a fee."""

    units: int
    milliseconds: int
    mills: int


@dataclass(frozen=True, slots=True)
class Prices:
    """Everything that does not depend on the sentence.

    A task of judging is one summary with up to 16 units before calibration: its price has the share of summaries that
    are judged and the number of votes in it. `judged_*` are for a thousandth of a unit of a summary, times a thousand.
    """

    writing_fee: int  # mills for each writing task
    task_mills: int
    task_fee: int
    task_thousandths: int  # tasks that are really done, for each task
    vote_thousandths: int  # votes for each unit of a summary
    judged_ms: int  # for each unit of a summary, if judges are paid by the hour or by the task
    judged_mills: int  # the same, 0 if they are paid by the task
    reward_mills: int  # for one assignment of a task of judging, 0 if judges are paid by the hour
    ms_per_judgement: int
    is_judged_here: bool
    is_written_by_task: bool
    week_ms: int  # of all annotators together

    def as_dict(self) -> dict[str, int]:
        return {name: int(value) for name, value in asdict(self).items()}


def price_sentence(words: int, assumed: Assumptions) -> SentencePrice:
    """What a sentence of so many words takes."""
    units = whole(words * assumed.units_per_word * THOUSAND)
    again = assumed.writers * (1 + assumed.rework)
    milliseconds = whole(Decimal(units) * assumed.seconds_per_unit * again)
    if assumed.writing_pay == "task":
        return SentencePrice(units, milliseconds, whole(assumed.writing_reward * again * MILLS_PER_DOLLAR))
    return SentencePrice(units, milliseconds, whole(milliseconds * assumed.wage * MILLS_PER_DOLLAR / HOUR_MS))


def price_slot(words: int, assumed: Assumptions) -> int:
    """Mills for one writer of a sentence of so many words, fee included."""
    return half_up(price_sentence(words, assumed).mills, assumed.writers) + price(assumed).writing_fee


def price(assumed: Assumptions) -> Prices:
    """The prices that follow from assumptions."""
    fees, by_task = assumed.fees, assumed.judging_pay == "task"
    writing_fee = Decimal(0)
    if assumed.writing_pay == "task":
        writing_fee = fees.per_assignment(assumed.writing_reward, assumed.writers) * (1 + assumed.rework)
    tasks = assumed.calibration * (2 + assumed.third_tasks if assumed.adaptive else assumed.votes)
    votes = assumed.calibration * (2 + assumed.third_votes if assumed.adaptive else assumed.votes)
    fee = fees.per_assignment(assumed.judging_reward, assumed.most_votes)
    judged_ms = whole(votes * assumed.seconds_per_judgement * THOUSAND)
    return Prices(
        writing_fee=whole(writing_fee * MILLS_PER_DOLLAR),
        task_mills=whole(tasks * assumed.judging_reward * MILLS_PER_DOLLAR) if by_task else 0,
        task_fee=whole(tasks * fee * MILLS_PER_DOLLAR) if by_task else 0,
        task_thousandths=whole(tasks * THOUSAND),
        vote_thousandths=whole(votes * THOUSAND),
        judged_ms=judged_ms,
        judged_mills=0 if by_task else whole(judged_ms * assumed.wage * MILLS_PER_DOLLAR / HOUR_MS),
        reward_mills=whole(assumed.judging_reward * MILLS_PER_DOLLAR) if by_task else 0,
        ms_per_judgement=whole(assumed.seconds_per_judgement * THOUSAND),
        is_judged_here=not by_task,
        is_written_by_task=assumed.writing_pay == "task",
        week_ms=whole(assumed.annotators * assumed.hours_per_week * HOUR_MS),
    )
