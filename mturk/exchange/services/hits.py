"""HITs: made with the money for them, extended, expired, reviewed, deleted.

Every function here runs inside the transaction of its call, with the requester's row held and due things settled.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from mturk.exchange.errors import Refused, not_allowed
from mturk.exchange.ids import new_id
from mturk.exchange.models import AssignmentState, Hit, HitType, Requester
from mturk.exchange.queries import hit_state
from mturk.exchange.rules import BORDER, MOST_ASSIGNMENTS
from mturk.exchange.services.ledger import level_hold


@dataclass(frozen=True)
class TypeValues:
    """The seven values that make a HIT type what it is."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    duration_s: int
    auto_approval_s: int
    requirements: list[dict[str, Any]] = field(default_factory=list)

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def find_hit_type(requester: Requester, values: TypeValues, *, now: dt.datetime) -> HitType:
    """The type with these values; it is made if there is none. Equal values are one type."""
    hit_type, _created = HitType.objects.get_or_create(
        requester=requester,
        digest=values.digest(),
        defaults={"hit_type_id": new_id(), "created_at": now, **asdict(values)},
    )
    return hit_type


def create_hit(
    requester: Requester,
    hit_type: HitType,
    *,
    question: str,
    max_assignments: int,
    lifetime_s: int,
    annotation: str,
    now: dt.datetime,
) -> Hit:
    """Make a HIT and hold what it may cost."""
    hit = Hit.objects.create(
        requester=requester,
        hit_type=hit_type,
        hit_id=new_id(),
        question=question,
        annotation=annotation,
        max_assignments=max_assignments,
        created_max=max_assignments,
        created_at=now,
        expires_at=now + dt.timedelta(seconds=lifetime_s),
    )
    level_hold(requester, hit, max_assignments, at=now)
    return hit


def add_assignments(requester: Requester, hit: Hit, number: int, *, now: dt.datetime) -> None:
    """Ask more workers. Across the border of ten a HIT would cost another fee, so it cannot be crossed."""
    wanted = hit.max_assignments + number
    if hit.created_max < BORDER <= wanted:
        raise Refused("InvalidMaximumAssignmentsIncrease", border=BORDER)
    if wanted > MOST_ASSIGNMENTS:
        why = f"A HIT has at most {MOST_ASSIGNMENTS} assignments."
        raise Refused("InvalidParameterValue", value=number, name="NumberOfAdditionalAssignments", why=why)
    hit.max_assignments, hit.is_reviewing = wanted, False
    hit.save(update_fields=["max_assignments", "is_reviewing"])
    level_hold(requester, hit, hit_state(hit, now=now).may_cost, at=now)


def set_expiration(requester: Requester, hit: Hit, at: dt.datetime, *, now: dt.datetime) -> None:
    """Let a HIT expire at another time; a time that has passed takes it down now.

    A HIT that comes back is held for again. What somebody has accepted may be handed in either way.
    """
    hit.expires_at = max(at, now)
    hit.is_open = hit.expires_at > now
    hit.is_reviewing = hit.is_reviewing and not hit.is_open
    hit.save(update_fields=["expires_at", "is_open", "is_reviewing"])
    level_hold(requester, hit, hit_state(hit, now=now).may_cost, at=now)


def delete_hit(requester: Requester, hit: Hit, *, now: dt.datetime) -> None:
    """Dispose of a HIT that is reviewed to the end. What was paid and said stays in the exchange's own rows."""
    state = hit_state(hit, now=now)
    is_waiting = hit.assignments.filter(state=AssignmentState.SUBMITTED).exists()
    if state.status not in ("Reviewable", "Reviewing") or is_waiting:
        # In MTurk's own words, which contradict themselves where submissions wait.
        raise not_allowed("InvalidHITState", thing="HIT", state=state.status, allowed="Reviewing, Reviewable")
    hit.disposed_at = now
    hit.save(update_fields=["disposed_at"])


def set_reviewing(hit: Hit, *, revert: bool, now: dt.datetime) -> None:
    """Move a HIT from Reviewable to Reviewing, or back."""
    needed = "Reviewing" if revert else "Reviewable"
    status = hit_state(hit, now=now).status
    if status != needed:
        raise not_allowed("InvalidHITState", thing="HIT", state=status, allowed=needed)
    hit.is_reviewing = not revert
    hit.save(update_fields=["is_reviewing"])


def change_type(requester: Requester, hit: Hit, hit_type: HitType, *, now: dt.datetime) -> None:
    """Give a HIT another type, as long as nobody has begun it. The hold follows the reward."""
    if hit.assignments.exists():
        raise not_allowed("InvalidHITState", thing="HIT", state="with assignments", allowed="no assignments")
    hit.hit_type = hit_type
    hit.save(update_fields=["hit_type"])
    level_hold(requester, hit, hit_state(hit, now=now).may_cost, at=now)
