"""Judging through the API: votes under pseudonyms, and how far judges agree. Labels with their rule are in views.py."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import READERS
from annotation.aggregating.agreement import Alpha
from annotation.api.views import InProject, RowList
from annotation.models import Answer, Judgement
from annotation.parameters import only_known
from annotation.services.pseudonyms import name_judge
from annotation.services.quality import judge_list, measure_agreement
from annotation.services.votes import live_judgements


class JudgementSerializer(serializers.ModelSerializer[Judgement]):
    example = serializers.CharField(source="unit.example.key", read_only=True)
    unit = serializers.IntegerField(source="unit_id", read_only=True, help_text="Id of the unit.")
    system = serializers.CharField(source="summary.system.name", read_only=True)
    judge = serializers.SerializerMethodField(help_text="A pseudonym.")

    class Meta:
        model = Judgement
        fields = ("id", "example", "unit", "system", "judge", "answer", "seconds", "judged_at", "shown")
        read_only_fields = fields

    def get_judge(self, judgement: Judgement) -> str:
        return name_judge(judgement.judge)


class JudgementFilter(filters.FilterSet):
    example = filters.CharFilter("unit__example__key")
    system = filters.CharFilter("summary__system__name")
    answer = filters.ChoiceFilter(choices=Answer.choices)

    class Meta:
        model = Judgement
        fields: list[str] = []


class JudgementList(RowList[Judgement]):
    """One row per vote. Judges are pseudonyms."""

    roles = READERS
    serializer_class = JudgementSerializer
    filterset_class = JudgementFilter

    def rows(self) -> QuerySet[Judgement]:
        related = live_judgements(self.project).select_related("unit__example", "summary__system", "judge__user")
        return related.defer("unit__example__document", "unit__text", "summary__text")


class AlphaSerializer(serializers.Serializer[Any]):
    """Krippendorff's alpha; null where it is not defined, and `why` says so."""

    alpha = serializers.FloatField(source="value", allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    why = serializers.CharField()
    items = serializers.IntegerField()
    votes = serializers.IntegerField()


class NamedAlphaSerializer(AlphaSerializer):
    name = serializers.CharField()


class AgreementSerializer(serializers.Serializer[Any]):
    overall = AlphaSerializer(help_text="Over all units of summaries, with a 95 % interval over examples.")
    paper = AlphaSerializer(help_text="As REALSumm's paper has it: mean over summaries, 1 where all answers are one.")
    systems = NamedAlphaSerializer(many=True)
    examples = NamedAlphaSerializer(many=True, help_text="By the position of the example, least agreement first.")
    judges = NamedAlphaSerializer(many=True, help_text="Over the units that each judge voted on, by pseudonym.")


class AgreementDetail(InProject):
    """How far judges agree, without those who are excluded."""

    roles = READERS

    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params)
        found = measure_agreement(self.project)
        data = {
            "overall": found.overall,
            "paper": found.paper,
            "systems": [_named(name, alpha) for name, alpha in found.systems],
            "examples": [_named(str(position), alpha) for position, alpha in found.examples],
            "judges": [_named(name_judge(row.person), row.alpha) for row in judge_list(self.project).rows],
        }
        return Response(AgreementSerializer(data).data)


def _named(name: str, alpha: Alpha) -> dict[str, Any]:
    fields = ("value", "low", "high", "why", "items", "votes")
    return {"name": name} | {field: getattr(alpha, field) for field in fields}
