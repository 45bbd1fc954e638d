"""Scores and requests for them, as JSON."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from annotation.api.serializers import StrictSerializer
from annotation.judge_names import short_judge
from annotation.mixing import ORDERS, RULES
from scoring.judges import EMBEDDED
from scoring.models import SystemScore
from scoring.options import HUMAN, READINGS
from scoring.services.starting import judge_choices


class ScoreRequestSerializer(StrictSerializer):
    metric = serializers.CharField(
        default="lite2", max_length=40, help_text=_("lite2, lite2.5, lite3, litepyramid-32 …")
    )
    judge = serializers.CharField(default="embedded", max_length=300, help_text=_("human, embedded, human+embedded …"))
    reading = serializers.ChoiceField(choices=READINGS, default="p")
    order = serializers.ChoiceField(choices=ORDERS, default="easiest")
    rule = serializers.ChoiceField(choices=RULES, default="exact")
    label_rule = serializers.CharField(
        required=False,
        max_length=200,
        help_text=_("Which labels of people: imported, majority … The corpus's own if left out."),
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
    systems = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        min_length=1,
        help_text=_("All if left out."),
    )

    def validate_judge(self, judge: str) -> str:
        """Only judges that the server offers: a name could else be a folder of its disk."""
        if judge not in judge_choices():
            raise serializers.ValidationError(_("Not offered here. Choose one of: ") + ", ".join(judge_choices()))
        return judge

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["judge"].removeprefix(f"{HUMAN}+") == EMBEDDED and given["reading"] != "p":
            raise serializers.ValidationError({"reading": [_("The embedded judge gives p only.")]})
        return given


class SystemScoreSerializer(serializers.ModelSerializer[SystemScore]):
    system = serializers.CharField(source="system.name", read_only=True)
    run = serializers.IntegerField(source="run_id", read_only=True)
    score = serializers.FloatField(source="value", read_only=True, allow_null=True)
    n = serializers.IntegerField(source="examples", read_only=True, help_text="Examples behind the score.")
    metric = serializers.CharField(source="run.parameters.metric", read_only=True)
    judge = serializers.SerializerMethodField(help_text="Of a judge in a folder its last part.")
    in_training_data = serializers.SerializerMethodField(help_text="Whether the judge has learnt from these units.")

    class Meta:
        model = SystemScore
        fields = (
            "id", "run", "metric", "judge", "system", "variant", "score", "low", "high", "n", "place", "letters",
            "reason", "by_people", "length_ratio", "in_training_data", "signature",
        )  # fmt: skip
        read_only_fields = fields

    def get_judge(self, row: SystemScore) -> str:
        return short_judge(row.run.parameters["judge"])

    def get_in_training_data(self, row: SystemScore) -> bool:
        return bool(row.run.counts.get("seen_units"))
