"""Who may work on what."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from mturk.exchange.models.checks import one_of
from mturk.exchange.models.requesters import Requester
from mturk.exchange.models.workers import Worker


class QualificationTypeStatus(models.TextChoices):
    ACTIVE = "Active"
    INACTIVE = "Inactive"


class QualificationType(models.Model):
    """A requester's own qualification. Those of the system are a table in qualifying.py."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=8, choices=QualificationTypeStatus.choices)
    retry_delay_s = models.BigIntegerField(null=True, blank=True)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_s = models.BigIntegerField(null=True, blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], condition=Q(deleted_at__isnull=True), name="exchange_qualtype_name_once"
            ),
            one_of("status", QualificationTypeStatus, "exchange_qualtype_status_known"),
            models.CheckConstraint(
                condition=~Q(auto_granted=True) | Q(test=""), name="exchange_qualtype_test_or_automatic"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A value that a worker has, or had, of one type."""

    # The unique constraint below begins with this column and serves as its index.
    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="qualifications", db_index=False
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualifications")
    value = models.IntegerField(default=1)
    granted_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="exchange_qualification_once"),
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type}: {self.value}"


class RequestState(models.TextChoices):
    TESTING = "testing"  # the worker is at the test; requesters do not see it yet
    LAPSED = "lapsed"  # the time of the test was over before it was handed in
    PENDING = "pending"
    GRANTED = "granted"
    REJECTED = "rejected"


# One of these at a time, for a worker and a qualification.
OPEN_REQUESTS = (RequestState.TESTING, RequestState.PENDING)


class QualificationRequest(models.Model):
    """A worker asks for a qualification, with the answer to its test if it has one.

    `test` and `answer_key` are those of the type when the worker began: the type may get others meanwhile.
    """

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="requests")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True)
    # With defaults in the database, for servers that still run the version before these columns.
    test = models.TextField(blank=True, default="", db_default="")
    answer_key = models.TextField(blank=True, default="", db_default="")
    answer = models.TextField(blank=True)
    deadline = models.DateTimeField(null=True, blank=True)  # of the test
    state = models.CharField(max_length=8, choices=RequestState.choices, default=RequestState.PENDING)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], condition=Q(state__in=OPEN_REQUESTS),
                name="exchange_qualrequest_one_open",
            ),
            models.CheckConstraint(
                condition=~Q(state=RequestState.TESTING) | Q(deadline__isnull=False),
                name="exchange_qualrequest_testing_has_deadline",
            ),
            one_of("state", RequestState, "exchange_qualrequest_state_known"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.request_id
