"""The crowd, seen by whoever asks it: batches of HITs, what became of each, what workers answered, what was paid.

Rows are an outbox: what shall happen is stored first, then the market is told, then the row says what it answered. So
a process that dies at any point leaves a row that tells the next one where to go on. Money is in whole cents.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models import Assignment, Batch, Person, Project, Reference, Sheet, User
from annotation.models.kept import AppendOnly, Kept, not_empty, one_of

SHORTEST, LONGEST = 30, 31_536_000
"""Seconds that an assignment or a HIT may last: half a minute to a year."""
LATEST_APPROVAL = 2_592_000
MOST_TOKEN = 64


class CrowdKind(models.TextChoices):
    PRESENCE = "presence"
    WRITING = "writing"


class Template(models.TextChoices):
    EXTERNAL = "external"  # our own page in the market's frame
    HTML = "html"  # the page travels with the HIT


class BatchState(models.TextChoices):
    DRAFT = "draft"
    PUBLISHING = "publishing"
    LIVE = "live"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"


class CrowdBatch(Kept):
    """One round of paid work: whose sheets, on which market, for how much, and at most how much in all.

    `environment` and `endpoint` are fixed when the batch is made: a batch never moves to another market. `key` names it
    there (RequesterAnnotation), also beside other installations. `rewards` are groups of systems with their reward,
    [{"name", "systems", "cents"}]; one without systems is for all others. `reserved_cents` is what the batch may still
    come to cost, with fees and bonuses: the database holds that it never exceeds the cap.
    """

    # The unique constraint below begins with this column and serves as its index.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="crowd_batches", db_index=False)
    number = models.PositiveIntegerField()
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_batches")
    key = models.CharField(max_length=32)
    kind = models.CharField(max_length=16, choices=CrowdKind.choices, default=CrowdKind.PRESENCE)
    template = models.CharField(max_length=16, choices=Template.choices, default=Template.EXTERNAL)
    preset = models.CharField(max_length=40, blank=True)
    environment = models.CharField(max_length=60)
    endpoint = models.CharField(max_length=300)
    title = models.CharField(max_length=128)
    description = models.TextField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    rewards = models.JSONField(default=list)
    assignments = models.PositiveIntegerField()  # per HIT, to begin with
    duration_s = models.PositiveIntegerField()
    lifetime_s = models.PositiveIntegerField()
    auto_approval_s = models.PositiveIntegerField()
    requirements = models.JSONField(default=list, blank=True)
    fees = models.JSONField(default=dict)  # the market's schedule as it was when the batch was made
    consent = models.TextField(blank=True)
    consent_version = models.CharField(max_length=64, blank=True)  # a digest of the text
    expected_s = models.PositiveIntegerField(default=0)  # seconds that an assignment is expected to take, 0: not told
    floor_cents = models.PositiveIntegerField(default=0)  # the least that an hour shall be paid
    cap_cents = models.PositiveBigIntegerField()
    reserved_cents = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=16, choices=BatchState.choices, default=BatchState.DRAFT)
    pause_reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_batches")
    confirmed_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="confirmed_crowd_batches"
    )
    published_at = models.DateTimeField(null=True, blank=True)  # the last HIT of the first round went out
    collected_at = models.DateTimeField(null=True, blank=True)
    polled_at = models.DateTimeField(null=True, blank=True)  # when a worker last took it on itself to collect
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="mturk_crowdbatch_number_once"),
            models.UniqueConstraint(fields=["key"], name="mturk_crowdbatch_key_once"),
            models.UniqueConstraint(
                fields=["batch"], condition=~Q(state="draft"), name="mturk_crowdbatch_one_published_per_batch"
            ),
            one_of("kind", CrowdKind, "mturk_crowdbatch_kind_known"),
            one_of("template", Template, "mturk_crowdbatch_template_known"),
            one_of("state", BatchState, "mturk_crowdbatch_state_known"),
            not_empty("title", "mturk_crowdbatch_has_title"),
            not_empty("key", "mturk_crowdbatch_has_key"),
            models.CheckConstraint(condition=Q(reserved_cents__lte=F("cap_cents")), name="mturk_crowdbatch_within_cap"),
            models.CheckConstraint(
                condition=Q(kind="presence", batch__isnull=False) | Q(kind="writing", batch__isnull=True),
                name="mturk_crowdbatch_target_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(state="draft", confirmed_at__isnull=True, reserved_cents=0)
                | (~Q(state="draft") & Q(confirmed_at__isnull=False)),
                name="mturk_crowdbatch_published_is_confirmed",
            ),
            models.CheckConstraint(
                condition=(Q(state="paused") & ~Q(pause_reason="")) | (~Q(state="paused") & Q(pause_reason="")),
                name="mturk_crowdbatch_paused_has_reason",
            ),
            models.CheckConstraint(condition=Q(assignments__gte=1), name="mturk_crowdbatch_assignments_from_1"),
            models.CheckConstraint(
                condition=Q(duration_s__range=(SHORTEST, LONGEST), lifetime_s__range=(SHORTEST, LONGEST)),
                name="mturk_crowdbatch_times_in_range",
            ),
            models.CheckConstraint(
                condition=Q(auto_approval_s__lte=LATEST_APPROVAL), name="mturk_crowdbatch_approval_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"crowd batch {self.number}"


class HitState(models.TextChoices):
    PLANNED = "planned"  # stored, its money reserved; nothing was sent
    SENDING = "sending"  # a call was about to be made, or was made, or came back: only the market knows
    UNKNOWN = "unknown"  # a call failed so that the HIT may exist
    LIVE = "live"
    FAILED = "failed"  # the market refused it, so it does not exist
    GONE = "gone"  # deleted there after all was copied, or disposed by the market


class CrowdHit(Kept):
    """One HIT, planned or published. Token and annotation are stored before the market hears of it.

    `page` is what workers see, as it was planned: for presence {"text", "rows": [{"unit": id or null for a filler,
    "text"}]}, where the answer to row i comes back as field u<i>; for writing {"text", "statements": 8}, fields s<i>.
    `assignments` is how many are wanted (and reserved), `granted` how many the market has confirmed. `available`,
    `pending` and `status` are the market's own figures when it was last asked. `surplus` are ids of further HITs that
    the market made of this row, if somebody worked on them: their work is collected here.
    """

    # The unique constraints below begin with this column and serve as its index.
    crowd_batch = models.ForeignKey(CrowdBatch, on_delete=models.PROTECT, related_name="hits", db_index=False)
    task = models.PositiveIntegerField()  # its number in the batch
    sheet = models.ForeignKey(Sheet, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_hits")
    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_hits")
    revision = models.PositiveIntegerField(default=1)
    token = models.CharField(max_length=MOST_TOKEN)
    annotation = models.CharField(max_length=255)
    page = models.JSONField(default=dict)
    reward_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(default=0)
    assignments = models.PositiveIntegerField()
    granted = models.PositiveIntegerField(default=0)
    reserved_cents = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=16, choices=HitState.choices, default=HitState.PLANNED)
    hit_id = models.CharField(max_length=64, blank=True)
    hit_type_id = models.CharField(max_length=64, blank=True)
    surplus = models.JSONField(default=list, blank=True)
    first_sent_at = models.DateTimeField(null=True, blank=True)  # of this revision: its token lives from then on
    sent_at = models.DateTimeField(null=True, blank=True)
    live_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=16, blank=True)
    available = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    synced_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta(Kept.Meta):
        ordering = ["crowd_batch", "task"]
        indexes = [models.Index(fields=["crowd_batch", "state", "task"], name="mturk_crowdhit_by_state")]
        constraints = [
            models.UniqueConstraint(fields=["crowd_batch", "task"], name="mturk_crowdhit_task_once"),
            models.UniqueConstraint(fields=["crowd_batch", "sheet"], name="mturk_crowdhit_sheet_once"),
            models.UniqueConstraint(fields=["crowd_batch", "reference"], name="mturk_crowdhit_reference_once"),
            models.UniqueConstraint(fields=["token"], name="mturk_crowdhit_token_once"),
            models.UniqueConstraint(fields=["annotation"], name="mturk_crowdhit_annotation_once"),
            models.UniqueConstraint(fields=["hit_id"], condition=~Q(hit_id=""), name="mturk_crowdhit_hit_id_once"),
            one_of("state", HitState, "mturk_crowdhit_state_known"),
            not_empty("token", "mturk_crowdhit_has_token"),
            not_empty("annotation", "mturk_crowdhit_has_annotation"),
            models.CheckConstraint(
                condition=Q(sheet__isnull=False, reference__isnull=True)
                | Q(sheet__isnull=True, reference__isnull=False),
                name="mturk_crowdhit_has_one_target",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["live", "gone"]) | ~Q(hit_id=""), name="mturk_crowdhit_live_has_id"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["sending", "unknown"]) | Q(first_sent_at__isnull=False, sent_at__isnull=False),
                name="mturk_crowdhit_sent_has_time",
            ),
            models.CheckConstraint(condition=Q(assignments__gte=1), name="mturk_crowdhit_assignments_from_1"),
            models.CheckConstraint(condition=Q(revision__gte=1), name="mturk_crowdhit_revision_from_1"),
        ]

    def __str__(self) -> str:
        return self.annotation

    @property
    def unit_cents(self) -> int:
        """What one assignment costs, fee included."""
        return self.reward_cents + self.fee_cents


class AssignmentStatus(models.TextChoices):
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"


class Wish(models.TextChoices):
    """What a person decided; the market is told by a worker process."""

    NONE = ""
    APPROVE = "approve"
    REJECT = "reject"


class CrowdAssignment(Kept):
    """What one worker handed in. The answer is stored as it came, before anybody tries to read it.

    `stored` is the assignment with its judgements that it became. `problem` says why it could not be read or stored;
    the answer stays, and is read again when asked. `checks` names the checks that it failed.
    """

    hit = models.ForeignKey(CrowdHit, on_delete=models.PROTECT, related_name="collected")
    assignment_id = models.CharField(max_length=64)
    worker = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="crowd_assignments")
    raw = models.TextField(blank=True)
    whole = models.JSONField(default=dict)  # the rest of what the market told, without answer and worker
    status = models.CharField(max_length=16, choices=AssignmentStatus.choices)
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(blank=True)
    first_seen_at = models.DateTimeField()
    answers = models.JSONField(null=True, blank=True)
    active_s = models.FloatField(null=True, blank=True)  # as our page measured it
    consent_version = models.CharField(max_length=64, blank=True)
    checks = models.JSONField(default=list)
    problem = models.TextField(blank=True)
    stored = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_assignment"
    )
    wish = models.CharField(max_length=8, choices=Wish.choices, blank=True, default=Wish.NONE)
    wish_reason = models.TextField(blank=True)
    wished_at = models.DateTimeField(null=True, blank=True)
    wished_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_wishes")
    error = models.TextField(blank=True)  # why the market did not take the decision

    class Meta(Kept.Meta):
        ordering = ["hit", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment_id"], name="mturk_crowdassignment_id_once"),
            one_of("status", AssignmentStatus, "mturk_crowdassignment_status_known"),
            one_of("wish", Wish, "mturk_crowdassignment_wish_known"),
            not_empty("assignment_id", "mturk_crowdassignment_has_id"),
            # Nobody is rejected by a machine, and nobody without a reason.
            models.CheckConstraint(
                condition=~Q(wish="reject") | (~Q(wish_reason="") & Q(wished_by__isnull=False)),
                name="mturk_crowdassignment_reject_by_a_person",
            ),
            models.CheckConstraint(
                condition=Q(active_s__isnull=True) | Q(active_s__gte=0), name="mturk_crowdassignment_active_from_0"
            ),
        ]

    def __str__(self) -> str:
        return self.assignment_id

    @property
    def worked_s(self) -> float | None:
        """Seconds of work: from taking to handing in, or the active time if that is less (a queue is no work)."""
        if self.accepted_at is None or self.submitted_at is None:
            return self.active_s
        span = (self.submitted_at - self.accepted_at).total_seconds()
        return min(span, self.active_s) if self.active_s else span


class BonusState(models.TextChoices):
    PLANNED = "planned"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SENT = "sent"
    FAILED = "failed"


class CrowdBonus(Kept):
    """Money beside the reward, once for an assignment and a purpose. An outbox row like a HIT."""

    # The unique constraint below begins with this column and serves as its index.
    assignment = models.ForeignKey(CrowdAssignment, on_delete=models.PROTECT, related_name="bonuses", db_index=False)
    purpose = models.CharField(max_length=40)
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(default=0)
    reason = models.TextField()
    token = models.CharField(max_length=MOST_TOKEN)
    state = models.CharField(max_length=16, choices=BonusState.choices, default=BonusState.PLANNED)
    first_sent_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="crowd_bonuses")

    class Meta(Kept.Meta):
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "purpose"], name="mturk_crowdbonus_once_per_purpose"),
            models.UniqueConstraint(fields=["token"], name="mturk_crowdbonus_token_once"),
            one_of("state", BonusState, "mturk_crowdbonus_state_known"),
            not_empty("reason", "mturk_crowdbonus_has_reason"),
            not_empty("purpose", "mturk_crowdbonus_has_purpose"),
            models.CheckConstraint(condition=Q(cents__gte=1), name="mturk_crowdbonus_from_1_cent"),
            models.CheckConstraint(
                condition=~Q(state__in=["sending", "unknown", "sent"]) | Q(first_sent_at__isnull=False),
                name="mturk_crowdbonus_sent_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose}: {self.cents} cents"


class PaidKind(models.TextChoices):
    CREATE = "create_hit"
    ADD = "add_assignments"
    APPROVE = "approve"
    REJECT = "reject"
    BONUS = "bonus"
    EXTEND = "extend"
    EXPIRE = "expire"
    DELETE = "delete"


class PaidAction(AppendOnly):
    """A line for every act that moves money at the market, written with the outcome. The token makes it one line."""

    crowd_batch = models.ForeignKey(CrowdBatch, on_delete=models.PROTECT, related_name="paid_actions")
    hit = models.ForeignKey(CrowdHit, on_delete=models.PROTECT, null=True, blank=True, related_name="paid_actions")
    assignment = models.ForeignKey(
        CrowdAssignment, on_delete=models.PROTECT, null=True, blank=True, related_name="paid_actions"
    )
    kind = models.CharField(max_length=16, choices=PaidKind.choices)
    token = models.CharField(max_length=100)
    cents = models.IntegerField()  # what it commits (a HIT) or pays (an approval, a bonus), fees included
    detail = models.JSONField(default=dict, blank=True)
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="paid_actions")
    at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "token"], name="mturk_paidaction_once"),
            one_of("kind", PaidKind, "mturk_paidaction_kind_known"),
            not_empty("token", "mturk_paidaction_has_token"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.token}"


class CrowdQualification(Kept):
    """A qualification by its name. Its id differs from market to market, so it is kept for each."""

    environment = models.CharField(max_length=60)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    type_id = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta(Kept.Meta):
        ordering = ["environment", "name"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "name"], name="mturk_crowdqualification_name_once"),
            not_empty("name", "mturk_crowdqualification_has_name"),
            not_empty("type_id", "mturk_crowdqualification_has_id"),
        ]

    def __str__(self) -> str:
        return self.name
