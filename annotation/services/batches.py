"""JUDGE: a batch of summaries for judges. Made whole or not at all; closing one keeps all that was judged."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils.translation import gettext as _

from annotation.aggregating.asking import ALL_VOTES, FIRST_VOTES, first_slots
from annotation.aggregating.votes import Tally
from annotation.judging.assigning import cut_sheets, draw_pairs
from annotation.judging.fillers import choose_filler
from annotation.models import (
    Batch,
    Judgement,
    Plan,
    Project,
    Sheet,
    SheetUnit,
    Summary,
    System,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    User,
)
from annotation.models.judging import MOST_VOTES
from annotation.models.plans import MAX_SHARE
from annotation.services.auditing import record_audit
from annotation.services.placing import current_units
from annotation.services.plans import plan_units
from annotation.services.votes import excluded_people, read_tallies

MOST_SHEETS = 100_000
ROWS = 5_000
MOST_SEED = 2**31 - 1


class CannotBatch(ValueError):
    """There is nothing to judge, or a wish makes no sense. The message says what to do."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What a lead asks for. `systems` are names, none for all; `plan` None means every SCU of the corpus."""

    plan: int | None = None
    systems: tuple[str, ...] = ()
    with_stus: bool = False
    votes: int = 3
    is_adaptive: bool = False
    share: int = MAX_SHARE
    with_fillers: bool = True
    seed: int = 0

    def check(self) -> None:
        if not 1 <= self.votes <= MOST_VOTES:
            raise CannotBatch(_("Ask for 1 to %(n)s votes.") % {"n": MOST_VOTES})
        if not 1 <= self.share <= MAX_SHARE:
            raise CannotBatch(_("The share must be more than 0 % and at most 100 %."))
        if not 0 <= self.seed <= MOST_SEED:
            raise CannotBatch(_("The seed must be a whole number from 0 on."))

    @property
    def slots(self) -> int:
        return first_slots(self.votes, is_adaptive=self.is_adaptive)

    def settles(self, tally: Tally) -> bool:
        """Whether a unit with these votes needs no more."""
        if self.is_adaptive:
            return tally.votes >= ALL_VOTES or (tally.votes >= FIRST_VOTES and not tally.is_tie)
        return tally.votes >= self.votes


@dataclass(slots=True)
class PlannedBatch:
    """What a batch would hold, before anything is written."""

    options: BatchOptions
    plan: Plan | None
    systems: list[System]
    sheets: list[tuple[Summary, list[int]]] = field(default_factory=list)
    summaries: int = 0
    pairs: int = 0  # of unit and summary
    known: int = 0  # left out: enough votes, or asked by another batch
    begun: int = 0  # asked although they have some votes
    unwritten: int = 0  # examples that wait for writers
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def tasks(self) -> int:
        return len(self.sheets) * self.options.slots

    @property
    def votes(self) -> int:
        return self.pairs * self.options.slots

    @property
    def fingerprint(self) -> str:
        """What somebody has seen of it, to find out whether it is still that."""
        return f"{self.tasks} tasks, {self.votes} votes"

    @property
    def warnings(self) -> list[str]:
        found = []
        if not self.options.is_adaptive and self.options.votes % 2 == 0:
            found.append(_("An even number of votes can tie, and a tie counts as not present. Take 3 or 5."))
        if self.unwritten:
            found.append(
                _("%(n)s examples are left out: people have yet to write some of their sentences.")
                % {"n": f"{self.unwritten:,}"}
            )
        if self.begun:
            found.append(
                _("%(n)s units of summaries have some votes already and get as many again; totals may be even.")
                % {"n": f"{self.begun:,}"}
            )
        if self.known:
            found.append(
                _("%(n)s units of summaries are left out: they have their votes, or another batch asks for them.")
                % {"n": f"{self.known:,}"}
            )
        return found


