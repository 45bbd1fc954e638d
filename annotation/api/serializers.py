"""Rows as JSON. Other rows are named as people name them: an example by its key, a system by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.forms import FORMAT_CHOICES
from annotation.judge_names import short_judge
from annotation.models import Example, Label, Project, Reference, Run, Sentence, Stage, Summary, System, Unit
from annotation.ranking.regressor import reason_words
from annotation.services.history import hide_verdicts
from annotation.services.projects import BadProjectName, checked_project_name


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know: "dryrun" instead of "dry_run" must not become a real import."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        known = {name for name, field in self.fields.items() if not field.read_only} | {"csrfmiddlewaretoken"}
        unknown = sorted(set(data) - known) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_("This field is not known here.")] for name in unknown})
        return super().run_validation(data)


class ProjectSerializer(StrictSerializer, serializers.ModelSerializer[Project]):
    class Meta:
        model = Project
        fields = ("slug", "name", "created_at")
        read_only_fields = ("slug", "created_at")

    def validate_name(self, name: str) -> str:
        try:
            return checked_project_name(name)
        except BadProjectName as error:
            raise serializers.ValidationError(str(error)) from error


class ReferenceSerializer(serializers.ModelSerializer[Reference]):
    class Meta:
        model = Reference
        fields = ("id", "key", "position", "text")
        read_only_fields = fields


class ExampleSerializer(serializers.ModelSerializer[Example]):
    references = ReferenceSerializer(many=True, read_only=True)

    class Meta:
        model = Example
        fields = ("id", "key", "position", "document", "references", "created_at")
        read_only_fields = fields


class ReasonSerializer(serializers.Serializer[Any]):
    """A feature that moved the easiness of a sentence."""

    feature = serializers.CharField()
    value = serializers.FloatField()
    effect = serializers.FloatField(help_text="By how much it moved it; above 0 is easier.")
    words = serializers.CharField()


class SentenceSerializer(serializers.ModelSerializer[Sentence]):
    example = serializers.CharField(source="reference.example.key", read_only=True)
    reference = serializers.CharField(source="reference.key", read_only=True)

    easiness = serializers.FloatField(
        read_only=True, allow_null=True, help_text="Predicted, 0 to 1; null if it is not ranked."
    )
    reasons = serializers.SerializerMethodField(help_text="What moved it most: feature, value, effect, and words.")
    ranker = serializers.CharField(read_only=True, allow_null=True, help_text="Signature of the ranker.")

    class Meta:
        model = Sentence
        fields = (
            "id", "example", "reference", "revision", "position", "start", "end", "text", "easiness", "reasons",
            "ranker",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ReasonSerializer(many=True, allow_null=True))
    def get_reasons(self, sentence: Sentence) -> list[dict[str, Any]] | None:
        reasons = getattr(sentence, "reasons", None)
        return reasons and [{**reason, "words": reason_words(reason)[0]} for reason in reasons]


class UnitSerializer(serializers.ModelSerializer[Unit]):
    example = serializers.CharField(source="example.key", read_only=True)
    reference = serializers.CharField(source="reference.key", read_only=True, allow_null=True)
    sentence = serializers.IntegerField(
        source="sentence_id", read_only=True, allow_null=True, help_text="Id of the sentence."
    )

    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2),
        read_only=True,
        help_text="Where its words stand in the reference: [start, end] in characters.",
    )

    class Meta:
        model = Unit
        fields = (
            "id", "example", "kind", "key", "revision", "position", "text", "weight", "reference", "sentence",
            "provenance", "guideline_version", "rule", "spans", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class SystemSerializer(serializers.ModelSerializer[System]):
    class Meta:
        model = System
        fields = ("id", "name")
        read_only_fields = fields


class SummarySerializer(serializers.ModelSerializer[Summary]):
    example = serializers.CharField(source="example.key", read_only=True)
    system = serializers.CharField(source="system.name", read_only=True)

    class Meta:
        model = Summary
        fields = ("id", "example", "system", "text")
        read_only_fields = fields


class LabelSerializer(serializers.ModelSerializer[Label]):
    example = serializers.CharField(source="unit.example.key", read_only=True)
    unit = serializers.IntegerField(source="unit_id", read_only=True, help_text="Id of the unit.")
    system = serializers.CharField(source="summary.system.name", read_only=True)

    class Meta:
        model = Label
        fields = ("id", "example", "unit", "system", "rule", "present")
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer[Run]):
    started_by = serializers.CharField(source="started_by.username", read_only=True, allow_null=True)
    counts = serializers.SerializerMethodField()
    dry_run = serializers.SerializerMethodField(help_text="Whether an import only checks and counts.")
    asked = serializers.SerializerMethodField(help_text="What a score run was asked for: metric, judge and so on.")

    class Meta:
        model = Run
        fields = (
            "id", "stage", "state", "dry_run", "asked", "phase", "steps_done", "steps_total", "counts", "error",
            "signature", "attempt", "retry_of", "started_by", "created_at", "started_at", "ended_at",
        )  # fmt: skip
        read_only_fields = fields

    def to_representation(self, run: Run) -> dict[str, Any]:
        return super().to_representation(hide_verdicts(run, self.context.get("role")))

    def get_counts(self, run: Run) -> dict[str, Any]:
        """The outcome, without the place of a file on our disk."""
        counts = dict(run.counts)
        if "download" in counts:
            counts["download"] = {key: value for key, value in counts["download"].items() if key != "place"}
        return counts

    def get_asked(self, run: Run) -> dict[str, Any] | None:
        """As a run stores it, without the folder of a judge on our disk."""
        if run.stage != Stage.SCORE:
            return None
        return {**run.parameters, "judge": short_judge(run.parameters.get("judge", ""))}

    def get_dry_run(self, run: Run) -> bool:
        return bool(run.parameters.get("dry_run", False))


class ImportSerializer(StrictSerializer):
    file = serializers.FileField(
        max_length=500, help_text=_("A file, or a zip of a folder."), write_only=True, allow_empty_file=False
    )
    format = serializers.ChoiceField(choices=FORMAT_CHOICES, write_only=True)
    dry_run = serializers.BooleanField(default=False, write_only=True, help_text=_("Check and count, write nothing."))


MAX_SUMMARIES = 100_000


class NewSystemSerializer(StrictSerializer):
    name = serializers.CharField(max_length=200)
    summaries = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        help_text=_("A summary for each example, by its id; an empty one where the system wrote nothing."),
    )

    def validate_summaries(self, summaries: dict[str, Any]) -> dict[str, Any]:
        if len(summaries) > MAX_SUMMARIES:
            raise serializers.ValidationError(_("Too many summaries for one request. Import the system from a file."))
        return summaries


class SystemFileSerializer(StrictSerializer):
    name = serializers.CharField(max_length=200)
    file = serializers.FileField(
        max_length=500, write_only=True, help_text=_("Its summaries, as JSON lines, CSV or plain text.")
    )
