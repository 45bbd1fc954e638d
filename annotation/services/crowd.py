"""JUDGE, by paid workers elsewhere: a batch is given to them, and their answers become judgements like any other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils.translation import gettext as _

from annotation.judging.assigning import shuffled
from annotation.judging.showing import as_shown, shown_digest
from annotation.models import (
    Assignment,
    Batch,
    Example,
    FillerAnswer,
    Judgement,
    Origin,
    Person,
    Project,
    Provenance,
    Reference,
    Sheet,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    User,
    WorkerIdentity,
)
from annotation.models.judging import MOST_VOTES
from annotation.services.auditing import record_audit
from annotation.services.judging import Question, ask_again, live_rows, store_judgements
from annotation.services.pseudonyms import name_worker
from annotation.services.routes import forget_routes

ROWS = 5_000


class CannotHandOver(ValueError):
    """The batch is not the crowd's to do. The message says why."""


class NothingAnswered(ValueError):
    """No unit of a sheet got an answer that can be counted."""


@transaction.atomic
def hand_to_crowd(batch: Batch, *, assignments: int, now: dt.datetime, actor: User | None) -> Batch:
    """Keep the tasks of a batch for paid workers: each sheet gets as many slots as workers are asked.

    Refused once somebody here has begun: their work and the crowd's would be counted as one.
    """
    batch = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    tasks = Task.objects.filter(sheet__batch=batch)
    if batch.closed_at is not None:
        raise CannotHandOver(_("Batch %(n)s is closed. Open a new one.") % {"n": batch.number})
    if batch.is_crowd:
        raise CannotHandOver(_("Batch %(n)s is with the crowd already.") % {"n": batch.number})
    if tasks.filter(state__in=(TaskState.LEASED, TaskState.DONE)).exists():
        raise CannotHandOver(
            _("People here have begun to judge batch %(n)s. Open a new batch for the crowd.") % {"n": batch.number}
        )
    if batch.is_adaptive and assignments != 2:
        raise CannotHandOver(_("An adaptive batch asks two, and a third where they differ. Ask for 2 assignments."))
    if not 1 <= assignments <= MOST_VOTES:
        raise CannotHandOver(_("Ask for 1 to %(n)s assignments.") % {"n": MOST_VOTES})
    batch.is_crowd = True
    if not batch.is_adaptive:
        batch.votes = assignments
    batch.save(update_fields=["is_crowd", "votes"])
    _fit_slots(batch, assignments, now=now)
    target, detail = f"batch {batch.number}", {"assignments": assignments}
    record_audit("hand to crowd", batch.project, target=target, actor=actor, now=now, detail=detail)
    return batch


def _fit_slots(batch: Batch, wanted: int, *, now: dt.datetime) -> None:
    tasks = Task.objects.filter(sheet__batch=batch, state=TaskState.OPEN)
    tasks.filter(slot__gt=wanted).update(state=TaskState.WITHDRAWN)
    tasks.exclude(reserved_for=None).update(reserved_for=None)
    have = dict(tasks.values_list("sheet").annotate(last=Max("slot")).order_by())
    Task.objects.bulk_create(
        (
            Task(project_id=batch.project_id, kind=TaskKind.JUDGE, summary_id=sheet.summary_id, sheet=sheet,
                 plan_id=batch.plan_id, slot=slot, created_at=now)
            for sheet in Sheet.objects.filter(batch=batch, after__isnull=True)
            for slot in range(have.get(sheet.pk, 0) + 1, wanted + 1)
        ),
        batch_size=ROWS,
    )  # fmt: skip


def crowd_questions(sheet: Sheet) -> list[Question]:
    """The rows of a sheet in the one order in which all paid workers see them."""
    rows = live_rows(sheet).select_related("unit").order_by("position")
    found = [Question(row.unit, as_shown(row.unit.text)) for row in rows]
    if sheet.filler:
        found.append(Question(None, as_shown(sheet.filler)))
    return shuffled(found, f"{sheet.pk}/crowd")


@transaction.atomic
def person_of_worker(project: Project, worker_id: str) -> Person:
    """The pseudonym of a worker in a project. Their id is kept apart, for leads and for paying them."""
    key = name_worker(project, worker_id)
    person = Person.objects.filter(project=project, key=key).first()
    if person is None:
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two collectors at once make one person
        person, _is_new = Person.objects.get_or_create(project=project, key=key)
    WorkerIdentity.objects.get_or_create(person=person, defaults={"name": worker_id})
    return person


@dataclass(frozen=True, slots=True)
class CrowdRow:
    """A row of the page that a worker saw: the unit, None for a filler, and the answer, None where there is none."""

    unit: int | None
    text: str
    answer: str | None


