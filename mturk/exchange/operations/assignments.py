"""Calls about assignments, bonuses and money."""

from __future__ import annotations

from typing import Any

from mturk.exchange.errors import Refused
from mturk.exchange.models import HANDED_IN, Bonus, HitAssignment
from mturk.exchange.money import dollars_of
from mturk.exchange.operations.calling import Call, listed, own_assignment, own_hit, page_of
from mturk.exchange.operations.hits import read_amount
from mturk.exchange.operations.presenting import show_assignment, show_bonus, show_hits
from mturk.exchange.services import deciding, tokens


def get_assignment(call: Call) -> dict[str, Any]:
    assignment = own_assignment(call)
    return {"Assignment": show_assignment(assignment), "HIT": show_hits([assignment.hit], now=call.now)[0]}


def list_assignments(call: Call) -> dict[str, Any]:
    wanted = [status.lower() for status in call.params.get("AssignmentStatuses", [])] or HANDED_IN
    rows = HitAssignment.objects.filter(hit=own_hit(call), state__in=wanted).select_related("hit", "worker")
    page, next_token = page_of(call, rows)
    return listed("Assignments", [show_assignment(row) for row in page], next_token)


def approve_assignment(call: Call) -> dict[str, Any]:
    deciding.approve(
        call.requester,
        own_assignment(call),
        feedback=call.params.get("RequesterFeedback", ""),
        override=call.params.get("OverrideRejection", False),
        now=call.now,
    )
    return {}


def reject_assignment(call: Call) -> dict[str, Any]:
    feedback = call.params["RequesterFeedback"]
    if not feedback.strip():
        raise Refused("MissingParameter", name="RequesterFeedback")
    deciding.reject(call.requester, own_assignment(call), feedback=feedback, now=call.now)
    return {}


def send_bonus(call: Call) -> dict[str, Any]:
    """Pay a bonus. A token that was used says so with the id of the request that paid."""
    token = call.params.get("UniqueRequestToken")
    made = tokens.result_of(call.requester, call.operation, token, now=call.now) if token else None
    if made:
        raise Refused("DuplicateRequest", id=made, token=token)
    assignment = own_assignment(call, of_disposed=True)
    if assignment.worker.worker_id != call.params["WorkerId"]:
        why = "The assignment is another worker's."
        raise Refused("InvalidParameterValue", value=call.params["WorkerId"], name="WorkerId", why=why)
    reason = call.params["Reason"]
    if not reason.strip():
        raise Refused("MissingParameter", name="Reason")
    cents = read_amount(call.params["BonusAmount"], "BonusAmount")
    deciding.send_bonus(call.requester, assignment, cents, reason=reason, now=call.now)
    if token:
        tokens.remember(call.requester, call.operation, token, call.request_id, now=call.now)
    return {}


def list_bonus_payments(call: Call) -> dict[str, Any]:
    if ("HITId" in call.params) == ("AssignmentId" in call.params):
        raise Refused("MissingParameter", name="either HITId or AssignmentId")
    rows = Bonus.objects.filter(assignment__hit__requester=call.requester).select_related("worker", "assignment")
    if "HITId" in call.params:
        rows = rows.filter(assignment__hit=own_hit(call))
    else:
        rows = rows.filter(assignment=own_assignment(call, of_disposed=True))
    page, next_token = page_of(call, rows)
    return listed("BonusPayments", [show_bonus(row) for row in page], next_token)


def get_account_balance(call: Call) -> dict[str, Any]:
    return {
        "AvailableBalance": dollars_of(call.requester.balance_cents),
        "OnHoldBalance": dollars_of(call.requester.held_cents),
    }
