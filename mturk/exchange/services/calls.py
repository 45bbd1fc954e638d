"""The log of calls that changed something or were refused, without what people wrote."""

from __future__ import annotations

import datetime as dt
from typing import Any

from mturk.exchange.models import CallLog, Requester

KEEP, PRUNE_EVERY = 100_000, 1_000
WRITTEN = ("Question", "Test", "AnswerKey", "MessageText", "Subject", "RequesterFeedback", "Reason")


def record(
    requester: Requester, operation: str, params: dict[str, Any], *, status: int, error: str, at: dt.datetime
) -> None:
    row = CallLog.objects.create(
        requester=requester, operation=operation, request=redact(params), status=status, error=error, at=at
    )
    if row.pk % PRUNE_EVERY == 0:
        CallLog.objects.filter(pk__lte=row.pk - KEEP).delete()


def redact(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with texts replaced by their length."""
    return {
        name: f"({len(value)} characters)" if name in WRITTEN and isinstance(value, str) else value
        for name, value in params.items()
    }
