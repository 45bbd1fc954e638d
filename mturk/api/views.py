"""Crowd batches through the API: how they stand, and what one would cost. Nothing here spends anything."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import Count, Q, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import LEADS
from annotation.api.views import InProject, RowList
from annotation.parameters import only_known
from mturk.environments import NoEnvironment
from mturk.models import AssignmentStatus, BatchState, CrowdBatch
from mturk.services.planning import CannotPublish, dry_run, wish_of


class CrowdBatchSerializer(serializers.ModelSerializer[CrowdBatch]):
    judging_batch = serializers.IntegerField(source="batch.number", default=None, read_only=True)
    hits = serializers.IntegerField(source="hits_n", read_only=True)
    live_hits = serializers.IntegerField(source="live_n", read_only=True)
    collected = serializers.IntegerField(read_only=True, help_text="Assignments that were handed in and copied.")
    approved = serializers.IntegerField(read_only=True)

    class Meta:
        model = CrowdBatch
        fields = (
            "number", "kind", "state", "pause_reason", "environment", "template", "title", "judging_batch", "rewards",
            "assignments", "cap_cents", "reserved_cents", "hits", "live_hits", "collected", "approved", "created_at",
            "confirmed_at", "published_at", "collected_at", "stopped_at",
        )  # fmt: skip
        read_only_fields = fields


class CrowdBatchFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=BatchState.choices)

    class Meta:
        model = CrowdBatch
        fields: list[str] = []


class CrowdBatchList(RowList[CrowdBatch]):
    """Batches for paid workers with their state and money, in whole cents."""

    roles = LEADS
    serializer_class = CrowdBatchSerializer
    filterset_class = CrowdBatchFilter

    def rows(self) -> QuerySet[CrowdBatch]:
        approved = Q(hits__collected__status=AssignmentStatus.APPROVED)
        return (
            CrowdBatch.objects.filter(project=self.project)
            .select_related("batch")
            .annotate(
                hits_n=Count("hits", distinct=True),
                live_n=Count("hits", filter=~Q(hits__hit_id=""), distinct=True),
                collected=Count("hits__collected", distinct=True),
                approved=Count("hits__collected", filter=approved, distinct=True),
            )
        )


class PriceLineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    hits = serializers.IntegerField()
    assignments = serializers.IntegerField(help_text="For each HIT.")
    reward_cents = serializers.IntegerField()
    fee_cents = serializers.IntegerField(help_text="For each assignment.")
    total = serializers.IntegerField()


class DryRunSerializer(serializers.Serializer[Any]):
    """What publishing would do and cost, in whole cents."""

    lines = PriceLineSerializer(many=True, source="cost.lines")
    hits = serializers.IntegerField(source="cost.hits")
    assignments = serializers.IntegerField(source="cost.assignments")
    rewards = serializers.IntegerField(source="cost.rewards")
    fees = serializers.IntegerField(source="cost.fees")
    total = serializers.IntegerField(source="cost.total")
    most = serializers.IntegerField(source="cost.most", help_text="With a further vote wherever one may be asked.")
    problems = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())


class CrowdDryRun(InProject):
    """What a draft would cost. The market is not asked, and nothing is published."""

    roles = LEADS

    @extend_schema(responses=DryRunSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        only_known(request.query_params)
        batch = get_object_or_404(CrowdBatch.objects.select_related("batch"), project=self.project, number=number)
        try:
            found = dry_run(self.project, wish_of(batch), None)
        except (CannotPublish, NoEnvironment) as error:
            raise exceptions.ValidationError({"detail": [str(error)]}) from error
        return Response(DryRunSerializer(found).data)
