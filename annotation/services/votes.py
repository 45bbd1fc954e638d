"""AGGREGATE, reading: what judges said, as the pure modules want it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from hashlib import sha256

from django.db.models import Count, Q, QuerySet

from annotation.aggregating.effects import Pair, Place
from annotation.aggregating.votes import Tally, Vote
from annotation.models import Answer, Assignment, FillerAnswer, Judgement, Person, Project
from annotation.services.pseudonyms import exported_name

CHUNK = 5000
PRESENCE = {Answer.PRESENT.value: True, Answer.NOT_PRESENT.value: False, Answer.UNSURE.value: None}


def excluded_people(project: Project) -> set[int]:
    """Judges whose votes are not counted now."""
    now = Person.objects.filter(project=project, exclusions__isnull=False, exclusions__lifted_at__isnull=True)
    return set(now.values_list("pk", flat=True))


def live_judgements(project: Project, *, without: Collection[int] = ()) -> QuerySet[Judgement]:
    """Judgements of what is live in a project; votes on a text that was corrected since are history."""
    rows = Judgement.objects.filter(
        unit__example__project=project,
        unit__example__trashed_at__isnull=True,
        unit__trashed_at__isnull=True,
        unit__superseded_at__isnull=True,
        summary__system__trashed_at__isnull=True,
    )
    return rows.exclude(judge__in=list(without)) if without else rows


def read_votes(project: Project, *, without: Collection[int] = (), fillers: bool = True) -> Iterator[Vote]:
    """Votes in the order of their assignments, each assignment's units in their order, its fillers behind them.

    The task of a vote is the sheet that its judges had in common; for votes from files, the summary with the units that
    were asked. Judges go by their pseudonyms, so that nothing made of votes tells a name.
    """
    names = _pseudonyms(project)
    tasks = _tasks(project)
    rows = live_judgements(project, without=without).values_list("unit", "summary", "judge", "answer", "assignment")
    for unit, summary, judge, answer, assignment in rows.order_by("assignment", "unit").iterator(chunk_size=CHUNK):
        yield Vote((unit, summary), names[judge], tasks.get(assignment, f"summary {summary}"), PRESENCE[answer])
    if not fillers:
        return
    answers = live_fillers(project).exclude(assignment__judge__in=list(without))
    more = answers.values_list("assignment", "assignment__summary", "assignment__judge", "text", "answer")
    times: Counter[tuple[int, str]] = Counter()
    ordered = more.order_by("assignment", "position").iterator(chunk_size=CHUNK)
    for assignment, summary, judge, text, given in ordered:
        times[assignment, text] += 1
        item = ("filler", summary, text, times[assignment, text])
        yield Vote(item, names[judge], tasks[assignment], PRESENCE.get(given or ""), is_filler=True)


def live_fillers(project: Project) -> QuerySet[FillerAnswer]:
    """Answers to fillers on summaries that are live."""
    return FillerAnswer.objects.filter(
        assignment__project=project,
        assignment__summary__system__trashed_at__isnull=True,
        assignment__summary__example__trashed_at__isnull=True,
    )


def _pseudonyms(project: Project) -> dict[int, str]:
    rows = Person.objects.filter(project=project).values_list("pk", "key", "user")
    return {pk: exported_name(project, key, has_account=user is not None) for pk, key, user in rows}


def _tasks(project: Project) -> dict[int | None, str]:
    """What the judges of an assignment had in common. Names come from the corpus, not from this database, so that the
    same votes elsewhere are grouped and drawn alike."""
    rows = Assignment.objects.filter(project=project).values_list(
        "pk", "asked", "sheet__after", "summary__example__key", "summary__system__name"
    )
    found: dict[int | None, str] = {}
    first: dict[int, str] = {}
    late: list[tuple[int, int]] = []
    for pk, asked, after, example, system in rows.order_by("pk").iterator(chunk_size=CHUNK):
        if after is not None:
            late.append((pk, after))
        units = ",".join(str(unit) for unit in sorted(unit for unit, *_ in asked if unit is not None))
        found[pk] = f"{example}/{system}/{sha256(units.encode()).hexdigest()[:12]}"
    if late:
        sheets = Assignment.objects.filter(project=project, sheet__in={after for _pk, after in late})
        first = {sheet: found[pk] for pk, sheet in sheets.values_list("pk", "sheet") if sheet is not None}
    return found | {pk: first.get(after, found[pk]) for pk, after in late}


def read_tallies(project: Project, *, without: Collection[int] = ()) -> dict[Pair, Tally]:
    """How the votes on every unit of every summary fell, counted by the database."""
    rows = (
        live_judgements(project, without=without)
        .values_list("unit", "summary")
        .annotate(
            present=Count("pk", filter=Q(answer=Answer.PRESENT)),
            absent=Count("pk", filter=Q(answer=Answer.NOT_PRESENT)),
        )
        .order_by()
    )
    return {
        (unit, summary): Tally(present, absent) for unit, summary, present, absent in rows.iterator(chunk_size=CHUNK)
    }


def read_places(project: Project, pairs: Collection[Pair]) -> dict[Pair, Place]:
    """The example, system and weight of units in summaries."""
    summaries: dict[int, tuple[int, str]] = {}
    weights: dict[int, int] = {}
    rows = Judgement.objects.filter(unit__example__project=project).order_by()
    for summary, example, system in rows.values_list("summary", "summary__example", "summary__system__name").distinct():
        summaries[summary] = (example, system)
    for unit, weight in rows.values_list("unit", "unit__weight").distinct():
        weights[unit] = weight
    return {(unit, summary): Place(*summaries[summary], weights[unit]) for unit, summary in pairs}


def are_linked(project: Project) -> bool:
    """Whether every vote tells whose it is."""
    return not Person.objects.filter(project=project, is_linked=False, judgements__isnull=False).exists()


Histograms = dict[Hashable, Counter[tuple[int, int]]]


def by_group(tallies: Mapping[Pair, Tally], group_of: Callable[[Pair], Hashable]) -> Histograms:
    """Histograms of votes by whatever a unit in a summary belongs to."""
    found: defaultdict[Hashable, Counter[tuple[int, int]]] = defaultdict(Counter)
    for pair, tally in tallies.items():
        found[group_of(pair)][tally.present, tally.absent] += 1
    return dict(found)
