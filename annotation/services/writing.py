"""WRITE: saving drafts of units and handing them in. Nothing that somebody has typed is ever overwritten or dropped."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Sum
from django.utils.translation import gettext as _

from annotation.cleaning import clean
from annotation.guidelines import DEFAULT_GUIDELINE, GUIDELINES
from annotation.judging.answers import Answers, answers_json
from annotation.models import (
    DraftVersion,
    Flag,
    Project,
    Reference,
    Submission,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    User,
)
from annotation.services.alike import lock_sentence, same_sentence, tasks_of
from annotation.services.auditing import record_audit
from annotation.services.queue import LEASE, LeaseLost
from annotation.services.routes import forget_routes
from annotation.services.second_look import open_second_look, store_review
from annotation.services.unit_sets import put_units
from annotation.writing.content import (
    BadContent,
    Content,
    as_json,
    read_content,
    require_ready,
)


class StaleDraft(Exception):
    """An older text would be handed in than the one that is saved. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a save: "saved", or "late" (kept beside), with the newest version of the task."""

    state: str
    version: int
    content: dict[str, Any]


def newest_draft(task: Task) -> DraftVersion | None:
    """The draft that counts."""
    return DraftVersion.objects.filter(task=task, is_late=False).order_by("-version").first()


def own_content(task: Task, user: User) -> Content:
    """What somebody wrote themselves for a task, even if another had it since."""
    own = DraftVersion.objects.filter(task=task, author=user, is_late=False).order_by("-version").first()
    return read_content(own.content) if own else Content()


@transaction.atomic
def save_draft(
    task_id: int,
    user: User,
    token: uuid.UUID,
    *,
    base: int,
    content: Content | Answers,
    now: dt.datetime,
    page: uuid.UUID | None = None,
) -> Saved:
    """Store what is on the page. `base` is the version that the page has seen, `page` tells one open page from another.

    With a token that holds no more, or from a tab that has not seen the newest version, it is kept as a late one. (A
    page that has not heard of its own last save has seen it all the same.)
    """
    task = Task.objects.select_for_update().get(pk=task_id)
    given = answers_json(content) if isinstance(content, Answers) else as_json(content)
    holds = task.state == TaskState.LEASED and task.holder_id == user.pk and task.lease_token == token
    current = newest_draft(task)
    version = current.version if current else 0
    if current and holds and current.content == given:
        return Saved("saved", version, current.content)  # nothing new
    is_own = current is not None and page is not None and (current.page, current.token) == (page, token)
    is_late = not holds or (base != version and not is_own)
    last = DraftVersion.objects.filter(task=task).aggregate(last=Max("version"))["last"] or 0
    DraftVersion.objects.create(
        task=task, version=last + 1, author=user, token=token, page=page, content=given, is_late=is_late,
        saved_at=now,
    )  # fmt: skip
    if not is_late:
        Task.objects.filter(pk=task.pk).update(leased_until=now + LEASE)  # typing is a sign of life
        return Saved("saved", last + 1, given)
    return Saved("late", version, current.content if current else {})


@transaction.atomic
def submit(
    task_id: int,
    user: User,
    token: uuid.UUID,
    *,
    key: uuid.UUID,
    content: Content,
    now: dt.datetime,
    seen: tuple[int, uuid.UUID] | None = None,
) -> Submission:
    """Hand a sentence in, written or looked at again: all of it or nothing. The same key twice is the same submission.

    `seen` is the version that the page has seen, and the page: one behind another tab hands nothing in. One writer's
    units count at once. Where two write the same sentence, both sets wait for the second look.
    """
    sentence_id, project_id = Task.objects.values_list("sentence_id", "project_id").get(pk=task_id)
    forget_routes(project_id)  # before the other locks, as whoever freezes a plan takes them
    lock_sentence(sentence_id or 0)  # the last of two writers must see that the other is through
    task = (
        Task.objects.select_for_update(of=("self",))
        .select_related("sentence__reference__example", "plan")
        .get(pk=task_id)
    )
    done = Submission.objects.filter(key=key).first()  # behind the lock: the same twice at once is once, too
    if done is not None:
        if done.task_id != task_id or done.author_id != user.pk:
            raise BadContent("This key was used for something else.")
        return done
    if task.kind == TaskKind.WRITE and (content.dropped or any(unit.origins for unit in content.units)):
        raise BadContent("Only a second look names texts of others.")
    if task.state != TaskState.LEASED or task.holder_id != user.pk or task.lease_token != token:
        raise LeaseLost(_("This task is not yours any more: its time ran out. What you wrote is kept for your lead."))
    current = newest_draft(task)
    if seen and current and current.version != seen[0] and current.page != seen[1]:
        raise StaleDraft(_("Another tab has saved a newer text. Here it is; look at it, then hand in."))
    assert task.sentence is not None, "a writing task has a sentence"
    reference = clean(task.sentence.reference.text).text
    require_ready(content, other_units(task), reference)
    submission = Submission.objects.create(
        task=task, author=user, key=key, content=as_json(content), seconds=_new_seconds(task, user, content),
        submitted_at=now,
    )  # fmt: skip
    Task.objects.filter(pk=task.pk).update(
        state=TaskState.DONE, done_at=now, done_by=user, holder=None, lease_token=None, leased_until=None
    )
    guideline = guideline_of(task)
    if task.kind == TaskKind.REVIEW:
        store_review(submission, task, content, guideline=guideline, now=now)
    else:
        if writers_of(task) == 1:
            put_units(submission, task.sentence, content.written, guideline=guideline, now=now)
        open_second_look(task, now=now)
    record_audit(
        "submit second look" if task.kind == TaskKind.REVIEW else "submit task",
        task.project,
        target=f"task {task.pk}",
        actor=user,
        now=now,
        detail={"units": len(content.written), "seconds": submission.seconds}
        | ({"dropped": len(content.dropped)} if task.kind == TaskKind.REVIEW else {}),
    )
    return submission


def _new_seconds(task: Task, user: User, content: Content) -> float:
    """A sentence that was opened again brings its time along; what was counted then is not counted twice."""
    before = Submission.objects.filter(task=task, author=user).order_by("-pk").first()
    counted = read_content(before.content).seconds if before else 0.0
    return round(max(content.seconds - counted, 0.0), 1)


def guideline_of(task: Task) -> str:
    """The guideline that a task is written by."""
    return task.plan.guideline if task.plan and task.plan.guideline in GUIDELINES else DEFAULT_GUIDELINE


def writers_of(task: Task) -> int:
    """How many people write this sentence."""
    assert task.sentence is not None, "a writing task has a sentence"
    return max(len(tasks_of(task.sentence, TaskKind.WRITE)), 1)


def other_units(task: Task) -> list[str]:
    """SCUs of the other sentences of the reference. What another writes for this sentence is not shown, nor what it may
    have come with: an SCU that names no sentence."""
    assert task.sentence is not None, "a writing task has a sentence"
    units = Unit.objects.current().filter(
        reference=task.sentence.reference_id, kind=UnitKind.SCU, sentence__isnull=False
    )
    others = units.exclude(sentence__in=same_sentence(task.sentence))
    return list(others.order_by("position").values_list("text", flat=True))


def units_by_sentence(reference: Reference) -> dict[int, list[Unit]]:
    """SCUs of a reference by the sentence that they name."""
    found: defaultdict[int, list[Unit]] = defaultdict(list)
    units = Unit.objects.current().filter(reference=reference, kind=UnitKind.SCU, sentence__isnull=False)
    for unit in units.order_by("position", "pk"):
        found[unit.sentence_id or 0].append(unit)
    return found


def waiting_sentences(reference: Reference) -> set[int]:
    """Sentences of a reference that are in the queue."""
    live = Task.objects.filter(sentence__reference=reference, kind=TaskKind.WRITE, state=TaskState.OPEN)
    return set(live.values_list("sentence_id", flat=True).order_by()) - {None}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody and the project are with writing."""

    today: int
    mine: int
    done: int
    total: int
    seconds_today: float

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def active(self) -> str:
        minutes = int(self.seconds_today // 60)
        return f"{minutes // 60}:{minutes % 60:02d}"


def progress_of(project: Project, user: User, kind: str = TaskKind.WRITE, *, now: dt.datetime) -> Progress:
    """Counts by the index of the queue: every page of writing shows them, whatever the size of the project.

    What is left is of one kind; the day of a person is all that they wrote and looked at.
    """
    written = Task.objects.filter(project=project, kind=kind)
    trashed = written.filter(sentence__reference__example__in=project.examples.filter(trashed_at__isnull=False))
    done, live = (
        written.filter(state__in=states).count() - trashed.filter(state__in=states).count()
        for states in ((TaskState.DONE,), (TaskState.OPEN, TaskState.LEASED))
    )
    since = now.replace(hour=0, minute=0, second=0, microsecond=0)
    own = Submission.objects.filter(task__project=project, author=user).exclude(task__kind=TaskKind.JUDGE)
    today = own.filter(submitted_at__gte=since).aggregate(n=Count("task", distinct=True), seconds=Sum("seconds"))
    mine = own.aggregate(n=Count("task", distinct=True))["n"]
    return Progress(today["n"], mine, done, done + live, today["seconds"] or 0.0)


def drafts_of(task: Task) -> list[Unit]:
    """STUs of the sentence, as suggestions."""
    units = Unit.objects.current().filter(sentence=task.sentence, kind=UnitKind.STU)
    return list(units.order_by("position", "pk"))


@transaction.atomic
def flag(task: Task, user: User, note: str, *, now: dt.datetime) -> Flag:
    """Ask the lead to look at a task."""
    note = " ".join(note.split())[:1000]
    if not note:
        raise BadContent(_("Say what the lead should look at."))
    raised = Flag.objects.create(task=task, user=user, note=note, raised_at=now)
    record_audit("flag task", task.project, target=f"task {task.pk}", actor=user, now=now, detail={"note": note})
    return raised
