"""How easy a sentence is, as a regressor predicted it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.corpus import Sentence
from annotation.models.kept import Kept, not_empty


class Ranking(Kept):
    """The easiness of a sentence. Another ranker, or other units, make a new revision; a plan keeps the one it used."""

    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="rankings")
    revision = models.PositiveIntegerField(default=1)
    easiness = models.FloatField()
    reasons = models.JSONField(default=list, blank=True)  # what moved it most: feature, value, effect
    ranker = models.CharField(max_length=200)  # its signature
    basis = models.CharField(max_length=64)  # digest of ranker, sentences and units: the same would come out the same
    was_seen = models.BooleanField(default=False)  # the ranker has learnt from this very sentence
    created_at = models.DateTimeField()

    class Meta(Kept.Meta):
        ordering = ["sentence", "revision"]
        constraints = [
            models.UniqueConstraint(fields=["sentence", "revision"], name="annotation_ranking_revision_once"),
            models.CheckConstraint(
                condition=Q(easiness__gte=0, easiness__lte=1), name="annotation_ranking_easiness_is_a_share"
            ),
            not_empty("ranker", "annotation_ranking_has_ranker"),
            not_empty("basis", "annotation_ranking_has_basis"),
        ]

    def __str__(self) -> str:
        return f"{self.easiness:.2f}"
