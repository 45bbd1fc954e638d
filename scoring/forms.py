"""What a person may ask of a score, and the message when it is wrong."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Plan, Project, System
from annotation.services.labels import label_rules
from scoring.judges import EMBEDDED
from scoring.metric_names import UnknownMetric
from scoring.options import READINGS, BadOptions, ScoreOptions, checked_options
from scoring.services.selecting import find_plan, no_plan
from scoring.services.starting import describe_judge, judge_choices

METRICS = ("lite2", "lite2.5", "lite3", "litepyramid-32", "pyramid-coverage", "pyramid-quality")
READING_NAMES = {
    "p": _("p, the judge’s probability"),
    "p3c": _("p3c, of three classes"),
    "l3c": _("l3c, yes or no of three classes"),
    "p2c": _("p2c, of two classes"),
    "l2c": _("l2c, yes or no of two classes"),
}


class ScoreForm(forms.Form):
    metric = forms.CharField(max_length=40, label=_("Metric"), initial="lite2")
    judge = forms.ChoiceField(label=_("Judge"))
    reading = forms.ChoiceField(
        label=_("Value of a verdict"), choices=[(name, READING_NAMES[name]) for name in READINGS]
    )
    label_rule = forms.ChoiceField(label=_("Labels of people"), required=False)
    systems = forms.MultipleChoiceField(
        label=_("Systems"), error_messages={"required": _("Choose at least one system.")}
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        plans = Plan.objects.filter(project=project).order_by("-number").values_list("number", flat=True)
        self.metrics = [*METRICS, *(f"plan-{number}" for number in plans[:5])]
        live = System.objects.live().filter(project=project).order_by("name")
        self.all_systems = [(str(pk), name) for pk, name in live.values_list("pk", "name")]
        judge, systems = self.fields["judge"], self.fields["systems"]
        assert isinstance(judge, forms.ChoiceField)
        assert isinstance(systems, forms.MultipleChoiceField)
        judge.choices = [(name, describe_judge(name)) for name in judge_choices()]
        systems.choices = self.all_systems
        rules = self.fields["label_rule"]
        assert isinstance(rules, forms.ChoiceField)
        self.rules = label_rules(project)
        rules.choices = [(name, f"{name} ({number:,})") for name, number in self.rules.items()]
        self.options: ScoreOptions | None = None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        chosen = cleaned["systems"]
        is_all = len(chosen) == len(self.all_systems)
        try:
            rule = cleaned.get("label_rule") or next(iter(self.rules), "")
            self.options = checked_options({**cleaned, "label_rule": rule, "systems": None if is_all else chosen})
        except UnknownMetric as error:
            self.add_error("metric", str(error))
        except BadOptions as error:
            self.add_error(None, str(error))
        number = self.options.parsed_metric.plan if self.options else None
        if number is not None and find_plan(self.project, number) is None:
            self.add_error("metric", no_plan())
            self.options = None
        if self.options and self.options.judge_name == EMBEDDED and self.options.reading != "p":
            self.add_error("reading", _("The embedded judge gives p only."))
            self.options = None
        return cleaned


class SystemForm(forms.Form):
    name = forms.CharField(max_length=200, label=_("Name"))
    file = forms.FileField(
        label=_("Summaries"),
        max_length=500,
        error_messages={
            "required": _("Choose a file."),
            "missing": _("Choose a file."),
            "empty": _("The file is empty."),
        },
    )
    score = forms.BooleanField(required=False, initial=True, label=_("Score it at once"))
