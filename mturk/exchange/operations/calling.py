"""One call of the API: who calls, with which parameters, when. And the ways from ids to the caller's own rows."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.signing import BadSignature, Signer
from django.db.models import Model, QuerySet

from mturk.exchange.errors import Refused
from mturk.exchange.models import HANDED_IN, Hit, HitAssignment, HitType, QualificationType, Requester, Worker
from mturk.exchange.qualifying import SYSTEM_TYPES
from mturk.exchange.rules import DEFAULT_PAGE

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Call:
    """A call whose signature and parameters are good. `is_empty_page` is a failure that tests order."""

    operation: str
    requester: Requester
    params: dict[str, Any]
    now: dt.datetime
    request_id: str
    is_empty_page: bool = False


Handler = Callable[[Call], dict[str, Any]]


def own_hit(call: Call) -> Hit:
    """The HIT that a call is about. Somebody else's does not exist, nor does one that was disposed of."""
    hits = call.requester.hits.filter(hit_id=call.params["HITId"], disposed_at__isnull=True)
    hit = hits.select_related("hit_type").first()
    if hit is None:
        raise Refused("HITDoesNotExist", id=call.params["HITId"])
    return hit


def own_hit_type(call: Call) -> HitType:
    hit_type = call.requester.hit_types.filter(hit_type_id=call.params["HITTypeId"]).first()
    if hit_type is None:
        raise Refused("HITTypeDoesNotExist", id=call.params["HITTypeId"])
    return hit_type


def own_assignment(call: Call, *, of_disposed: bool = False) -> HitAssignment:
    """The assignment that a call is about. Requesters see assignments from their submission on."""
    rows = HitAssignment.objects.filter(
        assignment_id=call.params["AssignmentId"], hit__requester=call.requester, state__in=HANDED_IN
    )
    if not of_disposed:
        rows = rows.filter(hit__disposed_at__isnull=True)
    assignment = rows.select_related("hit__hit_type", "worker").first()
    if assignment is None:
        raise Refused("AssignmentDoesNotExist", id=call.params["AssignmentId"])
    return assignment


def known_worker(call: Call) -> Worker:
    worker = Worker.objects.filter(worker_id=call.params["WorkerId"]).first()
    if worker is None:
        raise Refused("InvalidParameterValue", value=call.params["WorkerId"], name="WorkerId", why="")
    return worker


def own_qualification_type(call: Call) -> QualificationType:
    """The qualification type that a call is about: everybody may know it, its owner may change it."""
    type_id = call.params["QualificationTypeId"]
    if type_id in SYSTEM_TYPES:
        raise Refused("PermissionDenied", thing="QualificationType", id=type_id)
    found = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at__isnull=True)
    qualification_type = found.select_related("requester").first()
    if qualification_type is None:
        raise Refused("QualificationTypeDoesNotExist", id=type_id)
    if qualification_type.requester_id != call.requester.pk:
        raise Refused("PermissionDenied", thing="QualificationType", id=type_id)
    return qualification_type


def page_of(call: Call, rows: QuerySet[Row]) -> tuple[list[Row], str | None]:
    """One page of rows, oldest first, and the token of the next.

    A token names the last row seen, so rows that come or go meanwhile make no page skip or repeat one.
    """
    after = position(call)
    if call.is_empty_page:
        return [], token_after(call, after)
    size = call.params.get("MaxResults", DEFAULT_PAGE)
    found = list(rows.filter(pk__gt=after).order_by("pk")[: size + 1])
    page = found[:size]
    return page, token_after(call, page[-1].pk) if len(found) > size else None


def signer(call: Call) -> Signer:
    """Tokens are good for the same question of the same requester only."""
    question = {name: value for name, value in call.params.items() if name not in ("NextToken", "MaxResults")}
    salt = json.dumps([call.operation, call.requester.pk, question], sort_keys=True)
    return Signer(salt=salt)


def token_after(call: Call, key: int) -> str:
    # Two pages never have the same token: the client would take it for a circle.
    return signer(call).sign(f"{key}-{secrets.token_hex(4)}")


def position(call: Call) -> int:
    token = call.params.get("NextToken")
    if token is None:
        return 0
    try:
        return int(signer(call).unsign(token).split("-")[0])
    except (BadSignature, ValueError):
        raise Refused("InvalidParameterValue", value=token, name="NextToken", why="") from None


def listed(name: str, rows: list[dict[str, Any]], next_token: str | None) -> dict[str, Any]:
    return {"NumResults": len(rows), name: rows, "NextToken": next_token}
