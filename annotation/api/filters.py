"""What lists can be narrowed by. Nothing else is accepted: a filter that does nothing would show the wrong rows."""

from __future__ import annotations

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Example, Label, Run, RunState, Sentence, Stage, Summary, System, Unit, UnitKind


class ExampleFilter(filters.FilterSet):
    key = filters.CharFilter()

    class Meta:
        model = Example
        fields: list[str] = []


class SystemFilter(filters.FilterSet):
    name = filters.CharFilter()

    class Meta:
        model = System
        fields: list[str] = []


class SentenceFilter(filters.FilterSet):
    example = filters.CharFilter("reference__example__key")
    reference = filters.CharFilter("reference__key")
    revision = filters.NumberFilter(min_value=1, max_value=2**31 - 1)
    current = filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")],
        method="newest",
        label="true: only the newest split of each reference.",
    )

    class Meta:
        model = Sentence
        fields: list[str] = []

    def newest(self, rows: QuerySet[Sentence], name: str, value: str) -> QuerySet[Sentence]:
        newer = Sentence.objects.filter(reference=OuterRef("reference"), revision__gt=OuterRef("revision"))
        return rows.filter(~Exists(newer)) if value == "true" else rows


class UnitFilter(filters.FilterSet):
    example = filters.CharFilter("example__key")
    kind = filters.ChoiceFilter(choices=UnitKind.choices)
    rule = filters.CharFilter(label="The rule that made a unit, such as clause.")

    class Meta:
        model = Unit
        fields: list[str] = []


class SummaryFilter(filters.FilterSet):
    example = filters.CharFilter("example__key")
    system = filters.CharFilter("system__name")

    class Meta:
        model = Summary
        fields: list[str] = []


class LabelFilter(filters.FilterSet):
    example = filters.CharFilter("unit__example__key")
    system = filters.CharFilter("summary__system__name")
    rule = filters.CharFilter()

    class Meta:
        model = Label
        fields: list[str] = []


class RunFilter(filters.FilterSet):
    stage = filters.ChoiceFilter(choices=Stage.choices)
    state = filters.ChoiceFilter(choices=RunState.choices)

    class Meta:
        model = Run
        fields: list[str] = []
