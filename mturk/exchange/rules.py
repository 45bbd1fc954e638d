"""MTurk's rules as data: how long, how many, how late. The model of botocore holds other limits; these it lacks.

Sources: "docs" Amazon's API reference, "model" the texts in botocore's service model, "own" a limit of this exchange.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mturk.exchange.errors import Refused

YEAR_S = 31_536_000
MONTH_S = 2_592_000

# Assignments: a HIT that was created with fewer never reaches this number (it costs another fee). [model]
BORDER = 10
MOST_ASSIGNMENTS = 10**9
TOKEN_VALID = dt.timedelta(hours=24)  # [docs]
OVERRIDE_WITHIN = dt.timedelta(days=30)  # [model]
BONUS_WITHIN = dt.timedelta(days=183)  # the guide says six months [docs]
DISPOSED_AFTER = dt.timedelta(days=120)  # [docs]
NAME_KEPT = dt.timedelta(hours=48)  # of a deleted qualification type [model]
MOST_BLOCKS = 100_000  # [model]
DEFAULT_AUTO_APPROVAL_S = MONTH_S  # [docs]
DEFAULT_PAGE = 10


@dataclass(frozen=True)
class Limit:
    """The least and the most of a parameter, in its measure."""

    least: int
    most: int
    measure: str  # "value", "characters", "bytes", "items"
    source: str


LIMITS: dict[str, Limit] = {
    "LifetimeInSeconds": Limit(30, YEAR_S, "value", "docs"),
    "AssignmentDurationInSeconds": Limit(30, YEAR_S, "value", "docs"),
    "AutoApprovalDelayInSeconds": Limit(0, MONTH_S, "value", "docs"),
    "MaxAssignments": Limit(1, MOST_ASSIGNMENTS, "value", "docs"),
    "NumberOfAdditionalAssignments": Limit(1, MOST_ASSIGNMENTS, "value", "docs"),
    "Title": Limit(1, 128, "characters", "docs"),
    "Description": Limit(1, 2000, "characters", "docs"),
    "Keywords": Limit(0, 1000, "characters", "docs"),
    "RequesterAnnotation": Limit(0, 255, "characters", "docs"),
    "Question": Limit(1, 65_535, "bytes", "model"),
    "QualificationRequirements": Limit(0, 10, "items", "model"),
    "RequesterFeedback": Limit(0, 1024, "characters", "docs"),
    "Name": Limit(1, 200, "characters", "docs"),
    "Test": Limit(1, 65_535, "bytes", "model"),
    "AnswerKey": Limit(1, 65_535, "bytes", "model"),
    "TestDurationInSeconds": Limit(1, YEAR_S, "value", "docs"),
    "RetryDelayInSeconds": Limit(0, YEAR_S, "value", "docs"),
    "Subject": Limit(1, 200, "characters", "model"),
    "MessageText": Limit(1, 4096, "characters", "model"),
    "WorkerIds": Limit(1, 100, "items", "model"),
    "Reason": Limit(0, 4096, "characters", "own"),
}


def check_limits(params: Mapping[str, Any]) -> None:
    """Refuse the first parameter that is too small or too large."""
    for name, limit in LIMITS.items():
        if name not in params:
            continue
        size = measure(params[name], limit.measure)
        if not limit.least <= size <= limit.most:
            unit = "" if limit.measure == "value" else f" {limit.measure}"
            why = f"It must be between {limit.least} and {limit.most}{unit}; it is {size}."
            shown = params[name] if limit.measure == "value" else "…"
            raise Refused("InvalidParameterValue", value=shown, name=name, why=why)


def measure(value: Any, by: str) -> int:
    if by == "value":
        return int(value)
    return len(value.encode("utf-8", "surrogatepass")) if by == "bytes" else len(value)
