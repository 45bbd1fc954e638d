"""PUBLISH, the money: what a batch may come to cost is reserved before anything is sent, under a lock and a cap.

`CrowdBatch.reserved_cents` is always the sum over its HITs and bonuses. It grows here alone, and only up to the cap;
the database holds the border as well. What can be owed no more (work never done, or rejected) is released.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.models import (
    AssignmentStatus,
    BatchState,
    BonusState,
    CrowdAssignment,
    CrowdBatch,
    CrowdBonus,
    CrowdHit,
    HitState,
    PaidAction,
    PaidKind,
    Wish,
)
from mturk.pricing import OverCap, dollars

OVER = ("Reviewable", "Reviewing", "Disposed")
FUNDS, PERSON, MARKET = "funds", "person", "market"
"""Why a batch is paused."""


def lock_batch(batch_id: int) -> CrowdBatch:
    """The batch, locked: whoever reserves or releases its money comes through here."""
    return CrowdBatch.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=batch_id)


def reserve(batch: CrowdBatch, cents: int) -> None:
    """Set money aside. The caller holds the lock of the batch and its transaction; above the cap nothing happens."""
    wanted = batch.reserved_cents + cents
    if wanted > batch.cap_cents:
        raise OverCap(wanted, batch.cap_cents)
    batch.reserved_cents = wanted
    batch.save(update_fields=["reserved_cents"])


def owed_cents(hit: CrowdHit, *, batch_state: str) -> int:
    """What a HIT may still come to cost: work handed in and not rejected, and what may yet be handed in."""
    if hit.state == HitState.FAILED:
        return 0
    if hit.state == HitState.PLANNED:
        return 0 if batch_state == BatchState.STOPPED else hit.assignments * hit.unit_cents
    if hit.state in (HitState.SENDING, HitState.UNKNOWN):
        return hit.assignments * hit.unit_cents
    counts = CrowdAssignment.objects.filter(hit=hit).aggregate(
        n=Count("pk"), rejected=Count("pk", filter=Q(status=AssignmentStatus.REJECTED) & ~Q(wish=Wish.APPROVE))
    )
    is_over = hit.state == HitState.GONE or hit.status in OVER
    elsewhere = CrowdAssignment.objects.filter(hit=hit, whole__HITId__in=hit.surplus).count() if hit.surplus else 0
    still = 0 if is_over else max(hit.granted - (counts["n"] - elsewhere), 0)
    asked = max(hit.assignments - hit.granted, 0) if hit.state == HitState.LIVE else 0
    return int((counts["n"] - counts["rejected"] + still + asked) * hit.unit_cents)


@transaction.atomic
def settle_hit(hit_id: int, *, now: dt.datetime) -> int:
    """Bring the reserve of a HIT to what it may still cost; the difference in cents.

    It can only have grown if somebody else paid at the market what was rejected here. That money is spent, so the cap
    goes along and the log says so.
    """
    batch = lock_batch(CrowdHit.objects.values_list("crowd_batch_id", flat=True).get(pk=hit_id))
    hit = CrowdHit.objects.select_for_update(no_key=True).get(pk=hit_id)
    owed = owed_cents(hit, batch_state=batch.state)
    change = owed - hit.reserved_cents
    if not change:
        return 0
    CrowdHit.objects.filter(pk=hit.pk).update(reserved_cents=owed)
    batch.reserved_cents += change
    if batch.reserved_cents > batch.cap_cents:
        batch.cap_cents = batch.reserved_cents
        record_audit(
            "raise cap", batch.project, target=str(batch), now=now,
            detail={"cap": dollars(batch.cap_cents), "why": "paid at the market by somebody else"},
        )  # fmt: skip
    batch.save(update_fields=["reserved_cents", "cap_cents"])
    return change


@transaction.atomic
def pause(batch_id: int, reason: str, *, now: dt.datetime, actor: User | None) -> bool:
    """Send nothing more until somebody resumes. False if it was not under way."""
    batch = lock_batch(batch_id)
    if batch.state not in (BatchState.PUBLISHING, BatchState.LIVE):
        return False
    batch.state, batch.pause_reason = BatchState.PAUSED, reason
    batch.save(update_fields=["state", "pause_reason"])
    record_audit("pause crowd batch", batch.project, target=str(batch), actor=actor, now=now, detail={"why": reason})
    return True


def wake(batch: CrowdBatch) -> None:
    """A batch that was done has something to tell the market again. The caller holds its lock."""
    if batch.state == BatchState.DONE:
        batch.state = BatchState.LIVE
        batch.save(update_fields=["state"])


@transaction.atomic
def set_cap(batch: CrowdBatch, cents: int, *, now: dt.datetime, actor: User | None) -> CrowdBatch:
    """Set the cap. It cannot go below what is reserved."""
    batch = lock_batch(batch.pk)
    if cents < batch.reserved_cents:
        raise OverCap(batch.reserved_cents, cents)
    batch.cap_cents = cents
    batch.save(update_fields=["cap_cents"])
    detail = {"cap": dollars(cents)}
    record_audit("raise cap", batch.project, target=str(batch), actor=actor, now=now, detail=detail)
    return batch


def record_paid(
    kind: PaidKind,
    batch: CrowdBatch | int,
    *,
    token: str,
    cents: int,
    now: dt.datetime,
    hit: CrowdHit | None = None,
    assignment: CrowdAssignment | None = None,
    actor: User | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    """A line for an act that moves money. The same act twice is one line, whoever comes second."""
    line = PaidAction(
        crowd_batch_id=batch if isinstance(batch, int) else batch.pk, kind=kind, token=token, cents=cents, at=now,
        hit=hit, assignment=assignment, actor=actor, detail=detail or {},
    )  # fmt: skip
    PaidAction.objects.bulk_create([line], ignore_conflicts=True)


def record_decision(row: CrowdAssignment, status: str, *, now: dt.datetime, actor: User | None) -> None:
    """The line for work that is paid or rejected, whoever decided it: a person, or the market by itself."""
    kind = {AssignmentStatus.APPROVED: PaidKind.APPROVE, AssignmentStatus.REJECTED: PaidKind.REJECT}.get(
        AssignmentStatus(status)
    )
    if kind is not None:
        record_paid(
            kind, row.hit.crowd_batch_id, token=row.assignment_id, now=now, hit=row.hit, assignment=row, actor=actor,
            cents=row.hit.unit_cents if kind == PaidKind.APPROVE else 0,
            detail={} if actor else {"by": "the market"},
        )  # fmt: skip


def reserved_in_rows(batch: CrowdBatch) -> int:
    """The sum that `reserved_cents` must be: over HITs and bonuses."""
    hits = CrowdHit.objects.filter(crowd_batch=batch).aggregate(n=Sum("reserved_cents"))["n"] or 0
    live = CrowdBonus.objects.filter(assignment__hit__crowd_batch=batch).exclude(state=BonusState.FAILED)
    sums = live.aggregate(cents=Sum("cents"), fees=Sum("fee_cents"))
    return int(hits + (sums["cents"] or 0) + (sums["fees"] or 0))
