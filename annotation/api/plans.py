"""Plans through the API: what a ratio costs, what it is worth, and frozen plans."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar, cast

import django_filters as filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, generics, serializers, status
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import LEADS, READERS
from annotation.api.serializers import StrictSerializer
from annotation.api.views import InProject, RowList
from annotation.models import Destination, Plan, PlanDraft, PlannedSentence, Role, User
from annotation.parameters import only_known
from annotation.planning.budget import CannotSolve, Forecast, chance_over, forecast, solve_hours, solve_money
from annotation.planning.prices import HOUR_MS
from annotation.planning.routing import STEPS
from annotation.services.curves import curve_for
from annotation.services.drafts import BadDraft, CannotPlan, PlanDesk, open_desk
from annotation.services.freezing import FrozenMeanwhile, draft_token, freeze_plan
from annotation.services.placing import live_references


class CostQuerySerializer(StrictSerializer):
    ratio = serializers.DecimalField(max_digits=4, decimal_places=3, min_value=2, max_value=3, required=False)
    dollars = serializers.DecimalField(max_digits=12, decimal_places=2, min_value=0, required=False)
    hours = serializers.DecimalField(max_digits=9, decimal_places=2, min_value=0, required=False)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if len(given) > 1:
            raise serializers.ValidationError("Name one of ratio, dollars and hours.")
        return given


class CostSerializer(serializers.Serializer[Any]):
    """Money in cents, times in milliseconds, units in thousandths, shares in thousandths of the sentences."""

    ratio = serializers.CharField()
    effective_ratio = serializers.CharField(help_text="With the pins.")
    share = serializers.IntegerField()
    effective = serializers.IntegerField()
    sentences = serializers.IntegerField()
    to_people = serializers.IntegerField()
    to_stus = serializers.IntegerField()
    to_write = serializers.IntegerField(help_text="Of those that go to people, the ones that are not written.")
    slots = serializers.IntegerField(help_text="Writing tasks: one for each writer.")
    units = serializers.IntegerField()
    writing_ms = serializers.IntegerField()
    writing = serializers.IntegerField()
    tasks = serializers.IntegerField()
    votes = serializers.IntegerField()
    judging_ms = serializers.IntegerField()
    judging = serializers.IntegerField()
    fees = serializers.IntegerField()
    total = serializers.IntegerField()
    judging_fees = serializers.IntegerField()
    hourly_pay = serializers.IntegerField(allow_null=True)
    writing_pay = serializers.IntegerField(allow_null=True)
    days = serializers.IntegerField()
    chance_over_budget = serializers.FloatField(allow_null=True, help_text="Of the draft, if it has a budget.")
    draft = serializers.CharField(help_text="Names the draft as it is now: pins, prices, order. Send it to freeze.")
    chance_over_dollars = serializers.FloatField(allow_null=True, help_text="Of the sum that was asked for.")


class PlanRequestSerializer(StrictSerializer):
    after = serializers.IntegerField(min_value=0, help_text="The newest plan that you know, 0 for none.")
    ratio = serializers.DecimalField(
        max_digits=4, decimal_places=3, min_value=2, max_value=3, required=False, help_text="The draft's if left out."
    )
    draft = serializers.CharField(
        max_length=64,
        required=False,
        help_text="The draft that you have seen, as the cost names it: if it has changed since, nothing is frozen.",
    )


class PlanSerializer(serializers.ModelSerializer[Plan]):
    class Meta:
        model = Plan
        fields = (
            "id", "number", "share", "effective", "rule", "seed", "ranker", "parser", "assumptions", "forecast",
            "curve", "changes", "digest", "frozen_at", "guideline",
        )  # fmt: skip
        read_only_fields = fields

    def to_representation(self, instance: Plan) -> dict[str, Any]:
        """What a plan costs is for leads, as on the pages."""
        told = super().to_representation(instance)
        hidden = () if self.context.get("role") == Role.LEAD else ("assumptions", "forecast")
        return {name: value for name, value in told.items() if name not in hidden}


class PlannedSentenceSerializer(serializers.ModelSerializer[PlannedSentence]):
    sentence = serializers.IntegerField(source="sentence_id", read_only=True)
    plan = serializers.IntegerField(source="plan.number", read_only=True)

    class Meta:
        model = PlannedSentence
        fields = ("id", "plan", "sentence", "rank", "easiness", "route", "is_pinned", "note", "stus", "mills")
        read_only_fields = fields


class PlanFilter(filters.FilterSet):
    number = filters.NumberFilter(min_value=1, max_value=2**31 - 1)

    class Meta:
        model = Plan
        fields: list[str] = []


class PlannedSentenceFilter(filters.FilterSet):
    route = filters.ChoiceFilter(choices=Destination.choices)
    is_pinned = filters.BooleanFilter()

    class Meta:
        model = PlannedSentence
        fields: list[str] = []


class InPlan(InProject):
    """Something that needs sentences in their order."""

    def desk(self) -> PlanDesk:
        try:
            return open_desk(self.project, now=timezone.now())
        except CannotPlan as error:
            raise exceptions.ValidationError({"detail": str(error)}) from error


class Cost(InPlan):
    """What a ratio takes; or the ratio for a sum of money or some hours of writing."""

    roles: ClassVar[frozenset[str]] = LEADS

    @extend_schema(
        parameters=[OpenApiParameter(name, OpenApiTypes.DECIMAL) for name in ("ratio", "dollars", "hours")],
        responses=CostSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, "ratio", "dollars", "hours")
        asked = CostQuerySerializer(data=request.query_params.dict())
        asked.is_valid(raise_exception=True)
        given, desk = asked.validated_data, self.desk()
        try:
            if "dollars" in given:
                share = solve_money(desk.budget, int(given["dollars"] * 100))
            elif "hours" in given:
                share = solve_hours(desk.budget, int(given["hours"] * HOUR_MS))
            else:
                share = int((given["ratio"] - 2) * STEPS) if "ratio" in given else desk.draft.share
        except CannotSolve as error:
            raise exceptions.ValidationError({"detail": str(error)}) from error
        found = forecast(desk.budget, share)
        cap = desk.expected.budget
        told = {
            "ratio": found.ratio,
            "effective_ratio": found.effective_ratio,
            "chance_over_budget": _chance(found, desk, cap),
            "draft": draft_token(desk.draft),
            "chance_over_dollars": _chance(found, desk, given.get("dollars")),
        }
        return Response({**told, **found.as_dict()})


def _chance(found: Forecast, desk: PlanDesk, dollars: Decimal | None) -> float | None:
    return None if dollars is None else round(chance_over(found, desk.spread, int(dollars * 100)), 4)


class CurveDetail(InProject):
    """How well Lite2.x agrees with people at every tenth of STUs, and what that was measured on."""

    roles: ClassVar[frozenset[str]] = READERS

    @extend_schema(responses={200: OpenApiResponse(OpenApiTypes.OBJECT)})
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params)
        references = live_references(self.project).count()
        draft = PlanDraft.objects.filter(project=self.project).first()
        curve = curve_for(
            self.project, sentences=draft.sentences if draft else 0, references=references if draft else 0
        )
        return Response({**curve.content, "is_own": curve.is_own})


class PlanList(RowList[Plan]):
    """Frozen plans; POST freezes the draft."""

    serializer_class = PlanSerializer
    filterset_class = PlanFilter
    parser_classes = (JSONParser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.roles = LEADS if request.method == "POST" else READERS  # type: ignore[misc]
        super().initial(request, *args, **kwargs)

    def rows(self) -> QuerySet[Plan]:
        return Plan.objects.filter(project=self.project)

    @extend_schema(
        request=PlanRequestSerializer,
        responses={
            201: PlanSerializer,
            409: OpenApiResponse(OpenApiTypes.OBJECT, description="Somebody else froze a plan or changed the draft."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        asked = PlanRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given, actor, now = asked.validated_data, cast("User", request.user), timezone.now()
        try:
            share = int((given["ratio"] - 2) * STEPS) if "ratio" in given else None
            seen = given.get("draft")
            plan = freeze_plan(self.project, after=given["after"], now=now, actor=actor, share=share, seen=seen)
        except FrozenMeanwhile as error:
            return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
        except (CannotPlan, BadDraft) as error:
            raise exceptions.ValidationError({"detail": str(error)}) from error
        return Response(PlanSerializer(plan, context=self.context()).data, status=status.HTTP_201_CREATED)


class PlannedSentenceList(RowList[PlannedSentence]):
    """The sentences of a frozen plan: where each goes, its STUs and its price in thousandths of a cent."""

    roles: ClassVar[frozenset[str]] = READERS
    serializer_class = PlannedSentenceSerializer
    filterset_class = PlannedSentenceFilter

    def rows(self) -> QuerySet[PlannedSentence]:
        plan = generics.get_object_or_404(Plan, project=self.project, number=self.kwargs["number"])
        return PlannedSentence.objects.filter(plan=plan).select_related("plan")
