"""What requesters do about workers: block them, let them again, write to them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from mturk.exchange.errors import Refused
from mturk.exchange.models import AssignmentState, Block, HitAssignment, Message, Requester, Worker
from mturk.exchange.rules import MOST_BLOCKS


def block(requester: Requester, worker: Worker, reason: str, *, now: dt.datetime) -> None:
    """Keep a worker from the requester's HITs. A second block changes the reason."""
    mine = requester.blocks.filter(worker=worker)
    if not mine.exists() and requester.blocks.count() >= MOST_BLOCKS:
        raise Refused("TooMany", name="WorkerId", why=f"A requester blocks at most {MOST_BLOCKS} workers.")
    Block.objects.update_or_create(requester=requester, worker=worker, defaults={"reason": reason, "created_at": now})


def unblock(requester: Requester, worker: Worker) -> None:
    Block.objects.filter(requester=requester, worker=worker).delete()


def notify(
    requester: Requester, worker_ids: Iterable[str], *, subject: str, text: str, now: dt.datetime
) -> dict[str, str]:
    """Write to workers whose work the requester has answered. Returns why others were not written to, by id."""
    workers = Worker.objects.in_bulk(list(dict.fromkeys(worker_ids)), field_name="worker_id")
    answered = HitAssignment.objects.filter(
        hit__requester=requester, state__in=(AssignmentState.APPROVED, AssignmentState.REJECTED)
    )
    known = set(answered.filter(worker__in=workers.values()).values_list("worker__worker_id", flat=True))
    Message.objects.bulk_create(
        Message(requester=requester, worker=workers[key], subject=subject, text=text, sent_at=now)
        for key in workers
        if key in known
    )
    return {
        key: "This worker has no work that you approved or rejected." if key in workers else "This worker is not known."
        for key in dict.fromkeys(worker_ids)
        if key not in known
    }
