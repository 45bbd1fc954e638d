"""Every movement of money."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from mturk.exchange.models.checks import one_of
from mturk.exchange.models.requesters import Requester
from mturk.exchange.models.workers import Worker


class LineKind(models.TextChoices):
    DEPOSIT = "deposit"
    HOLD = "hold"
    RELEASE = "release"
    PAY = "pay"
    FEE = "fee"
    BONUS = "bonus"
    PAYOUT = "payout"


INCOMING = (LineKind.DEPOSIT, LineKind.RELEASE)


TO_WORKERS = (LineKind.PAY, LineKind.BONUS, LineKind.PAYOUT)


class LedgerLine(models.Model):
    """One movement of money, written once. What it does to which account is a table in money.py."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="lines")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, null=True, blank=True, related_name="lines")
    kind = models.CharField(max_length=8, choices=LineKind.choices)
    cents = models.BigIntegerField()  # above 0: towards free money; below 0: away from it or out
    at = models.DateTimeField()
    reference = models.CharField(max_length=64)  # the id of what it was for

    class Meta:
        ordering = ["pk"]
        constraints = [
            one_of("kind", LineKind, "exchange_line_kind_known"),
            models.CheckConstraint(
                condition=Q(kind__in=INCOMING, cents__gt=0) | (~Q(kind__in=INCOMING) & Q(cents__lt=0)),
                name="exchange_line_sign_of_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=TO_WORKERS, worker__isnull=False)
                | (~Q(kind__in=TO_WORKERS) & Q(worker__isnull=True)),
                name="exchange_line_worker_where_paid",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("A line of the ledger is written once. Write another one against it.")
        super().save(*args, **kwargs)


class Payout(models.Model):
    """What a worker was given outside the exchange, as somebody has noted it here."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="payouts")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="payouts")
    cents = models.BigIntegerField()
    paid_at = models.DateTimeField()
    paid_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="exchange_payouts"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=Q(cents__gt=0), name="exchange_payout_above_0")]

    def __str__(self) -> str:
        return f"{self.worker}: {self.cents} cents"
