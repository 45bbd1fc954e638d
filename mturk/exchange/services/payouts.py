"""Payout lists: what each worker is owed, and that they were paid. Paying happens outside the exchange."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Sum

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.exchange.models import TO_WORKERS, LedgerLine, LineKind, Payout, Requester, Worker
from mturk.exchange.money import EFFECTS, add_up, dollars_of
from mturk.exchange.services.ledger import lock_requester, post


class NotOwed(Exception):
    """Somebody notes a payout of more than is owed."""


@dataclass(frozen=True)
class Owed:
    """What a requester owes to a worker."""

    requester: Requester
    worker: Worker
    cents: int


def list_owed(requester: Requester | None = None) -> list[Owed]:
    """Everybody who has earned more than they were paid, by requester and worker."""
    lines = LedgerLine.objects.filter(kind__in=TO_WORKERS)
    if requester is not None:
        lines = lines.filter(requester=requester)
    sums: dict[tuple[int, int], int] = {}
    rows = lines.order_by("requester_id", "worker_id").values_list("requester_id", "worker_id", "kind")
    for requester_id, worker_id, kind, cents in rows.annotate(total=Sum("cents")):
        assert worker_id is not None
        key = (requester_id, worker_id)
        sums[key] = sums.get(key, 0) + EFFECTS[kind].owed * cents
    owing = {key: cents for key, cents in sums.items() if cents}
    requesters = Requester.objects.in_bulk({requester_id for requester_id, _worker_id in owing})
    workers = Worker.objects.select_related("user").in_bulk({worker_id for _requester_id, worker_id in owing})
    return [Owed(requesters[payer], workers[worker], cents) for (payer, worker), cents in owing.items()]


def owed_to(requester: Requester, worker: Worker) -> int:
    lines = LedgerLine.objects.filter(requester=requester, worker=worker).order_by().values_list("kind")
    return add_up(lines.annotate(total=Sum("cents"))).owed


@transaction.atomic
def mark_paid(
    requester: Requester, worker: Worker, cents: int, *, now: dt.datetime, actor: User | None = None
) -> Payout:
    """Note that a worker was paid. `cents` is what the person saw: if more was earned since, that stays owed."""
    locked = lock_requester(requester.pk)
    if not 0 < cents <= owed_to(locked, worker):
        raise NotOwed(f"{worker} is not owed {dollars_of(cents)} any more.")
    payout = Payout.objects.create(requester=locked, worker=worker, cents=cents, paid_at=now, paid_by=actor)
    post(locked, LineKind.PAYOUT, -cents, at=now, reference=f"payout {payout.pk}", worker=worker)
    detail = {"key": locked.key_id, "worker": worker.worker_id, "cents": cents}
    record_audit("pay out", None, target=locked.name, now=now, actor=actor, detail=detail)
    return payout
