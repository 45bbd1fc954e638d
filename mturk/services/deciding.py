"""COLLECT, the pay: what people decided about work is stored first; a worker process then tells the market.

Approving is "make it so": wanted and found alike is a success. Rejecting is for a person with a reason, one assignment
at a time; nothing in the program rejects by itself. A bonus is an outbox row with a token, like a HIT.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.market import Market, MarketError, Missing, NoFunds, Refused, Unclear
from mturk.models import (
    AssignmentStatus,
    BatchState,
    BonusState,
    CrowdAssignment,
    CrowdBatch,
    CrowdBonus,
    CrowdHit,
    HitState,
    PaidKind,
    Wish,
)
from mturk.pricing import Worked, bonus_fee_cents, dollars, median_seconds, read_fees, top_ups
from mturk.services.money import FUNDS, lock_batch, pause, record_decision, record_paid, reserve, settle_hit, wake
from mturk.services.reconciling import TOKEN_LIFE

Clock = Callable[[], dt.datetime]
SHORTEST_REASON = 20
TOP_UP = "top-up"
OVERRIDE_DAYS = 30


class CannotDecide(ValueError):
    """The decision makes no sense, or lacks a reason. The message says what to do."""


# --- decisions of people -------------------------------------------------------------------------------------------


def waiting_for_review(batch: CrowdBatch) -> QuerySet[CrowdAssignment]:
    """Work that nobody has decided on."""
    return CrowdAssignment.objects.filter(
        hit__crowd_batch=batch, status=AssignmentStatus.SUBMITTED, wish=Wish.NONE
    ).order_by("pk")


def passing(batch: CrowdBatch) -> QuerySet[CrowdAssignment]:
    """Work that waits and fails no check. Only what was read can pass."""
    return waiting_for_review(batch).filter(checks=[], problem="", answers__isnull=False)


def failing(batch: CrowdBatch) -> QuerySet[CrowdAssignment]:
    return waiting_for_review(batch).exclude(pk__in=passing(batch).values("pk"))


def all_work(batch: CrowdBatch) -> QuerySet[CrowdAssignment]:
    return CrowdAssignment.objects.filter(hit__crowd_batch=batch).order_by("pk")


def rejected(batch: CrowdBatch) -> QuerySet[CrowdAssignment]:
    """Work that is rejected, or shall be."""
    return all_work(batch).filter(Q(status=AssignmentStatus.REJECTED) | Q(wish=Wish.REJECT))


def is_open(row: CrowdAssignment) -> bool:
    """Whether nobody has decided on this work."""
    return row.status == AssignmentStatus.SUBMITTED and row.wish == Wish.NONE


def is_rejected(row: CrowdAssignment) -> bool:
    return row.wish == Wish.REJECT or (row.status == AssignmentStatus.REJECTED and row.wish != Wish.APPROVE)


def why_not_taken_back(row: CrowdAssignment, *, now: dt.datetime) -> str:
    """Why a rejection cannot become an approval; "" if it can. The market's rule, so nobody is promised in vain."""
    if not is_rejected(row):
        return _("This work is not rejected.")
    if row.status == AssignmentStatus.SUBMITTED:  # the market has not heard of it
        return ""
    if row.hit.state == HitState.GONE:
        return _("The HIT is deleted at the market, so its rejections stand.")
    if row.submitted_at and row.submitted_at < now - dt.timedelta(days=OVERRIDE_DAYS):
        return _("A rejection can be taken back for 30 days after the work came. It is too late for this one.")
    return ""


