"""Some hundreds of random calls, acts of workers and jumps of time; after each the exchange is whole."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from mturk.exchange.models import TAKEN, Hit, HitAssignment, Requester
from mturk.exchange.queries import hit_state, states_of
from mturk.exchange.services import clock
from mturk.exchange.services.ledger import check_balance, level_hold, lock_requester
from mturk.exchange.services.payouts import list_owed, mark_paid
from mturk.exchange.services.settling import settle
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.exchange.walking import DAY, accept, publish

STEPS = 200
REFUSALS = {
    "InvalidHITState", "InvalidAssignmentState", "InsufficientFunds", "HITDoesNotExist", "AssignmentDoesNotExist",
    "InvalidMaximumAssignmentsIncrease", "HitAlreadyExists", "DuplicateRequest", "InvalidParameterValue", "ParameterValidationError",
}  # fmt: skip


class Walk:
    """A requester and five workers who do what a seed says. What may be refused, may be refused."""

    def __init__(self, mturk: Any, seed: int) -> None:
        self.mturk = mturk
        self.rng = random.Random(seed)
        self.workers = [WorkerFactory.create() for _ in range(5)]
        self.refused: dict[str, int] = {}

    def step(self) -> None:
        act: Callable[[], object] = self.rng.choice(
            [self.publish, self.take, self.take, self.hand_in, self.hand_in, self.give_back, self.decide, self.decide,
             self.bonus, self.extend, self.expire, self.delete, self.retype, self.review, self.pay_out, self.wait]
        )  # fmt: skip
        try:
            act()
        except ClientError as error:
            code = error.response.get("TurkErrorCode", error.response["Error"]["Code"]).rsplit(".")[-1]
            self.refused[code] = self.refused.get(code, 0) + 1

    def hit(self) -> str:
        """Any HIT, and more often one of the newest."""
        known = list(Hit.objects.order_by("pk").values_list("hit_id", flat=True))
        return self.rng.choice(known if self.rng.random() < 0.2 else known[-4:]) if known else "3NONE"

    def assignment(self, **states: Any) -> HitAssignment | None:
        rows = list(HitAssignment.objects.filter(**states).select_related("worker", "hit__hit_type").order_by("pk"))
        return self.rng.choice(rows) if rows else None

    def publish(self) -> None:
        publish(
            self.mturk,
            MaxAssignments=self.rng.choice([1, 2, 3, 9, 10, 200]),
            Reward=self.rng.choice(["0.00", "0.01", "0.20", "1.35"]),
            LifetimeInSeconds=self.rng.choice([30, 3600, 30 * DAY]),
            AutoApprovalDelayInSeconds=self.rng.choice([0, 3600, 10 * DAY]),
            UniqueRequestToken=f"token-{self.rng.randrange(40)}",
        )

    def take(self) -> None:
        """A worker accepts, if the HIT is to be had and they have not had it."""
        settle(now=clock.now())
        hit, worker = Hit.objects.filter(hit_id=self.hit()).first(), self.rng.choice(self.workers)
        if hit is None or not hit_state(hit, now=clock.now()).available:
            return
        if not hit.assignments.filter(worker=worker, state__in=TAKEN).exists():
            accept(hit.hit_id, worker)

    def hand_in(self) -> None:
        settle(now=clock.now())
        if held := self.assignment(state="accepted"):
            now = clock.now()
            held.state, held.submitted_at, held.answer = "submitted", now, "<a/>"
            held.auto_approve_at = now + dt.timedelta(seconds=held.hit.hit_type.auto_approval_s)
            held.save()

    def give_back(self) -> None:
        settle(now=clock.now())
        if held := self.assignment(state="accepted"):
            held.state = "returned"
            held.save()
            requester = lock_requester(held.hit.requester_id)
            level_hold(requester, held.hit, hit_state(held.hit, now=clock.now()).may_cost, at=clock.now())

    def decide(self) -> None:
        if row := self.assignment(state__in=("submitted", "rejected", "approved")):
            if self.rng.random() < 0.5:
                self.mturk.reject_assignment(AssignmentId=row.assignment_id, RequesterFeedback="no")
            else:
                override = self.rng.random() < 0.5
                self.mturk.approve_assignment(AssignmentId=row.assignment_id, OverrideRejection=override)

    def bonus(self) -> None:
        if row := self.assignment():
            self.mturk.send_bonus(
                WorkerId=row.worker.worker_id, AssignmentId=row.assignment_id, Reason="r",
                BonusAmount=self.rng.choice(["0.01", "0.50"]), UniqueRequestToken=f"bonus-{self.rng.randrange(20)}",
            )  # fmt: skip

    def extend(self) -> None:
        number = self.rng.choice([1, 2, 9])
        self.mturk.create_additional_assignments_for_hit(HITId=self.hit(), NumberOfAdditionalAssignments=number)

    def expire(self) -> None:
        ahead = self.rng.choice([-DAY, 60, 20 * DAY])
        self.mturk.update_expiration_for_hit(HITId=self.hit(), ExpireAt=clock.now() + dt.timedelta(seconds=ahead))

    def delete(self) -> None:
        self.mturk.delete_hit(HITId=self.hit())

    def retype(self) -> None:
        others = list(Hit.objects.order_by("pk").values_list("hit_type__hit_type_id", flat=True))
        if others:
            self.mturk.update_hit_type_of_hit(HITId=self.hit(), HITTypeId=self.rng.choice(others))

    def review(self) -> None:
        self.mturk.update_hit_review_status(HITId=self.hit(), Revert=self.rng.random() < 0.5)

    def pay_out(self) -> None:
        owed = list_owed()
        if owed:
            row = self.rng.choice(owed)
            mark_paid(row.requester, row.worker, self.rng.randint(1, row.cents), now=clock.now())

    def wait(self) -> None:
        clock.advance(self.rng.choice([10] * 9 + [300] * 6 + [700, 4000, 2 * DAY, 40 * DAY]))


def assert_whole(mturk: Any, requester: Requester) -> None:
    """What must hold after every step. Every answer that came so far has passed the model, or the step had failed."""
    now = clock.now()
    settle(now=now)
    balance = check_balance(requester, now=now)
    assert balance.differences == []
    assert balance.owed == sum(row.cents for row in list_owed(requester))
    hits = list(Hit.objects.filter(disposed_at__isnull=True).select_related("hit_type"))
    states = states_of(hits, now=now)
    takers: dict[int, list[int]] = {hit.pk: [] for hit in hits}
    for hit_id, worker_id in HitAssignment.objects.filter(state__in=TAKEN).values_list("hit_id", "worker_id"):
        takers.setdefault(hit_id, []).append(worker_id)
    for hit in hits:
        state, taken = states[hit.pk], takers[hit.pk]
        assert len(set(taken)) == len(taken) <= hit.max_assignments
        if hit.expires_at > now:
            assert state.available + len(taken) == hit.max_assignments
        assert hit.held_cents == state.may_cost * hit.hit_type.reward_cents
        assert hit.created_max >= 10 or hit.max_assignments < 10


@pytest.mark.parametrize("seed", [1, 2])
def test_the_exchange_stays_whole(mturk: Any, requester: Requester, seed: int) -> None:
    walk = Walk(mturk, seed)
    for _ in range(STEPS):
        walk.step()
        assert_whole(mturk, requester)
    for page in mturk.get_paginator("list_hits").paginate():
        for hit in page["HITs"]:
            mturk.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=100)
    assert Hit.objects.count() > 5
    assert HitAssignment.objects.filter(state="approved").exists()
    assert set(walk.refused) <= REFUSALS
    assert len(walk.refused) >= 3  # the walk has found doors that are shut
