"""Answers to work: approved, rejected, and bonuses. Money moves here and in settling, nowhere else.

Every function here runs inside the transaction of its call, with the requester's row held and due things settled.
"""

from __future__ import annotations

import datetime as dt

from mturk.exchange.errors import Refused, not_allowed
from mturk.exchange.models import AssignmentState, Bonus, HitAssignment, LineKind, Requester
from mturk.exchange.queries import hit_state
from mturk.exchange.rules import BONUS_WITHIN, OVERRIDE_WITHIN
from mturk.exchange.services.ledger import level_hold, pay_assignment, post


def approve(
    requester: Requester, assignment: HitAssignment, *, feedback: str, override: bool, now: dt.datetime
) -> None:
    """Pay for work. A rejection can be taken back for a month; an approval cannot."""
    if assignment.state == AssignmentState.REJECTED and override:
        allow_override(requester, assignment, now=now)
    elif assignment.state != AssignmentState.SUBMITTED:
        raise wrong_state(assignment, "Submitted, Rejected" if override else "Submitted")
    decide(assignment, AssignmentState.APPROVED, feedback, now=now)
    pay_assignment(requester, assignment, at=now)


def allow_override(requester: Requester, assignment: HitAssignment, *, now: dt.datetime) -> None:
    """Put the reward back on hold: the rejection had released it."""
    assert assignment.submitted_at is not None
    if assignment.submitted_at < now - OVERRIDE_WITHIN:
        raise Refused("OverrideTooLate", id=assignment.assignment_id, days=OVERRIDE_WITHIN.days)
    hit = assignment.hit
    level_hold(requester, hit, hit_state(hit, now=now).may_cost + 1, at=now)


def reject(requester: Requester, assignment: HitAssignment, *, feedback: str, now: dt.datetime) -> None:
    """Refuse to pay for work. Its reward is free again; its place in the HIT is not."""
    if assignment.state != AssignmentState.SUBMITTED:
        raise wrong_state(assignment, "Submitted")
    decide(assignment, AssignmentState.REJECTED, feedback, now=now)
    hit = assignment.hit
    level_hold(requester, hit, hit_state(hit, now=now).may_cost, at=now)


def decide(assignment: HitAssignment, state: AssignmentState, feedback: str, *, now: dt.datetime) -> None:
    assignment.state, assignment.decided_at, assignment.feedback = state, now, feedback
    assignment.save(update_fields=["state", "decided_at", "feedback"])


def wrong_state(assignment: HitAssignment, allowed: str) -> Refused:
    state = AssignmentState(assignment.state).value.capitalize()
    return not_allowed("InvalidAssignmentState", thing="assignment", state=state, allowed=allowed)


def send_bonus(requester: Requester, assignment: HitAssignment, cents: int, *, reason: str, now: dt.datetime) -> Bonus:
    """Pay a worker on top, out of free money."""
    if cents < 1:
        raise Refused("InvalidParameterValue", value="0.00", name="BonusAmount", why="A bonus is at least 0.01.")
    assert assignment.submitted_at is not None
    if assignment.submitted_at < now - BONUS_WITHIN:
        why = "Its work was handed in more than six months ago."
        raise Refused("InvalidParameterValue", value=assignment.assignment_id, name="AssignmentId", why=why)
    worker = assignment.worker
    bonus = Bonus.objects.create(assignment=assignment, worker=worker, cents=cents, reason=reason, granted_at=now)
    post(requester, LineKind.BONUS, -cents, at=now, reference=assignment.assignment_id, worker=worker)
    return bonus
