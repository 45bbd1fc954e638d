"""WRITE and JUDGE, the queue: one task for one person at a time, under a lease.

A lease has an end and a token. "Next" gives back what somebody has on the desk already, else the most valuable open
task that they may do. Whoever lets a lease run out loses it to the next one; their token then holds no more, and what
they save with it is kept beside the work, never over it.
"""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from annotation.models import (
    DraftVersion,
    Exclusion,
    Project,
    SheetUnit,
    Skip,
    Submission,
    Task,
    TaskKind,
    TaskState,
    User,
)
from annotation.services.alike import lock_sentence, tasks_of, tasks_of_outer_sentence
from annotation.services.auditing import record_audit
from annotation.services.second_look import open_second_look

LEASE = dt.timedelta(minutes=15)
"""How long a task stays with somebody who gives no sign of life; an open page gives one every minute."""


class LeaseLost(Exception):
    """The token holds no more: the lease ran out and somebody else may have the task, or it is done."""


class CannotSkip(ValueError):
    """A skip needs a reason."""


@dataclass(frozen=True, slots=True)
class EmptyQueue:
    """Why there is nothing to do, and when there may be more."""

    why: str


@transaction.atomic
def claim_next(project: Project, user: User, kind: str, *, now: dt.datetime) -> Task | None:
    """The task on somebody's desk, or the next one; None if there is none for them."""
    free_expired(now)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two clicks of one person wait for each other
    # By holder alone, who has a few at most: a database without statistics would walk through all tasks of the project.
    held = [task for task in Task.objects.filter(holder=user) if task.project_id == project.pk and task.kind == kind]
    if held:
        return held[0]
    task = _pick(project, user, kind)
    if task is None:
        return None
    task.state, task.holder = TaskState.LEASED, user
    task.lease_token, task.leased_until = uuid.uuid4(), now + LEASE
    task.save(update_fields=["state", "holder", "lease_token", "leased_until"])
    record_audit("claim task", project, target=f"task {task.pk}", actor=user, now=now)
    return task


def _pick(project: Project, user: User, kind: str) -> Task | None:
    """The most valuable open task that somebody may do, locked."""
    candidates = open_for(project, user, kind).order_by("-priority", "pk")
    if connection.features.has_select_for_update_skip_locked:
        # Others who ask at the same moment take the next ones, and nobody waits.
        candidates = candidates.select_for_update(skip_locked=True, of=("self",))
    passed: list[int] = []
    while True:
        task = candidates.exclude(pk__in=passed).first()  # SQLite has the write lock from the beginning
        if task is None or kind != TaskKind.REVIEW:
            return task
        # A writer may have opened the sentence again in this moment.
        sentence = lock_sentence(task.sentence_id or 0)
        if all(own.state == TaskState.DONE for own in tasks_of(sentence, TaskKind.WRITE)):
            return task
        passed.append(task.pk)


def open_for(project: Project, user: User, kind: str) -> QuerySet[Task]:
    """Open tasks that somebody may do: not reserved for another, not skipped, and no second set of the same sentence.

    The second look goes to somebody who did not write the sentence, and whoever has looked writes it no more.
    """
    if kind == TaskKind.JUDGE:
        return _to_judge(project, user)
    both = (TaskKind.WRITE, TaskKind.REVIEW)
    same = Task.objects.filter(tasks_of_outer_sentence(), kind__in=both).exclude(pk=OuterRef("pk"))
    own = same.filter(Q(done_by=user) | Q(holder=user))
    skipped = Skip.objects.filter(task=OuterRef("pk"), user=user)
    live = {"sentence__reference__example__trashed_at": None}
    open_tasks = Task.objects.filter(project=project, kind=kind, state=TaskState.OPEN, **live)
    if kind == TaskKind.REVIEW:  # not while somebody still writes, or writes again
        writing = same.filter(kind=TaskKind.WRITE, state__in=(TaskState.OPEN, TaskState.LEASED))
        open_tasks = open_tasks.exclude(Exists(writing))
    return open_tasks.filter(Q(reserved_for=None) | Q(reserved_for=user)).exclude(Exists(own)).exclude(Exists(skipped))


