"""Requesters and their keys."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.exchange.ids import new_key_id, new_secret
from mturk.exchange.models import Requester
from mturk.exchange.services import ledger


@transaction.atomic
def create_requester(
    name: str, *, now: dt.datetime, owner: User | None = None, deposit_cents: int = 0, actor: User | None = None
) -> Requester:
    """Make a requester with a key of its own. Show its secret now: pages do not show it again."""
    requester = Requester.objects.create(
        name=name, owner=owner, key_id=new_key_id(), secret=new_secret(), created_at=now
    )
    record_audit("create requester", None, target=name, now=now, actor=actor, detail={"key": requester.key_id})
    return deposit(requester, deposit_cents, now=now, actor=actor) if deposit_cents else requester


@transaction.atomic
def renew_key(requester: Requester, *, now: dt.datetime, actor: User | None = None) -> Requester:
    """Another key for the same account, as one was lost or seen. HITs and money stay, the old key ends at once."""
    renewed = Requester.objects.select_for_update(no_key=True).get(pk=requester.pk, revoked_at__isnull=True)
    before = renewed.key_id
    renewed.key_id, renewed.secret = new_key_id(), new_secret()
    renewed.save(update_fields=["key_id", "secret"])
    detail = {"key": renewed.key_id, "before": before}
    record_audit("renew key", None, target=renewed.name, now=now, actor=actor, detail=detail)
    return renewed


@transaction.atomic
def revoke_requester(requester: Requester, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Make a key good for nothing. Its HITs run out by themselves, and what is owed stays owed."""
    revoked = Requester.objects.filter(pk=requester.pk, revoked_at__isnull=True).update(revoked_at=now)
    if revoked:
        record_audit(
            "revoke requester", None, target=requester.name, now=now, actor=actor, detail={"key": requester.key_id}
        )
    return bool(revoked)


@transaction.atomic
def deposit(requester: Requester, cents: int, *, now: dt.datetime, actor: User | None = None) -> Requester:
    """Note money that a requester may spend."""
    paid_in = ledger.deposit(requester, cents, at=now)
    detail = {"key": requester.key_id, "cents": cents}
    record_audit("deposit", None, target=requester.name, now=now, actor=actor, detail=detail)
    return paid_in
