"""COLLECT: what workers handed in, each assignment once, however often this is begun and wherever it is cut off.

An assignment is stored as it came, in a transaction of its own, before anybody reads it. Reading it and making
judgements of it is a second step that can fail without losing anything, and be repeated without doing it twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from django.db import transaction
from django.db.models import Count, F, Q

from annotation.judging.answers import ANSWERS
from annotation.models import Assignment, User
from annotation.services.auditing import record_audit
from annotation.services.crowd import CrowdRow, NothingAnswered, person_of_worker, store_crowd_answers, wanted_slots
from mturk.answers import read_answers
from mturk.checking import failed_checks
from mturk.market import AssignmentFacts, HitFacts, Market, Missing, WrongAccount
from mturk.models import (
    AssignmentStatus,
    BatchState,
    BonusState,
    CrowdAssignment,
    CrowdBatch,
    CrowdBonus,
    CrowdHit,
    CrowdKind,
    HitState,
    Wish,
)
from mturk.pricing import OverCap
from mturk.services.money import OVER, lock_batch, record_decision, reserve, settle_hit

Clock = Callable[[], dt.datetime]
Report = Callable[[str, int, int], None]
MOST_SECONDS = 86_400.0
LATER: dict[str, int] = {AssignmentStatus.SUBMITTED: 0, AssignmentStatus.REJECTED: 1, AssignmentStatus.APPROVED: 2}
"""The order in which an assignment goes through its states. A rejection can be taken back, an approval cannot."""


@dataclass(slots=True)
class Collected:
    """What a run of collecting found."""

    hits: int = 0
    asked: int = 0  # HITs whose assignments were listed
    new: int = 0
    changed: int = 0
    stored: int = 0
    problems: int = 0
    more: int = 0  # further assignments that are wanted now
    held_back: int = 0  # those for which the cap has no room
    errors: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if isinstance(value, int)}


def collect_batch(
    batch_id: int, market: Market, *, clock: Clock, report: Report | None = None, actor: User | None = None,
    every: bool = False,
) -> Collected:  # fmt: skip
    """Bring a batch up to date. Only HITs whose figures differ from ours are asked for, or all with `every`."""
    batch = CrowdBatch.objects.select_related("project", "batch").get(pk=batch_id)
    done = Collected()
    # Rows first, then the market: what somebody else learns in between is newer than what we have read.
    live = list(CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE).order_by("task"))
    there = {facts.hit_id: facts for facts in market.list_hits() if facts.annotation.startswith(f"wb1:{batch.key}:")}
    if not there and live and batch.state != BatchState.STOPPED:
        raise WrongAccount(
            f"The market lists none of the {len(live):,} HITs of this batch. Are these the keys that published it? "
            "Nothing was changed. If the HITs are truly gone, stop the batch."
        )
    live += _come_back(batch, there, now=clock())
    known = _known_counts(batch)
    done.hits = len(live)
    for number, hit in enumerate(live):
        if report:
            report("collecting", number, len(live))
        facts = there.get(hit.hit_id)
        has_news = every or hit.surplus or facts is None or _has_news(hit, facts, *known.get(hit.pk, (0, 0)))
        if has_news:
            collect_hit(hit, market, done, clock=clock)
        if facts is not None and (has_news or _differ(hit, facts)):
            _note_facts(hit, facts, now=clock())
            settle_hit(hit.pk, now=clock())
    if report:
        report("collecting", len(live), len(live))
    read_waiting(batch, done, clock=clock)
    if batch.batch is not None:
        ask_for_more(batch, done, now=clock())
    _finish(batch_id, done, now=clock(), actor=actor)
    return done


@transaction.atomic
def _come_back(batch: CrowdBatch, there: Collection[str], *, now: dt.datetime) -> list[CrowdHit]:
    """HITs that were taken for gone and are there after all, as after a look with another requester's keys."""
    gone = list(CrowdHit.objects.filter(crowd_batch=batch, state=HitState.GONE, hit_id__in=there).order_by("task"))
    if gone:
        locked = lock_batch(batch.pk)
        CrowdHit.objects.filter(pk__in=[hit.pk for hit in gone]).update(state=HitState.LIVE, status="", error="")
        if locked.state == BatchState.DONE:
            locked.state = BatchState.LIVE
            locked.save(update_fields=["state"])
        for hit in gone:
            hit.state, hit.status, hit.error = HitState.LIVE, "", ""
            settle_hit(hit.pk, now=now)
    return gone


def _known_counts(batch: CrowdBatch) -> dict[int, tuple[int, int]]:
    """By HIT: how many assignments we have, and how many of them are decided."""
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch).order_by().values_list("hit")
    decided = Count("pk", filter=~Q(status=AssignmentStatus.SUBMITTED))
    return {hit: (number, ended) for hit, number, ended in rows.annotate(n=Count("pk"), decided=decided)}


