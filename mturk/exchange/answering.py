"""From a request to its answer, step by step: signature, operation, parameters, rules, transaction, answer checked.

An answer that the service model would not allow is our fault, not the caller's: nothing of it is kept, and the caller
is told of a fault.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from mturk.exchange import wire
from mturk.exchange.errors import Refused
from mturk.exchange.models import Fault, FaultKind, Requester
from mturk.exchange.operations.calling import Call
from mturk.exchange.operations.table import CHANGING, READING, REFUSED
from mturk.exchange.rules import check_limits
from mturk.exchange.services import calls, clock, faults
from mturk.exchange.services.ledger import lock_requester
from mturk.exchange.services.settling import settle
from mturk.exchange.signing import SignedRequest, verify
from mturk.exchange.validating import output_problems

logger = logging.getLogger("exchange")


class OutputInvalid(Exception):
    """An answer of ours does not have the shape that the service model gives it."""


@dataclass(frozen=True)
class Reply:
    """What goes back. Tests may order it late, or not at all."""

    status: int
    body: bytes
    request_id: str
    delay_s: float = 0
    is_dropped: bool = False


def answer(request: SignedRequest) -> Reply:
    """Answer a request; every refusal becomes an error in MTurk's shape."""
    request_id = str(uuid.uuid4())
    try:
        if len(request.body) > wire.MOST_BYTES:
            raise Refused("TooLarge", most=wire.MOST_BYTES)
        requester = authenticate(request)
        operation = wire.read_operation(request.headers["x-amz-target"])
        struck = faults.strike(operation)
    except Refused as refused:
        return error_reply(refused, request_id)
    return strike_reply(struck, lambda: perform(requester, operation, request.body, request_id, struck), request_id)


def authenticate(request: SignedRequest) -> Requester:
    """Whose key signed the request. The real clock decides, so that no virtual time makes old requests good."""
    found: dict[str, Requester] = {}

    def secret_of(key_id: str) -> str | None:
        found.update({row.key_id: row for row in Requester.objects.filter(key_id=key_id, revoked_at__isnull=True)})
        return found[key_id].secret if key_id in found else None

    return found[verify(request, secret_of=secret_of, now=timezone.now())]


def strike_reply(struck: dict[FaultKind, Fault], do: Callable[[], Reply], request_id: str) -> Reply:
    """The answer under the failures that hit the call: before it, so that nothing happens, or after it."""
    if FaultKind.DROP_BEFORE in struck:
        return Reply(0, b"", request_id, is_dropped=True)
    if FaultKind.THROTTLE in struck:
        return error_reply(Refused("Throttling"), request_id)
    if FaultKind.NO_FUNDS in struck:
        return error_reply(Refused("InsufficientFunds"), request_id)
    reply = do()
    if FaultKind.ERROR_AFTER in struck:
        reply = error_reply(Refused("ServiceFault"), request_id)
    if FaultKind.SLOW in struck:
        reply = replace(reply, delay_s=struck[FaultKind.SLOW].seconds)
    return replace(reply, is_dropped=FaultKind.DROP_AFTER in struck)


def perform(
    requester: Requester, operation: str, body: bytes, request_id: str, struck: dict[FaultKind, Fault]
) -> Reply:
    """Carry out a call whose signature is good."""
    params: dict[str, Any] = {}
    try:
        params = wire.read_params(operation, body)
        if operation in REFUSED:
            raise Refused("NotImplemented", operation=operation, why=REFUSED[operation])
        check_limits(params)
        now = clock.now()
        settle(now=now, requester_id=requester.pk)
        is_empty = FaultKind.EMPTY_PAGE in struck
        call = Call(operation, requester, params, now, request_id, is_empty)
        shown = change(call) if operation in CHANGING else read(call)
        return Reply(200, wire.dump(shown), request_id)
    except Refused as refused:
        calls.record(
            requester, operation, params, status=refused.kind.status, error=refused.kind.code, at=timezone.now()
        )
        return error_reply(refused, request_id)
    except Exception:  # whatever it is, it is ours, and the caller gets an answer that its client understands
        logger.exception("%s could not be answered (request %s)", operation, request_id)
        return error_reply(Refused("ServiceFault"), request_id)


def read(call: Call) -> dict[str, Any]:
    fresh = Requester.objects.get(pk=call.requester.pk)  # settling may have moved money
    return checked(call.operation, READING[call.operation](replace(call, requester=fresh)))


@transaction.atomic
def change(call: Call) -> dict[str, Any]:
    """Carry out a call that changes something, with the requester's row held: two calls never spend the same cent."""
    locked = lock_requester(call.requester.pk)
    shown = checked(call.operation, CHANGING[call.operation](replace(call, requester=locked)))
    calls.record(locked, call.operation, call.params, status=200, error="", at=call.now)
    return shown


def checked(operation: str, shown: dict[str, Any]) -> dict[str, Any]:
    """An answer as it goes out, if the service model allows it."""
    on_wire: dict[str, Any] = wire.to_wire(shown)
    if problems := output_problems(operation, on_wire):
        raise OutputInvalid(f"{operation}: {problems}")
    return on_wire


def error_reply(refused: Refused, request_id: str) -> Reply:
    now_ms = int(clock.now().timestamp() * 1000)
    return Reply(refused.kind.status, wire.dump(refused.body(now_ms)), request_id)
