"""The time of the exchange. Tests may put it ahead of the real one; signatures are checked against the real one."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.utils import timezone

from mturk.exchange.models import Clock


def is_controlled() -> bool:
    """Whether time and failures may be ordered: only where whoever runs the server has set a token for it."""
    return bool(settings.EXCHANGE_CONTROL_TOKEN)


def now() -> dt.datetime:
    return timezone.now() + dt.timedelta(seconds=offset_s())


def offset_s() -> int:
    if not is_controlled():
        return 0
    return Clock.objects.filter(pk=1).values_list("offset_s", flat=True).first() or 0


def advance(seconds: int) -> int:
    """Put the clock ahead by some more seconds. Returns how far ahead it is now; it never goes back."""
    if seconds < 0:
        raise ValueError("The clock does not go back.")
    clock, _created = Clock.objects.get_or_create(pk=1)
    clock.offset_s += seconds
    clock.save(update_fields=["offset_s"])
    return clock.offset_s