def plan_batch(project: Project, options: BatchOptions) -> PlannedBatch:
    """What the batch would ask. Raises where there is nothing to ask."""
    options.check()
    plan = _plan(project, options.plan)
    systems = _systems(project, options.systems)
    found = PlannedBatch(options, plan, systems)
    kinds = UnitKind.values if plan or options.with_stus else [UnitKind.SCU.value]
    units = current_units(project, kinds)
    by_example = _units_of_examples(found, units, options)
    found.texts = {unit.pk: unit.text for unit in units.values()}
    if not any(by_example.values()):
        raise CannotBatch(_("There are no units to judge yet: import SCUs, or freeze a plan and write them."))
    drawn = _draw(project, systems, {example for example, own in by_example.items() if own}, options)
    tallies = read_tallies(project, without=excluded_people(project))
    taken = asked_pairs(project) | {pair for pair, tally in tallies.items() if options.settles(tally)}
    for summary in drawn:
        own = by_example[summary.example_id]
        asked = [unit for unit in own if (unit, summary.pk) not in taken]
        found.known += len(own) - len(asked)
        found.pairs += len(asked)
        found.begun += sum(tallies.get((unit, summary.pk), Tally()).votes > 0 for unit in asked)
        found.summaries += bool(asked)
        found.sheets += [(summary, part) for part in cut_sheets(asked)]
    if not found.sheets:
        raise CannotBatch(_("Every unit has its votes already, or another batch asks for them."))
    if len(found.sheets) > MOST_SHEETS:
        raise CannotBatch(_("That is more than %(n)s sheets. Take a smaller share.") % {"n": f"{MOST_SHEETS:,}"})
    return found


def _plan(project: Project, number: int | None) -> Plan | None:
    if number is None:
        return None
    plan = Plan.objects.filter(project=project, number=number).first()
    if plan is None:
        raise CannotBatch(_("There is no plan %(n)s.") % {"n": number})
    return plan


def _systems(project: Project, names: Sequence[str]) -> list[System]:
    live = System.objects.filter(project=project, trashed_at__isnull=True).order_by("name")
    found = list(live.filter(name__in=names) if names else live)
    missing = set(names) - {system.name for system in found}
    if missing:
        raise CannotBatch(_("There is no system %(name)s.") % {"name": sorted(missing)[0]})
    if not found:
        raise CannotBatch(_("This project has no systems. Add one, or import summaries."))
    return found


def _units_of_examples(found: PlannedBatch, units: dict[int, Unit], options: BatchOptions) -> dict[int, list[int]]:
    """Ids of units by example, in their order; STUs only if they are asked for."""
    by_example: defaultdict[int, list[int]] = defaultdict(list)
    if found.plan is None:
        for unit in units.values():
            by_example[unit.example_id].append(unit.pk)
        return by_example
    for example, own in plan_units(found.plan, units).items():
        if own is None:
            found.unwritten += 1
            continue
        keys = [one.unit for one in own]
        by_example[example] = [key for key in keys if options.with_stus or units[key].kind == UnitKind.SCU]
    return by_example


def _draw(project: Project, systems: Sequence[System], examples: set[int], options: BatchOptions) -> list[Summary]:
    """The summaries that are judged, in the order of the queue."""
    names = {system.pk: system.name for system in systems}
    by_system: defaultdict[str, list[Summary]] = defaultdict(list)
    rows = Summary.objects.filter(system__in=names, example__trashed_at__isnull=True).order_by("example__position")
    for summary in rows.iterator(chunk_size=ROWS):
        if summary.example_id in examples and summary.text.strip():  # an empty summary holds nothing: nobody is asked
            by_system[names[summary.system_id]].append(summary)
    return draw_pairs(by_system, share=options.share, seed=options.seed)


def asked_pairs(project: Project) -> set[tuple[int, int]]:
    """Pairs of unit and summary that an open task asks for."""
    live = SheetUnit.objects.filter(
        sheet__batch__project=project, sheet__tasks__state__in=(TaskState.OPEN, TaskState.LEASED)
    )
    return set(live.values_list("unit", "sheet__summary").order_by().iterator(chunk_size=ROWS))


