"""A market in memory that fails on order: the same Protocol as the real client, with MTurk's rules about tokens."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from mturk.market import (
    AssignmentFacts,
    Balance,
    Busy,
    HitFacts,
    MarketError,
    Missing,
    NoFunds,
    Refused,
    TaskType,
    Unclear,
)
from tests.conftest import NOW

TOKEN_LIFE = dt.timedelta(hours=24)


class Killed(BaseException):
    """kill -9: no handler of ours may see it."""


@dataclass
class FakeHit:
    hit_id: str
    type_id: str
    question: str
    annotation: str
    most: int
    created_at: dt.datetime
    expires_at: dt.datetime
    reward: int
    work: list[AssignmentFacts] = field(default_factory=list)
    taken: int = 0
    is_deleted: bool = False


@dataclass
class FakeMarket:
    """`fault` is asked before and after every act that changes something: it may raise, or kill."""

    now: dt.datetime = NOW
    funds: int = 1_000_000
    fault: Callable[[str, str], None] = lambda operation, when: None
    hits: dict[str, FakeHit] = field(default_factory=dict)
    types: dict[str, TaskType] = field(default_factory=dict)
    tokens: dict[str, tuple[str, dt.datetime]] = field(default_factory=dict)
    bonuses: list[tuple[str, int, str, str]] = field(default_factory=list)
    qualifications: dict[str, str] = field(default_factory=dict)
    holders: dict[str, set[str]] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    tells_ids: bool = True

    def clock(self) -> dt.datetime:
        return self.now

    def _act(self, operation: str) -> None:
        self.calls.append(operation)
        self.fault(operation, "before")

    def _name(self, begin: str) -> str:
        return f"{begin}{next(self.numbers):024d}"

    def _known(self, token: str) -> str | None:
        found = self.tokens.get(token)
        return found[0] if found and found[1] > self.now - TOKEN_LIFE else None

    # --- HITs

    def create_type(self, wanted: TaskType) -> str:
        key = repr(wanted)
        for type_id, known in self.types.items():
            if repr(known) == key:
                return type_id
        type_id = self._name("3TYPE")
        self.types[type_id] = wanted
        return type_id

    def create_hit(self, type_id, *, question, assignments, lifetime_s, annotation, token) -> str:
        doubtful = False
        for _attempt in range(3):
            try:
                self._act("create_hit")
                known = self._known(token)
                if known:
                    return known if self.tells_ids else ""
                reward = self.types[type_id].reward_cents
                if self.funds < reward * assignments:
                    raise NoFunds("This Requester has insufficient funds in their account.", "InsufficientFunds")
                self.funds -= reward * assignments
                hit_id = self._name("3HIT")
                self.hits[hit_id] = FakeHit(
                    hit_id, type_id, question, annotation, assignments, self.now,
                    self.now + dt.timedelta(seconds=lifetime_s), reward,
                )  # fmt: skip
                self.tokens[token] = (hit_id, self.now)
                self.fault("create_hit", "after")
                return hit_id
            except MarketError as error:
                doubtful = error.is_doubtful = doubtful or isinstance(error, Unclear)
                if not isinstance(error, Unclear):
                    raise
                last = error
        raise last

    def _hit(self, hit_id: str) -> FakeHit:
        hit = self.hits.get(hit_id)
        if hit is None or hit.is_deleted:
            raise Missing(f"Hit {hit_id} does not exist.", "AWS.MechanicalTurk.HITDoesNotExist")
        return hit

    def _facts(self, hit: FakeHit) -> HitFacts:
        expired = self.now >= hit.expires_at
        free = 0 if expired else hit.most - len(hit.work) - hit.taken
        status = "Assignable" if free else "Unassignable" if hit.taken else "Reviewable"
        decided = sum(one.status != "submitted" for one in hit.work)
        return HitFacts(
            hit.hit_id, hit.annotation, status, hit.most, free, hit.taken, decided, hit.type_id, hit.created_at,
            hit.expires_at,
        )  # fmt: skip

    def get_hit(self, hit_id: str) -> HitFacts:
        return self._facts(self._hit(hit_id))

    def list_hits(self) -> Iterator[HitFacts]:
        return iter([self._facts(hit) for hit in self.hits.values() if not hit.is_deleted])

    def add_assignments(self, hit_id: str, number: int, *, token: str) -> None:
        self._act("add_assignments")
        hit = self._hit(hit_id)
        if self._known(token):
            return
        if hit.most < 10 <= hit.most + number:
            raise Refused("no", "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease")
        if self.funds < number * hit.reward:
            raise NoFunds("This Requester has insufficient funds.", "InsufficientFunds")
        self.funds -= number * hit.reward
        hit.most += number
        self.tokens[token] = (hit_id, self.now)
        self.fault("add_assignments", "after")

    def set_expiry(self, hit_id: str, at: dt.datetime) -> None:
        self._act("set_expiry")
        self._hit(hit_id).expires_at = at

    def delete_hit(self, hit_id: str) -> None:
        self._act("delete_hit")
        self._hit(hit_id).is_deleted = True

    # --- assignments

    def list_assignments(self, hit_id: str) -> Iterator[AssignmentFacts]:
        self.calls.append("list_assignments")
        self.fault("list_assignments", "before")
        return iter(list(self._hit(hit_id).work))

    def get_assignment(self, assignment_id: str) -> AssignmentFacts:
        return self._find(assignment_id)[1]

    def _find(self, assignment_id: str) -> tuple[FakeHit, AssignmentFacts]:
        for hit in self.hits.values():
            for one in hit.work:
                if one.assignment_id == assignment_id:
                    return hit, one
        raise Missing("no assignment", "AssignmentDoesNotExist")

    def _set(self, assignment_id: str, status: str, feedback: str = "") -> None:
        hit, one = self._find(assignment_id)
        place = hit.work.index(one)
        hit.work[place] = replace(one, status=status, decided_at=self.now, feedback=feedback)

    def approve(self, assignment_id: str, *, feedback: str = "", override: bool = False) -> None:
        self._act("approve")
        status = self._find(assignment_id)[1].status
        if status == "approved" or (status == "rejected" and not override):
            raise Refused("This operation can be called with a status of: Submitted", "InvalidAssignmentState")
        self._set(assignment_id, "approved")
        self.fault("approve", "after")

    def reject(self, assignment_id: str, *, feedback: str) -> None:
        self._act("reject")
        if self._find(assignment_id)[1].status != "submitted":
            raise Refused("This operation can be called with a status of: Submitted", "InvalidAssignmentState")
        self._set(assignment_id, "rejected", feedback)

    def send_bonus(self, assignment_id: str, *, worker_id: str, cents: int, reason: str, token: str) -> None:
        self._act("send_bonus")
        assert self._find(assignment_id)[1].worker_id == worker_id
        if self._known(token):
            return
        self.tokens[token] = (assignment_id, self.now)
        self.bonuses.append((assignment_id, cents, reason, token))
        self.fault("send_bonus", "after")

    def list_bonuses(self, assignment_id: str) -> Iterator[tuple[int, str]]:
        return iter([(cents, reason) for own, cents, reason, _token in self.bonuses if own == assignment_id])

    def balance(self) -> Balance:
        return Balance(self.funds)

    # --- people

    def find_qualification(self, name: str) -> str:
        return self.qualifications.get(name, "")

    def create_qualification(self, name: str, description: str) -> str:
        self._act("create_qualification")
        self.qualifications[name] = self._name("3QUAL")
        return self.qualifications[name]

    def count_holders(self, type_id: str, most: int = 100) -> int:
        return min(len(self.holders.get(type_id, ())), most)

    def grant(self, type_id: str, worker_id: str, value: int = 1) -> None:
        self.holders.setdefault(type_id, set()).add(worker_id)

    def revoke(self, type_id: str, worker_id: str, reason: str = "") -> None:
        self.holders.get(type_id, set()).discard(worker_id)

    def block(self, worker_id: str, reason: str) -> None:
        self.blocked[worker_id] = reason

    def unblock(self, worker_id: str, reason: str = "") -> None:
        self.blocked.pop(worker_id, None)

    # --- what workers do

    def work(self, hit_id: str, worker_id: str, answer: str, *, seconds: float = 60) -> AssignmentFacts:
        """A worker takes a HIT and hands it in. One worker, one assignment of a HIT."""
        hit = self._hit(hit_id)
        assert self._facts(hit).available > 0, "nothing to take"
        assert worker_id not in {one.worker_id for one in hit.work}, "one assignment of a HIT for one worker"
        done = AssignmentFacts(
            self._name("3WORK"), hit_id, worker_id, "submitted", answer,
            accepted_at=self.now - dt.timedelta(seconds=seconds), submitted_at=self.now,
            auto_approve_at=self.now + dt.timedelta(days=3),
        )  # fmt: skip
        hit.work.append(done)
        return done


@dataclass
class Trouble:
    """Faults at random, by a seed: before or after an act, silence, throttling, no funds, or a kill."""

    seed: int
    share: float = 0.25
    kinds: tuple[str, ...] = ("drop", "busy", "kill")
    count: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def __call__(self, operation: str, when: str) -> None:
        if self.chance.random() >= self.share:
            return
        kind = self.chance.choice(self.kinds)
        self.count += 1
        if kind == "kill":
            raise Killed
        if kind == "funds" and when == "before":
            raise NoFunds("This Requester has insufficient funds.", "InsufficientFunds")
        if kind == "busy" and when == "before":
            raise Busy("Rate exceeded", "ThrottlingException")
        raise Unclear("Connection was closed", "ConnectionClosedError")
