"""WRITE, afterwards: what somebody has handed in, opening it again, and the time it took."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.judging.answers import read_answers
from annotation.models import DraftVersion, Project, Submission, Task, TaskKind, TaskState, User
from annotation.services.alike import lock_sentence, tasks_of
from annotation.services.auditing import record_audit
from annotation.services.queue import LEASE, free_expired, release
from annotation.services.second_look import is_looked_at
from annotation.services.writing import own_content
from annotation.writing.content import Content, read_content

PAGE = 50


class CannotReopen(Exception):
    """A task that stays as it was handed in. The message says why."""


@dataclass(frozen=True, slots=True)
class Work:
    """Something that somebody handed in, and what became of it."""

    submission: Submission
    texts: list[str]
    can_reopen: bool
    comment: str  # of whoever looked at it again
    is_newest: bool

    @property
    def is_review(self) -> bool:
        return bool(self.submission.task.kind == TaskKind.REVIEW)


def list_work(project: Project, user: User, *, before: int | None = None) -> tuple[list[Work], int | None]:
    """What somebody handed in, newest first, and the id that leads to older ones."""
    own = Submission.objects.filter(task__project=project, author=user).exclude(task__kind=TaskKind.JUDGE)
    rows = own.filter(pk__lt=before) if before else own
    batch = list(rows.select_related("task__sentence__reference__example").order_by("-pk")[: PAGE + 1])
    shown = batch[:PAGE]
    sentences = [row.task.sentence_id for row in shown]
    reviews = Task.objects.filter(sentence__in=sentences, kind=TaskKind.REVIEW).exclude(state=TaskState.WITHDRAWN)
    looking = set(reviews.filter(state=TaskState.LEASED).values_list("sentence_id", flat=True))
    looks = {
        review.task.sentence_id: review
        for review in Submission.objects.filter(task__in=reviews).select_related("task").order_by("pk")
    }
    newest = dict(
        own.filter(task__in=[row.task_id for row in shown]).values_list("task").annotate(last=Max("pk")).order_by()
    )
    found = []
    for row in shown:
        is_writing = row.task.kind == TaskKind.WRITE
        is_newest = newest[row.task_id] == row.pk
        look = looks.get(row.task.sentence_id)
        is_free = row.task.sentence_id not in looking and (look is None or look.pk < row.pk)
        is_theirs = row.task.state == TaskState.DONE and row.task.done_by_id == user.pk
        comment = read_content(look.content).comment if is_writing and look and look.pk > row.pk else ""
        texts = [unit.text for unit in read_content(row.content).written]
        found.append(Work(row, texts, is_writing and is_newest and is_free and is_theirs, comment, is_newest))
    return found, batch[PAGE - 1].pk if len(batch) > PAGE else None


@transaction.atomic
def reopen(task_id: int, user: User, *, now: dt.datetime) -> Task:
    """Put a task that somebody handed in back on their desk, as they left it. Its units count until it is handed in
    again. Refused once a second person has it before their eyes or is through."""
    free_expired(now)  # a reviewer who went home holds nothing
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    sentence = lock_sentence(Task.objects.values_list("sentence_id", flat=True).get(pk=task_id) or 0)
    task = Task.objects.select_for_update(of=("self",)).select_related("project").get(pk=task_id)
    if task.kind != TaskKind.WRITE or task.state != TaskState.DONE or task.done_by_id != user.pk:
        raise CannotReopen(_("You can only open again what you have handed in yourself."))
    looks = tasks_of(sentence, TaskKind.REVIEW)
    if any(look.state == TaskState.LEASED for look in looks) or is_looked_at([task], looks):
        raise CannotReopen(_("Somebody else looks at this sentence, or has done so. It stays as it is."))
    for held in Task.objects.filter(project=task.project, holder=user):
        if own_content(held, user) != Content() or held.lease_token is None:
            raise CannotReopen(_("Hand in or put back the sentence on your desk first."))
        release(held.pk, user, held.lease_token, now=now)  # nothing is written there yet
    handed_in = Submission.objects.filter(task=task).order_by("-pk").first()
    drafts = DraftVersion.objects.filter(task=task)
    draft = drafts.filter(is_late=False, author=user).order_by("-version").first()
    token = uuid.uuid4()
    # What was changed after an earlier opening and never handed in is still there.
    is_newer = draft is not None and handed_in is not None and draft.saved_at >= handed_in.submitted_at
    if handed_in and not is_newer and (draft is None or draft.content != handed_in.content):
        last = drafts.aggregate(last=Max("version"))["last"] or 0
        DraftVersion.objects.create(
            task=task, version=last + 1, author=user, token=token, content=handed_in.content, saved_at=now
        )
    task.state, task.done_at = TaskState.LEASED, None
    task.holder, task.lease_token, task.leased_until = user, token, now + LEASE
    task.save(update_fields=["state", "done_at", "holder", "lease_token", "leased_until"])
    record_audit("reopen task", task.project, target=f"task {task.pk}", actor=user, now=now)
    return task


SHEET = (
    "person",
    "date",
    "handed in (UTC)",
    "work",
    "task",
    "example",
    "reference",
    "sentence",
    "units",
    "active seconds",
    "guideline",
    "drafts shown",
)


def time_sheet(project: Project, user: User | None = None) -> Iterator[tuple[str | int | float, ...]]:
    """A line for everything that was handed in, oldest first; of one person, or of all."""
    rows: QuerySet[Submission] = Submission.objects.filter(task__project=project).filter(
        Q(author=user) if user else Q()
    )
    related = rows.select_related(
        "author", "task__plan", "task__sentence__reference__example", "task__summary__example"
    ).order_by("pk")
    for row in related.iterator(chunk_size=1000):
        sentence, summary = row.task.sentence, row.task.summary
        is_judging = row.task.kind == TaskKind.JUDGE
        units = len(read_answers(row.content).given if is_judging else read_content(row.content).written)
        yield (
            row.author.get_username(),
            row.submitted_at.date().isoformat(),
            row.submitted_at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S"),
            str(row.task.kind),
            row.task_id,
            sentence.reference.example.key if sentence else summary.example.key if summary else "",
            sentence.reference.position if sentence else "",
            sentence.position if sentence else "",
            units,
            row.seconds,
            row.task.plan.guideline if row.task.plan else "",
            str(row.task.arm) if row.task.kind == TaskKind.WRITE else "",
        )
