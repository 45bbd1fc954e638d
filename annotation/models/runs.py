"""What happened: one row for every long job, one line for every act worth answering for."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.kept import AppendOnly, not_empty, one_of
from annotation.models.people import Project, User


class Stage(models.TextChoices):
    IMPORT = "import"
    DECOMPOSE = "decompose"
    PUBLISH = "publish"
    COLLECT = "collect"
    SCORE = "score"
    EXPORT = "export"


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Queue(models.TextChoices):
    IO = "io"  # imports, exports, the crowd
    NLP = "nlp"  # models


class Run(models.Model):
    """One execution of a stage. The row is the truth about the job; a queue message is only a hint to look at it.

    A worker claims a queued run with a token of its own and shows that it lives by `heartbeat_at`. A run whose heart
    stopped is queued again; the token keeps a worker that was only slow from finishing it as well.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, blank=True, related_name="runs")
    stage = models.CharField(max_length=16, choices=Stage.choices)
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    parameters = models.JSONField(default=dict)
    signature = models.CharField(max_length=500, blank=True)
    steps_done = models.PositiveBigIntegerField(default=0)
    steps_total = models.PositiveBigIntegerField(default=0)  # 0: not known yet
    counts = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    phase = models.CharField(max_length=40, blank=True)
    queue = models.CharField(max_length=8, choices=Queue.choices, default=Queue.IO)
    attempt = models.PositiveIntegerField(default=0)
    claim = models.UUIDField(null=True, blank=True)
    retry_of = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="retries")
    started_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="runs")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            one_of("stage", Stage, "annotation_run_stage_known"),
            one_of("state", RunState, "annotation_run_state_known"),
            one_of("queue", Queue, "annotation_run_queue_known"),
            models.CheckConstraint(
                condition=Q(state="running", claim__isnull=False, heartbeat_at__isnull=False)
                | (~Q(state="running") & Q(claim__isnull=True)),
                name="annotation_run_running_is_claimed",
            ),
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


class Worker(models.Model):
    """A worker process that has shown itself. Pages ask this table whether anybody works, never the broker."""

    name = models.CharField(max_length=200)
    queues = models.JSONField(default=list)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-seen_at"]
        constraints = [
            models.UniqueConstraint(fields=["name"], name="annotation_worker_name_once"),
            not_empty("name", "annotation_worker_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


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
