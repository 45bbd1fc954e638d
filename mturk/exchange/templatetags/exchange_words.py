"""Money, times and requirements in words, for the pages of the exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from mturk.exchange.form_answers import Problem
from mturk.exchange.models import QualificationType
from mturk.exchange.qualifying import SYSTEM_TYPES
from mturk.exchange.question_form import SelectionAnswer, TextAnswer

register = template.Library()

HOUR_S, DAY_S = 3600, 86_400
SIGNS = {
    "LessThan": "<", "LessThanOrEqualTo": "≤", "GreaterThan": ">", "GreaterThanOrEqualTo": "≥", "EqualTo": "=",
    "NotEqualTo": "≠", "Exists": "", "DoesNotExist": "", "In": "=", "NotIn": "≠",
}  # fmt: skip
STATES = {
    "submitted": gettext_lazy("waits for approval"),
    "approved": gettext_lazy("approved"),
    "rejected": gettext_lazy("rejected"),
}
PROBLEMS = {
    "required": gettext_lazy("This question needs an answer."),
    "too_short": gettext_lazy("Too short: at least %(n)s characters."),
    "too_long": gettext_lazy("Too long: at most %(n)s characters."),
    "not_numeric": gettext_lazy("Write a number in figures, as 12 or 0.5."),
    "too_small": gettext_lazy("Too small: at least %(n)s."),
    "too_large": gettext_lazy("Too large: at most %(n)s."),
    "too_few": gettext_lazy("Too few: choose at least %(n)s."),
    "too_many": gettext_lazy("Too many: at most %(n)s, and one in your own words counts."),
    "not_offered": gettext_lazy("This choice is not offered. Choose again."),
}


@register.filter
def cents(value: int) -> str:
    """A sum as $1,234.50."""
    return f"${value / 100:,.2f}"


@register.filter
def time_span(seconds: int) -> str:
    """A length of time in its largest fitting unit: 45 seconds, 30 minutes, 2 hours, 3 days."""
    if seconds < 120:
        return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
    if seconds < 2 * HOUR_S:
        return ngettext("%(n)s minute", "%(n)s minutes", seconds // 60) % {"n": seconds // 60}
    if seconds < 2 * DAY_S:
        return ngettext("%(n)s hour", "%(n)s hours", seconds // HOUR_S) % {"n": seconds // HOUR_S}
    return ngettext("%(n)s day", "%(n)s days", seconds // DAY_S) % {"n": seconds // DAY_S}


@register.filter
def state_words(state: str) -> str:
    return str(STATES.get(state, state))


@register.filter
def problem_words(problem: Problem) -> str:
    """What is wrong with an answer, and what to do."""
    return str(PROBLEMS[problem.kind]) % {"n": problem.limit}


@register.filter
def limit_words(answer: TextAnswer | SelectionAnswer) -> str:
    """What an answer has to be, said before it is given; "" where it is free."""
    if isinstance(answer, SelectionAnswer):
        return choice_words(answer)
    words = [
        _("A number.") if answer.is_numeric else "",
        _("At least %(n)s.") % {"n": answer.least} if answer.least is not None else "",
        _("At most %(n)s.") % {"n": answer.most} if answer.most is not None else "",
        _("At least %(n)s characters.") % {"n": answer.shortest} if answer.shortest else "",
        _("At most %(n)s characters.") % {"n": answer.longest} if answer.longest is not None else "",
    ]
    return " ".join(word for word in words if word)


def choice_words(answer: SelectionAnswer) -> str:
    if answer.most == 1:
        return ""
    numbers = {"least": answer.least, "most": answer.most}
    if 1 < answer.least < answer.most:
        return _("Choose %(least)s to %(most)s.") % numbers
    if answer.least == answer.most:
        return _("Choose %(most)s.") % numbers
    if answer.most < len(answer.selections):
        return _("Choose at most %(most)s.") % numbers
    return _("Choose all that fit.")


@register.filter
def host(url: str) -> str:
    """Where a link leads to, said beside it: its words are the requester's."""
    return urlsplit(url).hostname or ""


@register.filter
def requirement(wanted: Mapping[str, Any], types: Mapping[str, QualificationType]) -> str:
    """A requirement as its name, sign and values."""
    type_id, comparator = wanted["QualificationTypeId"], wanted["Comparator"]
    if type_id in types:
        name = types[type_id].name
    else:
        name = SYSTEM_TYPES[type_id].name if type_id in SYSTEM_TYPES else _("an unknown qualification")
    places = [
        "-".join(filter(None, (one["Country"], one.get("Subdivision")))) for one in wanted.get("LocaleValues", [])
    ]
    values = ", ".join([*map(str, wanted.get("IntegerValues", [])), *places])
    if comparator == "DoesNotExist":
        return _("not having “%(name)s”") % {"name": name}
    return " ".join(part for part in (f"“{name}”", SIGNS[comparator], values) if part)


@register.filter
def can_ask(wanted: Mapping[str, Any], types: Mapping[str, QualificationType]) -> str:
    """The id of a qualification that a worker may ask for; "" if they may not."""
    kind = types.get(wanted["QualificationTypeId"])
    return kind.qualification_type_id if kind and not kind.test and is_open(wanted, kind) else ""


@register.filter
def can_test(wanted: Mapping[str, Any], types: Mapping[str, QualificationType]) -> str:
    """The id of a qualification that has a test; "" for others, and where nobody may ask."""
    kind = types.get(wanted["QualificationTypeId"])
    return kind.qualification_type_id if kind and kind.test and is_open(wanted, kind) else ""


def is_open(wanted: Mapping[str, Any], kind: QualificationType) -> bool:
    return kind.status == "Active" and wanted["Comparator"] != "DoesNotExist"
