"""Questions to the rows that several parts ask."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.db.models import Count

from mturk.exchange.hit_states import Counts, HitState, state_of
from mturk.exchange.models import TAKEN, Hit, HitAssignment

AT_ONCE = 1000  # databases limit how many values a query names


def counts_of(hits: Iterable[Hit]) -> dict[int, Counts]:
    """Assignments by state for each HIT, a query for a thousand of them."""
    keys = [hit.pk for hit in hits]
    found: dict[int, dict[str, int]] = {key: {} for key in keys}
    for start in range(0, len(keys), AT_ONCE):
        rows = HitAssignment.objects.filter(hit__in=keys[start : start + AT_ONCE], state__in=TAKEN).order_by()
        for hit_id, state, number in rows.values_list("hit_id", "state").annotate(number=Count("pk")):
            found[hit_id][state] = number
    return {key: Counts(**states) for key, states in found.items()}


def states_of(hits: Iterable[Hit], *, now: dt.datetime) -> dict[int, HitState]:
    """The state of each HIT at `now`. Settle first: a deadline that has passed counts once it is settled."""
    listed = list(hits)
    counts = counts_of(listed)
    return {
        hit.pk: state_of(
            counts[hit.pk],
            max_assignments=hit.max_assignments,
            expires_at=hit.expires_at,
            now=now,
            is_reviewing=hit.is_reviewing,
            is_disposed=hit.disposed_at is not None,
        )
        for hit in listed
    }


def hit_state(hit: Hit, *, now: dt.datetime) -> HitState:
    return states_of([hit], now=now)[hit.pk]