@transaction.atomic
def store_crowd_answers(
    sheet_id: int,
    *,
    key: str,
    judge: Person,
    rows: Sequence[CrowdRow],
    seconds: float | None,
    submitted_at: dt.datetime,
    details: dict[str, Any],
    now: dt.datetime,
) -> Assignment:
    """Store what a paid worker answered: an assignment with its judgements. The same key twice is the same assignment.

    It fills one slot of the sheet, or of the sheet that asks again what was left open. A unit on which the worker has
    a vote already keeps that one.
    """
    batch_id = Sheet.objects.values_list("batch_id", flat=True).get(pk=sheet_id)
    # The batch first, like everybody who hands in a sheet or closes a batch.
    batch = Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
    sheet = Sheet.objects.select_for_update(no_key=True, of=("self",)).select_related("batch", "summary").get(
        pk=sheet_id
    )  # fmt: skip
    known = Assignment.objects.filter(project_id=batch.project_id, key=key).first()
    if known is not None:
        return known
    units = Unit.objects.in_bulk([row.unit for row in rows if row.unit is not None])
    before = set(
        Judgement.objects.filter(summary=sheet.summary_id, judge=judge, unit__in=units).values_list("unit", flat=True)
    )
    counted = [row for row in rows if row.unit in units and row.answer is not None and row.unit not in before]
    if not counted:
        raise NothingAnswered(_("No unit has an answer that can be counted."))
    assignment = Assignment.objects.create(
        project_id=batch.project_id, key=key, summary_id=sheet.summary_id, judge=judge, sheet=sheet,
        origin=Origin.CROWD, seconds=seconds, submitted_at=submitted_at, details=details,
        asked=[[row.unit, units[row.unit].key] if row.unit in units else [None, "filler"] for row in rows],
    )  # fmt: skip
    store_judgements(
        Judgement(
            unit_id=row.unit, summary_id=sheet.summary_id, judge=judge, assignment=assignment, answer=row.answer or "",
            shown=shown_digest(sheet.summary.text, units[row.unit].text), judged_at=submitted_at,
        )
        for row in counted if row.unit is not None
    )  # fmt: skip
    FillerAnswer.objects.bulk_create(
        FillerAnswer(assignment=assignment, position=place, text=row.text, answer=row.answer)
        for place, row in enumerate(rows, start=1)
        if row.unit is None
    )
    _fill_slot(sheet, now=now)
    ask_again(sheet, now=now)
    return assignment


def _fill_slot(sheet: Sheet, *, now: dt.datetime) -> None:
    """Mark one open task of a sheet as done; one of the sheets that ask it again, if its own are all done."""
    open_tasks = Task.objects.filter(
        Q(sheet=sheet) | Q(sheet__after=sheet), kind=TaskKind.JUDGE, state=TaskState.OPEN
    ).order_by("sheet", "slot")
    first = open_tasks.first()
    if first is not None:
        Task.objects.filter(pk=first.pk, state=TaskState.OPEN).update(state=TaskState.DONE, done_at=now)


def wanted_slots(batch: Batch) -> dict[int, int]:
    """How many judges each first sheet of a batch wants in all, those who are asked again included."""
    live = Task.objects.filter(sheet__batch=batch).exclude(state=TaskState.WITHDRAWN).order_by()
    first = dict(live.filter(sheet__after__isnull=True).values_list("sheet").annotate(n=Count("pk")))
    again = dict(live.filter(sheet__after__isnull=False).values_list("sheet__after").annotate(n=Count("pk")))
    return {sheet: number + again.get(sheet, 0) for sheet, number in first.items()}


@transaction.atomic
def store_crowd_units(
    reference: Reference, texts: Sequence[tuple[Person, str]], *, now: dt.datetime, actor: User | None
) -> list[Unit]:
    """Statements that paid workers wrote, as SCUs of a reference. One that stands there already is left out."""
    example = Example.objects.select_for_update(no_key=True).get(pk=reference.example_id)
    own = Unit.objects.current().filter(example=example, kind=UnitKind.SCU)
    known = {_normal(text) for text in own.values_list("text", flat=True)}
    last = Unit.objects.filter(example=example, kind=UnitKind.SCU).aggregate(n=Max("position"))["n"] or 0
    made: list[Unit] = []
    for author, given in texts:
        text = " ".join(given.split())
        if text and _normal(text) not in known:
            known.add(_normal(text))
            place = last + len(made) + 1
            made.append(
                Unit.objects.create(
                    example=example, kind=UnitKind.SCU, key=f"crowd{reference.pk}.{place}", position=place, text=text,
                    reference=reference, provenance=Provenance.WRITTEN, author=author, created_at=now,
                )
            )  # fmt: skip
    if made:
        forget_routes(example.project)
        record_audit(
            "take crowd units", example.project, target=f"{example.key} {reference.key}", actor=actor, now=now,
            detail={"units": len(made)},
        )  # fmt: skip
    return made


def _normal(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
