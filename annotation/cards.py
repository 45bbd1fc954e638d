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

from annotation.access import READERS, WRITERS
from annotation.charts import pie_path
from annotation.models import Assignment, Project, Ranking, Role, Run, RunState, Sentence, Stage, TaskKind, TaskState
from annotation.planning.routing import ratio_words
from annotation.planning.words import dollars
from annotation.readers.judgements import JOB_PREFIX
from annotation.services.freezing import newest_plan
from annotation.services.overview import ProjectOverview
from annotation.services.plans import writing_money
from annotation.services.task_lists import count_tasks, tasks_of

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
        _plan_card(overview),
        _write_card(overview, examples),
        _judge_card(overview),
        StageCard(
            "aggregate",
            "done" if overview.labels else "wait",
            _counted(overview.labels, "label") if overview.labels else _("no labels yet"),
            _labels_page(overview, examples),
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
    imports = imports.exclude(parameters__format__startswith=JOB_PREFIX)  # votes bring no references
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


def _plan_card(overview: ProjectOverview) -> StageCard:
    project, is_lead = overview.project, overview.role == Role.LEAD
    plan = newest_plan(project)
    page = reverse("plan", args=[project.slug]) if is_lead and overview.sentences else ""
    if plan is None:
        return StageCard("plan", "wait", _("no plan"), page)
    url = reverse("annotation:plan-frozen", args=[project.slug, plan.number]) if overview.role in READERS else ""
    words = _("plan %(number)s, %(ratio)s") % {"number": plan.number, "ratio": ratio_words(plan.share)}
    return StageCard("plan", "done", words, page or url)


@dataclass(frozen=True, slots=True)
class Tile:
    """A number, what it counts, and the list that it counts."""

    label: str
    number: int
    url: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class WorkCard:
    """Human work of a project: tiles, money, and what a lead should look at."""

    tiles: list[Tile]
    spent: str
    planned: str
    spent_cents: int
    planned_cents: int
    plan: int
    alerts: list[str]


def work_card(overview: ProjectOverview) -> WorkCard | None:
    """The work that a frozen plan has opened; None without a plan."""
    project = overview.project
    plan = newest_plan(project)
    if plan is None:
        return None
    counts = count_tasks(project)
    tasks = reverse("annotation:tasks", args=[project.slug])
    tiles = [
        Tile(words, sum(counts.get((kind, state), 0) for state in states), f"{tasks}?kind={kind}&state={name}")
        for words, kind, states, name in (
            (_("To write"), TaskKind.WRITE, (TaskState.OPEN,), "open"),
            (_("In progress"), TaskKind.WRITE, (TaskState.LEASED,), "progress"),
            (_("In review"), TaskKind.REVIEW, (TaskState.OPEN, TaskState.LEASED), "live"),
            (_("Done"), TaskKind.WRITE, (TaskState.DONE,), "done"),
        )
    ]
    spent, planned = writing_money(project)
    return WorkCard(tiles, dollars(spent), dollars(planned), spent, planned, plan.number, list(_alerts(project, tiles)))


def _alerts(project: Project, tiles: list[Tile]) -> Iterator[str]:
    """What keeps people waiting."""
    to_write, in_progress = tiles[0].number, tiles[1].number
    writers = project.memberships.filter(left_at__isnull=True, role=Role.ANNOTATOR).count()
    if not writers and to_write:
        yield _("Nobody writes: no annotator is in this project. Invite some.")
    elif to_write < writers and (to_write or in_progress):
        yield _("The queue starves: %(tasks)s tasks are open for %(writers)s annotators.") % {
            "tasks": to_write,
            "writers": writers,
        }


def _write_card(overview: ProjectOverview, url: str) -> StageCard:
    counts = count_tasks(overview.project)
    done = counts.get((TaskKind.WRITE, TaskState.DONE), 0)
    left = sum(counts.get((TaskKind.WRITE, state), 0) for state in (TaskState.OPEN, TaskState.LEASED))
    if left:
        door = reverse("annotation:write", args=[overview.project.slug]) if overview.role in WRITERS else url
        words = _("%(done)s of %(all)s sentences") % {"done": f"{done:,}", "all": f"{done + left:,}"}
        return StageCard("write", "now", words, door, done / (done + left))
    if not overview.scus:
        return StageCard("write", "wait", _("no SCUs yet"))
    share = overview.examples_with_scus / overview.examples
    return StageCard("write", "done" if share == 1 else "now", _counted(overview.scus, "SCU"), url, share)


def _judge_card(overview: ProjectOverview) -> StageCard:
    counts = count_tasks(overview.project)
    done = counts.get((TaskKind.JUDGE, TaskState.DONE), 0)
    left = sum(counts.get((TaskKind.JUDGE, state), 0) for state in (TaskState.OPEN, TaskState.LEASED))
    slug, is_lead = overview.project.slug, overview.role == Role.LEAD
    page = reverse("annotation:batches", args=[slug]) if is_lead else reverse("annotation:judge", args=[slug])
    url = page if overview.role in WRITERS else ""
    if not done and not left:
        return StageCard("judge", "wait", _("no tasks"), url if is_lead and overview.scus else "")
    words = _("%(done)s of %(all)s tasks") % {"done": f"{done:,}", "all": f"{done + left:,}"}
    return StageCard("judge", "now" if left else "done", words, url, done / (done + left))


def _labels_page(overview: ProjectOverview, examples: str) -> str:
    """Where labels come from: the page of judges for a lead, once somebody has judged."""
    if overview.role == Role.LEAD and Assignment.objects.filter(project=overview.project).exists():
        return reverse("annotation:judges", args=[overview.project.slug])
    return examples if overview.labels else ""


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
        work = (_write_next(overview), _judge_next(overview)) if overview.role in WRITERS else ()
        read = _read_examples(overview) if overview.examples else None
        return [card for card in (*work, read) if card]
    return [*_cards_of_runs(overview), _next_of_corpus(overview)]


def _write_next(overview: ProjectOverview) -> NextCard | None:
    """For those who write: the queue, as long as there is something in it."""
    waiting = tasks_of(overview.project, TaskKind.WRITE, [TaskState.OPEN]).count()
    if not waiting:
        return None
    words = ngettext("Next: write units, %(n)s sentence waits", "Next: write units, %(n)s sentences wait", waiting)
    return NextCard(
        50,
        words % {"n": f"{waiting:,}"},
        _("One sentence at a time, the hardest first. You can stop whenever you like."),
        _("Write"),
        reverse("annotation:write", args=[overview.project.slug]),
    )


def _judge_next(overview: ProjectOverview) -> NextCard | None:
    """For those who judge, once there is nothing to write."""
    waiting = tasks_of(overview.project, TaskKind.JUDGE, [TaskState.OPEN]).count()
    if not waiting:
        return None
    words = ngettext("Next: judge, %(n)s sheet waits", "Next: judge, %(n)s sheets wait", waiting)
    return NextCard(
        40,
        words % {"n": f"{waiting:,}"},
        _("Say of each statement whether a summary says it. One key for each answer."),
        _("Judge"),
        reverse("annotation:judge", args=[overview.project.slug]),
    )


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
    if not overview.scus and newest_plan(overview.project) is None:
        return NextCard(
            55,
            _("Next: plan who covers which sentence"),
            _("Choose how many sentences people write. The page tells what it costs and what it is worth."),
            _("Make a plan"),
            reverse("plan", args=[slug]),
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
