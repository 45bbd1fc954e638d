"""What time does: deadlines pass, work is approved by itself, HITs expire and are disposed of.

Nothing runs in the background. Whoever reads or changes something settles first what is due by then, so the exchange
is always seen as if it had been watched all the time. Call `settle` before the transaction of the act.
"""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from mturk.exchange.models import AssignmentState, Hit, HitAssignment
from mturk.exchange.queries import states_of
from mturk.exchange.rules import DISPOSED_AFTER
from mturk.exchange.services.ledger import level_hold, lock_requester, pay_assignment

PIECE = 500
OPEN_STATES = (AssignmentState.ACCEPTED, AssignmentState.SUBMITTED)


def settle(*, now: dt.datetime, requester_id: int | None = None) -> None:
    """Carry out what is due, for one requester or for all. Costs three look-ups by index when nothing is."""
    assignments = HitAssignment.objects.filter(is_late(now) | is_unanswered(now)).order_by()
    hits = Hit.objects.order_by().values_list("requester_id", flat=True)
    due = {
        *assignments.values_list("hit__requester_id", flat=True),
        *hits.filter(is_expired(now)),
        *hits.filter(is_forgotten(now)),
    }
    for key in sorted(due if requester_id is None else due & {requester_id}):
        while settle_requester(key, now=now):  # in pieces, so that others may write in between
            pass


@transaction.atomic
def settle_requester(requester_id: int, *, now: dt.datetime) -> bool:
    """Carry out what is due for the HITs of one requester, some hundreds at once; whether there is more."""
    requester = lock_requester(requester_id)
    late = late_assignments(now).filter(hit__requester=requester)
    expired = requester.hits.filter(is_expired(now))
    touched = {*late.values_list("hit_id", flat=True), *expired.values_list("pk", flat=True)}
    late.update(state=AssignmentState.ABANDONED)
    unanswered = HitAssignment.objects.filter(is_unanswered(now), hit__requester=requester).order_by("pk")
    piece = list(unanswered.select_related("hit__hit_type", "worker")[:PIECE])
    for assignment in piece:
        approved_at = assignment.auto_approve_at
        assert approved_at is not None
        assignment.state, assignment.decided_at = AssignmentState.APPROVED, approved_at
        assignment.save(update_fields=["state", "decided_at"])
        assignment.hit.refresh_from_db(fields=["held_cents"])  # two assignments of one HIT are two copies of it
        pay_assignment(requester, assignment, at=approved_at)
    expired.update(is_open=False)
    hits = list(Hit.objects.filter(pk__in=touched).select_related("hit_type"))
    states = states_of(hits, now=now)
    for hit in hits:
        level_hold(requester, hit, states[hit.pk].may_cost, at=now)
    requester.hits.filter(is_forgotten(now)).update(disposed_at=now)
    return len(piece) == PIECE


def late_assignments(now: dt.datetime) -> QuerySet[HitAssignment]:
    return HitAssignment.objects.filter(is_late(now))


def is_late(now: dt.datetime) -> Q:
    """Of an assignment: its deadline has passed."""
    return Q(state=AssignmentState.ACCEPTED, deadline__lte=now)


def is_unanswered(now: dt.datetime) -> Q:
    """Of an assignment: its requester has let the time for an answer pass."""
    return Q(state=AssignmentState.SUBMITTED, auto_approve_at__lte=now)


def is_expired(now: dt.datetime) -> Q:
    """Of a HIT: it has expired since somebody last looked."""
    return Q(is_open=True, expires_at__lte=now)


def is_forgotten(now: dt.datetime) -> Q:
    """Of a HIT: it expired long ago, nothing is left to do, and nothing has happened to it for as long."""
    limit = now - DISPOSED_AFTER
    is_busy = Q(state__in=OPEN_STATES) | Q(decided_at__gt=limit)
    is_idle = ~Exists(HitAssignment.objects.filter(is_busy, hit=OuterRef("pk")))
    return Q(is_open=False, disposed_at__isnull=True, expires_at__lte=limit) & Q(is_idle)
