"""JUDGE: a sheet on somebody's desk, and handing it in. Nothing that somebody has answered is ever lost."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Max, QuerySet, Sum
from django.utils.translation import gettext as _

from annotation.aggregating.asking import disputed, short_of_votes
from annotation.aggregating.votes import Tally
from annotation.judging.answers import Answers, answers_json, read_answers, require_answers
from annotation.judging.assigning import shuffled
from annotation.judging.showing import as_shown, shown_digest
from annotation.models import (
    Answer,
    Assignment,
    Batch,
    DraftVersion,
    FillerAnswer,
    Judgement,
    JudgementVersion,
    Origin,
    Person,
    Project,
    Sheet,
    SheetUnit,
    Submission,
    Task,
    TaskKind,
    TaskState,
    Unit,
    User,
)
from annotation.services.auditing import record_audit
from annotation.services.queue import LeaseLost
from annotation.services.unit_sets import person_of
from annotation.services.writing import Progress, StaleDraft, newest_draft
from annotation.writing.content import BadContent


@dataclass(frozen=True, slots=True)
class Question:
    """A row of a sheet: the unit, None for the filler, and its text as shown."""

    unit: Unit | None
    text: str


def questions_of(task: Task, user: User) -> list[Question]:
    """The rows of a sheet in the order in which this judge sees them."""
    sheet = task.sheet
    assert sheet is not None, "a judging task has a sheet"
    rows = live_rows(sheet).select_related("unit").order_by("position")
    found = [Question(row.unit, as_shown(row.unit.text)) for row in rows]
    if sheet.filler:
        found.append(Question(None, as_shown(sheet.filler)))
    return shuffled(found, f"{sheet.pk}/{user.pk}")


def live_rows(sheet: Sheet) -> QuerySet[SheetUnit]:
    """The units of a sheet that count now; a text that was corrected or taken away since is not asked about."""
    return SheetUnit.objects.filter(sheet=sheet, unit__superseded_at__isnull=True, unit__trashed_at__isnull=True)


def own_answers(task: Task, user: User) -> Answers:
    """What somebody answered so far."""
    own = DraftVersion.objects.filter(task=task, author=user, is_late=False).order_by("-version").first()
    return read_answers(own.content) if own else Answers()


@transaction.atomic
def hand_in_answers(
    task_id: int,
    user: User,
    token: uuid.UUID,
    *,
    key: uuid.UUID,
    answers: Answers,
    now: dt.datetime,
    seen: tuple[int, uuid.UUID] | None = None,
) -> Submission:
    """Hand a sheet in: all of it or nothing. The same key twice is the same submission."""
    sheet_id, batch_id = Task.objects.values_list("sheet_id", "sheet__batch_id").get(pk=task_id)
    # The batch first: whoever closes it, and whoever hands in another sheet of the same summary, waits here.
    Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
    sheet = Sheet.objects.select_for_update(no_key=True, of=("self",)).select_related("batch").get(pk=sheet_id)
    task = Task.objects.select_for_update(of=("self",)).select_related("project", "summary").get(pk=task_id)
    done = Submission.objects.filter(key=key).first()  # behind the lock: the same twice at once is once, too
    if done is not None:
        if done.task_id != task_id or done.author_id != user.pk:
            raise BadContent("This key was used for something else.")
        return done
    if task.state != TaskState.LEASED or task.holder_id != user.pk or task.lease_token != token:
        raise LeaseLost(_("This sheet is not yours any more: its time ran out. Your answers are kept for your lead."))
    current = newest_draft(task)
    if seen and current and current.version != seen[0] and current.page != seen[1]:
        raise StaleDraft(_("Another tab has newer answers. Here they are; look at them, then hand in."))
    rows = questions_of(task, user)
    require_answers(answers, len(rows))
    submission = Submission.objects.create(
        task=task, author=user, key=key, content=answers_json(answers), seconds=round(answers.seconds, 1),
        submitted_at=now,
    )  # fmt: skip
    nobody = {"holder": None, "lease_token": None, "leased_until": None}
    Task.objects.filter(pk=task.pk).update(state=TaskState.DONE, done_at=now, done_by=user, **nobody)
    _store_answers(submission, task, sheet, rows, answers)
    ask_again(sheet, now=now)
    record_audit(
        "submit sheet", task.project, target=f"task {task.pk}", actor=user, now=now,
        detail={"units": len(rows), "seconds": submission.seconds},
    )  # fmt: skip
    return submission


def _store_answers(
    submission: Submission, task: Task, sheet: Sheet, rows: Sequence[Question], answers: Answers
) -> None:
    assert task.summary is not None, "a judging task has a summary"
    judge = person_of(task.project, submission.author)
    given = answers.by_row()
    assignment = Assignment.objects.create(
        project=task.project, key=f"task-{task.pk}", summary=task.summary, judge=judge, sheet=sheet,
        origin=Origin.IN_HOUSE, asked=[[row.unit.pk, row.unit.key] if row.unit else [None, "filler"] for row in rows],
        seconds=submission.seconds or None, submitted_at=submission.submitted_at,
    )  # fmt: skip
    store_judgements(
        Judgement(
            unit=row.unit, summary=task.summary, judge=judge, assignment=assignment, answer=given[place].answer,
            shown=shown_digest(task.summary.text, row.unit.text), seconds=given[place].seconds,
            judged_at=submission.submitted_at,
        )
        for place, row in enumerate(rows, start=1) if row.unit
    )  # fmt: skip
    FillerAnswer.objects.bulk_create(
        FillerAnswer(assignment=assignment, position=place, text=sheet.filler, answer=given[place].answer)
        for place, row in enumerate(rows, start=1)
        if row.unit is None
    )


def store_judgements(rows: Iterable[Judgement]) -> int:
    """Insert judgements, each with the first version of its history."""
    stored = Judgement.objects.bulk_create(rows, batch_size=2000)
    JudgementVersion.objects.bulk_create(
        (JudgementVersion(judgement=row, version=1, answer=row.answer, judged_at=row.judged_at) for row in stored),
        batch_size=5000,
    )
    return len(stored)


def ask_again(sheet: Sheet, *, now: dt.datetime) -> Task | None:
    """Once all judges of a sheet are through: another one for the units that they left open. Asked for once only."""
    batch: Batch = sheet.batch
    is_waiting = Task.objects.filter(sheet=sheet, state__in=(TaskState.OPEN, TaskState.LEASED)).exists()
    if sheet.after_id is not None or is_waiting or batch.closed_at is not None or sheet.again.exists():
        return None
    units = list(live_rows(sheet).order_by("position").values_list("unit", flat=True))
    tallies = tallies_of(sheet.summary_id, units)
    still = disputed(tallies, units) if batch.is_adaptive else short_of_votes(tallies, units, batch.votes)
    return open_sheet(sheet, still, now=now) if still else None


def tallies_of(summary_id: int, units: Sequence[int]) -> dict[int, Tally]:
    """How the votes on some units of a summary fell; votes of excluded judges are not counted."""
    votes = Judgement.objects.filter(summary=summary_id, unit__in=units)
    found = {unit: [0, 0] for unit in units}
    now_excluded = Person.objects.filter(exclusions__isnull=False, exclusions__lifted_at__isnull=True)
    for unit, answer in votes.exclude(judge__in=now_excluded).values_list("unit", "answer").order_by():
        if answer != Answer.UNSURE:
            found[unit][answer != Answer.PRESENT] += 1
    return {unit: Tally(*numbers) for unit, numbers in found.items()}


def open_sheet(sheet: Sheet, units: Sequence[int], *, now: dt.datetime, for_user: User | None = None) -> Task:
    """A sheet of its own for units that were left open, for one more judge."""
    number = Sheet.objects.filter(batch=sheet.batch_id, summary=sheet.summary_id).aggregate(n=Max("number"))["n"] + 1
    again = Sheet.objects.create(
        batch_id=sheet.batch_id, summary_id=sheet.summary_id, number=number, after_id=sheet.after_id or sheet.pk
    )
    SheetUnit.objects.bulk_create(
        SheetUnit(sheet=again, unit_id=unit, position=place) for place, unit in enumerate(units, start=1)
    )
    project = Batch.objects.get(pk=sheet.batch_id).project
    return Task.objects.create(
        project=project, kind=TaskKind.JUDGE, summary_id=sheet.summary_id, sheet=again, plan_id=sheet.batch.plan_id,
        created_at=now, reserved_for=for_user,
    )  # fmt: skip


def judging_progress(project: Project, user: User, *, now: dt.datetime) -> Progress:
    """How far somebody and the project are with judging."""
    tasks = Task.objects.filter(project=project, kind=TaskKind.JUDGE)
    done = tasks.filter(state=TaskState.DONE).count()
    live = tasks.filter(state__in=(TaskState.OPEN, TaskState.LEASED)).count()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0)
    own = Submission.objects.filter(task__project=project, task__kind=TaskKind.JUDGE, author=user)
    today = own.filter(submitted_at__gte=since).aggregate(n=Count("pk"), seconds=Sum("seconds"))
    return Progress(today["n"], own.count(), done, done + live, today["seconds"] or 0.0)
