"""Qualifications: those of the system, what a requirement may say, and whether a worker meets it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = ("2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH")  # sandbox, production


@dataclass(frozen=True)
class SystemType:
    """A qualification that every MTurk knows."""

    type_id: str
    name: str
    description: str


# Nobody here has the last three: the exchange knows of no ages and names no masters.
SYSTEM_TYPES = {
    kind.type_id: kind
    for kind in (
        SystemType(PERCENT_APPROVED, "Worker_PercentAssignmentsApproved", "Share of answered work that was approved."),
        SystemType(NUMBER_APPROVED, "Worker_NumberHITsApproved", "How many HITs of a worker were approved."),
        SystemType(LOCALE, "Worker_Locale", "Where a worker is."),
        SystemType(ADULT, "Worker_Adult", "Whether a worker agreed to see content for adults."),
        SystemType(MASTERS[0], "Masters", "Named by Amazon in its sandbox. Nobody has it here."),
        SystemType(MASTERS[1], "Masters", "Named by Amazon. Nobody has it here."),
    )
}  # fmt: skip

# A worker with fewer than this many answered assignments counts as having them all approved.
PERCENT_COUNTS_FROM = 100

NO_VALUE = ("Exists", "DoesNotExist")
SETS = ("In", "NotIn")
EQUALITY = ("EqualTo", "NotEqualTo")
MOST_INTEGERS, MOST_LOCALES = 15, 30
COUNTRIES_WITH_PARTS = ("US",)


def requirement_problem(requirement: Mapping[str, Any]) -> str:
    """Why a requirement makes no sense; "" if it does. Its words were checked against the model before."""
    comparator = requirement["Comparator"]
    integers, locales = requirement.get("IntegerValues"), requirement.get("LocaleValues")
    is_locale = requirement["QualificationTypeId"] == LOCALE
    if "RequiredToPreview" in requirement and "ActionsGuarded" in requirement:
        return "RequiredToPreview is deprecated and cannot be given together with ActionsGuarded."
    if comparator in NO_VALUE:
        return f"{comparator} takes no value." if integers or locales else ""
    if is_locale:
        return locale_problem(comparator, integers, locales)
    if locales:
        return "LocaleValues are for the locale qualification only."
    most = MOST_INTEGERS if comparator in SETS else 1
    if not integers or len(integers) > most:
        return f"{comparator} takes {'1' if most == 1 else f'1 to {most}'} IntegerValues."
    return ""


def locale_problem(comparator: str, integers: Any, locales: Any) -> str:
    if integers:
        return "The locale qualification takes LocaleValues."
    if comparator not in (*EQUALITY, *SETS):
        return f"A locale cannot be compared by {comparator}."
    most = MOST_LOCALES if comparator in SETS else 1
    if not locales or len(locales) > most:
        return f"{comparator} takes {'1' if most == 1 else f'1 to {most}'} LocaleValues."
    if any("Subdivision" in place and place["Country"] not in COUNTRIES_WITH_PARTS for place in locales):
        return "A Subdivision can be given for the US only."
    return ""


@dataclass(frozen=True)
class Profile:
    """What the exchange knows of a worker: values by qualification type, and where they are ("DE", "US-NY")."""

    values: Mapping[str, int]
    locale: str = ""


def meets(requirement: Mapping[str, Any], profile: Profile) -> bool:
    """Whether a worker meets one requirement. Who lacks a qualification meets no comparison of it."""
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    has = bool(profile.locale) if type_id == LOCALE else type_id in profile.values
    if comparator in NO_VALUE:
        return has is (comparator == "Exists")
    if not has:
        return False
    if type_id == LOCALE:
        is_there = any(is_in(profile.locale, place) for place in requirement["LocaleValues"])
        return is_there is (comparator in ("EqualTo", "In"))
    return compare(profile.values[type_id], comparator, requirement["IntegerValues"])


def compare(value: int, comparator: str, wanted: list[int]) -> bool:
    first = wanted[0]
    return {
        "LessThan": value < first,
        "LessThanOrEqualTo": value <= first,
        "GreaterThan": value > first,
        "GreaterThanOrEqualTo": value >= first,
        "EqualTo": value == first,
        "NotEqualTo": value != first,
        "In": value in wanted,
        "NotIn": value not in wanted,
    }[comparator]


def is_in(locale: str, place: Mapping[str, str]) -> bool:
    country, _, part = locale.partition("-")
    return country == place["Country"] and place.get("Subdivision", part) == part


# What a requirement guards, from the least to the most.
GUARDED = {
    "Accept": {"accept"},
    "PreviewAndAccept": {"accept", "preview"},
    "DiscoverPreviewAndAccept": {"accept", "preview", "discover"},
}


def guards(requirement: Mapping[str, Any]) -> set[str]:
    """The acts that a requirement guards: accept, preview, discover."""
    named = requirement.get("ActionsGuarded")
    return GUARDED[named or ("PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept")]


def may(act: str, requirements: Iterable[Mapping[str, Any]], profile: Profile) -> bool:
    """Whether a worker may discover, preview or accept: every requirement that guards the act must hold."""
    return all(meets(requirement, profile) for requirement in requirements if act in guards(requirement))


def percent_approved(approved: int, rejected: int) -> int:
    """The system's percentage, rounded down; full for newcomers."""
    decided = approved + rejected
    return 100 if decided < PERCENT_COUNTS_FROM else approved * 100 // decided