def _to_judge(project: Project, user: User) -> QuerySet[Task]:
    """Open sheets for somebody who has judged none of their units in that summary, and has skipped no slot of them.

    None for a judge whose votes are not counted: they would take places that others should fill.
    """
    if is_excluded(project, user):
        return Task.objects.none()
    current = SheetUnit.objects.filter(
        sheet=OuterRef("sheet"), unit__superseded_at__isnull=True, unit__trashed_at__isnull=True
    )
    judged = SheetUnit.objects.filter(
        sheet=OuterRef("sheet"), unit__judgements__summary=OuterRef("summary"), unit__judgements__judge__user=user
    )
    skipped = Skip.objects.filter(task__sheet=OuterRef("sheet"), user=user)
    live = {"summary__example__trashed_at": None, "summary__system__trashed_at": None}
    open_tasks = Task.objects.filter(project=project, kind=TaskKind.JUDGE, state=TaskState.OPEN, **live)
    open_tasks = open_tasks.filter(sheet__batch__is_crowd=False)  # those are for paid workers elsewhere
    free = open_tasks.filter(Q(reserved_for=None) | Q(reserved_for=user))
    return free.filter(Exists(current)).exclude(Exists(judged)).exclude(Exists(skipped))


def is_excluded(project: Project, user: User) -> bool:
    """Whether somebody's votes are not counted now."""
    return Exclusion.objects.filter(person__project=project, person__user=user, lifted_at__isnull=True).exists()


def free_expired(now: dt.datetime) -> int:
    """Put tasks whose lease has run out back into the queue."""
    expired = Task.objects.filter(state=TaskState.LEASED, leased_until__lt=now)
    if not expired.exists():  # whoever only looks must not keep others from writing
        return 0
    with transaction.atomic():
        return _give_back(expired, now)


def extend_lease(task_id: int, user: User, token: uuid.UUID, *, now: dt.datetime) -> dt.datetime:
    """A sign of life: the lease begins anew. Refused once the token holds no more, even if nobody else came."""
    until = now + LEASE
    own = Task.objects.filter(pk=task_id, state=TaskState.LEASED, holder=user, lease_token=token, leased_until__gte=now)
    if not own.update(leased_until=until):
        raise LeaseLost(_("This task is not yours any more: its time ran out. What you wrote is kept."))
    return until


