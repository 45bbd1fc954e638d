"""AGGREGATE, the judges: how each of them did, whom not to count, and how far they agree."""

from __future__ import annotations

import datetime as dt
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.aggregating.agreement import Alpha, alpha_with_interval, mean_of_tasks
from annotation.aggregating.effects import Pair, Place
from annotation.aggregating.filters import NeedsLinkedJudges
from annotation.aggregating.votes import Tally
from annotation.judging.assigning import cut_sheets
from annotation.models import (
    Answer,
    Assignment,
    Batch,
    Exclusion,
    Judgement,
    Person,
    Project,
    Sheet,
    SheetUnit,
    Summary,
    Task,
    TaskKind,
    User,
)
from annotation.services.auditing import record_audit
from annotation.services.batches import asked_pairs
from annotation.services.labels import make_labels, own_rules
from annotation.services.pseudonyms import name_judge
from annotation.services.votes import (
    PRESENCE,
    Histograms,
    by_group,
    excluded_people,
    live_fillers,
    live_judgements,
    read_places,
    read_tallies,
)

CHUNK = 5000
SHOWN = 200
FEW_DRAWS = 200  # for the interval of a part


class CannotExclude(ValueError):
    """A reason is missing, or the judge is (not) excluded already."""


@dataclass(slots=True)
class JudgeRow:
    """How one judge did. Shares are None where there was nothing to compare with."""

    person: Person
    votes: int = 0
    unsure: int = 0
    present: int = 0
    agreed: int = 0  # with the majority of all votes, their own included
    compared: int = 0
    agreed_others: int = 0  # with the majority of the others
    compared_others: int = 0
    sheets: int = 0
    fillers: int = 0
    filler_errors: int = 0
    seconds: list[float] = field(default_factory=list)
    examples: defaultdict[Hashable, Counter[tuple[int, int]]] = field(default_factory=lambda: defaultdict(Counter))
    exclusion: Exclusion | None = None

    @property
    def name(self) -> str:
        """Who it is, for the lead alone: the worker's own name, or the member's."""
        identity = getattr(self.person, "identity", None)
        return identity.name if identity else self.person.key

    @property
    def agreement(self) -> float | None:
        return self.agreed / self.compared if self.compared else None

    @property
    def leave_one_out(self) -> float | None:
        return self.agreed_others / self.compared_others if self.compared_others else None

    @property
    def present_rate(self) -> float | None:
        return self.present / self.votes if self.votes else None

    @property
    def pace(self) -> float | None:
        """Median active seconds for a statement."""
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def alpha(self) -> Alpha:
        """Of the units that they voted on, with all votes on these; the interval is over examples."""
        return alpha_with_interval(self.examples, draws=FEW_DRAWS)


@dataclass(frozen=True, slots=True)
class JudgeList:
    """Judges who can be told apart, and how many rows of files tell no worker."""

    rows: list[JudgeRow]
    unlinked: int


def judge_list(project: Project) -> JudgeList:
    """All judges of a project, those with most votes first. The majority is that of the judges who count."""
    tallies = read_tallies(project, without=excluded_people(project))
    people = judges_of(project).filter(is_linked=True)
    rows = {person.pk: JudgeRow(person) for person in people.select_related("identity", "user").order_by("key")}
    for active in Exclusion.objects.filter(person__in=rows, lifted_at__isnull=True):
        rows[active.person_id].exclusion = active
    votes = live_judgements(project).filter(judge__is_linked=True).order_by()
    columns = votes.values_list("judge", "unit__example", "unit", "summary", "answer", "seconds")
    for judge, example, unit, summary, answer, seconds in columns.iterator(chunk_size=CHUNK):
        row = rows.get(judge)
        if row is not None:
            _count(row, example, PRESENCE[answer], seconds, tallies.get((unit, summary), Tally()))
    # The crowd's time is told for a whole sheet.
    timed = votes.filter(seconds__isnull=True, assignment__seconds__isnull=False)
    sheets = timed.values_list("assignment", "judge", "assignment__seconds").annotate(n=Count("pk"))
    for _assignment, judge, whole, number in sheets:
        if judge in rows:
            rows[judge].seconds += [whole / number] * number
    answers = live_fillers(project).filter(assignment__judge__in=rows, answer__isnull=False).order_by()
    wrong = Count("pk", filter=Q(answer=Answer.PRESENT))
    for judge, number, errors in answers.values_list("assignment__judge").annotate(n=Count("pk"), wrong=wrong):
        rows[judge].fillers, rows[judge].filler_errors = number, errors
    live = {"summary__system__trashed_at": None, "summary__example__trashed_at": None}
    whole_sheets = Assignment.objects.filter(judge__in=rows, **live).order_by().values_list("judge")
    for judge, number in whole_sheets.annotate(n=Count("pk")):
        rows[judge].sheets = number
    unlinked = judges_of(project).filter(is_linked=False).count()
    return JudgeList(sorted(rows.values(), key=lambda row: (-row.votes, row.person.key)), unlinked)


