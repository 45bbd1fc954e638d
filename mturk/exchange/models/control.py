"""Time and failures to order, for tests."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from mturk.exchange.models.checks import one_of


class Clock(models.Model):
    """How far the exchange's time is ahead of the real one. One row, for tests."""

    offset_s = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="exchange_clock_is_one"),
            models.CheckConstraint(condition=Q(offset_s__gte=0), name="exchange_clock_never_back"),
        ]

    def __str__(self) -> str:
        return f"+{self.offset_s} s"


class FaultKind(models.TextChoices):
    DROP_BEFORE = "drop_before"
    DROP_AFTER = "drop_after"
    ERROR_AFTER = "error_after"
    SLOW = "slow"
    THROTTLE = "throttle"
    EMPTY_PAGE = "empty_page"
    NO_FUNDS = "no_funds"


class Fault(models.Model):
    """A failure to order, for tests: on which calls, after how many, how often."""

    kind = models.CharField(max_length=12, choices=FaultKind.choices)
    operation = models.CharField(max_length=64, blank=True)  # empty: any
    skip = models.PositiveIntegerField(default=0)  # calls that pass first
    times = models.PositiveIntegerField(null=True, blank=True)  # empty: for ever
    share = models.FloatField(default=1.0)  # of the calls, drawn by the seed
    seed = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)  # of a slow one
    calls = models.PositiveIntegerField(default=0)
    fired = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["pk"]
        constraints = [
            one_of("kind", FaultKind, "exchange_fault_kind_known"),
            models.CheckConstraint(condition=Q(share__gte=0, share__lte=1), name="exchange_fault_share_0_to_1"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.operation}"