@transaction.atomic
def wish_approval(rows: Iterable[CrowdAssignment], batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> int:
    """Decide that work is paid. Rejected work is paid after all if that is still possible and the cap allows it."""
    batch = lock_batch(batch.pk)
    keys: Any = rows.values("pk") if isinstance(rows, QuerySet) else [row.pk for row in rows]
    own = CrowdAssignment.objects.filter(pk__in=keys, hit__crowd_batch=batch)
    back = list(own.filter(status=AssignmentStatus.REJECTED).exclude(wish=Wish.APPROVE).select_related("hit"))
    for row in back:
        if why := why_not_taken_back(row, now=now):
            raise CannotDecide(why)
        reserve(batch, row.hit.unit_cents)
        CrowdHit.objects.filter(pk=row.hit_id).update(reserved_cents=F("reserved_cents") + row.hit.unit_cents)
    fresh = Q(status=AssignmentStatus.SUBMITTED) & ~Q(wish=Wish.APPROVE)
    changed = CrowdAssignment.objects.filter(
        Q(pk__in=keys, hit__crowd_batch=batch) & fresh | Q(pk__in=[row.pk for row in back])
    ).update(wish=Wish.APPROVE, wish_reason="", wished_at=now, wished_by=actor, error="")
    if changed:
        wake(batch)
        detail = {"assignments": changed}
        record_audit("approve crowd work", batch.project, target=str(batch), actor=actor, now=now, detail=detail)
    return changed


@transaction.atomic
def wish_rejection(row: CrowdAssignment, reason: str, *, now: dt.datetime, actor: User) -> None:
    """Decide that one piece of work is not paid: a person, with a reason that the worker will read."""
    reason = " ".join(reason.split())
    if len(reason) < SHORTEST_REASON:
        raise CannotDecide(
            _("Say why, in %(n)s characters at least: the worker reads it, and a rejection can cost them other work.")
            % {"n": SHORTEST_REASON}
        )
    batch = lock_batch(row.hit.crowd_batch_id)
    changed = CrowdAssignment.objects.filter(pk=row.pk, status=AssignmentStatus.SUBMITTED).update(
        wish=Wish.REJECT, wish_reason=reason[:1000], wished_at=now, wished_by=actor, error=""
    )
    if not changed:
        raise CannotDecide(_("This work is decided already."))
    record_audit(
        "reject crowd work", batch.project, target=row.worker.key, actor=actor, now=now, detail={"reason": reason}
    )


# --- bonuses -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TopUp:
    """What would bring everybody's pay to the floor, by the median time."""

    cents: dict[int, int]  # by assignment
    fees: int
    median_s: float | None
    floor_cents: int

    @property
    def total(self) -> int:
        return sum(self.cents.values()) + self.fees


def preview_top_up(batch: CrowdBatch) -> TopUp:
    """Bonuses for all work that is approved, or shall be: whoever looks at work first pays no bonus for nothing."""
    rows = CrowdAssignment.objects.filter(
        Q(status=AssignmentStatus.APPROVED) | Q(wish=Wish.APPROVE), hit__crowd_batch=batch
    )
    given = dict(
        CrowdBonus.objects.filter(assignment__in=rows).exclude(state=BonusState.FAILED).order_by()
        .values_list("assignment").annotate(n=Sum("cents"))
    )  # fmt: skip
    works = [
        Worked(row.pk, row.worked_s, row.hit.reward_cents, given.get(row.pk, 0))
        for row in rows.select_related("hit").defer("raw", "whole", "answers", "hit__page").order_by("pk")
    ]
    cents = top_ups(works, batch.floor_cents)
    # One bonus of a purpose for an assignment: whoever got one is not topped up again.
    have = CrowdBonus.objects.filter(assignment__in=cents, purpose=TOP_UP).values_list("assignment", flat=True)
    done: set[int] = {int(pk) for pk in have}
    cents = {pk: each for pk, each in cents.items() if pk not in done}
    fees = read_fees(batch.fees)
    return TopUp(
        cents, sum(bonus_fee_cents(each, fees) for each in cents.values()), median_seconds(works), batch.floor_cents
    )


def bonus_token(assignment_id: str, purpose: str) -> str:
    return sha256(f"wb1-bonus/{assignment_id}/{purpose}".encode()).hexdigest()


@transaction.atomic
def plan_top_up(batch: CrowdBatch, *, expected: int, now: dt.datetime, actor: User | None) -> int:
    """Set the money for a top-up aside and plan its bonuses. `expected` is the total that somebody has seen."""
    batch = lock_batch(batch.pk)
    found = preview_top_up(batch)
    if found.total != expected:
        raise CannotDecide(
            _("More work has come in meanwhile: it is %(total)s now. Look again.") % {"total": dollars(found.total)}
        )
    reason = _("Your work took longer than we had thought. This brings its pay to %(floor)s an hour. Thank you.") % {
        "floor": dollars(batch.floor_cents)
    }
    reserve(batch, found.total)
    wake(batch)
    fees = read_fees(batch.fees)
    names = dict(CrowdAssignment.objects.filter(pk__in=found.cents).values_list("pk", "assignment_id"))
    CrowdBonus.objects.bulk_create(
        (
            CrowdBonus(
                assignment_id=pk, purpose=TOP_UP, cents=cents, fee_cents=bonus_fee_cents(cents, fees), reason=reason,
                created_at=now, created_by=actor, token=bonus_token(names[pk], TOP_UP),
            )
            for pk, cents in found.cents.items()
        ),
        batch_size=1_000,
    )  # fmt: skip
    detail = {"bonuses": len(found.cents), "cost": dollars(found.total)}
    record_audit("plan bonuses", batch.project, target=str(batch), actor=actor, now=now, detail=detail)
    return len(found.cents)


def next_bonus(row: CrowdAssignment) -> str:
    """The purpose of a further bonus. A page that is sent twice names the same one, so it is planned once."""
    return f"bonus {sum(bonus.purpose != TOP_UP for bonus in row.bonuses.all()) + 1}"


@transaction.atomic
def plan_bonus(
    row: CrowdAssignment, cents: int, purpose: str, reason: str, *, now: dt.datetime, actor: User | None
) -> CrowdBonus:
    """One bonus for one assignment. The same purpose twice is refused, whatever the amount."""
    if not reason.strip() or cents < 1 or not purpose:
        raise CannotDecide(_("A bonus needs an amount and a reason that the worker reads."))
    if is_rejected(row):
        raise CannotDecide(_("This work is rejected. Take the rejection back first."))
    batch = lock_batch(row.hit.crowd_batch_id)
    if CrowdBonus.objects.filter(assignment=row, purpose=purpose).exists():
        raise CannotDecide(_("This work has had its bonus."))
    fee = bonus_fee_cents(cents, read_fees(batch.fees))
    reserve(batch, cents + fee)
    wake(batch)
    detail = {"bonuses": 1, "cost": dollars(cents + fee)}
    record_audit("plan bonuses", batch.project, target=row.worker.key, actor=actor, now=now, detail=detail)
    return CrowdBonus.objects.create(
        assignment=row, purpose=purpose, cents=cents, fee_cents=fee, reason=reason, created_at=now, created_by=actor,
        token=bonus_token(row.assignment_id, purpose),
    )  # fmt: skip


# --- telling the market --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Settled:
    """What the market was told."""

    approved: int = 0
    rejected: int = 0
    bonuses: int = 0
    errors: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        return {"approved": self.approved, "rejected": self.rejected, "bonuses": self.bonuses}


def carry_out(
    batch_id: int, market: Market, *, clock: Clock, report: Callable[[str, int, int], None] | None = None
) -> Settled:
    """Tell the market every decision that it has not heard, then send the bonuses.

    Without money for a bonus the batch pauses; the others wait with it.
    """
    done = Settled()
    wishes = CrowdAssignment.objects.filter(hit__crowd_batch=batch_id).exclude(wish=Wish.NONE).order_by("pk")
    bonuses = CrowdBonus.objects.filter(assignment__hit__crowd_batch=batch_id).exclude(
        state__in=(BonusState.SENT, BonusState.FAILED)
    )
    total = wishes.count() + bonuses.count()
    for number, pk in enumerate(list(wishes.values_list("pk", flat=True))):
        if report:
            report("deciding", number, total)
        # As it is now: somebody may have decided otherwise since this began.
        row = wishes.select_related("hit", "wished_by").defer("raw", "whole", "answers", "hit__page").filter(pk=pk)
        for wish in row:
            _decide(wish, market, done, clock=clock)
    for number, bonus in enumerate(list(bonuses.order_by("pk")), start=total - bonuses.count()):
        if report:
            report("deciding", min(number, total), total)
        try:
            _send_bonus(bonus.pk, market, done, clock=clock)
        except NoFunds as error:
            pause(batch_id, FUNDS, now=clock(), actor=None)
            done.errors.append(str(error))
            break
    return done


def _decide(row: CrowdAssignment, market: Market, done: Settled, *, clock: Clock) -> None:
    wanted = AssignmentStatus.APPROVED if row.wish == Wish.APPROVE else AssignmentStatus.REJECTED
    try:
        if row.wish == Wish.APPROVE:
            market.approve(row.assignment_id, override=row.status == AssignmentStatus.REJECTED)
        else:
            market.reject(row.assignment_id, feedback=row.wish_reason)
    except Refused as error:
        try:
            status = market.get_assignment(row.assignment_id).status  # it may be as we want it already
        except Missing:
            status = row.status  # deleted there: nothing can be decided any more
        if status != wanted:
            _give_up(row, status, str(error), now=clock())
            done.errors.append(str(error))
            return
    _note_decided(row, wanted, done, now=clock())


@transaction.atomic
def _note_decided(row: CrowdAssignment, status: AssignmentStatus, done: Settled, *, now: dt.datetime) -> None:
    lock_batch(row.hit.crowd_batch_id)
    own = CrowdAssignment.objects.filter(pk=row.pk).exclude(wish=Wish.NONE)
    told = own.filter(wish=row.wish, wished_at=row.wished_at).update(
        status=status, wish=Wish.NONE, decided_at=now, error="",
        feedback=row.wish_reason if status == AssignmentStatus.REJECTED else row.feedback,
    )  # fmt: skip
    # Decided anew meanwhile: the market has heard the older word, and hears the newer one next.
    if not told and not own.update(status=status, decided_at=now):
        return
    record_decision(row, status, now=now, actor=row.wished_by)
    settle_hit(row.hit_id, now=now)
    done.approved += status == AssignmentStatus.APPROVED
    done.rejected += status == AssignmentStatus.REJECTED


@transaction.atomic
def _give_up(row: CrowdAssignment, status: str, why: str, *, now: dt.datetime) -> None:
    """The market decided otherwise, such as approved by itself before we rejected: its word counts."""
    lock_batch(row.hit.crowd_batch_id)
    own = CrowdAssignment.objects.filter(pk=row.pk, wish=row.wish, wished_at=row.wished_at)
    if own.update(wish=Wish.NONE, wish_reason="", status=status, error=why[:1000]):
        record_decision(row, status, now=now, actor=None)
        settle_hit(row.hit_id, now=now)


def _send_bonus(bonus_id: int, market: Market, done: Settled, *, clock: Clock) -> None:
    bonus = _begin_bonus(bonus_id, now=clock())
    if bonus is None:
        return
    row = bonus.assignment
    is_first = bonus.first_sent_at == bonus.sent_at
    try:
        if not is_first and _was_sent(bonus, market):
            _note_bonus(bonus, done, now=clock())
            return
        if not is_first and bonus.first_sent_at and bonus.first_sent_at <= clock() - TOKEN_LIFE:
            # The market has listed every bonus of this assignment, and ours is not among them.
            CrowdBonus.objects.filter(pk=bonus.pk).update(first_sent_at=clock())
        market.send_bonus(
            row.assignment_id, worker_id=row.worker.identity.name, cents=bonus.cents, reason=bonus.reason,
            token=bonus.token,
        )  # fmt: skip
    except MarketError as error:
        # Where an earlier call may have got through, the market was just asked: a plain "no" is one then as well.
        is_plain = isinstance(error, Refused) or (is_first and not isinstance(error, Unclear))
        is_doubtful = error.is_doubtful or not is_plain
        _note_bonus_failure(bonus, error, is_doubtful=is_doubtful)
        if isinstance(error, NoFunds) or not isinstance(error, Refused):
            raise
        done.errors.append(str(error))
        return
    _note_bonus(bonus, done, now=clock())


@transaction.atomic
def _begin_bonus(bonus_id: int, *, now: dt.datetime) -> CrowdBonus | None:
    bonus = (
        CrowdBonus.objects.select_for_update(no_key=True, of=("self",))
        .select_related("assignment__hit", "assignment__worker__identity")
        .get(pk=bonus_id)
    )
    if bonus.state in (BonusState.SENT, BonusState.FAILED):
        return None
    bonus.state, bonus.first_sent_at, bonus.sent_at = BonusState.SENDING, bonus.first_sent_at or now, now
    bonus.save(update_fields=["state", "first_sent_at", "sent_at"])
    return bonus


def _was_sent(bonus: CrowdBonus, market: Market) -> bool:
    """Whether the market lists it: an earlier call may have got through. Others like it have rows of their own."""
    like_it = CrowdBonus.objects.filter(
        assignment=bonus.assignment, cents=bonus.cents, reason=bonus.reason, state=BonusState.SENT
    )
    listed = list(market.list_bonuses(bonus.assignment.assignment_id))
    return listed.count((bonus.cents, bonus.reason)) > like_it.count()


@transaction.atomic
def _note_bonus(bonus: CrowdBonus, done: Settled, *, now: dt.datetime) -> None:
    batch_id = bonus.assignment.hit.crowd_batch_id
    lock_batch(batch_id)
    if CrowdBonus.objects.filter(pk=bonus.pk).exclude(state=BonusState.SENT).update(state=BonusState.SENT, error=""):
        record_paid(
            PaidKind.BONUS, batch_id, token=bonus.token, cents=bonus.cents + bonus.fee_cents, now=now,
            hit=bonus.assignment.hit, assignment=bonus.assignment, actor=bonus.created_by,
            detail={"purpose": bonus.purpose},
        )  # fmt: skip
        done.bonuses += 1


@transaction.atomic
def _note_bonus_failure(bonus: CrowdBonus, error: MarketError, *, is_doubtful: bool) -> None:
    batch = lock_batch(bonus.assignment.hit.crowd_batch_id)
    rows = CrowdBonus.objects.filter(pk=bonus.pk, state=BonusState.SENDING)
    if is_doubtful:
        rows.update(state=BonusState.UNKNOWN, error=str(error)[:1000])
    elif isinstance(error, Refused) and not isinstance(error, NoFunds):
        if rows.update(state=BonusState.FAILED, error=str(error)[:1000]):
            batch.reserved_cents -= bonus.cents + bonus.fee_cents
            batch.save(update_fields=["reserved_cents"])
    else:
        rows.update(state=BonusState.PLANNED, first_sent_at=None, sent_at=None, error=str(error)[:1000])


def is_settled(batch: CrowdBatch) -> bool:
    """Whether the market has heard everything that people decided."""
    wishes = CrowdAssignment.objects.filter(hit__crowd_batch=batch).exclude(wish=Wish.NONE)
    bonuses = CrowdBonus.objects.filter(assignment__hit__crowd_batch=batch)
    open_bonuses = bonuses.filter(~Q(state__in=(BonusState.SENT, BonusState.FAILED)))
    return batch.state != BatchState.DRAFT and not wishes.exists() and not open_bonuses.exists()