def _has_news(hit: CrowdHit, facts: HitFacts, have: int, decided: int) -> bool:
    # One that is over counts what nobody took neither as available nor as pending. It is asked once after that.
    if facts.is_over:
        return hit.status not in OVER or facts.completed != decided
    return facts.submitted != have or facts.completed != decided


def _differ(hit: CrowdHit, facts: HitFacts) -> bool:
    return (hit.status, hit.available, hit.pending, hit.granted) != (
        facts.status, facts.available, facts.pending, facts.most,
    )  # fmt: skip


def collect_hit(hit: CrowdHit, market: Market, done: Collected, *, clock: Clock) -> None:
    """All assignments of a HIT. One that the market does not know any more is told by what we have."""
    done.asked += 1
    for surplus in hit.surplus:
        with suppress(Missing):
            for facts in market.list_assignments(surplus):
                store_raw(hit, facts, done, now=clock())
    try:
        for facts in market.list_assignments(hit.hit_id):
            store_raw(hit, facts, done, now=clock())
    except Missing:
        with transaction.atomic():
            lock_batch(hit.crowd_batch_id)
            CrowdHit.objects.filter(pk=hit.pk, state=HitState.LIVE).update(
                state=HitState.GONE, error="The market does not have it any more."
            )
            settle_hit(hit.pk, now=clock())


@transaction.atomic
def store_raw(hit: CrowdHit, facts: AssignmentFacts, done: Collected, *, now: dt.datetime) -> CrowdAssignment:
    """Keep an assignment as it came. Known already: its status follows the market, its answer never changes."""
    worker = person_of_worker(hit.crowd_batch.project, facts.worker_id)
    row, is_new = CrowdAssignment.objects.get_or_create(
        assignment_id=facts.assignment_id,
        defaults={
            "hit": hit, "worker": worker, "raw": facts.answer, "whole": {**facts.whole, "HITId": facts.hit_id},
            "status": facts.status,
            "accepted_at": facts.accepted_at, "submitted_at": facts.submitted_at,
            "auto_approve_at": facts.auto_approve_at, "decided_at": facts.decided_at, "feedback": facts.feedback,
            "first_seen_at": now,
        },
    )  # fmt: skip
    done.new += is_new
    is_news = LATER[facts.status] > LATER[row.status]  # nothing goes back: the other way round, our word is newer
    if is_new or is_news:  # also what the market approved by itself
        record_decision(row, facts.status, now=facts.decided_at or now, actor=None)
    if not is_new and (is_news or (facts.answer and not row.raw)):
        if is_news:
            row.status, row.decided_at, row.feedback = facts.status, facts.decided_at, facts.feedback
        row.raw = row.raw or facts.answer
        row.save(update_fields=["status", "decided_at", "feedback", "raw"])
        done.changed += 1
    return row


def _note_facts(hit: CrowdHit, facts: HitFacts, *, now: dt.datetime) -> None:
    # Only a row that is as we have read it: somebody may have opened the HIT anew meanwhile.
    rows = CrowdHit.objects.filter(pk=hit.pk, status=hit.status, granted=hit.granted, expires_at=hit.expires_at)
    # What shall be opened, or stay open longer, stays due until the market was told.
    rows.filter(status="Due").update(available=facts.available, pending=facts.pending, synced_at=now)
    rows.exclude(status="Due").update(
        status=facts.status, available=facts.available, pending=facts.pending, synced_at=now,
        expires_at=facts.expires_at or hit.expires_at, granted=max(facts.most, hit.granted),
    )  # fmt: skip


# --- reading -------------------------------------------------------------------------------------------------------


def read_waiting(batch: CrowdBatch, done: Collected, *, clock: Clock, again: bool = False) -> None:
    """Make judgements of what was handed in and not read yet; `again` tries those that could not be read before."""
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch, answers__isnull=True)
    if not again:
        rows = rows.filter(problem="")
    for pk in list(rows.order_by("pk").values_list("pk", flat=True)):
        read_assignment(pk, done, now=clock())


def read_again(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> Collected:
    """Try once more what could not be read, as after an update of this program."""
    done = Collected()
    read_waiting(batch, done, clock=lambda: now, again=True)
    if done.stored:
        record_audit("collect", batch.project, target=str(batch), actor=actor, now=now, detail=done.as_dict())
    return done


@transaction.atomic
def read_assignment(pk: int, done: Collected, *, now: dt.datetime) -> None:
    """Read one answer. Whatever is wrong with it is said in its row, and the answer stays there as it came."""
    row = CrowdAssignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "hit__crowd_batch__project", "worker"
    ).get(pk=pk)  # fmt: skip
    if row.answers is not None:
        return
    row.problem = ""
    try:
        answers = read_answers(row.raw)
        row.active_s = _seconds(answers.get("seconds", ""))
        row.consent_version = answers.get("consent", "")[:64]
        row.checks = failed_checks(row.hit.crowd_batch.kind, row.hit.page, answers, seconds=row.worked_s)
        if row.hit.crowd_batch.kind == CrowdKind.PRESENCE:
            row.stored = _store(row, answers, now=now)
        row.answers = answers
        done.stored += 1
    except NothingAnswered as error:  # it could be read, there is just nothing in it
        row.answers, row.problem = answers, str(error)
        done.problems += 1
    except ValueError as error:
        row.problem = str(error) or type(error).__name__
        row.checks = ["unreadable"]
        done.problems += 1
    row.save(update_fields=["answers", "active_s", "consent_version", "checks", "problem", "stored"])


