"""What judges said of summaries, and the scores that came of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models import Run, Summary, System
from annotation.models.kept import not_empty, one_of


class JudgeVersion(models.Model):
    """A judge at one revision, and how fast it was when last seen."""

    name = models.CharField(max_length=300)
    revision = models.CharField(max_length=64)
    pairs_per_s = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["name", "revision"], name="scoring_judgeversion_once"),
            not_empty("name", "scoring_judgeversion_has_name"),
            not_empty("revision", "scoring_judgeversion_has_revision"),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.revision}"


class Presence(models.Model):
    """A verdict, kept by content: the same texts are never judged twice by the same judge, in whatever project."""

    # The unique constraint below begins with this column and serves as its index.
    judge = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="presences", db_index=False)
    summary_digest = models.CharField(max_length=32)
    unit_digest = models.CharField(max_length=32)
    p = models.FloatField()
    p3c = models.FloatField(null=True, blank=True)
    l3c = models.PositiveSmallIntegerField(null=True, blank=True)
    p2c = models.FloatField(null=True, blank=True)
    l2c = models.PositiveSmallIntegerField(null=True, blank=True)
    was_truncated = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "summary_digest", "unit_digest"], name="scoring_presence_once_per_content"
            ),
            models.CheckConstraint(condition=Q(p__gte=0, p__lte=1), name="scoring_presence_p_is_a_probability"),
        ]

    def __str__(self) -> str:
        return f"{self.p:.2f} by {self.judge}"


class PartState(models.TextChoices):
    OPEN = "open"
    CLAIMED = "claimed"
    DONE = "done"


class ScorePart(models.Model):
    """A piece of a run that any worker can take. Its verdicts are stored in the transaction that marks it as done."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="score_parts", db_index=False)
    number = models.PositiveIntegerField()
    judge = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT)
    wanted = models.JSONField()  # [[summary, [unit, …]], …], by id
    pairs = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=PartState.choices, default=PartState.OPEN)
    claim = models.UUIDField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="scoring_scorepart_once"),
            one_of("state", PartState, "scoring_scorepart_state_known"),
            models.CheckConstraint(
                condition=Q(state="claimed", claim__isnull=False, heartbeat_at__isnull=False)
                | (~Q(state="claimed") & Q(claim__isnull=True)),
                name="scoring_scorepart_claimed_has_claim",
            ),
            models.CheckConstraint(
                condition=Q(state="done", ended_at__isnull=False) | (~Q(state="done") & Q(ended_at__isnull=True)),
                name="scoring_scorepart_done_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of run {self.run_id}: {self.state}"


class SummaryScore(models.Model):
    """The score of one summary in one run, with the value of every unit: nothing needs to be judged again."""

    # The unique constraint below begins with this column and serves as its index.
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="summary_scores", db_index=False)
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="scores")
    value = models.FloatField(null=True, blank=True)  # None: not measured
    normalised = models.FloatField(null=True, blank=True)  # for length
    units = models.JSONField(default=list)  # [[unit, weight, value or None, by people 0/1, label 0/1 or None], …]
    differing = models.PositiveIntegerField(default=0)  # units where people and the judge disagree

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "summary"], name="scoring_summaryscore_once"),
        ]
        indexes = [models.Index(fields=["run", "-differing", "id"], name="scoring_by_difference")]

    def __str__(self) -> str:
        return "not measured" if self.value is None else f"{self.value:.3f}"


class Variant(models.TextChoices):
    PLAIN = "plain"
    NORMALISED = "normalised"  # for length


class SystemScore(models.Model):
    """A row of the leaderboard. `place` is None for a system that cannot be compared; `reason` then says why."""

    # The unique constraint below begins with this column and serves as its index.
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="system_scores", db_index=False)
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="scores")
    variant = models.CharField(max_length=16, choices=Variant.choices)
    value = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    examples = models.PositiveIntegerField()
    place = models.PositiveIntegerField(null=True, blank=True)
    letters = models.TextField(blank=True)
    reason = models.CharField(max_length=300, blank=True)
    by_people = models.FloatField(default=0)
    length_ratio = models.FloatField(null=True, blank=True)
    signature = models.CharField(max_length=500)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "variant", "system"], name="scoring_systemscore_once"),
            one_of("variant", Variant, "scoring_systemscore_variant_known"),
            not_empty("signature", "scoring_systemscore_has_signature"),
            models.CheckConstraint(
                condition=Q(place__isnull=True) | Q(place__gte=1, value__isnull=False, reason=""),
                name="scoring_systemscore_ranked_has_value",
            ),
            models.CheckConstraint(
                condition=Q(place__isnull=False) | ~Q(reason=""), name="scoring_systemscore_unranked_has_reason"
            ),
            models.CheckConstraint(
                condition=Q(by_people__gte=0, by_people__lte=1), name="scoring_systemscore_by_people_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.value}"