def judges_of(project: Project) -> QuerySet[Person]:
    """Everybody who has judged something, on a sheet or in a file of single votes."""
    votes = Judgement.objects.filter(judge=OuterRef("pk"))
    sheets = Assignment.objects.filter(judge=OuterRef("pk"))
    return Person.objects.filter(Exists(votes) | Exists(sheets), project=project)


def _count(row: JudgeRow, example: int, present: bool | None, seconds: float | None, tally: Tally) -> None:
    if seconds is not None:
        row.seconds.append(seconds)
    if present is None:
        row.unsure += 1
        return
    row.votes += 1
    row.present += present
    if row.exclusion:  # the tally is without them: for their own figures their vote is put beside the others'
        tally = Tally(tally.present + present, tally.absent + (not present))
    row.examples[example][tally.present, tally.absent] += 1
    if tally.votes and not tally.is_tie:
        row.compared += 1
        row.agreed += tally.label is present
    others = tally.without(present)
    if others.votes and not others.is_tie:
        row.compared_others += 1
        row.agreed_others += others.label is present


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha: over everything with its interval, by the definition of REALSumm's paper, and in parts."""

    overall: Alpha
    paper: Alpha
    systems: list[tuple[str, Alpha]]  # each with its interval
    examples: list[tuple[int, Alpha]]  # by position, least agreement first; the interval is over summaries


def measure_agreement(project: Project) -> Agreement:
    """How far judges agree, without those who are excluded. Fillers take no part."""
    tallies = read_tallies(project, without=excluded_people(project))
    places = read_places(project, tallies.keys())
    examples = by_group(tallies, lambda pair: places[pair].example)
    positions: dict[Hashable, int] = dict(project.examples.values_list("pk", "position"))
    systems: defaultdict[str, Histograms] = defaultdict(dict)
    parts: defaultdict[int, Histograms] = defaultdict(dict)
    for (name, example), own in _by_system_and_example(tallies, places).items():
        systems[name][example] = own
        parts[example][name] = own
    by_example = [(positions[key], alpha_with_interval(own, draws=FEW_DRAWS)) for key, own in parts.items()]
    return Agreement(
        overall=alpha_with_interval(examples),
        paper=mean_of_tasks(by_group(tallies, lambda pair: pair[1])),
        systems=[(name, alpha_with_interval(systems[name], draws=FEW_DRAWS)) for name in sorted(systems)],
        examples=sorted(by_example, key=lambda row: (row[1].value is None, row[1].value or 0.0, row[0])),
    )


def _by_system_and_example(
    tallies: Mapping[Pair, Tally], places: Mapping[Pair, Place]
) -> dict[tuple[str, int], Counter[tuple[int, int]]]:
    found: defaultdict[tuple[str, int], Counter[tuple[int, int]]] = defaultdict(Counter)
    for pair, tally in tallies.items():
        found[places[pair].system, places[pair].example][tally.present, tally.absent] += 1
    return found


@transaction.atomic
def exclude(person: Person, reason: str, *, now: dt.datetime, actor: User | None) -> Exclusion:
    """Stop counting somebody's votes. They stay, and so does the reason; labels of our rules are made anew."""
    reason = " ".join(reason.split())[:300]
    if not reason:
        raise CannotExclude(_("Say why, in a word or two."))
    Project.objects.select_for_update(no_key=True).get(pk=person.project_id)
    if Exclusion.objects.filter(person=person, lifted_at__isnull=True).exists():
        raise CannotExclude(_("This judge is excluded already."))
    found = Exclusion.objects.create(person=person, reason=reason, excluded_at=now, excluded_by=actor)
    _make_anew(person, "exclude judge", {"reason": reason}, now=now, actor=actor)
    return found


