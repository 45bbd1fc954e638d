"""What was imported: examples with references and their sentences, systems and their summaries."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length

from annotation.models.kept import Kept, Trashable, not_empty, one_of
from annotation.models.people import Project


class Example(Trashable):
    """One input text with its references. `key` is the id in the imported files, `position` the order there."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="examples")
    key = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    document = models.TextField(null=True, blank=True)  # None where the corpus does not tell it
    created_at = models.DateTimeField()

    class Meta(Trashable.Meta):
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="annotation_example_key_once"),
            models.UniqueConstraint(fields=["project", "position"], name="annotation_example_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="annotation_example_position_from_1"),
            not_empty("key", "annotation_example_has_key"),
        ]

    def __str__(self) -> str:
        return self.key


class Reference(Kept):
    """A human summary of an example, as it was imported, markup included."""

    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="references")
    key = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    text = models.TextField(blank=True)

    class Meta(Kept.Meta):
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["example", "key"], name="annotation_reference_key_once"),
            models.UniqueConstraint(fields=["example", "position"], name="annotation_reference_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="annotation_reference_position_from_1"),
            not_empty("key", "annotation_reference_has_key"),
        ]

    def __str__(self) -> str:
        return f"{self.example} reference {self.key}"


class Sentence(Kept):
    """A span of a reference: text == reference.text[start:end]. A reference is one sentence until it is split.

    A new split is a new revision; what a plan or a unit refers to is never changed.
    """

    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, related_name="sentences")
    revision = models.PositiveIntegerField(default=1)
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    text = models.TextField()

    class Meta(Kept.Meta):
        ordering = ["revision", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["reference", "revision", "position"], name="annotation_sentence_position_once"
            ),
            models.UniqueConstraint(fields=["reference", "revision", "start"], name="annotation_sentence_start_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="annotation_sentence_start_before_end"),
            models.CheckConstraint(
                condition=Q(end=F("start") + Length("text")), name="annotation_sentence_text_fits_offsets"
            ),
            models.CheckConstraint(
                condition=Q(position__gte=1, revision__gte=1), name="annotation_sentence_position_from_1"
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class System(Trashable):
    """A summarisation system under evaluation."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="systems")
    name = models.CharField(max_length=200)

    class Meta(Trashable.Meta):
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="annotation_system_name_once"),
            not_empty("name", "annotation_system_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Summary(Kept):
    """What a system wrote for an example. An empty text is a summary, too: the system wrote nothing."""

    # The unique constraint below begins with this column and serves as its index.
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="summaries", db_index=False)
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="summaries")
    text = models.TextField(blank=True)

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(fields=["example", "system"], name="annotation_summary_once_per_system"),
        ]

    def __str__(self) -> str:
        return f"{self.system} on {self.example}"


class FoldAxis(models.TextChoices):
    EXAMPLES = "examples"
    SYSTEMS = "systems"


class Fold(models.Model):
    """A published part of the corpus for cross-validation, by examples or by systems."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="folds")
    axis = models.CharField(max_length=16, choices=FoldAxis.choices)
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["axis", "name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "axis", "name"], name="annotation_fold_name_once"),
            one_of("axis", FoldAxis, "annotation_fold_axis_known"),
            not_empty("name", "annotation_fold_has_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} by {self.axis}"


class FoldMember(models.Model):
    """One example or one system of a fold, in the published order."""

    fold = models.ForeignKey(Fold, on_delete=models.CASCADE, related_name="members")
    position = models.PositiveIntegerField()
    example = models.ForeignKey(Example, on_delete=models.PROTECT, null=True, blank=True)
    system = models.ForeignKey(System, on_delete=models.PROTECT, null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["fold", "position"], name="annotation_foldmember_position_once"),
            models.UniqueConstraint(fields=["fold", "example"], name="annotation_foldmember_example_once"),
            models.UniqueConstraint(fields=["fold", "system"], name="annotation_foldmember_system_once"),
            models.CheckConstraint(
                condition=Q(example__isnull=True) ^ Q(system__isnull=True), name="annotation_foldmember_one_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.example or self.system} in {self.fold}"