def _store(row: CrowdAssignment, answers: dict[str, str], *, now: dt.datetime) -> Assignment:
    sheet_id = row.hit.sheet_id
    assert sheet_id is not None, "a HIT of presence has a sheet"
    rows = [
        CrowdRow(asked["unit"], asked["text"], _answer(answers.get(f"u{place}", "")))
        for place, asked in enumerate(row.hit.page["rows"], start=1)
    ]
    comment = answers.get("comment", "").strip()
    return store_crowd_answers(
        sheet_id, key=f"crowd-{row.assignment_id}", judge=row.worker, rows=rows, seconds=row.worked_s,
        submitted_at=row.submitted_at or now, details={"comment": comment[:2000]} if comment else {}, now=now,
    )  # fmt: skip


def _answer(text: str) -> str | None:
    return text if text in ANSWERS else None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds <= MOST_SECONDS else None


# --- one more ------------------------------------------------------------------------------------------------------


@transaction.atomic
def ask_for_more(batch: CrowdBatch, done: Collected, *, now: dt.datetime) -> None:
    """Where the votes of a sheet leave units open, one more assignment of the same HIT, as far as the cap allows.

    Of the same HIT: so the market sees to it that it is somebody else. Money is set aside here, the market is asked by
    whoever publishes next.
    """
    assert batch.batch is not None, "only judging asks again"
    batch = lock_batch(batch.pk)
    if batch.state not in (BatchState.LIVE, BatchState.PUBLISHING):
        return
    assert batch.batch is not None
    wanted = wanted_slots(batch.batch)
    rows = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, assignments=F("granted"))
    for hit in rows.order_by("task"):
        more = wanted.get(hit.sheet_id or 0, 0) - hit.assignments
        # What is open there already, or lies there unread, may fill the slot.
        if more <= 0 or not _is_used_up(hit):
            continue
        try:
            reserve(batch, more * hit.unit_cents)
        except OverCap:
            done.held_back += more
            continue
        CrowdHit.objects.filter(pk=hit.pk).update(
            assignments=hit.assignments + more, reserved_cents=F("reserved_cents") + more * hit.unit_cents
        )
        done.more += more


def _is_used_up(hit: CrowdHit) -> bool:
    return CrowdAssignment.objects.filter(hit=hit).count() >= hit.granted


@transaction.atomic
def _finish(batch_id: int, done: Collected, *, now: dt.datetime, actor: User | None) -> None:
    batch = lock_batch(batch_id)
    batch.collected_at = now
    batch.save(update_fields=["collected_at"])
    note_complete(batch_id)
    if done.new or done.changed or done.stored or done.more:
        record_audit("collect", batch.project, target=str(batch), actor=actor, now=now, detail=done.as_dict())


@transaction.atomic
def note_complete(batch_id: int) -> None:
    """A batch of which nothing is left to do is done."""
    batch = lock_batch(batch_id)
    if batch.state == BatchState.LIVE and is_complete(batch):
        batch.state = BatchState.DONE
        batch.save(update_fields=["state"])


def held_back(batch: CrowdBatch) -> int:
    """Further assignments that votes call for and the cap has no room for."""
    if batch.batch is None or batch.state not in (BatchState.LIVE, BatchState.PUBLISHING):
        return 0
    wanted = wanted_slots(batch.batch)
    rows = CrowdHit.objects.filter(crowd_batch=batch, state=HitState.LIVE, assignments=F("granted"))
    return sum(max(wanted.get(sheet or 0, 0) - asked, 0) for sheet, asked in rows.values_list("sheet", "assignments"))


def is_complete(batch: CrowdBatch) -> bool:
    """Whether nothing is left to be done by anybody: all HITs are over, all work is decided, all bonuses are out."""
    hits = CrowdHit.objects.filter(crowd_batch=batch)
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch)
    bonuses = CrowdBonus.objects.filter(assignment__hit__crowd_batch=batch)
    return not (
        hits.filter(state__in=(HitState.PLANNED, HitState.SENDING, HitState.UNKNOWN)).exists()
        or hits.filter(state=HitState.LIVE, assignments__gt=F("granted")).exists()
        or hits.filter(state=HitState.LIVE).exclude(status__in=OVER).exists()
        or rows.filter(Q(status=AssignmentStatus.SUBMITTED) | ~Q(wish=Wish.NONE)).exists()
        or bonuses.exclude(state__in=(BonusState.SENT, BonusState.FAILED)).exists()
        or held_back(batch)
    )
