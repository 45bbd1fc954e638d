"""HITs and what workers did with them."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from mturk.exchange.models.checks import one_of
from mturk.exchange.models.requesters import Requester
from mturk.exchange.models.workers import Worker


class HitType(models.Model):
    """What HITs of one group have in common. Equal values are one type: `digest` is over all seven."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hit_types", db_index=False)
    hit_type_id = models.CharField(max_length=64, unique=True)
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.BigIntegerField()
    duration_s = models.BigIntegerField()
    auto_approval_s = models.BigIntegerField()
    requirements = models.JSONField(default=list)  # as in the API's QualificationRequirements
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            # Begins with the requester and serves as the index of that column.
            models.UniqueConstraint(fields=["requester", "digest"], name="exchange_hittype_once_by_value"),
            models.CheckConstraint(condition=Q(reward_cents__gte=0), name="exchange_hittype_reward_from_0"),
        ]

    def __str__(self) -> str:
        return self.title


class ReviewStatus(models.TextChoices):
    NOT_REVIEWED = "NotReviewed"
    MARKED_FOR_REVIEW = "MarkedForReview"
    APPROPRIATE = "ReviewedAppropriate"
    INAPPROPRIATE = "ReviewedInappropriate"


class Hit(models.Model):
    """One task. Its status is never stored: it follows from the clock and the assignments.

    `held_cents` is the part of the requester's hold that is for this HIT. `is_open` until its expiry was settled.
    """

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HitType, on_delete=models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True)
    question = models.TextField()  # XML, as it came
    annotation = models.CharField(max_length=255, blank=True)
    max_assignments = models.BigIntegerField()
    created_max = models.BigIntegerField()  # as created: the border of ten assignments is about this number
    held_cents = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    is_open = models.BooleanField(default=True)
    review_status = models.CharField(max_length=24, choices=ReviewStatus.choices, default=ReviewStatus.NOT_REVIEWED)
    is_reviewing = models.BooleanField(default=False)
    disposed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        # Partial: SQLite uses no index on a boolean, as Django asks for it.
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(is_open=True), name="exchange_hit_expiring"),
            models.Index(
                fields=["expires_at"],
                condition=Q(is_open=False, disposed_at__isnull=True),
                name="exchange_hit_expired",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(created_max__gte=1, max_assignments__gte=F("created_max")),
                name="exchange_hit_assignments_only_grow",
            ),
            models.CheckConstraint(condition=Q(held_cents__gte=0), name="exchange_hit_held_from_0"),
            models.CheckConstraint(
                condition=Q(disposed_at__isnull=True) | Q(held_cents=0), name="exchange_hit_disposed_holds_nothing"
            ),
            one_of("review_status", ReviewStatus, "exchange_hit_review_status_known"),
        ]

    def __str__(self) -> str:
        return self.hit_id


class AssignmentState(models.TextChoices):
    ACCEPTED = "accepted"
    RETURNED = "returned"
    ABANDONED = "abandoned"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"


# The states that use up one of a HIT's assignments.
TAKEN = (
    AssignmentState.ACCEPTED, AssignmentState.SUBMITTED, AssignmentState.APPROVED, AssignmentState.REJECTED
)  # fmt: skip


HANDED_IN = (AssignmentState.SUBMITTED, AssignmentState.APPROVED, AssignmentState.REJECTED)


class HitAssignment(models.Model):
    """One worker's go at one HIT. Requesters see it from its submission on."""

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=12, choices=AssignmentState.choices, default=AssignmentState.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)  # QuestionFormAnswers XML
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["state", "deadline"], name="exchange_assignment_deadline"),
            models.Index(fields=["state", "auto_approve_at"], name="exchange_assignment_auto"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"], condition=Q(state__in=TAKEN), name="exchange_assignment_one_per_worker"
            ),
            one_of("state", AssignmentState, "exchange_assignment_state_known"),
            models.CheckConstraint(
                condition=~Q(state__in=HANDED_IN) | Q(submitted_at__isnull=False, auto_approve_at__isnull=False),
                name="exchange_assignment_handed_in_has_times",
            ),
            models.CheckConstraint(
                condition=Q(state__in=("approved", "rejected"), decided_at__isnull=False)
                | (~Q(state__in=("approved", "rejected")) & Q(decided_at__isnull=True)),
                name="exchange_assignment_decided_has_time",
            ),
        ]

    def __str__(self) -> str:
        return self.assignment_id


class Bonus(models.Model):
    """Money on top of a reward, for one assignment."""

    assignment = models.ForeignKey(HitAssignment, on_delete=models.PROTECT, related_name="bonuses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonuses")
    cents = models.BigIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=Q(cents__gt=0), name="exchange_bonus_above_0")]

    def __str__(self) -> str:
        return f"{self.worker}: {self.cents} cents"
