"""Judging: batches of summaries, the sheets that judges fill in, what they answered, and whom not to count."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.corpus import Summary
from annotation.models.kept import AppendOnly, Kept, not_empty, one_of
from annotation.models.people import Person, Project, User
from annotation.models.plans import MAX_SHARE, Plan
from annotation.models.units import Unit

MOST_VOTES = 9


class Answer(models.TextChoices):
    PRESENT = "present"
    NOT_PRESENT = "not_present"
    UNSURE = "unsure"  # no vote


class Batch(Kept):
    """One round of judging: which units of a plan, in the summaries of which systems, by how many judges.

    `share` is the part of all pairs of example and system that was drawn, in thousandths. Adaptive: two judges, and a
    third only for units on which they differ or one was unsure.
    """

    # The unique constraint below begins with this column and serves as its index.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="batches", db_index=False)
    number = models.PositiveIntegerField()
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, null=True, blank=True, related_name="batches")
    systems = models.JSONField(default=list)  # names, as they were then
    with_stus = models.BooleanField(default=False)
    votes = models.PositiveSmallIntegerField()
    is_adaptive = models.BooleanField(default=False)
    share = models.PositiveIntegerField(default=MAX_SHARE)
    with_fillers = models.BooleanField(default=True)
    is_crowd = models.BooleanField(default=False, db_default=False)  # its tasks are for paid workers elsewhere
    seed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="batches")
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="annotation_batch_number_once"),
            models.CheckConstraint(
                condition=Q(votes__gte=1, votes__lte=MOST_VOTES), name="annotation_batch_votes_in_range"
            ),
            models.CheckConstraint(
                condition=Q(share__gte=1, share__lte=MAX_SHARE), name="annotation_batch_share_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.number}"


class Sheet(Kept):
    """Units of one summary that all its judges are asked alike (a HIT).

    `after` is the sheet whose open units it asks again. `filler` is a statement that the summary cannot hold; whoever
    says that it is present has not looked.
    """

    # The unique constraint below begins with this column and serves as its index.
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="sheets", db_index=False)
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="sheets")
    number = models.PositiveIntegerField(default=1)  # among the sheets of the summary in its batch
    after = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="again")
    filler = models.TextField(blank=True)

    class Meta(Kept.Meta):
        ordering = ["batch", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "summary", "number"], name="annotation_sheet_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_sheet_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"sheet {self.number} of {self.summary}"


class SheetUnit(Kept):
    """A unit that a sheet asks about."""

    # The unique constraint below begins with this column and serves as its index.
    sheet = models.ForeignKey(Sheet, on_delete=models.PROTECT, related_name="units", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="sheets")
    position = models.PositiveIntegerField()

    class Meta(Kept.Meta):
        ordering = ["sheet", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "unit"], name="annotation_sheetunit_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="annotation_sheetunit_position_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} on {self.sheet}"


class Origin(models.TextChoices):
    IN_HOUSE = "in_house"
    IMPORTED = "imported"
    CROWD = "crowd"


class Assignment(AppendOnly):
    """What one judge answered in one go about one summary.

    `asked` lists what stood on the page in its order, [unit or null for a filler, name of the question]; `details` are
    columns of a file that mean nothing here, kept so that an export has them.
    """

    # The unique constraint below begins with this column and serves as its index.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    key = models.CharField(max_length=200)
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="assignments")
    judge = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="assignments")
    sheet = models.ForeignKey(Sheet, on_delete=models.PROTECT, null=True, blank=True, related_name="assignments")
    origin = models.CharField(max_length=16, choices=Origin.choices)
    asked = models.JSONField(default=list)
    details = models.JSONField(default=dict, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)  # None where a file does not tell

    class Meta(AppendOnly.Meta):
        ordering = ["project", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="annotation_assignment_key_once"),
            one_of("origin", Origin, "annotation_assignment_origin_known"),
            not_empty("key", "annotation_assignment_has_key"),
            models.CheckConstraint(
                condition=Q(seconds__isnull=True) | Q(seconds__gte=0), name="annotation_assignment_seconds_from_0"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.summary}"


class Judgement(Kept):
    """What one judge says of one unit in one summary. A change of mind updates the row and adds a version."""

    # The unique constraint below begins with this column and serves as its index.
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="judgements", db_index=False)
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="judgements")
    judge = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="judgements")
    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="judgements"
    )
    answer = models.CharField(max_length=16, choices=Answer.choices)
    shown = models.CharField(max_length=64, blank=True, default="")  # digest of the two texts as they were shown
    seconds = models.FloatField(null=True, blank=True)
    judged_at = models.DateTimeField()

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(fields=["unit", "summary", "judge"], name="annotation_judgement_once_per_judge"),
            one_of("answer", Answer, "annotation_judgement_answer_known"),
            models.CheckConstraint(
                condition=Q(seconds__isnull=True) | Q(seconds__gte=0), name="annotation_judgement_seconds_from_0"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.answer}"


class JudgementVersion(AppendOnly):
    """One answer in the history of a judgement, the first one included."""

    judgement = models.ForeignKey(Judgement, on_delete=models.PROTECT, related_name="versions")
    version = models.PositiveIntegerField()
    answer = models.CharField(max_length=16, choices=Answer.choices)
    judged_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["judgement", "version"], name="annotation_judgementversion_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="annotation_judgementversion_from_1"),
            one_of("answer", Answer, "annotation_judgementversion_answer_known"),
        ]

    def __str__(self) -> str:
        return f"{self.version}: {self.answer}"


class FillerAnswer(AppendOnly):
    """What a judge said of a statement that is in no summary; None where they said nothing."""

    # The unique constraint below begins with this column and serves as its index.
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="fillers", db_index=False)
    position = models.PositiveIntegerField()  # on the page
    text = models.TextField()
    answer = models.CharField(max_length=16, choices=Answer.choices, null=True, blank=True)

    class Meta(AppendOnly.Meta):
        ordering = ["assignment", "position"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "position"], name="annotation_filleranswer_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="annotation_filleranswer_position_from_1"),
            models.CheckConstraint(
                condition=Q(answer__isnull=True) | Q(answer__in=Answer.values),
                name="annotation_filleranswer_answer_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text[:40]}: {self.answer}"


class Exclusion(Kept):
    """A judge whose votes are not counted, with the reason. Lifting it closes the row; the votes stay all the time."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="exclusions")
    reason = models.CharField(max_length=300)
    excluded_at = models.DateTimeField()
    excluded_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="exclusions")
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="lifted_exclusions"
    )

    class Meta(Kept.Meta):
        ordering = ["-excluded_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["person"], condition=Q(lifted_at__isnull=True), name="annotation_exclusion_one_active"
            ),
            not_empty("reason", "annotation_exclusion_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.person}: {self.reason}"


class WorkerIdentity(Kept):
    """The name that a worker has elsewhere. Shown to leads on the page of judges, and nowhere else."""

    person = models.OneToOneField(Person, on_delete=models.PROTECT, related_name="identity")
    name = models.CharField(max_length=200)

    class Meta(Kept.Meta):
        constraints = [not_empty("name", "annotation_workeridentity_has_name")]

    def __str__(self) -> str:
        return str(self.person)  # the pseudonym, so that no log has the name
