"""Plans: which sentences people write and which STUs cover. A draft changes, a frozen plan never does."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.corpus import Sentence
from annotation.models.kept import AppendOnly, Kept, not_empty, one_of
from annotation.models.people import Project, User

MAX_SHARE = 1000


class Destination(models.TextChoices):
    PEOPLE = "people"
    STUS = "stus"


def share_is_one(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(share__gte=0, share__lte=MAX_SHARE), name=name)


class PlanDraft(models.Model):
    """What a lead is trying out: the share of STUs in thousandths, and assumptions that differ from the usual ones.

    `basis` names what the routes were made from, `cut` is the rank from which on free sentences go to STUs. These and
    the counts are kept here so that no page has to count a hundred thousand rows.
    """

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="plan_draft")
    share = models.PositiveIntegerField(default=500)
    rule = models.CharField(max_length=16, default="exact")
    assumptions = models.JSONField(default=dict, blank=True)
    guideline = models.CharField(max_length=40, default="fine-1")
    control = models.PositiveIntegerField(
        default=100
    )  # thousandths of the sentences whose writers see no draft of a machine
    arm = models.CharField(max_length=8, default="after")  # when the others see them
    second_look = models.PositiveIntegerField(default=1000)  # thousandths of the sentences that a second person sees
    write_again = models.BooleanField(null=True, blank=True)  # also what has SCUs already; None: only if all have
    with_scus = models.PositiveIntegerField(default=0)  # sentences that came with SCUs, written by nobody here
    basis = models.CharField(max_length=64, blank=True)
    cut = models.PositiveIntegerField(default=1)
    sentences = models.PositiveIntegerField(default=0)
    pinned_people = models.PositiveIntegerField(default=0)
    pinned_stus = models.PositiveIntegerField(default=0)
    to_stus = models.PositiveIntegerField(default=0)  # sentences, pins included
    observed = models.JSONField(default=dict, blank=True)  # what the project's own SCUs tell
    changed_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            share_is_one("annotation_plandraft_share_is_one"),
            models.CheckConstraint(
                condition=Q(control__lte=MAX_SHARE, second_look__lte=MAX_SHARE),
                name="annotation_plandraft_other_shares_are_ones",
            ),
        ]

    @property
    def writes_again(self) -> bool:
        """Whether people write what came with SCUs. Unless a lead says: only where everything did, for else there would
        be nothing to plan."""
        return self.with_scus == self.sentences if self.write_again is None else self.write_again

    def __str__(self) -> str:
        return f"draft of {self.project}"


class Pin(Kept):
    """A lead's word on where one sentence goes, against the order. Taking it away closes the row."""

    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="pins")
    route = models.CharField(max_length=8, choices=Destination.choices)
    note = models.CharField(max_length=200, blank=True)
    pinned_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="pins")
    pinned_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["sentence"], condition=Q(removed_at__isnull=True), name="annotation_pin_one_live"
            ),
            one_of("route", Destination, "annotation_pin_route_known"),
        ]

    def __str__(self) -> str:
        return f"{self.sentence} to {self.route}"


