"""What scoring tells the pages that show several apps."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.access import READERS
from annotation.cards import NextCard, StageCard
from annotation.charts import Bar, Chart, bar_chart
from annotation.models import Project, Role
from annotation.planning.power import examples_needed, pairs_apart, smallest_difference
from annotation.services.curves import Curve
from annotation.services.labels import main_rule
from annotation.services.overview import ProjectOverview
from scoring.services.human import measure_human_scores
from scoring.services.results import describe_run, newest_spread, score_runs


@dataclass(frozen=True, slots=True)
class ScoresCard:
    """Human scores of all systems, best first, as a chart; None where there are no labels."""

    chart: Chart | None
    rule: str = ""


def stages(overview: ProjectOverview) -> list[StageCard]:
    """The stages that live in this app."""
    return [_score_card(overview), StageCard("evaluate", "wait", _("not evaluated"))]


def _score_card(overview: ProjectOverview) -> StageCard:
    slug = overview.project.slug
    last = score_runs(overview.project).first()
    if last:
        url = reverse("scoring:results", args=[slug]) if overview.role in READERS else ""
        return StageCard("score", "done", describe_run(last), url)
    url = reverse("scoring:start", args=[slug]) if overview.role == Role.LEAD and overview.systems else ""
    if overview.labels:
        return StageCard("score", "now", _("human scores"), url or "#human-head")
    return StageCard("score", "wait", _("not scored"), url)


def next_steps(overview: ProjectOverview) -> list[NextCard]:
    """What this app would do next: score, as soon as there are units and systems and nobody has."""
    has_units = overview.scus or overview.stus
    last = score_runs(overview.project).first()
    if last and overview.role in READERS:
        return [
            NextCard(
                30,
                _("Next: read the results"),
                _("The systems are scored: %(what)s.") % {"what": describe_run(last)},
                _("See the results"),
                reverse("scoring:results", args=[overview.project.slug]),
            )
        ]
    if overview.role != Role.LEAD or not (has_units and overview.systems):
        return []
    return [
        NextCard(
            40,
            _("Next: score the systems"),
            _("A judge says of every unit whether a summary has it. The embedded one needs no download."),
            _("Score the systems"),
            reverse("scoring:start", args=[overview.project.slug]),
        )
    ]


@dataclass(frozen=True, slots=True)
class PowerCard:
    """What a number of examples can tell apart. `source` says whose scores the spread comes from."""

    sigma: float
    smallest: float
    examples: int
    source: str
    pairs: tuple[int, int] | None  # of systems: those whose scores differ by at least that, and all
    pairs_of: str  # the corpus whose systems these are; "" for the project's own
    needed: list[tuple[float, int]]  # examples for differences worth telling


DIFFERENCES = (0.10, 0.05, 0.03, 0.02)


def power_card(project: Project, curve: Curve, *, examples: int) -> PowerCard:
    """From the newest scores of the project itself; without any, from the people's scores of the curve's corpus.

    It does not depend on the ratio: what a plan will score is not known before it is written.
    """
    scores, words, sigma = newest_spread(project)
    if sigma:
        source = _("from your scores: %(what)s") % {"what": words}
        smallest = smallest_difference(sigma, examples)
        return PowerCard(sigma, smallest, examples, source, pairs_apart(scores, smallest), "", _needed(sigma))
    sigma = curve.content["human"]["sigma"]
    corpus, means = curve.content["corpus"], curve.content["human"].get("means")  # curves of old have no means
    source = _("from the human scores of %(corpus)s") % {"corpus": corpus}
    smallest = smallest_difference(sigma, examples)
    pairs = pairs_apart([[mean] for mean in means], smallest) if means else None
    return PowerCard(sigma, smallest, examples, source, pairs, corpus, _needed(sigma))


def _needed(sigma: float) -> list[tuple[float, int]]:
    return [(difference, examples_needed(sigma, difference)) for difference in DIFFERENCES]


def human_scores_card(project: Project) -> ScoresCard:
    rule = main_rule(project)
    scores = measure_human_scores(project, rule=rule)
    ranked = sorted(scores.items(), key=lambda item: (item[1].value is None, -(item[1].value or 0), item[0]))
    bars = [Bar(name, score.value, _words(score.value), f"{score.examples:,}") for name, score in ranked]
    label = _("Human Pyramid score of each system, from 0 to 1")
    return ScoresCard(bar_chart(bars, label=label, by_hand=True) if bars else None, rule)


def _words(value: float | None) -> str:
    return _("not measured") if value is None else f"{value:.3f}".removeprefix("0")
