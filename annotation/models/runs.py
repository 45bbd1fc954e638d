"""What happened: one row for every long job, one line for every act worth answering for."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.kept import AppendOnly, not_empty, one_of
from annotation.models.people import Project, User


class Stage(models.TextChoices):
    IMPORT = "import"
    EXPORT = "export"


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Run(models.Model):
    """One execution of a stage. The row is the truth about the job; a queue message is only a hint to look at it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, blank=True, related_name="runs")
    stage = models.CharField(max_length=16, choices=Stage.choices)
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    parameters = models.JSONField(default=dict)
    signature = models.CharField(max_length=500, blank=True)
    steps_done = models.PositiveBigIntegerField(default=0)
    steps_total = models.PositiveBigIntegerField(default=0)  # 0: not known yet
    counts = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    started_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="runs")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            one_of("stage", Stage, "annotation_run_stage_known"),
            one_of("state", RunState, "annotation_run_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=["done", "failed", "cancelled"], ended_at__isnull=False)
                | (~Q(state__in=["done", "failed", "cancelled"]) & Q(ended_at__isnull=True)),
                name="annotation_run_ended_has_time",
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error=""), name="annotation_run_failed_has_error"),
            models.CheckConstraint(
                condition=~Q(state__in=["running", "done"]) | Q(started_at__isnull=False),
                name="annotation_run_running_has_start",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(started_at__isnull=True) | Q(ended_at__gte=F("started_at")),
                name="annotation_run_ends_after_start",
            ),
            models.CheckConstraint(
                condition=Q(steps_total=0) | Q(steps_done__lte=F("steps_total")), name="annotation_run_progress_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.pk}: {self.state}"


class AuditEntry(AppendOnly):
    """Who did what, when, to which thing. Written once."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, blank=True, related_name="audit_entries")
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="audit_entries")
    action = models.CharField(max_length=100)
    target = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["-at", "-pk"]
        constraints = [not_empty("action", "annotation_auditentry_has_action")]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
