"""PUBLISH, the end: pausing, resuming and stopping a batch, opening HITs again, and deleting what was copied."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from annotation.models import User
from annotation.services.auditing import record_audit
from annotation.services.batches import close_batch
from mturk.market import Market, Missing, NoFunds
from mturk.models import (
    AssignmentStatus,
    BatchState,
    BonusState,
    CrowdAssignment,
    CrowdBatch,
    CrowdHit,
    HitState,
    PaidKind,
    Wish,
)
from mturk.services.collecting import Collected, collect_hit
from mturk.services.money import FUNDS, OVER, PERSON, lock_batch, pause, record_paid, reserve, settle_hit
from mturk.services.publishing import OPEN
from mturk.services.reconciling import reconcile

Clock = Callable[[], dt.datetime]
PAST = dt.timedelta(days=1)
DUE = "Due"
"""The status of a HIT that shall be open, or open longer, until the market has heard of it."""


class CannotEnd(ValueError):
    """The batch is not in a state for that. The message says why."""


@transaction.atomic
def resume(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> CrowdBatch:
    """Go on with a paused batch. HITs that the pause took down are opened again, with money set aside for them."""
    batch = lock_batch(batch.pk)
    if batch.state != BatchState.PAUSED:
        raise CannotEnd(_("The batch is not paused."))
    was_down = batch.pause_reason == PERSON
    waits = CrowdHit.objects.filter(crowd_batch=batch, state__in=OPEN).exists()
    batch.state, batch.pause_reason = (BatchState.PUBLISHING if waits else BatchState.LIVE), ""
    batch.save(update_fields=["state", "pause_reason"])
    if was_down:
        _open_again(batch)
        # What somebody was working on is closed as well, and still has its money.
        CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, expires_at__lte=now).exclude(
            status__in=OVER
        ).update(status=DUE)
    record_audit("resume crowd batch", batch.project, target=str(batch), actor=actor, now=now)
    return batch


@transaction.atomic
def reopen(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> int:
    """Open HITs again that ran out before all their work was done. How many assignments that asks for."""
    batch = lock_batch(batch.pk)
    if batch.state not in (BatchState.LIVE, BatchState.DONE):
        raise CannotEnd(_("Only a batch that is out can be opened again."))
    wanted = _open_again(batch)
    if wanted and batch.state == BatchState.DONE:
        batch.state = BatchState.LIVE
        batch.save(update_fields=["state"])
    detail = {"assignments": wanted}
    record_audit("reopen HITs", batch.project, target=str(batch), actor=actor, now=now, detail=detail)
    return wanted


@transaction.atomic
def extend(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> int:
    """Keep HITs that are open on the market for its whole time from now on. How many those are."""
    batch = lock_batch(batch.pk)
    if batch.state != BatchState.LIVE:
        raise CannotEnd(_("Only a batch that is out can stay longer."))
    longer = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE).exclude(status__in=OVER).update(status=DUE)
    if not longer:
        raise CannotEnd(_("No HIT is open."))
    record_audit(
        "extend HITs", batch.project, target=str(batch), actor=actor, now=now,
        detail={"hits": longer, "seconds": batch.lifetime_s},
    )  # fmt: skip
    return longer


def _open_again(batch: CrowdBatch) -> int:
    """Set money aside for what is missing on HITs that are over. "Due" until the market has been told."""
    wanted = 0
    for hit in CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, status__in=OVER):
        missing = hit.granted - CrowdAssignment.objects.filter(hit=hit).count()
        if missing > 0:
            reserve(batch, missing * hit.unit_cents)
            CrowdHit.objects.filter(pk=hit.pk).update(
                reserved_cents=F("reserved_cents") + missing * hit.unit_cents, status=DUE
            )
            wanted += missing
    return wanted


@transaction.atomic
def stop(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> CrowdBatch:
    """Publish nothing more and take all HITs down. Work that is handed in or under way is still collected and paid."""
    batch = lock_batch(batch.pk)
    if batch.state in (BatchState.DRAFT, BatchState.STOPPED, BatchState.DONE):
        raise CannotEnd(_("There is nothing to stop."))
    batch.state, batch.pause_reason, batch.stopped_at = BatchState.STOPPED, "", now
    batch.save(update_fields=["state", "pause_reason", "stopped_at"])
    # What was to be opened again stays closed.
    closed = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, status=DUE, expires_at__lte=now)
    for pk in list(closed.values_list("pk", flat=True)):
        CrowdHit.objects.filter(pk=pk).update(status="Reviewable")
        settle_hit(pk, now=now)
    if batch.batch is not None:
        close_batch(batch.batch, now=now, actor=actor)
    record_audit("stop crowd batch", batch.project, target=str(batch), actor=actor, now=now)
    return batch


def align(batch_id: int, market: Market, *, clock: Clock) -> int:
    """Make the market open or closed as the batch is: down when stopped or paused by a person, open what is due."""
    batch = CrowdBatch.objects.select_related("project").get(pk=batch_id)
    hits = CrowdHit.objects.filter(crowd_batch=batch)
    changed = 0
    if _is_down(batch.pk):
        if hits.filter(state__in=(HitState.SENDING, HitState.UNKNOWN)).exists():
            reconcile(batch, market, now=clock())
        for hit in hits.filter(state=HitState.LIVE).exclude(status__in=OVER):
            if not _is_down(batch.pk):
                return changed  # somebody resumed meanwhile
            if hit.expires_at is None or hit.expires_at > clock():
                changed += _set_expiry(hit, clock() - PAST, PaidKind.EXPIRE, market, now=clock())
        if batch.state == BatchState.STOPPED:
            for pk in hits.filter(state=HitState.PLANNED, reserved_cents__gt=0).values_list("pk", flat=True):
                settle_hit(pk, now=clock())
        return changed
    for hit in hits.filter(state=HitState.LIVE, status=DUE):
        if not hits.filter(pk=hit.pk, crowd_batch__state__in=(BatchState.PUBLISHING, BatchState.LIVE)).exists():
            break
        until = clock() + dt.timedelta(seconds=batch.lifetime_s)
        try:
            changed += _set_expiry(hit, until, PaidKind.EXTEND, market, now=clock())
        except NoFunds:  # it stays due, and is opened once somebody resumes
            pause(batch.pk, FUNDS, now=clock(), actor=None)
            break
    return changed


def _is_down(batch_id: int) -> bool:
    """Whether the HITs of a batch shall be closed, as of now."""
    person = Q(state=BatchState.PAUSED, pause_reason=PERSON)
    return CrowdBatch.objects.filter(Q(state=BatchState.STOPPED) | person, pk=batch_id).exists()


def _set_expiry(hit: CrowdHit, at: dt.datetime, kind: PaidKind, market: Market, *, now: dt.datetime) -> int:
    try:
        market.set_expiry(hit.hit_id, at)
    except Missing:
        return 0
    with transaction.atomic():
        lock_batch(hit.crowd_batch_id)
        if kind == PaidKind.EXTEND:
            changed = {"status": "Assignable"}
        else:  # resumed while it was being closed: the next turn opens it
            changed = {} if _is_down(hit.crowd_batch_id) else {"status": DUE}
        CrowdHit.objects.filter(pk=hit.pk).update(expires_at=at, **changed)
        token = f"{kind}-{hit.hit_id}-{int(at.timestamp())}"
        cents = hit.reserved_cents if kind == PaidKind.EXTEND else 0
        record_paid(kind, hit.crowd_batch_id, token=token, cents=cents, now=now, hit=hit)
    return 1


# --- deleting ------------------------------------------------------------------------------------------------------


def copy_digest(batch: CrowdBatch) -> str:
    """Names all answers that we have of a batch."""
    digest = sha256()
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch).order_by("assignment_id")
    for assignment_id, raw, status in rows.values_list("assignment_id", "raw", "status").iterator(chunk_size=1000):
        digest.update(f"{assignment_id}\0{status}\0{raw}\0".encode())
    return digest.hexdigest()


def delete_copied(batch_id: int, market: Market, *, clock: Clock, actor: User | None = None) -> int:
    """Delete HITs at the market whose work is decided and copied: every assignment there is read again and compared.

    One that differs by a letter, or that is not over, stays. How many were deleted.
    """
    batch = CrowdBatch.objects.select_related("project").get(pk=batch_id)
    deleted = 0
    for hit in CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, status__in=OVER).order_by("task"):
        if not _is_copied(hit, market, clock=clock):
            continue
        for hit_id in (*hit.surplus, hit.hit_id):
            with suppress(Missing):
                market.delete_hit(hit_id)
        with transaction.atomic():
            lock_batch(batch.pk)
            CrowdHit.objects.filter(pk=hit.pk).update(state=HitState.GONE, status="Disposed")
            token = f"delete-{hit.hit_id}"
            record_paid(PaidKind.DELETE, batch, token=token, cents=0, now=clock(), hit=hit, actor=actor)
            settle_hit(hit.pk, now=clock())
        deleted += 1
    if deleted:
        detail = {"hits": deleted, "answers": copy_digest(batch)}
        record_audit("delete HITs", batch.project, target=str(batch), actor=actor, now=clock(), detail=detail)
    return deleted


def _is_copied(hit: CrowdHit, market: Market, *, clock: Clock) -> bool:
    """Whether all its work is here to the letter, decided, and nothing is on its way to the market."""
    collect_hit(hit, market, Collected(), clock=clock)
    rows = CrowdAssignment.objects.filter(hit=hit)
    unsent = ~Q(bonuses__state__in=(BonusState.SENT, BonusState.FAILED)) & Q(bonuses__isnull=False)
    if rows.filter(~Q(wish=Wish.NONE) | unsent).exists():
        return False
    own = {pk: (raw, status) for pk, raw, status in rows.values_list("assignment_id", "raw", "status")}
    there = {
        facts.assignment_id: (facts.answer, facts.status)
        for hit_id in (*hit.surplus, hit.hit_id)
        for facts in market.list_assignments(hit_id)
    }
    return own == there and all(status != AssignmentStatus.SUBMITTED for _raw, status in own.values())
