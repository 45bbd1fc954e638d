"""Who publishes HITs, and their calls."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Requester(models.Model):
    """Who publishes HITs and pays for them. `balance_cents` is free money, `held_cents` what HITs may still cost.

    The secret is stored as it is: whoever checks a signature of AWS's kind has to know it.
    """

    name = models.CharField(max_length=120)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="exchange_requesters"
    )
    key_id = models.CharField(max_length=20, unique=True)
    secret = models.CharField(max_length=64)
    balance_cents = models.BigIntegerField(default=0)
    held_cents = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(balance_cents__gte=0), name="exchange_requester_balance_from_0"),
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="exchange_requester_held_from_0"),
        ]

    def __str__(self) -> str:
        return self.name


class RequestToken(models.Model):
    """A token that made something: for a day, the same token makes nothing else."""

    # The unique constraint below begins with this column and serves as its index.
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="tokens", db_index=False)
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    result = models.CharField(max_length=64)  # the id of what was made
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["requester", "operation", "token"], name="exchange_token_once"),
        ]

    def __str__(self) -> str:
        return f"{self.operation}: {self.result}"


class CallLog(models.Model):
    """A call that changed something or was refused. Questions, messages and answers are left out."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, null=True, blank=True, related_name="calls")
    operation = models.CharField(max_length=64, blank=True)
    request = models.JSONField(default=dict)
    status = models.PositiveSmallIntegerField()
    error = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.operation} {self.status}"
