"""What result pages show: the board, a system, a summary, a unit, and where people and the judge differ."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.charts import Chart, interval_chart, nice_scale
from annotation.cleaning import clean
from annotation.judge_names import short_judge
from annotation.models import Project, Run, RunState, Stage, Summary, System, Unit
from annotation.planning.power import typical_sigma
from scoring.judging import THRESHOLD
from scoring.models import SummaryScore, SystemScore, Variant
from scoring.options import ScoreOptions, checked_options
from scoring.signatures import of_variant

RUNS_SHOWN = 30
SPREAD_SECONDS = 24 * 3600
REVISION = re.compile(r"\|judge:[^|@]+@(\w+)")
EXAMPLES_PER_PAGE = 50
DIFFERENCES_PER_PAGE = 25


def score_runs(project: Project) -> QuerySet[Run]:
    """Score runs that are done, newest first."""
    return Run.objects.filter(project=project, stage=Stage.SCORE, state=RunState.DONE).order_by("-pk")


def newest_scores(project: Project) -> tuple[list[list[float]], str]:
    """The scores of the newest run, a row for each system over the examples that all of them have, and its name."""
    run = score_runs(project).first()
    if run is None:
        return [], ""
    by_system: defaultdict[int, dict[int, float]] = defaultdict(dict)
    rows = SummaryScore.objects.filter(run=run, value__isnull=False, summary__example__trashed_at__isnull=True)
    ranked = run.system_scores.filter(variant=Variant.PLAIN, place__isnull=False).values("system")
    for system, example, value in rows.filter(summary__system__in=ranked).values_list(
        "summary__system_id", "summary__example_id", "value"
    ):
        by_system[system][example] = value or 0.0  # never None here
    shared = set.intersection(*map(set, by_system.values())) if by_system else set()
    return [[own[example] for example in sorted(shared)] for own in by_system.values()], describe_run(run)


def newest_spread(project: Project) -> tuple[list[list[float]], str, float | None]:
    """The same, with the typical spread between two systems. That takes a while for many examples, so it is kept."""
    scores, words = newest_scores(project)
    key = f"spread-{sha256(repr(scores).encode()).hexdigest()}"
    sigma = cache.get(key)
    if sigma is None and scores:
        sigma = typical_sigma(scores)
        cache.set(key, sigma, SPREAD_SECONDS)
    return scores, words, sigma


def describe_run(run: Run) -> str:
    """What a run has measured, in a few words."""
    options = checked_options(run.parameters)
    judge = short_judge(options.judge)
    reading = "" if options.reading == "p" or not options.judge_name else f" ({options.reading})"
    mixing = f", {options.order}" if options.parsed_metric.is_mixed and options.order != "easiest" else ""
    revision = REVISION.search(run.signature)
    named = f"{judge}@{revision.group(1)[:4]}" if revision else judge
    return f"{options.metric}{mixing}, {named}{reading}"


def systems_not_in(run: Run) -> list[str]:
    """Live systems that a run does not know: it was asked for others, or they came later."""
    scored = SystemScore.objects.filter(run=run).values("system")
    live = System.objects.live().filter(project=run.project_id).exclude(pk__in=scored)
    return list(live.order_by("name").values_list("name", flat=True))


def describe_mixing(options: ScoreOptions) -> str:
    """Which sentences STUs cover, in a few words; "" where all sentences have the same kind of units."""
    words = {
        "easiest": _("STUs for the easiest %(share)s %% of the sentences"),
        "hardest": _("STUs for the hardest %(share)s %% of the sentences"),
        "random": _("STUs for %(share)s %% of the sentences, drawn by chance"),
    }
    metric = options.parsed_metric
    if metric.is_planned:
        return _("STUs where the plan has them")
    return words[options.order] % {"share": f"{metric.percent:g}"} if metric.is_mixed else ""


def describe_source(options: ScoreOptions) -> str:
    """Where presence comes from, in a sentence."""
    if not options.judge_name:
        return _("Presence by people’s labels.")
    judge = {"judge": short_judge(options.judge_name)}
    if options.judge == options.judge_name:
        return _("Presence by the judge %(judge)s.") % judge
    return _("People’s labels where people judged, the judge %(judge)s for the rest.") % judge


# --- the board -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A system: its score, a picture of the interval, and a mark for each group ("in first", "in", "in last" or "")."""

    score: SystemScore
    other: float | None  # the score of the other variant
    picture: Chart | None
    groups: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Board:
    ranked: list[BoardRow]
    unranked: list[BoardRow]
    letters: list[str]
    ticks: list[str]
    signature: str  # of all systems together

    @property
    def columns(self) -> int:
        return 7 + len(self.letters)


