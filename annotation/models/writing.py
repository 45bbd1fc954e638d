"""Writing: every version of what somebody wrote, what was handed in, skips and flags."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.corpus import Sentence
from annotation.models.kept import AppendOnly, Kept, not_empty
from annotation.models.people import User
from annotation.models.units import Unit
from annotation.models.work import Task


class DraftVersion(AppendOnly):
    """One saved state of a task under work. All are kept; the newest that is not late is the draft.

    A late one came with a token that held no more, or from a tab that had not seen the newest version. It overwrites
    nothing and waits for the lead.
    """

    # The unique constraint below begins with this column and serves as its index.
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="drafts", db_index=False)
    version = models.PositiveIntegerField()
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="drafts")
    token = models.UUIDField()
    page = models.UUIDField(null=True, blank=True)  # tells one open page from another
    content = models.JSONField()
    is_late = models.BooleanField(default=False)
    saved_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["task", "version"]
        constraints = [
            models.UniqueConstraint(fields=["task", "version"], name="annotation_draftversion_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="annotation_draftversion_from_1"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.task}"


class Submission(AppendOnly):
    """A task as it was handed in. The same key twice is the same submission."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="submissions")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="submissions")
    key = models.UUIDField()
    content = models.JSONField()
    seconds = models.FloatField(default=0)  # active ones
    submitted_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["key"], name="annotation_submission_key_once"),
            models.CheckConstraint(condition=Q(seconds__gte=0), name="annotation_submission_seconds_from_0"),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.author}"


class WrittenUnit(AppendOnly):
    """How a unit came to be: in which submission, from which draft of the machine, with which warnings overridden.

    `origins` tells who wrote what: [submission, place] of every text that it was made of, its own included.
    """

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="written")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="units")
    source = models.ForeignKey(Unit, on_delete=models.PROTECT, null=True, blank=True, related_name="became")
    extends = models.ForeignKey(Unit, on_delete=models.PROTECT, null=True, blank=True, related_name="extended_by")
    overrides = models.JSONField(default=list, blank=True)  # names of checks
    shown = models.JSONField(default=list, blank=True)  # badges of a model that the writer had before their eyes
    origins = models.JSONField(default=list, blank=True)
    seconds = models.FloatField(default=0)

    class Meta(AppendOnly.Meta):
        constraints = [
            models.CheckConstraint(condition=Q(seconds__gte=0), name="annotation_writtenunit_seconds_from_0")
        ]

    def __str__(self) -> str:
        return str(self.unit)


class TextCheck(models.Model):
    """What a worker's parser and judge say of a text that somebody wrote for a sentence. Made anew if it is lost."""

    # The unique constraint below begins with this column and serves as its index.
    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="text_checks", db_index=False)
    digest = models.CharField(max_length=64)  # of the text
    has_verb = models.BooleanField()
    follows = models.FloatField()  # the judge's probability that the sentence says it
    checker = models.CharField(max_length=200)
    checked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sentence", "digest", "checker"], name="annotation_textcheck_once"),
            models.CheckConstraint(
                condition=Q(follows__gte=0, follows__lte=1), name="annotation_textcheck_follows_is_probability"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.digest[:8]} of {self.sentence}"


class Skip(Kept):
    """Somebody does not want a task, and why. They are not offered it again."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="skips", db_index=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="skips")
    reason = models.CharField(max_length=300)
    skipped_at = models.DateTimeField()

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="annotation_skip_once"),
            not_empty("reason", "annotation_skip_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.reason}"


class Flag(Kept):
    """Something that a lead should look at."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="flags")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="flags")
    note = models.CharField(max_length=1000)
    raised_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="settled_flags")

    class Meta(Kept.Meta):
        ordering = ["-raised_at"]
        constraints = [not_empty("note", "annotation_flag_has_note")]

    def __str__(self) -> str:
        return self.note[:80]
