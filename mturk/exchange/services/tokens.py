"""Request tokens: for a day, the same token does nothing a second time."""

from __future__ import annotations

import datetime as dt

from mturk.exchange.models import Requester, RequestToken
from mturk.exchange.rules import TOKEN_VALID


def result_of(requester: Requester, operation: str, token: str, *, now: dt.datetime) -> str | None:
    """What a token has made in the last day; None if nothing."""
    valid = RequestToken.objects.filter(
        requester=requester, operation=operation, token=token, created_at__gt=now - TOKEN_VALID
    )
    return valid.values_list("result", flat=True).first()


def remember(requester: Requester, operation: str, token: str, result: str, *, now: dt.datetime) -> None:
    """Note what a token made. Older than a day, it may be used anew and means the new thing."""
    RequestToken.objects.update_or_create(
        requester=requester, operation=operation, token=token, defaults={"result": result, "created_at": now}
    )
