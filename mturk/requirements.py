"""Who may take a HIT, in words that hold on every market; ids of qualifications come in when it is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"

REPUTATION = ("percent_approved", "number_approved", "locale")
NAMED = "named"
MOST_REQUIREMENTS = 10


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that must hold of a worker.

    percent_approved and number_approved: at least `value`; locale: in one of `places` (US, or US-NY); named: has the
    qualification of that `name`, with at least `value` if that is not 0.
    """

    kind: str
    value: int = 0
    places: tuple[str, ...] = ()
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "value": self.value, "places": list(self.places), "name": self.name}

    @property
    def is_reputation(self) -> bool:
        return self.kind in REPUTATION


def read_requirements(given: Sequence[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(one["kind"], int(one.get("value", 0)), tuple(one.get("places", ())), one.get("name", ""))
        for one in given
    )


def for_exchange(wanted: Sequence[Requirement], *, name: str) -> tuple[Requirement, ...]:
    """The same batch on the exchange: nobody has a reputation there, so a named qualification stands in for it."""
    kept = tuple(one for one in wanted if not one.is_reputation)
    if len(kept) == len(wanted) or any(one.kind == NAMED and one.name == name for one in kept):
        return kept
    return (*kept, Requirement(NAMED, name=name))


def as_protocol(wanted: Sequence[Requirement], ids: Mapping[str, str]) -> list[dict[str, Any]]:
    """QualificationRequirements as the API takes them. Raises KeyError for a name without an id."""
    return [_one(requirement, ids) for requirement in wanted]


def _one(requirement: Requirement, ids: Mapping[str, str]) -> dict[str, Any]:
    if requirement.kind == "locale":
        places = [_place(place) for place in requirement.places]
        comparator = "EqualTo" if len(places) == 1 else "In"
        return {"QualificationTypeId": LOCALE, "Comparator": comparator, "LocaleValues": places}
    if requirement.kind == NAMED:
        type_id = ids[requirement.name]
        if not requirement.value:
            return {"QualificationTypeId": type_id, "Comparator": "Exists"}
    else:
        type_id = {"percent_approved": PERCENT_APPROVED, "number_approved": NUMBER_APPROVED}[requirement.kind]
    return {
        "QualificationTypeId": type_id,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [requirement.value],
    }


def _place(text: str) -> dict[str, str]:
    country, _sign, part = text.partition("-")
    return {"Country": country} | ({"Subdivision": part} if part else {})