@transaction.atomic
def lift(person: Person, *, now: dt.datetime, actor: User | None) -> None:
    """Count somebody's votes again."""
    Project.objects.select_for_update(no_key=True).get(pk=person.project_id)
    active = Exclusion.objects.filter(person=person, lifted_at__isnull=True)
    if not active.update(lifted_at=now, lifted_by=actor):
        raise CannotExclude(_("This judge is not excluded."))
    _make_anew(person, "count judge again", {}, now=now, actor=actor)


def _make_anew(person: Person, act: str, detail: dict[str, str], *, now: dt.datetime, actor: User | None) -> None:
    turned, left = 0, []
    for filter_name in own_rules(person.project):
        try:
            turned += make_labels(person.project, filter_name, now=now, actor=actor).turned
        except NeedsLinkedJudges:  # votes without names have come since; these labels stay as they are
            left.append(filter_name)
    told = {**detail, "labels turned": turned} | ({"not made anew": ", ".join(left)} if left else {})
    record_audit(act, person.project, target=name_judge(person), actor=actor, now=now, detail=told)


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A unit of a summary that people have left open."""

    unit: int
    summary: int
    text: str
    system: str
    example: str
    position: int
    tally: Tally
    unsure: int


def count_open_pairs(project: Project) -> int:
    return len(_open_pairs(project))


def list_open_pairs(project: Project) -> list[OpenPair]:
    """Units with a tie, or with an unsure judge and one vote at most, that no open task asks about."""
    found = _open_pairs(project)
    chosen = sorted(found)[:SHOWN]
    rows = Judgement.objects.filter(unit__in={unit for unit, _s in chosen}, summary__in={s for _u, s in chosen})
    told = {
        (unit, summary): (text, system, example, position)
        for unit, summary, text, system, example, position in rows.values_list(
            "unit", "summary", "unit__text", "summary__system__name", "summary__example__key",
            "summary__example__position",
        ).order_by()
    }  # fmt: skip
    unsure = Counter(rows.filter(answer=Answer.UNSURE).values_list("unit", "summary").order_by())
    return [OpenPair(pair[0], pair[1], *told[pair], found[pair], unsure[pair]) for pair in chosen]


def _open_pairs(project: Project) -> dict[Pair, Tally]:
    tallies = read_tallies(project, without=excluded_people(project))
    waiting = asked_pairs(project)
    unsure = set(
        live_judgements(project).filter(answer=Answer.UNSURE).values_list("unit", "summary").order_by().distinct()
    )
    return {
        pair: tally
        for pair, tally in tallies.items()
        if pair not in waiting and (tally.is_tie or not tally.votes or (tally.votes == 1 and pair in unsure))
    }


@transaction.atomic
def ask_one_more(
    project: Project, pairs: Sequence[Pair], *, now: dt.datetime, actor: User | None, for_user: User | None = None
) -> Batch | None:
    """A batch of its own for units that were left open: one more judge each, somebody who has not judged them."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    still = set(_open_pairs(project))
    if for_user is not None:  # not what they have judged themselves: nobody else could take it then
        own = Judgement.objects.filter(unit__example__project=project, judge__user=for_user)
        still -= set(own.values_list("unit", "summary"))
    by_summary: defaultdict[int, list[int]] = defaultdict(list)
    for unit, summary in sorted(set(pairs) & still):
        by_summary[summary].append(unit)
    if not by_summary:
        return None
    systems = Summary.objects.filter(pk__in=by_summary).values_list("system__name", flat=True).distinct()
    last = Batch.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
    batch = Batch.objects.create(
        project=project, number=last + 1, systems=sorted(systems), with_stus=True, votes=1, with_fillers=False,
        created_at=now, created_by=actor,
    )  # fmt: skip
    tasks = 0
    for summary, units in by_summary.items():
        for number, part in enumerate(cut_sheets(units), start=1):
            sheet = Sheet.objects.create(batch=batch, summary_id=summary, number=number)
            SheetUnit.objects.bulk_create(
                SheetUnit(sheet=sheet, unit_id=unit, position=place) for place, unit in enumerate(part, start=1)
            )
            Task.objects.create(
                project=project, kind=TaskKind.JUDGE, summary_id=summary, sheet=sheet, created_at=now,
                reserved_for=for_user,
            )  # fmt: skip
            tasks += 1
    record_audit(
        "ask one more judge", project, target=f"batch {batch.number}", actor=actor, now=now,
        detail={"tasks": tasks, "pairs": sum(map(len, by_summary.values()))},
    )  # fmt: skip
    return batch