class Route(models.Model):
    """A sentence of the newest split in the order of easiness: what the routing table shows.

    Made anew from rankings, units and pins whenever these change, so it may be deleted. `rank` 1 is the hardest.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="routes", db_index=False)
    sentence = models.OneToOneField(Sentence, on_delete=models.CASCADE, related_name="route")
    rank = models.PositiveIntegerField()
    position = models.PositiveIntegerField()  # in the corpus
    easiness = models.FloatField(null=True, blank=True)  # None: not ranked
    words = models.PositiveIntegerField()
    stus = models.PositiveIntegerField()
    warnings = models.JSONField(default=list, blank=True)
    is_warned = models.BooleanField(default=False)  # an index can hold this, and not the list
    scus = models.PositiveIntegerField(default=0)
    has_scus = models.BooleanField(default=False)  # or somebody found that there is nothing to write
    done_slots = models.PositiveIntegerField(default=0)  # writers who are through with it
    pin = models.CharField(max_length=8, choices=Destination.choices, blank=True)

    class Meta:
        ordering = ["project", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["project", "rank"], name="annotation_route_rank_once"),
            models.UniqueConstraint(fields=["project", "position"], name="annotation_route_position_once"),
            models.CheckConstraint(condition=Q(rank__gte=1, position__gte=1), name="annotation_route_rank_from_1"),
            models.CheckConstraint(condition=Q(pin__in=["", *Destination.values]), name="annotation_route_pin_known"),
        ]
        indexes = [
            models.Index(fields=["project", "words", "rank"], name="annotation_route_words"),
            models.Index(fields=["project", "stus", "rank"], name="annotation_route_stus"),
            models.Index(fields=["project", "rank"], condition=~Q(pin=""), name="annotation_route_pinned"),
            models.Index(fields=["project", "rank"], condition=Q(is_warned=True), name="annotation_route_warned"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}: {self.sentence}"


class Plan(AppendOnly):
    """A frozen plan. The newest of a project holds; those before it are superseded and stay as they were."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="plans")
    number = models.PositiveIntegerField()
    share = models.PositiveIntegerField()
    effective = models.PositiveIntegerField()  # share with the pins, in thousandths
    rule = models.CharField(max_length=16)  # of mixing
    seed = models.PositiveIntegerField(default=0)
    guideline = models.CharField(max_length=40, blank=True)
    arm = models.CharField(max_length=8, default="after")  # when writers see drafts of a machine
    control = models.PositiveIntegerField(default=100)  # thousandths of the sentences whose writers see none
    second_look = models.PositiveIntegerField(default=1000)  # thousandths that another person looks at again
    ranker = models.CharField(max_length=200)  # signatures; several are joined by a space
    parser = models.CharField(max_length=200)
    assumptions = models.JSONField()
    forecast = models.JSONField()  # as it was shown
    curve = models.CharField(max_length=600, blank=True)  # signature of the quality curve beside it
    changes = models.JSONField(default=dict)  # against the plan before
    digest = models.CharField(max_length=64)  # of the sentences and their routes
    frozen_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="plans")
    frozen_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["project", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="annotation_plan_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_plan_number_from_1"),
            share_is_one("annotation_plan_share_is_one"),
            not_empty("rule", "annotation_plan_has_rule"),
            not_empty("digest", "annotation_plan_has_digest"),
        ]

    def __str__(self) -> str:
        return f"plan {self.number} of {self.project}"


class PlannedSentence(AppendOnly):
    """A sentence in a frozen plan: where it goes and why, its STUs as they were, and what people's work on it costs."""

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="sentences", db_index=False)
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="planned")
    rank = models.PositiveIntegerField()
    easiness = models.FloatField(null=True, blank=True)
    route = models.CharField(max_length=8, choices=Destination.choices)
    is_pinned = models.BooleanField(default=False)
    note = models.CharField(max_length=200, blank=True)
    stus = models.JSONField(default=list)  # ids of the units that stand for it
    mills = models.PositiveBigIntegerField(default=0)  # thousandths of a cent

    class Meta(AppendOnly.Meta):
        ordering = ["plan", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "rank"], name="annotation_plannedsentence_rank_once"),
            models.UniqueConstraint(fields=["plan", "sentence"], name="annotation_plannedsentence_once"),
            models.CheckConstraint(condition=Q(rank__gte=1), name="annotation_plannedsentence_rank_from_1"),
            one_of("route", Destination, "annotation_plannedsentence_route_known"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}: {self.route}"


class RatioCurve(AppendOnly):
    """How well Lite2.x agrees with people at every tenth of STUs, measured on a project's own labels."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="ratio_curves")
    signature = models.CharField(max_length=600)
    content = models.JSONField()
    created_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["-pk"]
        constraints = [not_empty("signature", "annotation_ratiocurve_has_signature")]

    def __str__(self) -> str:
        return self.signature