@transaction.atomic
def retake(task_id: int, user: User, *, now: dt.datetime) -> Task | None:
    """The same task again for whoever had it last, if it is open and nobody else has written on it since.

    So that a lease that ran out, or a sign-out in another tab, does not cut somebody off from an open page.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    task = Task.objects.select_for_update(of=("self",)).select_related("project").get(pk=task_id)
    last = DraftVersion.objects.filter(task=task, is_late=False).order_by("-version").first()
    is_theirs = last is not None and last.author_id == user.pk
    is_free = not Task.objects.filter(project=task.project, holder=user).exists()
    if not (is_theirs and is_free and open_for(task.project, user, task.kind).filter(pk=task.pk).exists()):
        return None
    task.state, task.holder = TaskState.LEASED, user
    task.lease_token, task.leased_until = uuid.uuid4(), now + LEASE
    task.save(update_fields=["state", "holder", "lease_token", "leased_until"])
    record_audit("claim task", task.project, target=f"task {task.pk}", actor=user, now=now, detail={"again": True})
    return task


@transaction.atomic
def release(task_id: int, user: User, token: uuid.UUID, *, now: dt.datetime) -> bool:
    """Give a task back. False if it was not theirs any more."""
    own = Task.objects.filter(pk=task_id, state=TaskState.LEASED, holder=user, lease_token=token)
    task = own.select_related("project").first()
    if task is None or not _give_back(own, now):
        return False
    record_audit("release task", task.project, target=f"task {task.pk}", actor=user, now=now)
    return True


@transaction.atomic
def release_all(user: User, *, now: dt.datetime) -> int:
    """Give everything back, such as on signing out. Drafts stay."""
    return _give_back(Task.objects.filter(state=TaskState.LEASED, holder=user), now)


def _give_back(leased: QuerySet[Task], now: dt.datetime) -> int:
    """End leases. What was handed in before and opened again counts as it was handed in; the rest is open for all."""
    reopened = list(leased.filter(done_by__isnull=False).select_related("plan", "project", "sentence"))
    last = Submission.objects.filter(task=OuterRef("pk")).order_by("-pk").values("submitted_at")[:1]
    nobody: dict[str, Any] = {"holder": None, "lease_token": None, "leased_until": None}
    back = 0
    for task in reopened:
        lock_sentence(task.sentence_id or 0)
        # A sign of life may have come meanwhile, so the condition is asked again.
        if leased.filter(pk=task.pk).update(state=TaskState.DONE, done_at=Subquery(last), **nobody):
            open_second_look(task, now=now)
            back += 1
    # What belongs to a batch that was closed meanwhile does not come back to anybody.
    closed = leased.filter(done_by__isnull=True, sheet__batch__closed_at__isnull=False)
    withdrawn = Task.objects.filter(pk__in=list(closed.values_list("pk", flat=True)), state=TaskState.LEASED)
    back += withdrawn.update(state=TaskState.WITHDRAWN, **nobody)
    return back + leased.filter(done_by__isnull=True).update(state=TaskState.OPEN, **nobody)


@transaction.atomic
def skip(task: Task, user: User, token: uuid.UUID, reason: str, *, now: dt.datetime) -> None:
    """Give a task back for good, with a reason. The draft is kept; nobody else sees it."""
    reason = " ".join(reason.split())[:300]
    if not reason:
        raise CannotSkip(_("Say why, in a word or two."))
    if task.done_by_id is not None:
        raise CannotSkip(_("You have handed this in before. Put it back to leave it as it was."))
    if not release(task.pk, user, token, now=now):
        raise LeaseLost(_("This task is not yours any more: its time ran out."))
    Skip.objects.create(task=task, user=user, reason=reason, skipped_at=now)
    Task.objects.filter(pk=task.pk, reserved_for=user).update(reserved_for=None)  # or it would wait for nobody
    record_audit("skip task", task.project, target=f"task {task.pk}", actor=user, now=now, detail={"reason": reason})


@transaction.atomic
def reserve(tasks: QuerySet[Task], user: User | None, *, project: Project, now: dt.datetime, actor: User | None) -> int:
    """Keep open tasks for somebody; None gives them back to all. One that they could never take is left alone."""
    changed = 0
    for task in tasks.filter(project=project, state=TaskState.OPEN).select_related("sentence"):
        if user is None or _may_ever_take(task, user):
            changed += Task.objects.filter(pk=task.pk, state=TaskState.OPEN).update(reserved_for=user)
    if changed:
        who = user.get_username() if user else "all"
        record_audit("reserve tasks", project, target=who, actor=actor, now=now, detail={"tasks": changed})
    return changed


def _may_ever_take(task: Task, user: User) -> bool:
    """Not a sentence that they write, look at or have skipped, and not both of its sets."""
    if task.sentence is None:
        judged = SheetUnit.objects.filter(
            sheet=task.sheet_id, unit__judgements__summary=task.summary_id, unit__judgements__judge__user=user
        )
        return not judged.exists() and not Skip.objects.filter(task__sheet=task.sheet_id, user=user).exists()
    others = [*tasks_of(task.sentence, TaskKind.WRITE), *tasks_of(task.sentence, TaskKind.REVIEW)]
    people = [(own.done_by_id, own.holder_id, own.reserved_for_id) for own in others if own.pk != task.pk]
    return all(user.pk not in each for each in people) and not Skip.objects.filter(task=task, user=user).exists()


def explain_empty(project: Project, user: User, kind: str) -> EmptyQueue:
    """Why there is no task for somebody, in words."""
    every = Task.objects.filter(project=project, kind=kind)
    if kind == TaskKind.REVIEW and not every.exists():
        return EmptyQueue(_("Nothing to look at yet. A sentence comes here once somebody has written it."))
    if kind == TaskKind.JUDGE and not every.exists():
        return EmptyQueue(_("Nothing to judge yet. Summaries come here when a lead opens a batch."))
    if not every.exists():
        return EmptyQueue(_("No task has been opened yet. They come when a lead freezes a plan."))
    open_tasks = every.filter(state=TaskState.OPEN)
    if open_tasks.exists():
        reserved = open_tasks.exclude(reserved_for=None).exclude(reserved_for=user).count()
        if reserved == open_tasks.count():
            return EmptyQueue(_("All open tasks are reserved for others. Ask your lead."))
        if kind == TaskKind.JUDGE and is_excluded(project, user):
            return EmptyQueue(_("There is nothing to judge for you now. Your lead can tell you more."))
        if kind == TaskKind.JUDGE:
            return EmptyQueue(_("The summaries that are left wait for other judges: you have judged or skipped them."))
        return EmptyQueue(_("The open tasks are not for you: you have skipped them, or written the same sentences."))
    under_work = every.filter(state=TaskState.LEASED).count()
    if under_work:
        return EmptyQueue(
            _("All tasks are done or with others (%(n)s). One that nobody finishes comes back after %(m)s minutes.")
            % {"n": f"{under_work:,}", "m": int(LEASE.total_seconds() // 60)}
        )
    if kind == TaskKind.JUDGE:
        return EmptyQueue(_("Everything is judged. More may come with a new batch."))
    return EmptyQueue(_("Everything is done. More may come with a new plan."))
