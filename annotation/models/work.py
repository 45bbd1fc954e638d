"""Human work: tasks under leases, and the labels that rules make of judgements."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.corpus import Sentence, Summary
from annotation.models.judging import Sheet
from annotation.models.kept import Kept, not_empty, one_of
from annotation.models.people import Project, User
from annotation.models.plans import Plan
from annotation.models.units import Unit


class Label(Kept):
    """The agreed answer for a unit in a summary, with the rule that made it ("imported" for imported ones)."""

    IMPORTED = "imported"

    # The unique constraint below begins with this column and serves as its index.
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="labels", db_index=False)
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="labels")
    rule = models.CharField(max_length=200)
    present = models.BooleanField()

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(fields=["unit", "summary", "rule"], name="annotation_label_once_per_rule"),
            not_empty("rule", "annotation_label_has_rule"),
        ]

    def __str__(self) -> str:
        return f"{'present' if self.present else 'not present'} by {self.rule}"


class TaskKind(models.TextChoices):
    WRITE = "write"
    REVIEW = "review"
    JUDGE = "judge"


class TaskState(models.TextChoices):
    OPEN = "open"
    LEASED = "leased"
    DONE = "done"
    WITHDRAWN = "withdrawn"


class Arm(models.TextChoices):
    """When the drafts of a machine are shown to whoever writes. Suggestions bias people, so a share sees none."""

    AFTER = "after"  # the first own unit
    BEFORE = "before"
    NONE = "none"


class Task(Kept):
    """One piece of work for one person: a sentence to write units for or to review, or a summary to judge.

    `slot` numbers the people who do the same piece. A leased task has a holder, a fencing token and an end of lease.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tasks")
    kind = models.CharField(max_length=16, choices=TaskKind.choices)
    state = models.CharField(max_length=16, choices=TaskState.choices, default=TaskState.OPEN)
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, blank=True, related_name="tasks")
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, null=True, blank=True, related_name="tasks")
    sheet = models.ForeignKey(Sheet, on_delete=models.PROTECT, null=True, blank=True, related_name="tasks")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, null=True, blank=True, related_name="tasks")
    slot = models.PositiveIntegerField(default=1)
    priority = models.IntegerField(default=0)
    mills = models.PositiveBigIntegerField(default=0)  # its price with fee, in thousandths of a cent
    arm = models.CharField(max_length=8, choices=Arm.choices, default=Arm.AFTER)
    reserved_for = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="reserved_tasks"
    )
    holder = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="leased_tasks")
    lease_token = models.UUIDField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)
    done_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="done_tasks")

    class Meta(Kept.Meta):
        indexes = [
            # What "next" reads: the most valuable open task of a kind, without looking at the others.
            # (Not partial ones: SQLite does not use them where the state is a parameter.)
            models.Index(fields=["project", "kind", "state", "-priority", "id"], name="annotation_task_queue"),
            models.Index(fields=["state", "leased_until"], name="annotation_task_leases"),
        ]
        constraints = [
            one_of("arm", Arm, "annotation_task_arm_known"),
            one_of("kind", TaskKind, "annotation_task_kind_known"),
            one_of("state", TaskState, "annotation_task_state_known"),
            models.CheckConstraint(
                condition=Q(kind="judge", summary__isnull=False, sheet__isnull=False, sentence__isnull=True)
                | Q(kind__in=["write", "review"], sentence__isnull=False, summary__isnull=True, sheet__isnull=True),
                name="annotation_task_target_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(state="leased", holder__isnull=False, lease_token__isnull=False, leased_until__isnull=False)
                | (~Q(state="leased") & Q(holder__isnull=True, lease_token__isnull=True, leased_until__isnull=True)),
                name="annotation_task_lease_whole",
            ),
            models.CheckConstraint(
                condition=Q(state="done", done_at__isnull=False) | (~Q(state="done") & Q(done_at__isnull=True)),
                name="annotation_task_done_has_time",
            ),
            models.CheckConstraint(condition=Q(slot__gte=1), name="annotation_task_slot_from_1"),
            models.UniqueConstraint(
                fields=["kind", "sentence", "slot"],
                condition=Q(state__in=["open", "leased"]),
                name="annotation_task_one_live_per_sentence_slot",
            ),
            models.UniqueConstraint(
                fields=["sheet", "slot"],
                condition=Q(kind="judge", state__in=["open", "leased"]),
                name="annotation_task_one_live_per_sheet_slot",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.sentence or self.summary}"
