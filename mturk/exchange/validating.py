"""Requests and answers held against botocore's own model of MTurk, more strictly than botocore does.

botocore sends wrong patterns, unknown words of an enumeration and values above a maximum without a word, and drops
members of an answer that it does not know. Here both sides are checked whole: required, unknown, type, enumeration,
pattern (by the whole text: "$" would let a line break through), minimum and maximum.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.model import OperationModel, ServiceModel, Shape

WHOLE_NUMBERS = {"integer": 2**31, "long": 2**63}
# Seconds since 1970 that are a date with a year of four digits.
EARLIEST_S, LATEST_S = -62_135_596_800, 253_402_300_799


@functools.cache
def service_model() -> ServiceModel:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")


@functools.cache
def operation_names() -> frozenset[str]:
    return frozenset(service_model().operation_names)


@functools.cache
def operation_model(name: str) -> OperationModel:
    return service_model().operation_model(name)


@dataclass(frozen=True)
class Problem:
    """What is wrong with one value. `kind`: missing, unknown, or value."""

    kind: str
    name: str
    value: Any
    why: str


def input_problems(operation: str, params: Any) -> list[Problem]:
    shape = operation_model(operation).input_shape
    return list(problems_of(shape, params, "")) if shape else []


def output_problems(operation: str, answer: Any) -> list[Problem]:
    shape = operation_model(operation).output_shape
    if shape is None:
        return [] if answer == {} else [Problem("unknown", operation, answer, "The operation answers nothing.")]
    return list(problems_of(shape, answer, ""))


def problems_of(shape: Shape, value: Any, name: str) -> Iterator[Problem]:
    """Everything in which a value differs from its shape."""
    kind = shape.type_name
    if kind == "structure":
        yield from structure_problems(shape, value, name)
    elif kind == "list":
        yield from list_problems(shape, value, name)
    else:
        why = scalar_problem(kind, value) or limit_problem(shape, value)
        if why:
            yield Problem("value", name, value, why)


def structure_problems(shape: Any, value: Any, name: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem("value", name, value, "It must be an object.")
        return
    for required in shape.required_members:
        if required not in value:
            yield Problem("missing", path(name, required), None, "It is required.")
    for key, member in value.items():
        if key in shape.members:
            yield from problems_of(shape.members[key], member, path(name, key))
        else:
            yield Problem("unknown", path(name, str(key)), member, "There is no such parameter.")


def list_problems(shape: Any, value: Any, name: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem("value", name, value, "It must be a list.")
        return
    if why := limit_problem(shape, value):
        yield Problem("value", name, value, why)
    for number, item in enumerate(value):
        yield from problems_of(shape.member, item, f"{name}[{number}]")


def scalar_problem(kind: str, value: Any) -> str:
    """Why a value is not of its kind; "" if it is."""
    if kind == "string":
        if not isinstance(value, str):
            return "It must be a text."
        return "" if is_storable(value) else "It has a character that is none (NUL, or half of a pair)."
    if kind == "boolean":
        return "" if isinstance(value, bool) else "It must be true or false."
    if isinstance(value, bool):
        return "It must be a number."
    if kind in WHOLE_NUMBERS:
        most = WHOLE_NUMBERS[kind]
        return "" if isinstance(value, int) and -most <= value < most else "It must be a whole number."
    if kind == "timestamp":
        is_time = isinstance(value, int | float) and math.isfinite(value) and EARLIEST_S <= value <= LATEST_S
        return "" if is_time else "It must be a time, in seconds since 1970."
    return f"This exchange does not know values of the kind {kind}."


def is_storable(text: str) -> bool:
    return "\0" not in text and not re.search("[\ud800-\udfff]", text)


def limit_problem(shape: Shape, value: Any) -> str:
    """Why a value of the right kind is out of its limits; "" if it is not."""
    limits = shape.metadata
    size = value if shape.type_name in WHOLE_NUMBERS else len(value) if isinstance(value, str | list) else None
    if size is not None and not limits.get("min", size) <= size <= limits.get("max", size):
        return f"It must be between {limits.get('min', 'nothing')} and {limits.get('max', 'any number')}; it is {size}."
    if "enum" in limits and value not in limits["enum"]:
        return f"It must be one of: {', '.join(limits['enum'])}."
    if "pattern" in limits and not re.fullmatch(limits["pattern"].removeprefix("^").removesuffix("$"), value):
        return f"It must have the form {limits['pattern']}."
    return ""


def path(name: str, member: str) -> str:
    return f"{name}.{member}" if name else member
