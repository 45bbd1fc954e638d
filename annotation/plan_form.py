"""The assumptions of a plan as a form: each with its name, its unit and a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.planning.assumptions import (
    CHOICES,
    FLAGS,
    PERCENT,
    Assumptions,
    BadAssumption,
    read_assumptions,
    read_number,
)

Words = str | Promise


@dataclass(frozen=True, slots=True)
class Field:
    """`unit` stands behind the box, `hint` below it. `learnt` ones are corrected by what the project has measured."""

    name: str
    label: Words
    unit: Words = ""
    hint: Words = ""
    choices: tuple[tuple[str, Words], ...] = ()

    @property
    def is_flag(self) -> bool:
        return self.name in FLAGS


_t = gettext_lazy
PAY = (("hour", _t("by the hour")), ("task", _t("by the task")))
DOLLARS = "$"
GROUPS: tuple[tuple[Words, tuple[Field, ...]], ...] = (
    (
        _t("Writing"),
        (
            Field("writing_pay", _t("Writers are paid"), choices=PAY),
            Field("wage", _t("Wage"), _t("$ an hour")),
            Field("writing_reward", _t("Reward for a sentence"), DOLLARS, _t("If they are paid by the task.")),
            Field("seconds_per_unit", _t("Time for a unit"), _t("seconds")),
            Field("units_per_word", _t("Units for each word"), hint=_t(".19 in REALSumm, .23 in PyrXSum.")),
            Field("writers", _t("Writers of a sentence")),
            Field("rework", _t("Written once more"), "%"),
        ),
    ),
    (
        _t("Judging"),
        (
            Field("judging_pay", _t("Judges are paid"), choices=PAY),
            Field("judging_reward", _t("Reward for a task"), DOLLARS, _t("One summary with up to 16 units.")),
            Field("seconds_per_judgement", _t("Time for a judgement"), _t("seconds")),
            Field("units_per_task", _t("Units in a task, at most")),
            Field("calibration", _t("Summaries that people judge"), "%", _t("The rest is judged by NLI.")),
            Field("judge_stus", _t("People judge STUs as well")),
            Field("adaptive", _t("Two votes, and a third where they differ")),
            Field("votes", _t("Votes for each unit"), hint=_t("If not: everybody who is asked.")),
            Field("third_votes", _t("Units that need a third vote"), "%", _t("13 % in REALSumm.")),
            Field("third_tasks", _t("Tasks that need a third worker"), "%", _t("57 % in REALSumm.")),
        ),
    ),
    (
        _t("Market and people"),
        (
            Field("fee_percent", _t("Fee of the market"), "%", _t("20 % on Mechanical Turk; none on our exchange.")),
            Field("many_fee_percent", _t("More from 10 votes on"), "%"),
            Field("floor", _t("Least pay"), _t("$ an hour"), _t("Your organisation’s floor.")),
            Field("annotators", _t("Annotators at hand")),
            Field("hours_per_week", _t("Hours of each in a week"), _t("hours")),
            Field("budget", _t("Budget"), DOLLARS, _t("Leave it empty if there is none.")),
        ),
    ),
)
ALL_FIELDS = tuple(field for _name, group in GROUPS for field in group)


@dataclass(frozen=True, slots=True)
class BoundField:
    """A field with what stands in it."""

    field: Field
    value: str
    is_on: bool = False
    error: str = ""
    learnt: str = ""  # what the project has measured instead, if it differs


class PlanForm:
    """The assumptions as they stand, or as somebody has just sent them."""

    def __init__(self, assumed: Assumptions, expected: Assumptions, posted: Mapping[str, str] | None = None) -> None:
        self.assumed, self.expected, self.posted = assumed, expected, posted
        self.errors: dict[str, str] = {}
        self.read: dict[str, Any] = {}
        if posted is not None:
            self._read(posted)

    def _read(self, posted: Mapping[str, str]) -> None:
        for field in ALL_FIELDS:
            try:
                value = self._value(field, posted)
                read_assumptions({field.name: value})
                self.read[field.name] = value
            except BadAssumption as error:
                self.errors[field.name] = _percent_words(field.name, str(error))

    def _value(self, field: Field, posted: Mapping[str, str]) -> Any:
        if field.is_flag:
            return field.name in posted
        text = posted.get(field.name, "").strip()
        if field.name in CHOICES or field.name == "budget":
            return text
        if field.name in PERCENT:
            try:
                return Decimal(text.replace("%", "").strip()) / 100
            except ArithmeticError as error:
                raise BadAssumption(field.name, _("Write a number, such as 12 or 0.5.")) from error
        return read_number(field.name, text)

    @property
    def groups(self) -> list[tuple[str, list[BoundField]]]:
        return [(str(name), [self._bound(field) for field in group]) for name, group in GROUPS]

    def _bound(self, field: Field) -> BoundField:
        posted = self.posted
        own, learnt = shown(field.name, self.assumed), shown(field.name, self.expected)
        if field.is_flag:
            is_on = field.name in posted if posted is not None else bool(getattr(self.assumed, field.name))
            return BoundField(field, "", is_on)
        value = posted.get(field.name, "") if posted is not None else own
        return BoundField(field, value, error=self.errors.get(field.name, ""), learnt=learnt if learnt != own else "")


def shown(name: str, assumed: Assumptions) -> str:
    """A value as the form shows it."""
    value = getattr(assumed, name)
    if value is None:
        return ""
    if name in PERCENT:
        return f"{(value * 100).normalize():f}"
    return f"{value.normalize():f}" if isinstance(value, Decimal) and name not in ("wage", "floor") else str(value)


def _percent_words(name: str, message: str) -> str:
    if name in PERCENT and ("from" in message or "digits" in message):
        return _("Write a percentage from 0 to 100 with at most two digits behind the point.")
    return message
