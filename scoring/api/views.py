"""Scores through the API: start a run, read its scores."""

from __future__ import annotations

from typing import cast

import django_filters as filters
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import exceptions, status
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import LEADS, READERS
from annotation.api.serializers import RunSerializer
from annotation.api.views import InProject, RowList
from annotation.models import Label, Project, System, User
from annotation.services.labels import label_rules, main_rule
from annotation.tasks import send_run
from scoring.api.serializers import ScoreRequestSerializer, SystemScoreSerializer
from scoring.metric_names import UnknownMetric
from scoring.models import SystemScore, Variant
from scoring.options import BadOptions, checked_options
from scoring.services.score_job import request_score


class ScoreStart(InProject):
    """Score the systems of a project; workers judge what nobody has judged yet. The answer is the run to follow."""

    roles = LEADS
    parser_classes = (JSONParser,)

    @extend_schema(
        request=ScoreRequestSerializer,
        responses={202: OpenApiResponse(RunSerializer, description="Follow the run by its id.")},
    )
    def post(self, request: Request, slug: str) -> Response:
        serializer = ScoreRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        systems = _ids_of(self.project, data["systems"]) if "systems" in data else None
        rules = label_rules(self.project)
        if data.get("label_rule", Label.IMPORTED) not in {*rules, Label.IMPORTED}:
            raise exceptions.ValidationError({"label_rule": [_("There are no such labels here.")]})
        rule = data.get("label_rule") or main_rule(self.project)
        try:
            options = checked_options({**data, "label_rule": rule, "systems": systems})
        except (UnknownMetric, BadOptions) as error:
            raise exceptions.ValidationError({"metric": [str(error)]}) from error
        run = request_score(self.project, options, now=timezone.now(), actor=cast("User", request.user))
        send_run(run)
        return Response(RunSerializer(run, context=self.context()).data, status=status.HTTP_202_ACCEPTED)


def _ids_of(project: Project, names: list[str]) -> list[int]:
    known = dict(System.objects.live().filter(project=project).values_list("name", "pk"))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise exceptions.ValidationError({"systems": [_("There is no system %(name)s.") % {"name": unknown[0]}]})
    return [known[name] for name in names]


class ScoreFilter(filters.FilterSet):
    run = filters.NumberFilter("run_id", min_value=1, max_value=2**31 - 1)
    variant = filters.ChoiceFilter(choices=Variant.choices)
    system = filters.CharFilter("system__name")

    class Meta:
        model = SystemScore
        fields: list[str] = []


class ScoreList(RowList[SystemScore]):
    """Scores of systems, each with its interval and the signature that makes it repeatable."""

    roles = READERS
    serializer_class = SystemScoreSerializer
    filterset_class = ScoreFilter

    def rows(self) -> QuerySet[SystemScore]:
        live = SystemScore.objects.filter(run__project=self.project, run__state="done", system__trashed_at__isnull=True)
        return live.select_related("run", "system")
