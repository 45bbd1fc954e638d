"""The wire: JSON 1.1 as AWS's clients speak it, read strictly and written so that they understand it."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from mturk.exchange.errors import Refused
from mturk.exchange.validating import Problem, input_problems, operation_names

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET = "MTurkRequesterServiceV20170117."
# A question of 65,535 bytes that is all escapes has six times that; everything else in a request is small.
MOST_BYTES = 512 * 1024


def read_operation(target: str) -> str:
    """The operation that a request is for."""
    name = target.removeprefix(TARGET)
    if not target.startswith(TARGET) or name not in operation_names():
        raise Refused("UnknownOperation", operation=name[:80])
    return name


def read_params(operation: str, body: bytes) -> dict[str, Any]:
    """The parameters of a call, as the model wants them. A null is a parameter that was left out."""
    try:
        params = json.loads(body or b"{}", parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Refused("Serialization", why="The body is not JSON.") from None
    if not isinstance(params, dict):
        raise Refused("Serialization", why="The body must be a JSON object.")
    params = {name: value for name, value in params.items() if value is not None}
    for problem in input_problems(operation, params):
        raise refusal(problem)
    return params


def refuse_constant(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON


def refusal(problem: Problem) -> Refused:
    if problem.kind == "missing":
        return Refused("MissingParameter", name=problem.name)
    if problem.kind == "unknown":
        return Refused("InvalidParameterValue", value=problem.name, name="request", why=problem.why)
    shown = problem.value if isinstance(problem.value, str | int | float) else json.dumps(problem.value)
    return Refused("InvalidParameterValue", value=str(shown)[:100], name=problem.name, why=problem.why)


def to_wire(value: Any) -> Any:
    """An answer as JSON has it: times are seconds since 1970, what is None is left out."""
    if isinstance(value, dt.datetime):
        return round(value.timestamp(), 3)
    if isinstance(value, dict):
        return {name: to_wire(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [to_wire(item) for item in value]
    return value


def dump(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode("ascii")