@transaction.atomic
def create_batch(project: Project, options: BatchOptions, *, now: dt.datetime, actor: User | None) -> Batch:
    """Open the tasks of a batch."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two leads at once: the second sees the first
    planned = plan_batch(project, options)
    last = Batch.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
    batch = Batch.objects.create(
        project=project, number=last + 1, plan=planned.plan, systems=[one.name for one in planned.systems],
        with_stus=options.with_stus, votes=options.votes, is_adaptive=options.is_adaptive, share=options.share,
        with_fillers=options.with_fillers, seed=options.seed, created_at=now, created_by=actor,
    )  # fmt: skip
    sheets = Sheet.objects.bulk_create(_new_sheets(batch, planned), batch_size=ROWS)
    SheetUnit.objects.bulk_create(
        (
            SheetUnit(sheet=sheet, unit_id=unit, position=place)
            for sheet, (_summary, units) in zip(sheets, planned.sheets, strict=True)
            for place, unit in enumerate(units, start=1)
        ),
        batch_size=ROWS,
    )
    Task.objects.bulk_create(
        (
            Task(project=project, kind=TaskKind.JUDGE, summary_id=sheet.summary_id, sheet=sheet, plan=planned.plan,
                 slot=slot, created_at=now)
            for slot in range(1, options.slots + 1)
            for sheet in sheets
        ),
        batch_size=ROWS,
    )  # fmt: skip
    detail = {"sheets": len(sheets), "tasks": planned.tasks, "pairs": planned.pairs, "seed": options.seed}
    record_audit("open batch", project, target=f"batch {batch.number}", actor=actor, now=now, detail=detail)
    return batch


def _new_sheets(batch: Batch, planned: PlannedBatch) -> Iterator[Sheet]:
    others: defaultdict[int, list[str]] = defaultdict(list)
    if planned.options.with_fillers:
        rows = Unit.objects.filter(pk__in={unit for _summary, own in planned.sheets for unit in own})
        for example, text in rows.values_list("example", "text").order_by("pk").iterator(chunk_size=ROWS):
            others[example].append(text)
    pool = [(example, text) for example, own in others.items() for text in own]
    texts = [text for _example, text in pool]
    numbers: defaultdict[int, int] = defaultdict(int)
    for summary, _units in planned.sheets:
        numbers[summary.pk] += 1
        own = others.get(summary.example_id, [])
        seed = f"{batch.seed}/{summary.pk}/{numbers[summary.pk]}"
        filler = choose_filler(summary.text, own, texts, seed=seed) if len(others) > 1 else ""
        yield Sheet(batch=batch, summary=summary, number=numbers[summary.pk], filler=filler)


@transaction.atomic
def close_batch(batch: Batch, *, now: dt.datetime, actor: User | None) -> int:
    """Withdraw what nobody has begun. What is judged, and what is on a desk, stays."""
    if not Batch.objects.filter(pk=batch.pk, closed_at__isnull=True).update(closed_at=now):
        return 0
    waiting = Task.objects.filter(sheet__batch=batch, state=TaskState.OPEN)
    withdrawn = waiting.update(state=TaskState.WITHDRAWN)
    detail = {"withdrawn": withdrawn}
    record_audit("close batch", batch.project, target=f"batch {batch.number}", actor=actor, now=now, detail=detail)
    return withdrawn


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch with how far it is. Saved votes and tasks are beside asking everybody three times."""

    batch: Batch
    sheets: int
    done: int
    open: int
    third_tasks: int
    votes: int
    pairs: int

    @property
    def percent(self) -> str:
        return f"{self.batch.share / 10:g}"

    @property
    def share_done(self) -> float:
        return self.done / (self.done + self.open) if self.done + self.open else 0.0

    @property
    def is_finished(self) -> bool:
        return not self.open

    @property
    def _is_adaptive_and_whole(self) -> bool:
        return bool(self.batch.is_adaptive and self.is_finished and self.batch.closed_at is None)

    @property
    def saved_votes(self) -> float | None:
        """The share of unit votes that adaptive asking has saved against three for each, once all is judged."""
        full = ALL_VOTES * self.pairs
        return 1 - self.votes / full if self._is_adaptive_and_whole and full else None

    @property
    def saved_tasks(self) -> float | None:
        """The same for whole tasks: a sheet with one disputed unit needs a third judge, too."""
        full = ALL_VOTES * self.sheets
        return 1 - self.done / full if self._is_adaptive_and_whole and full else None


def list_batches(project: Project) -> list[BatchRow]:
    """All batches, newest first."""
    first = Q(after__isnull=True)
    found = []
    for batch in Batch.objects.filter(project=project).select_related("plan").order_by("-number"):
        sheets = Sheet.objects.filter(batch=batch)
        tasks = Task.objects.filter(sheet__batch=batch).aggregate(
            done=Count("pk", filter=Q(state=TaskState.DONE)),
            open=Count("pk", filter=Q(state__in=(TaskState.OPEN, TaskState.LEASED))),
            third=Count("pk", filter=Q(sheet__after__isnull=False) & ~Q(state=TaskState.WITHDRAWN)),
        )
        pairs = SheetUnit.objects.filter(sheet__batch=batch, sheet__after__isnull=True).count()
        votes = Judgement.objects.filter(assignment__sheet__batch=batch).count()
        found.append(
            BatchRow(batch, sheets.filter(first).count(), tasks["done"], tasks["open"], tasks["third"], votes, pairs)
        )
    return found