def read_board(run: Run, variant: str) -> Board:
    """The leaderboard of a run. Systems that have gone to the trash since are left out."""
    scores = SystemScore.objects.filter(run=run, system__trashed_at__isnull=True).select_related("system")
    own = sorted(
        (score for score in scores if score.variant == variant), key=lambda row: (row.place or 0, row.system.name)
    )
    others = {score.system_id: score.value for score in scores if score.variant != variant}
    ends = [bound for score in own for bound in (score.low, score.high) if bound is not None]
    low, high, ticks = nice_scale(min(ends, default=0.0), max(ends, default=1.0))
    ranked = [score for score in own if score.place is not None]
    letters = sorted({letter for score in ranked for letter in score.letters.split()}, key=lambda x: (len(x), x))
    marks = {letter: _marks([letter in score.letters.split() for score in ranked]) for letter in letters}

    def row(score: SystemScore, groups: list[tuple[str, str]]) -> BoardRow:
        return BoardRow(score, others.get(score.system_id), _picture(score, low, high, len(ticks)), groups)

    return Board(
        ranked=[
            row(score, [(letter, marks[letter][number]) for letter in letters]) for number, score in enumerate(ranked)
        ],
        unranked=[row(score, []) for score in own if score.place is None],
        letters=letters,
        ticks=["1" if tick > 0.995 else f"{tick:.2f}".removeprefix("0") for tick in ticks],
        signature=board_signature(run, own),
    )


def board_signature(run: Run, rows: Sequence[SystemScore]) -> str:
    """The signature of a whole board: it covers all systems of the run. Each row has the system's own."""
    ranked = [row for row in rows if row.place is not None]
    return of_variant(run.signature, (ranked or rows)[0].signature) if rows else run.signature


def _marks(members: Sequence[bool]) -> list[str]:
    """How a group is drawn down the rows of its column."""
    marks = []
    for number, is_in in enumerate(members):
        first = is_in and not (number and members[number - 1])
        last = is_in and not (number + 1 < len(members) and members[number + 1])
        marks.append(" ".join(["in"] * is_in + ["first"] * first + ["last"] * last))
    return marks


def _picture(score: SystemScore, low: float, high: float, ticks: int) -> Chart | None:
    if score.value is None or score.low is None or score.high is None:
        return None
    label = _("%(value).3f, 95 %% interval %(low).3f to %(high).3f") % {
        "value": score.value,
        "low": score.low,
        "high": score.high,
    }
    return interval_chart(score.value, score.low, score.high, scale=(low, high), ticks=ticks, label=label)


# --- one system, one summary, one unit -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A unit in a summary: its value, who decided it, and what people say where that is known."""

    unit: Unit
    weight: int
    value: float | None
    by_people: bool
    label: bool | None

    @property
    def is_found(self) -> bool:
        return self.value is not None and self.value >= THRESHOLD

    @property
    def differs(self) -> bool:
        return self.label is not None and not self.by_people and self.value is not None and self.label != self.is_found

    @property
    def is_by_machine(self) -> bool:
        return self.unit.kind == "stu"


def judged_units(rows: Sequence[Sequence[Any]], units: dict[int, Unit]) -> list[JudgedUnit]:
    return [
        JudgedUnit(units[pk], weight, value, bool(by_people), None if label is None else bool(label))
        for pk, weight, value, by_people, label in rows
        if pk in units
    ]


