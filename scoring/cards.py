"""What scoring tells the pages that show several apps."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.cards import StageCard
from annotation.charts import Bar, Chart, bar_chart
from annotation.models import Project
from annotation.services.overview import ProjectOverview
from scoring.services import measure_human_scores


@dataclass(frozen=True, slots=True)
class ScoresCard:
    """Human scores of all systems, best first, as a chart; None where there are no labels."""

    chart: Chart | None


def stages(overview: ProjectOverview) -> list[StageCard]:
    """The stages that live in this app."""
    score = StageCard("score", "wait", _("not scored"))
    if overview.labels:
        score = StageCard("score", "now", _("human scores"), "#human-head")
    return [score, StageCard("evaluate", "wait", _("waits for scores"))]


def human_scores_card(project: Project) -> ScoresCard:
    scores = measure_human_scores(project)
    ranked = sorted(scores.items(), key=lambda item: (item[1].value is None, -(item[1].value or 0), item[0]))
    bars = [Bar(name, score.value, _words(score.value), f"{score.examples:,}") for name, score in ranked]
    label = _("Human Pyramid score of each system, from 0 to 1")
    return ScoresCard(bar_chart(bars, label=label, by_hand=True) if bars else None)


def _words(value: float | None) -> str:
    return _("not measured") if value is None else f"{value:.3f}".removeprefix("0")
