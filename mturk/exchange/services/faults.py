"""Failures to order, for tests: which calls fail, and how."""

from __future__ import annotations

import random

from django.db import transaction

from mturk.exchange.models import Fault, FaultKind
from mturk.exchange.operations.table import HIT_MAKING, PAGED
from mturk.exchange.services.clock import is_controlled

# Some failures make sense for some operations only.
ONLY_FOR = {FaultKind.NO_FUNDS: frozenset(HIT_MAKING), FaultKind.EMPTY_PAGE: PAGED}


def order(
    kind: str,
    *,
    operation: str = "",
    skip: int = 0,
    times: int | None = 1,
    share: float = 1.0,
    seed: int = 0,
    seconds: float = 0,
) -> Fault:
    """Order a failure: of one operation or of any, after `skip` calls, `times` times (None: always)."""
    return Fault.objects.create(
        kind=FaultKind(kind), operation=operation, skip=skip, times=times, share=share, seed=seed, seconds=seconds
    )


def cancel_all() -> None:
    Fault.objects.all().delete()


def strike(operation: str) -> dict[FaultKind, Fault]:
    """The failures that hit this call. Without the control interface there are none."""
    if not is_controlled() or not Fault.objects.exists():
        return {}
    with transaction.atomic():
        struck = {}
        for fault in Fault.objects.select_for_update():
            kind = FaultKind(fault.kind)
            if fault.operation not in ("", operation) or operation not in ONLY_FOR.get(kind, {operation}):
                continue
            fault.calls += 1
            if is_due(fault):
                fault.fired += 1
                struck[kind] = fault
            fault.save(update_fields=["calls", "fired"])
        return struck


def is_due(fault: Fault) -> bool:
    """Whether a failure happens at the call that it has just counted. The same seed draws the same calls."""
    if fault.calls <= fault.skip or (fault.times is not None and fault.fired >= fault.times):
        return False
    return random.Random(f"{fault.seed}:{fault.calls}").random() < fault.share  # noqa: S311


def fired() -> dict[str, int]:
    """How many failures of each kind have happened."""
    counts: dict[str, int] = {}
    for kind, number in Fault.objects.order_by().values_list("kind", "fired"):
        counts[kind] = counts.get(kind, 0) + number
    return counts
