"""The ledger: every movement of money is a line, and the accounts are what the lines add up to.

Whoever moves money holds the requester's row (`lock_requester`) inside a transaction, so that two calls at once cannot
spend the same cent.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Sum

from mturk.exchange.errors import Refused
from mturk.exchange.models import Hit, HitAssignment, LedgerLine, LineKind, Payout, Requester, Worker
from mturk.exchange.money import EFFECTS, MOST_CENTS, add_up
from mturk.exchange.queries import states_of


def lock_requester(pk: int) -> Requester:
    """The row of a requester, held until the transaction ends. On SQLite the transaction itself is the lock."""
    return Requester.objects.select_for_update().get(pk=pk)


def post(
    requester: Requester,
    kind: LineKind,
    cents: int,
    *,
    at: dt.datetime,
    reference: str,
    worker: Worker | None = None,
) -> None:
    """Write one line and what it does to the accounts of a locked requester. Nothing is written for nothing."""
    if cents == 0:
        return
    effect = EFFECTS[kind]
    requester.balance_cents += effect.available * cents
    requester.held_cents += effect.held * cents
    if requester.balance_cents < 0:
        raise Refused("InsufficientFunds")
    LedgerLine.objects.create(requester=requester, worker=worker, kind=kind, cents=cents, at=at, reference=reference)
    requester.save(update_fields=["balance_cents", "held_cents"])


@transaction.atomic
def deposit(requester: Requester, cents: int, *, at: dt.datetime, reference: str = "deposit") -> Requester:
    """Put money into a requester's account. It came from outside; the exchange only counts it."""
    if not 0 < cents <= MOST_CENTS:
        raise ValueError("A deposit is at least one cent.")
    locked = lock_requester(requester.pk)
    if locked.balance_cents + cents > MOST_CENTS:
        raise ValueError("This is more than an account can hold.")
    post(locked, LineKind.DEPOSIT, cents, at=at, reference=reference)
    return locked


def level_hold(requester: Requester, hit: Hit, may_cost: int, *, at: dt.datetime) -> None:
    """Bring the hold of a HIT to what it may still cost: hold what is missing, release what is too much."""
    missing = hit.hit_type.reward_cents * may_cost - hit.held_cents
    if missing:
        kind = LineKind.HOLD if missing > 0 else LineKind.RELEASE
        post(requester, kind, -missing, at=at, reference=hit.hit_id)
        hit.held_cents += missing
        hit.save(update_fields=["held_cents"])


def pay_assignment(requester: Requester, assignment: HitAssignment, *, at: dt.datetime) -> None:
    """Give the reward to the worker, out of the HIT's hold."""
    hit = assignment.hit
    reward = hit.hit_type.reward_cents
    hit.held_cents -= reward
    post(requester, LineKind.PAY, -reward, at=at, reference=assignment.assignment_id, worker=assignment.worker)
    hit.save(update_fields=["held_cents"])


@dataclass(frozen=True)
class Balance:
    """What a requester's account is, and where it differs from its lines. No differences: it balances."""

    deposits: int
    paid: int  # to workers, and fees
    available: int
    held: int
    owed: int
    differences: list[str]


def check_balance(requester: Requester, *, now: dt.datetime) -> Balance:
    """Add everything up again, from the lines and from the HITs, and compare."""
    row = Requester.objects.get(pk=requester.pk)
    sums = dict(row.lines.order_by().values_list("kind").annotate(total=Sum("cents")))
    lines = add_up(sums.items())
    deposits = sums.get("deposit", 0)
    paid = -sum(sums.get(kind, 0) for kind in ("pay", "fee", "bonus"))
    hits = list(row.hits.filter(disposed_at__isnull=True).select_related("hit_type"))
    states = states_of(hits, now=now)
    may_cost = sum(states[hit.pk].may_cost * hit.hit_type.reward_cents for hit in hits)
    payouts = Payout.objects.filter(requester=row).aggregate(total=Sum("cents"))["total"] or 0
    pairs = {
        "available and its lines": (row.balance_cents, lines.available),
        "held and its lines": (row.held_cents, lines.held),
        "held and what the HITs hold": (row.held_cents, row.hits.aggregate(total=Sum("held_cents"))["total"] or 0),
        "held and what the HITs may cost": (row.held_cents, may_cost),
        "available + held and deposits - paid": (row.balance_cents + row.held_cents, deposits - paid),
        "payouts and their lines": (payouts, -sums.get("payout", 0)),
    }
    differences = [f"{name}: {left} and {right}" for name, (left, right) in pairs.items() if left != right]
    return Balance(deposits, paid, row.balance_cents, row.held_cents, lines.owed, differences)
