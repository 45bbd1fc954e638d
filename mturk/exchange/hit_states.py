"""The state machine of a HIT: its status follows from the clock and the states of its assignments."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """Assignments of one HIT by state. Returned and abandoned ones are open again and count nowhere."""

    accepted: int = 0
    submitted: int = 0
    approved: int = 0
    rejected: int = 0

    @property
    def taken(self) -> int:
        return self.accepted + self.submitted + self.approved + self.rejected


@dataclass(frozen=True)
class HitState:
    """What a requester sees of a HIT. `may_cost` is how many assignments may still have to be paid."""

    status: str
    available: int
    pending: int
    completed: int
    may_cost: int


def state_of(
    counts: Counts,
    *,
    max_assignments: int,
    expires_at: dt.datetime,
    now: dt.datetime,
    is_reviewing: bool = False,
    is_disposed: bool = False,
) -> HitState:
    """The state at `now`. Expiry ends offering; what is accepted then may still be handed in."""
    is_expired = expires_at <= now
    available = 0 if is_expired or is_disposed else max(max_assignments - counts.taken, 0)
    if is_disposed:
        status = "Disposed"
    elif available:
        status = "Assignable"
    elif counts.accepted:
        status = "Unassignable"
    else:
        status = "Reviewing" if is_reviewing else "Reviewable"
    return HitState(
        status=status,
        available=available,
        pending=counts.accepted,
        completed=counts.approved + counts.rejected,  # what is only submitted is not completed
        may_cost=available + counts.accepted + counts.submitted,
    )