def system_scores(run: Run, system: int, *, after: int) -> tuple[list[SummaryScore], int | None]:
    """Scores of a system's summaries by position of the example, a page behind `after`, and where the next begins."""
    mine = {"run": run, "summary__system": system, "summary__example__project": run.project_id}
    rows = SummaryScore.objects.filter(**mine, summary__example__position__gt=after)
    live = rows.filter(summary__example__trashed_at__isnull=True).select_related("summary__example")
    found = list(
        live.defer("summary__example__document").order_by("summary__example__position")[: EXAMPLES_PER_PAGE + 1]
    )
    more = found[EXAMPLES_PER_PAGE - 1].summary.example.position if len(found) > EXAMPLES_PER_PAGE else None
    return found[:EXAMPLES_PER_PAGE], more


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary with its units, beside those of all systems for the same example."""

    score: SummaryScore
    units: list[JudgedUnit]
    found: int
    rank: int | None
    shared_with: list[str]
    reference_words: int
    words: int
    systems: list[SummaryScore]
    matrix: list[tuple[JudgedUnit, list[tuple[SummaryScore, JudgedUnit | None]], int]]
    earlier: int | None
    later: int | None


def read_summary(run: Run, system: int, position: int) -> SummaryResult | None:
    """One summary of a run by the position of its example; None if it is not there."""
    rows = SummaryScore.objects.filter(
        run=run,
        summary__example__project=run.project,
        summary__example__position=position,
        summary__example__trashed_at__isnull=True,
        summary__system__trashed_at__isnull=True,
    )
    together = list(rows.select_related("summary__system", "summary__example").order_by("summary__system__name"))
    score = next((row for row in together if row.summary.system_id == system), None)
    if score is None:
        return None
    texts = {unit.pk: unit for unit in Unit.objects.filter(pk__in=[row[0] for row in score.units])}
    by_system = [(row, {item.unit.pk: item for item in judged_units(row.units, texts)}) for row in together]
    units = judged_units(score.units, texts)
    matrix = [
        (
            item,
            [(row, known.get(item.unit.pk)) for row, known in by_system],
            sum(item.unit.pk in known and known[item.unit.pk].is_found for _, known in by_system),
        )
        for item in units
    ]
    neighbours = SummaryScore.objects.filter(
        run=run,
        summary__system=system,
        summary__example__project=run.project_id,
        summary__example__trashed_at__isnull=True,
    ).values_list("summary__example__position", flat=True)
    references = list(score.summary.example.references.values_list("text", flat=True))
    return SummaryResult(
        score=score,
        units=units,
        found=sum(item.is_found for item in units),
        **_rank(score, together),
        reference_words=round(sum(_count_words(text) for text in references) / max(len(references), 1)),
        words=_count_words(score.summary.text),
        systems=together,
        matrix=matrix,
        earlier=neighbours.filter(summary__example__position__lt=position)
        .order_by("-summary__example__position")
        .first(),
        later=neighbours.filter(summary__example__position__gt=position).order_by("summary__example__position").first(),
    )


def _count_words(text: str) -> int:
    return len(clean(text).text.split())


def _rank(score: SummaryScore, together: Sequence[SummaryScore]) -> dict[str, Any]:
    own = score.value
    if own is None:
        return {"rank": None, "shared_with": []}
    better = sum(row.value is not None and row.value > own for row in together)
    same = [row.summary.system.name for row in together if row.value == own and row.pk != score.pk]
    return {"rank": 1 + better, "shared_with": same}


def read_unit(run: Run, unit: Unit) -> list[tuple[Summary, JudgedUnit]]:
    """One unit across all systems, the most certain first."""
    rows = SummaryScore.objects.filter(
        run=run, summary__example=unit.example_id, summary__system__trashed_at__isnull=True
    ).select_related("summary__system")
    found = []
    for row in rows.order_by("summary__system__name"):
        own = [item for item in judged_units(row.units, {unit.pk: unit}) if item.unit.pk == unit.pk]
        found += [(row.summary, item) for item in own]
    return sorted(found, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0)))


# --- where people and the judge differ -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    score: SummaryScore
    units: list[JudgedUnit]


def read_differences(run: Run, *, after: tuple[int, int] | None) -> tuple[list[Difference], str]:
    """Summaries in which people and the judge differ, most units first, and the place of the next page ("" if none)."""
    rows = SummaryScore.objects.filter(
        run=run, differing__gt=0, summary__example__trashed_at__isnull=True, summary__system__trashed_at__isnull=True
    )
    if after is not None:
        rows = rows.filter(differing__lt=after[0]) | rows.filter(differing=after[0], pk__gt=after[1])
    page = list(
        rows.select_related("summary__system", "summary__example")
        .defer("summary__example__document")
        .order_by("-differing", "pk")[: DIFFERENCES_PER_PAGE + 1]
    )
    shown = page[:DIFFERENCES_PER_PAGE]
    units = Unit.objects.in_bulk({row[0] for score in shown for row in score.units})
    found = [Difference(score, _differing(score, units)) for score in shown]
    last = shown[-1] if len(page) > DIFFERENCES_PER_PAGE else None
    return found, f"{last.differing}-{last.pk}" if last else ""


def _differing(score: SummaryScore, units: dict[int, Unit]) -> list[JudgedUnit]:
    return [item for item in judged_units(score.units, units) if item.differs]
