"""What an app tells the pages that show several apps: where a stage stands, and what to do next.

Each app has a module `cards`; workbench/ puts them together. A card is made of words and addresses, never of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.charts import pie_path
from annotation.models import Ranking, Role, Run, RunState, Sentence, Stage
from annotation.services.overview import ProjectOverview

# The walk of the data: one word per stage, in this order, everywhere.
STAGES = (
    "import", "split", "decompose", "rank", "plan", "write", "judge", "publish", "aggregate", "score", "evaluate",
    "export",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StageCard:
    """One stage of the strip: done, under way ("now", with the share that is done) or waiting."""

    name: str
    state: Literal["done", "now", "wait"]
    count: str
    url: str = ""
    share: float = 0.5

    @property
    def pie(self) -> str:
        return pie_path(self.share)


@dataclass(frozen=True, slots=True)
class NextCard:
    """The one thing to do now. Of all that apps offer, the one with the highest urgency is shown."""

    urgency: int
    title: str
    text: str
    button: str
    url: str


def stages(overview: ProjectOverview) -> list[StageCard]:
    """The stages that live in this app."""
    project = overview.project
    examples = reverse("annotation:examples", args=[project.slug])
    has_corpus = overview.examples > 0
    cards = [
        StageCard(
            "import",
            "done" if has_corpus else "wait",
            _counted(overview.examples, "example") if has_corpus else _("nothing yet"),
            examples if has_corpus else reverse("annotation:import", args=[project.slug]),
        ),
        StageCard(
            "split",
            "done" if overview.sentences else "wait",
            _counted(overview.sentences, "sentence") if overview.sentences else _("waits for texts"),
            examples if overview.sentences else "",
        ),
        _decompose_card(overview, examples),
        _rank_card(overview, examples),
        StageCard("plan", "wait", _("no plan")),
        _write_card(overview, examples),
        StageCard("judge", "wait", _("no tasks")),
        StageCard(
            "aggregate",
            "done" if overview.labels else "wait",
            _counted(overview.labels, "label") if overview.labels else _("no labels yet"),
            examples if overview.labels else "",
        ),
    ]
    return [*cards, _export_card(overview)]


def _decompose_card(overview: ProjectOverview, examples: str) -> StageCard:
    is_lead = overview.role == Role.LEAD
    url = reverse("annotation:decompose", args=[overview.project.slug]) if is_lead and overview.examples else examples
    if not overview.stus:
        return StageCard("decompose", "wait", _("no STUs yet"), url if is_lead and overview.examples else "")
    share = min(overview.examples_with_stus / overview.examples, 1) if overview.examples else 1
    if is_decomposed(overview):
        return StageCard("decompose", "done", _counted(overview.stus, "STU"), url)
    return StageCard("decompose", "now", _counted(overview.stus, "STU"), url, share)


def is_decomposed(overview: ProjectOverview) -> bool:
    """Whether every example has STUs, or a machine has looked since the last import (a reference may have no text)."""
    if overview.examples_with_stus >= overview.examples:
        return True
    done = Run.objects.filter(project=overview.project, state=RunState.DONE)
    looked = done.filter(stage=Stage.DECOMPOSE).order_by("-started_at").first()
    imports = done.filter(stage=Stage.IMPORT).exclude(parameters__dry_run=True)
    return looked is not None and not imports.filter(ended_at__gt=looked.started_at).exists()


def _rank_card(overview: ProjectOverview, examples: str) -> StageCard:
    newer = Sentence.objects.filter(
        reference=OuterRef("sentence__reference"), revision__gt=OuterRef("sentence__revision")
    )
    live = {"sentence__reference__example__project": overview.project}
    ranked = Ranking.objects.filter(~Exists(newer), **live, sentence__reference__example__trashed_at__isnull=True)
    number = ranked.aggregate(n=Count("sentence", distinct=True))["n"]
    if not number:
        return StageCard("rank", "wait", _("not ranked"))
    share = min(number / overview.sentences, 1) if overview.sentences else 1
    return StageCard("rank", "done" if share == 1 else "now", _counted(number, "sentence"), examples, share)


def _write_card(overview: ProjectOverview, url: str) -> StageCard:
    if not overview.scus:
        return StageCard("write", "wait", _("no SCUs yet"))
    share = overview.examples_with_scus / overview.examples
    return StageCard("write", "done" if share == 1 else "now", _counted(overview.scus, "SCU"), url, share)


def _export_card(overview: ProjectOverview) -> StageCard:
    project, is_lead = overview.project, overview.role == Role.LEAD
    url = reverse("annotation:export", args=[project.slug]) if is_lead and overview.examples else ""
    done = Run.objects.filter(project=project, stage=Stage.EXPORT, state=RunState.DONE).order_by("-pk").first()
    if done and done.ended_at:
        return StageCard("export", "done", _("last on %(day)s") % {"day": date_format(done.ended_at, "j M Y")}, url)
    return StageCard("export", "wait", _("any time") if overview.examples else _("waits for texts"), url)


def _counted(number: int, word: str) -> str:
    words = {
        "example": ngettext("%(n)s example", "%(n)s examples", number),
        "sentence": ngettext("%(n)s sentence", "%(n)s sentences", number),
        "STU": ngettext("%(n)s STU", "%(n)s STUs", number),
        "SCU": ngettext("%(n)s SCU", "%(n)s SCUs", number),
        "label": ngettext("%(n)s label", "%(n)s labels", number),
    }
    return words[word] % {"n": f"{number:,}"}


def next_steps(overview: ProjectOverview) -> list[NextCard]:
    """What this app would do next, for the role of the person who looks."""
    if overview.role != Role.LEAD:
        return [_read_examples(overview)] if overview.examples else []
    return [*_cards_of_runs(overview), _next_of_corpus(overview)]


def _read_examples(overview: ProjectOverview) -> NextCard:
    return NextCard(
        10,
        _("Next: read the examples"),
        _("Each shows its document, its references with their sentences, its units and its summaries."),
        _("Open the examples"),
        reverse("annotation:examples", args=[overview.project.slug]),
    )


def _cards_of_runs(overview: ProjectOverview) -> Iterator[NextCard]:
    """What a worker does now, and what it could not do."""
    project, slug = overview.project, overview.project.slug
    running = Run.objects.filter(project=project, state__in=(RunState.QUEUED, RunState.RUNNING)).order_by("-pk").first()
    if running:
        yield NextCard(
            90,
            _("Under way: %(stage)s") % {"stage": running.stage},
            _("A worker does it in the background. You can leave the page."),
            _("See how far it is"),
            reverse("annotation:run", args=[slug, running.pk]),
        )
    last_import = Run.objects.filter(project=project, stage=Stage.IMPORT).order_by("-pk").first()
    if last_import and last_import.state == RunState.FAILED:
        yield NextCard(
            80,
            _("Next: look at the import that failed"),
            _("Nothing of it was written. The page of the run says what was wrong and what to do."),
            _("Open the failed import"),
            reverse("annotation:run", args=[slug, last_import.pk]),
        )


def _next_of_corpus(overview: ProjectOverview) -> NextCard:
    """The step that the state of the corpus asks for."""
    slug = overview.project.slug
    if not overview.examples:
        return NextCard(
            70,
            _("Next: import a corpus"),
            _("References and the summaries of your systems. A dry run says what is wrong before it writes."),
            _("Import a corpus"),
            reverse("annotation:import", args=[slug]),
        )
    if not is_decomposed(overview):
        return NextCard(
            60,
            _("Next: make automatic units"),
            _("A machine splits the references and writes STUs, some thousand sentences in a minute."),
            _("Split and decompose"),
            reverse("annotation:decompose", args=[slug]),
        )
    if overview.people < 2:
        return NextCard(
            50,
            _("Next: invite the people you work with"),
            _("You are alone in this project. An invitation is a link that works once and for some days."),
            _("Invite somebody"),
            reverse("annotation:members", args=[slug]),
        )
    if overview.labels:
        return NextCard(
            20,
            _("Next: take the results with you"),
            _("%(labels)s labels are here. An export holds everything, with a manifest to check it by.")
            % {"labels": f"{overview.labels:,}"},
            _("Export the project"),
            reverse("annotation:export", args=[slug]),
        )
    return NextCard(
        10,
        _("Next: look through the examples"),
        _("The corpus is here. Check that references, sentences and summaries came in as you meant them."),
        _("Open the examples"),
        reverse("annotation:examples", args=[slug]),
    )
