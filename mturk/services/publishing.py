"""PUBLISH: every planned HIT once at the market, however often this is begun and wherever it is cut off.

The row says what is known. Before a call it goes to "sending", with the time of its first sending; what comes back
decides the rest. Token and annotation are in the row from the beginning, so that
- the same call again within a day makes no second HIT: the market answers with the one that it has;
- a row whose token may have run out is looked up at the market by its annotation, and never sent again unseen.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import F, QuerySet

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.environments import environment
from mturk.market import Busy, Market, MarketError, NoFunds, NotVisibleYet, Refused, TaskType
from mturk.models import BatchState, CrowdBatch, CrowdHit, HitState, PaidKind
from mturk.requirements import as_protocol, read_requirements
from mturk.services.asking import question_of
from mturk.services.money import FUNDS, MARKET, lock_batch, pause, record_paid, reserve, settle_hit
from mturk.services.qualifying import resolve
from mturk.services.reconciling import TOKEN_LIFE, mark_live, reconcile

Clock = Callable[[], dt.datetime]
Report = Callable[[str, int, int], None]

OPEN = (HitState.PLANNED, HitState.SENDING, HitState.UNKNOWN)


class PublishStopped(Exception):
    """Publishing ended before its end, in good order. The batch says why."""


@dataclass(slots=True)
class Published:
    """What a run of publishing did."""

    live: int = 0
    failed: int = 0
    unclear: int = 0
    added: int = 0
    reconciled: int = 0
    errors: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        return {
            "live": self.live, "failed": self.failed, "unclear": self.unclear, "added": self.added,
            "reconciled": self.reconciled,
        }  # fmt: skip


def publish_batch(
    batch_id: int, market: Market, *, clock: Clock, report: Report | None = None, actor: User | None = None
) -> Published:
    """Send what is not at the market yet, then ask for the further assignments that are wanted."""
    batch = CrowdBatch.objects.select_related("project").get(pk=batch_id)
    done = Published()
    _refuse_stopped(batch_id)
    refuse_moved(batch, now=clock())
    waiting = CrowdHit.objects.filter(crowd_batch=batch, state__in=OPEN)
    if _has_doubtful(waiting, now=clock()):
        done.reconciled = reconcile(batch, market, now=clock())
    types = _Types(batch, market)
    total = waiting.count()
    for number, hit_id in enumerate(list(waiting.order_by("task").values_list("pk", flat=True))):
        if report:
            report("publishing", number, total)
        _refuse_stopped(batch_id)
        publish_hit(hit_id, market, types, done, clock=clock)
    if waiting.filter(state=HitState.UNKNOWN).exists():
        done.reconciled += reconcile(batch, market, now=clock())
        done.unclear = waiting.filter(state=HitState.UNKNOWN).count()
    if report:
        report("publishing", total, total)
    grant_more(batch, market, done, clock=clock)
    _finish(batch_id, done, now=clock(), actor=actor)
    return done


def _has_doubtful(waiting: QuerySet[CrowdHit], *, now: dt.datetime) -> bool:
    """Whether a row was sent so long ago that its token may not protect it any more."""
    return waiting.exclude(state=HitState.PLANNED).filter(first_sent_at__lte=now - TOKEN_LIFE).exists()


def refuse_moved(batch: CrowdBatch, *, now: dt.datetime) -> None:
    """A batch stays on the market that it was made for, even if a setting of that name points elsewhere now."""
    if environment(batch.environment).has_moved(batch.endpoint):
        pause(batch.pk, MARKET, now=now, actor=None)
        raise PublishStopped(f"The market {batch.environment!r} has another address than when the batch was made.")


def _refuse_stopped(batch_id: int) -> None:
    state = CrowdBatch.objects.values_list("state", flat=True).get(pk=batch_id)
    if state not in (BatchState.PUBLISHING, BatchState.LIVE):
        raise PublishStopped(f"The batch is {state}.")


class _Types:
    """HIT types of a batch by reward, made when the first HIT needs one. The same values are the same type there."""

    def __init__(self, batch: CrowdBatch, market: Market) -> None:
        self.batch, self.market = batch, market
        self.found: dict[int, str] = {}
        self.requirements: list[dict[str, object]] | None = None

    def get(self, reward_cents: int) -> str:
        if reward_cents not in self.found:
            if self.requirements is None:
                wanted = read_requirements(self.batch.requirements)
                ids = resolve(self.batch.environment, wanted, self.market)
                self.requirements = as_protocol(wanted, ids)
            own = self.batch
            self.found[reward_cents] = self.market.create_type(
                TaskType(own.title, own.description, own.keywords, reward_cents, own.duration_s, own.auto_approval_s,
                         self.requirements)
            )  # fmt: skip
        return self.found[reward_cents]


def publish_hit(hit_id: int, market: Market, types: _Types, done: Published, *, clock: Clock) -> None:
    """One HIT: say that it is sent, send it, say what came back. Each step is stored before the next."""
    try:
        type_id = types.get(CrowdHit.objects.values_list("reward_cents", flat=True).get(pk=hit_id))
    except KeyError as error:
        pause(types.batch.pk, MARKET, now=clock(), actor=None)
        raise PublishStopped(f"The market has no qualification {error.args[0]!r}.") from error
    except NoFunds as error:
        pause(types.batch.pk, FUNDS, now=clock(), actor=None)
        raise PublishStopped(str(error)) from error
    except Refused as error:
        pause(types.batch.pk, MARKET, now=clock(), actor=None)
        raise PublishStopped(f"The market refuses the settings of the batch: {error}") from error
    hit = CrowdHit.objects.select_related("crowd_batch__project", "crowd_batch__created_by").get(pk=hit_id)
    try:
        question = question_of(hit)
    except ValueError as error:  # too long for a HIT, or an address that no market shows
        if _fail_unsent(hit, str(error), now=clock()):
            done.failed += 1
            done.errors.append(str(error))
        return
    sending = _begin_sending(hit_id, now=clock())
    if sending is None:
        return
    hit = sending
    # Anything but the first sending of a row may find a HIT that is there already: a "no" then proves nothing.
    is_first = hit.first_sent_at == hit.sent_at
    try:
        made = market.create_hit(
            type_id, question=question, assignments=hit.assignments, lifetime_s=types.batch.lifetime_s,
            annotation=hit.annotation, token=hit.token,
        )  # fmt: skip
    except MarketError as error:
        _note_failure(hit, error, done, is_doubtful=error.is_doubtful or not is_first, now=clock())
        return
    if not made:  # it exists, but the market did not tell under which id: its annotation will
        _set_state(hit, HitState.UNKNOWN, "The market has it already and did not tell its id.")
        return
    if mark_live(hit, made, type_id=type_id, now=clock()):
        done.live += 1


@transaction.atomic
def _begin_sending(hit_id: int, *, now: dt.datetime) -> CrowdHit | None:
    """Note that a HIT is about to be sent; None if it is not to be, since the batch stopped or somebody did it."""
    batch = lock_batch(CrowdHit.objects.values_list("crowd_batch_id", flat=True).get(pk=hit_id))
    hit = CrowdHit.objects.select_for_update(no_key=True).get(pk=hit_id)
    if batch.state not in (BatchState.PUBLISHING, BatchState.LIVE) or hit.state not in OPEN:
        return None
    if hit.first_sent_at is not None and hit.first_sent_at <= now - TOKEN_LIFE:
        return None  # only the market knows; reconciling comes first
    assert hit.reserved_cents == hit.assignments * hit.unit_cents, "money is set aside before anything is sent"
    hit.state, hit.first_sent_at, hit.sent_at, hit.error = HitState.SENDING, hit.first_sent_at or now, now, ""
    hit.save(update_fields=["state", "first_sent_at", "sent_at", "error"])
    return hit


def _note_failure(hit: CrowdHit, error: MarketError, done: Published, *, is_doubtful: bool, now: dt.datetime) -> None:
    """What a failed call leaves behind. Only where nothing can have happened, the row forgets that it was sent."""
    if is_doubtful:
        _set_state(hit, HitState.UNKNOWN, str(error))
        done.unclear += 1
    elif isinstance(error, NoFunds | Busy | NotVisibleYet):
        _set_state(hit, HitState.PLANNED, str(error), never_sent=True)
    else:
        with transaction.atomic():  # a row that failed holds no money, at any moment
            lock_batch(hit.crowd_batch_id)
            _set_state(hit, HitState.FAILED, str(error), never_sent=True)
            settle_hit(hit.pk, now=now)
        done.failed += 1
        done.errors.append(str(error))
    if isinstance(error, NoFunds):
        pause(hit.crowd_batch_id, FUNDS, now=now, actor=None)
        raise PublishStopped(str(error))
    if not isinstance(error, Refused):  # busy or silent after all tries: the next HIT would fare no better
        raise PublishStopped(str(error))


@transaction.atomic
def _fail_unsent(hit: CrowdHit, why: str, *, now: dt.datetime) -> bool:
    """A HIT that cannot even be written down is refused by ourselves, unless it may be at the market."""
    lock_batch(hit.crowd_batch_id)
    rows = CrowdHit.objects.filter(pk=hit.pk, state=HitState.PLANNED, first_sent_at__isnull=True)
    changed = rows.update(state=HitState.FAILED, error=why[:2000])
    if changed:
        settle_hit(hit.pk, now=now)
    return bool(changed)


def _set_state(hit: CrowdHit, state: HitState, error: str, *, never_sent: bool = False) -> None:
    given = {"first_sent_at": None, "sent_at": None} if never_sent else {}
    CrowdHit.objects.filter(pk=hit.pk, state=HitState.SENDING).update(state=state, error=error[:2000], **given)


def grant_more(batch: CrowdBatch, market: Market, done: Published, *, clock: Clock) -> None:
    """Ask for further assignments of HITs that are live. How many there are is read first, so twice is once."""
    wanted = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, assignments__gt=F("granted"))
    for hit in wanted.order_by("task"):
        _refuse_stopped(batch.pk)
        try:
            facts = market.get_hit(hit.hit_id)
            if facts.most < hit.assignments:
                token = f"{hit.token[:40]}-to-{hit.assignments}"
                market.add_assignments(hit.hit_id, hit.assignments - facts.most, token=token)
            if facts.expires_at is not None and facts.expires_at <= clock():
                market.set_expiry(hit.hit_id, clock() + dt.timedelta(seconds=batch.lifetime_s))
        except NoFunds as error:
            pause(batch.pk, FUNDS, now=clock(), actor=None)
            raise PublishStopped(str(error)) from error
        except Refused as error:
            _give_up_more(hit, str(error), now=clock())
            done.errors.append(str(error))
            continue
        except MarketError as error:
            raise PublishStopped(str(error)) from error
        _note_granted(hit, now=clock())
        done.added += hit.assignments - hit.granted


@transaction.atomic
def _note_granted(hit: CrowdHit, *, now: dt.datetime) -> None:
    lock_batch(hit.crowd_batch_id)
    more = hit.assignments - hit.granted
    # Open again, as far as we know, until the market is asked the next time.
    changed = CrowdHit.objects.filter(pk=hit.pk, granted=hit.granted).update(
        granted=hit.assignments, status="Assignable", available=F("available") + more, error=""
    )
    if changed:
        token = f"{hit.token[:40]}-to-{hit.assignments}"
        cents = more * hit.unit_cents
        record_paid(PaidKind.ADD, hit.crowd_batch_id, token=token, cents=cents, now=now, hit=hit)


@transaction.atomic
def _give_up_more(hit: CrowdHit, why: str, *, now: dt.datetime) -> None:
    lock_batch(hit.crowd_batch_id)
    CrowdHit.objects.filter(pk=hit.pk).update(assignments=F("granted"), error=why[:2000])
    settle_hit(hit.pk, now=now)


@transaction.atomic
def _finish(batch_id: int, done: Published, *, now: dt.datetime, actor: User | None) -> None:
    batch = lock_batch(batch_id)
    is_whole = not CrowdHit.objects.filter(crowd_batch=batch, state__in=OPEN).exists()
    if batch.state == BatchState.PUBLISHING and is_whole:
        batch.state, batch.published_at = BatchState.LIVE, batch.published_at or now
        batch.save(update_fields=["state", "published_at"])
    if any(done.as_dict().values()):
        record_audit("publish", batch.project, target=str(batch), actor=actor, now=now, detail=done.as_dict())


@transaction.atomic
def retry_failed(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> int:
    """Plan HITs again that the market has refused; their money is set aside again, or none of them is planned."""
    batch = lock_batch(batch.pk)
    if batch.state not in (BatchState.PUBLISHING, BatchState.LIVE, BatchState.DONE):
        return 0
    failed = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.FAILED)
    rows = list(failed.defer("page"))
    reserve(batch, sum(hit.assignments * hit.unit_cents - hit.reserved_cents for hit in rows))
    for hit in rows:
        failed.filter(pk=hit.pk).update(
            state=HitState.PLANNED, error="", reserved_cents=hit.assignments * hit.unit_cents
        )
    if rows and batch.state != BatchState.PUBLISHING:
        batch.state = BatchState.PUBLISHING
        batch.save(update_fields=["state"])
    return len(rows)
