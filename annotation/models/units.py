"""Content units: SCUs that people write and STUs that a rule derives."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.corpus import Example, Reference, Sentence
from annotation.models.kept import Kept, KeptQuerySet, Trashable, not_empty, one_of
from annotation.models.people import Person


class UnitQuerySet(KeptQuerySet["Unit"]):
    def current(self) -> UnitQuerySet:
        """The newest revision of every unit that is not in the trash."""
        return self.filter(trashed_at__isnull=True, superseded_at__isnull=True)


class UnitKind(models.TextChoices):
    SCU = "scu"
    STU = "stu"


class Provenance(models.TextChoices):
    IMPORTED = "imported"
    WRITTEN = "written"  # by a person, from scratch
    ACCEPTED = "accepted"  # a draft that a person took as it was
    EDITED = "edited"  # a draft that a person changed
    MERGED = "merged"  # from units of several references
    DERIVED = "derived"  # by a rule, from a parse


class Unit(Trashable):
    """One fact. Its text never changes: an edit is a new revision of the same key, the old one is superseded.

    A unit of one reference names it (and its sentence, once known). A unit merged across references names none and
    has one contributor for each place that expresses it.
    """

    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="units")
    kind = models.CharField(max_length=3, choices=UnitKind.choices)
    key = models.CharField(max_length=200)
    revision = models.PositiveIntegerField(default=1)
    position = models.PositiveIntegerField()
    text = models.TextField()
    weight = models.PositiveIntegerField(default=1)
    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, null=True, blank=True, related_name="units")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, blank=True, related_name="units")
    provenance = models.CharField(max_length=16, choices=Provenance.choices)
    guideline_version = models.CharField(max_length=200, blank=True)
    rule = models.CharField(max_length=200, blank=True)  # which rule derived it, "" where a person wrote it
    spans = models.JSONField(default=list, blank=True)  # where its words stand: [start, end] in the reference
    author = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, blank=True, related_name="units")
    created_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True, blank=True)

    objects = UnitQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Trashable.Meta):
        ordering = ["kind", "position", "revision"]
        constraints = [
            models.UniqueConstraint(
                fields=["example", "kind", "key", "revision"], name="annotation_unit_revision_once"
            ),
            models.UniqueConstraint(
                fields=["example", "kind", "key"],
                condition=Q(superseded_at__isnull=True),
                name="annotation_unit_one_current_revision",
            ),
            models.CheckConstraint(
                condition=Q(sentence__isnull=True) | Q(reference__isnull=False),
                name="annotation_unit_sentence_needs_reference",
            ),
            models.CheckConstraint(condition=Q(weight__gte=1), name="annotation_unit_weight_from_1"),
            models.CheckConstraint(
                condition=Q(position__gte=1, revision__gte=1), name="annotation_unit_position_from_1"
            ),
            one_of("kind", UnitKind, "annotation_unit_kind_known"),
            one_of("provenance", Provenance, "annotation_unit_provenance_known"),
            not_empty("text", "annotation_unit_has_text"),
            not_empty("key", "annotation_unit_has_key"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Contributor(Kept):
    """A place in one reference that expresses a unit merged across references."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="contributors")
    position = models.PositiveIntegerField()
    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, related_name="contributors")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, blank=True, related_name="contributors")
    text = models.TextField(blank=True)  # the words there, "" where the corpus does not tell
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)

    class Meta(Kept.Meta):
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "position"], name="annotation_contributor_position_once"),
            models.CheckConstraint(condition=Q(position__gte=1), name="annotation_contributor_position_from_1"),
            models.CheckConstraint(
                # "start < end" alone would let one missing end pass: a comparison with NULL refuses nothing.
                condition=Q(start__isnull=True, end__isnull=True)
                | Q(start__isnull=False, end__isnull=False, start__lt=F("end")),
                name="annotation_contributor_start_before_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit} in {self.reference}"


class Mix(models.Model):
    """A published mix of SCUs and STUs: unit texts per reference, kept as released.

    The mixes that come with Lite2-3Pyramid cannot be derived from its unit files (six units of REALSumm's are in
    neither), so they are data of their own and take no part in scores.
    """

    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, related_name="mixes")
    name = models.CharField(max_length=200)
    texts = models.JSONField()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["reference", "name"], name="annotation_mix_once_per_reference"),
            not_empty("name", "annotation_mix_has_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.reference}"
