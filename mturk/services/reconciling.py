"""PUBLISH, the doubtful cases: what the market has of a batch, found by annotation."""

from __future__ import annotations

import datetime as dt
import logging
from collections import defaultdict

from django.db import transaction

from annotation.services.auditing import record_audit
from mturk.market import HitFacts, Market
from mturk.models import CrowdBatch, CrowdHit, HitState, PaidKind
from mturk.services.money import lock_batch, record_paid
from mturk.services.planning import annotation_of, request_token

logger = logging.getLogger(__name__)

TOKEN_LIFE = dt.timedelta(hours=23)
"""Markets keep tokens for 24 hours from their first use; an hour of it is left to clocks that differ."""
MAY_EXIST = (HitState.PLANNED, HitState.SENDING, HitState.UNKNOWN)


def reconcile(batch: CrowdBatch, market: Market, *, now: dt.datetime) -> int:
    """Compare a batch with all HITs of the account: adopt those we have not heard of, take down what is there twice.

    A row that may have been sent more than a day ago and is not there has not been made; it gets a new revision with a
    new token and may be sent. How many rows were cleared up.
    """
    there = _hits_of(batch, market)
    cleared = 0
    for hit in CrowdHit.objects.filter(crowd_batch=batch, state__in=MAY_EXIST).order_by("task"):
        own = sorted(there.get(hit.task, ()), key=_seniority)
        if own:
            cleared += mark_live(hit, own[0].hit_id, type_id=own[0].hit_type_id, now=now)
        elif hit.first_sent_at is not None and hit.first_sent_at <= now - TOKEN_LIFE:
            cleared += _begin_anew(hit.pk, now=now)
    _take_down_surplus(batch, there, market, now=now)
    return cleared


def _hits_of(batch: CrowdBatch, market: Market) -> dict[int, list[HitFacts]]:
    """All HITs of a batch at the market by their number, of whatever revision."""
    begin = f"wb1:{batch.key}:"
    found: defaultdict[int, list[HitFacts]] = defaultdict(list)
    for facts in market.list_hits():
        if facts.annotation.startswith(begin):
            task, _sign, revision = facts.annotation.removeprefix(begin).partition(":")
            if task.isdecimal() and revision.isdecimal():
                found[int(task)].append(facts)
    return found


def _seniority(facts: HitFacts) -> tuple[int, dt.datetime, str]:
    """The one that workers have begun comes first, then the oldest."""
    return -(facts.most - facts.available), facts.created_at or dt.datetime.max.replace(tzinfo=dt.UTC), facts.hit_id


@transaction.atomic
def mark_live(hit: CrowdHit, market_id: str, *, type_id: str, now: dt.datetime) -> bool:
    """Note that the market has a HIT, with the line of what it commits. False if that was known."""
    batch = lock_batch(hit.crowd_batch_id)
    changed = CrowdHit.objects.filter(pk=hit.pk, state__in=MAY_EXIST).update(
        state=HitState.LIVE, hit_id=market_id, hit_type_id=type_id, live_at=now, granted=hit.assignments,
        available=hit.assignments, status="Assignable", error="",
        expires_at=now + dt.timedelta(seconds=batch.lifetime_s),
    )  # fmt: skip
    if changed:
        cents = hit.assignments * hit.unit_cents
        record_paid(PaidKind.CREATE, batch, token=hit.token, cents=cents, now=now, hit=hit, detail={"hit": market_id})
    return bool(changed)


@transaction.atomic
def _begin_anew(hit_id: int, *, now: dt.datetime) -> bool:
    batch = lock_batch(CrowdHit.objects.values_list("crowd_batch_id", flat=True).get(pk=hit_id))
    hit = CrowdHit.objects.select_for_update(no_key=True).get(pk=hit_id)
    if hit.state not in (HitState.SENDING, HitState.UNKNOWN):
        return False
    if hit.first_sent_at is None or hit.first_sent_at > now - TOKEN_LIFE:
        return False  # somebody else has begun it anew since we read it
    revision = hit.revision + 1
    CrowdHit.objects.filter(pk=hit.pk).update(
        state=HitState.PLANNED, revision=revision, token=request_token(batch.key, hit.task, revision),
        annotation=annotation_of(batch.key, hit.task, revision), first_sent_at=None, sent_at=None,
    )  # fmt: skip
    return True


def _take_down_surplus(
    batch: CrowdBatch, there: dict[int, list[HitFacts]], market: Market, *, now: dt.datetime
) -> None:
    """HITs that are there beside the one that counts are closed. Work that was begun on one is collected and paid."""
    live = dict(CrowdHit.objects.filter(crowd_batch=batch).exclude(hit_id="").values_list("task", "hit_id"))
    for task, own in there.items():
        for facts in own:
            if facts.hit_id == live.get(task) or task not in live:
                continue
            if facts.submitted or facts.pending:
                _remember_surplus(batch, task, facts.hit_id)
            if facts.is_over:
                continue
            market.set_expiry(facts.hit_id, now - dt.timedelta(days=1))
            with transaction.atomic():
                detail = {"hit": facts.hit_id, "annotation": facts.annotation}
                record_audit("expire surplus HIT", batch.project, target=str(batch), now=now, detail=detail)


@transaction.atomic
def _remember_surplus(batch: CrowdBatch, task: int, hit_id: str) -> None:
    lock_batch(batch.pk)
    row = CrowdHit.objects.get(crowd_batch=batch, task=task)
    if hit_id not in row.surplus:
        logger.warning("batch %s: HIT %s is there twice and somebody works on it", batch.pk, hit_id)
        CrowdHit.objects.filter(pk=row.pk).update(surplus=[*row.surplus, hit_id])
