"""What a market is to us, without the library that speaks to it: its acts, what it tells, and how it fails."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
_ID = re.compile(r"(?<![A-Za-z0-9])[A-Z0-9]{20,64}(?![A-Za-z0-9])")


class MarketError(Exception):
    """A call failed. `code` is the market's own word for it, if it gave one.

    `is_doubtful`: an earlier try of the same call got no answer, so that even after a "no" it may have happened.
    """

    is_doubtful = False

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Passing(MarketError):
    """It may work in a moment."""


class Unclear(Passing):
    """No answer came, or one that tells nothing (a time-out, a dropped line, a 500): it may have happened or not."""


class Busy(Passing):
    """Too many calls; nothing happened."""


class NotVisibleYet(Passing):
    """The market does not know yet what it will know in some minutes; nothing happened."""


class Refused(MarketError):
    """The market said no, and nothing happened. Sending the same again will not help."""


class NoFunds(Refused):
    """There is not enough money in the requester's account."""


class WrongAccount(MarketError):
    """The market answers, and knows nothing of what was published there: most likely by another requester's key."""


class Missing(Refused):
    """There is no such thing there, or no more."""


class Repeated(Refused):
    """The same was done before: a success that comes as an error. `made` is the id of what it made, if it is told."""

    def __init__(self, message: str, code: str = "", made: str = "") -> None:
        super().__init__(message, code)
        self.made = made


def id_in(message: str) -> str:
    """The id in the text of an error, where the market puts it; "" if there is none or more than one."""
    found = set(_ID.findall(message))
    return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class HitFacts:
    """A HIT as the market tells it. `submitted` are those handed in, whatever became of them."""

    hit_id: str
    annotation: str
    status: str
    most: int
    available: int
    pending: int
    completed: int
    hit_type_id: str = ""
    created_at: dt.datetime | None = None
    expires_at: dt.datetime | None = None

    @property
    def submitted(self) -> int:
        return max(self.most - self.available - self.pending, 0)

    @property
    def is_over(self) -> bool:
        """Whether nobody can hand in any more, unless it is extended."""
        return self.status in ("Reviewable", "Reviewing", "Disposed")


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """An assignment as the market tells it; `answer` is XML, as it came."""

    assignment_id: str
    hit_id: str
    worker_id: str
    status: str
    answer: str
    accepted_at: dt.datetime | None = None
    submitted_at: dt.datetime | None = None
    auto_approve_at: dt.datetime | None = None
    decided_at: dt.datetime | None = None
    feedback: str = ""
    whole: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Balance:
    available: int
    held: int | None = None


@dataclass(frozen=True, slots=True)
class TaskType:
    """What HITs of one group have in common."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    duration_s: int
    auto_approval_s: int
    requirements: Sequence[dict[str, Any]]


class Market(Protocol):
    """What services ask of a market. Every method raises MarketError, and retries what passes by itself."""

    def create_type(self, wanted: TaskType) -> str: ...
    def create_hit(
        self, type_id: str, *, question: str, assignments: int, lifetime_s: int, annotation: str, token: str
    ) -> str: ...
    def get_hit(self, hit_id: str) -> HitFacts: ...
    def list_hits(self) -> Iterator[HitFacts]: ...
    def list_assignments(self, hit_id: str) -> Iterator[AssignmentFacts]: ...
    def get_assignment(self, assignment_id: str) -> AssignmentFacts: ...
    def approve(self, assignment_id: str, *, feedback: str = "", override: bool = False) -> None: ...
    def reject(self, assignment_id: str, *, feedback: str) -> None: ...
    def send_bonus(self, assignment_id: str, *, worker_id: str, cents: int, reason: str, token: str) -> None: ...
    def list_bonuses(self, assignment_id: str) -> Iterator[tuple[int, str]]: ...
    def add_assignments(self, hit_id: str, number: int, *, token: str) -> None: ...
    def set_expiry(self, hit_id: str, at: dt.datetime) -> None: ...
    def delete_hit(self, hit_id: str) -> None: ...
    def balance(self) -> Balance: ...
    def find_qualification(self, name: str) -> str: ...
    def create_qualification(self, name: str, description: str) -> str: ...
    def count_holders(self, type_id: str, most: int = 100) -> int: ...
    def grant(self, type_id: str, worker_id: str, value: int = 1) -> None: ...
    def revoke(self, type_id: str, worker_id: str, reason: str = "") -> None: ...
    def block(self, worker_id: str, reason: str) -> None: ...
    def unblock(self, worker_id: str, reason: str = "") -> None: ...


def with_backoff(
    call: Callable[[], Result],
    *,
    sleep: Callable[[float], None],
    tries: int = 6,
    first: float = 0.5,
    longest: float = 20.0,
    chance: random.Random | None = None,
) -> Result:
    """Call again while it fails in a passing way, after pauses that double and are drawn at random.

    At random over the whole span: callers that were throttled together must not come back together.
    """
    draw = chance or random.SystemRandom()
    is_doubtful = False
    for attempt in range(tries):
        try:
            return call()
        except MarketError as error:
            is_doubtful = error.is_doubtful = is_doubtful or isinstance(error, Unclear)
            if not isinstance(error, Passing) or attempt == tries - 1:
                raise
            sleep(draw.uniform(0, min(longest, first * 2**attempt)))
    raise AssertionError("tries is at least 1")
