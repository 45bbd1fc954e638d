"""COLLECT, by itself: which batches the market is asked about now, so that nobody has to press a button."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db.models import Q

from mturk.models import BatchState, CrowdBatch
from mturk.services.collecting import is_complete

ON_THE_MARKET = (BatchState.PUBLISHING, BatchState.LIVE, BatchState.PAUSED, BatchState.STOPPED)


def claim_due(*, now: dt.datetime) -> list[int]:
    """Batches with something to wait for whose turn it is. Each is claimed by one worker, for one interval."""
    if not settings.CROWD_POLL_SECONDS:
        return []
    before = now - dt.timedelta(seconds=settings.CROWD_POLL_SECONDS)
    rested = Q(polled_at__isnull=True) | Q(polled_at__lt=before)
    # Somebody may just have collected by hand.
    due = CrowdBatch.objects.filter(rested, Q(collected_at__isnull=True) | Q(collected_at__lt=before))
    claimed = [
        batch
        for batch in due.filter(state__in=ON_THE_MARKET).order_by("pk")
        if CrowdBatch.objects.filter(rested, pk=batch.pk).update(polled_at=now)
    ]
    # One that was stopped is over once everything is decided; the others say so by their state.
    return [batch.pk for batch in claimed if batch.state != BatchState.STOPPED or not is_complete(batch)]
