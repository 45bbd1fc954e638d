"""WRITE, the second look: another person goes over what was handed in for a sentence.

With one writer the units count already; whoever looks again keeps, edits, drops or adds. With two writers both sets
wait until somebody has made one of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils.translation import gettext as _

from annotation.models import Project, Sentence, Submission, Task, TaskKind, TaskState, Unit, User, WrittenUnit
from annotation.services.alike import lock_sentence, tasks_of
from annotation.services.auditing import record_audit
from annotation.services.unit_sets import OriginalText, put_units
from annotation.writing.content import BadContent, Content, NotReady, Origin, WrittenText, read_content
from annotation.writing.pairing import pair_texts


@dataclass(frozen=True, slots=True)
class WriterSet:
    """What one writer handed in for a sentence."""

    submission: Submission
    content: Content

    def origin(self, place: int) -> Origin:
        return self.submission.pk, place + 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text with what it brings along."""

    origin: Origin
    unit: WrittenText


NO_SETS: tuple[list[Proposal], ...] = ([], [])


@dataclass(frozen=True, slots=True)
class Row:
    """Two texts that seem to say the same, or one that stands alone."""

    one: Proposal | None
    other: Proposal | None


def sets_of(sentence: Sentence) -> list[WriterSet]:
    """What the writers of a sentence handed in last, in the order of their slots."""
    done = [task for task in tasks_of(sentence, TaskKind.WRITE) if task.state == TaskState.DONE]
    newest: dict[int, Submission] = {}
    for submission in Submission.objects.filter(task__in=done).select_related("author").order_by("task__slot", "pk"):
        newest[submission.task_id] = submission
    return [WriterSet(submission, read_content(submission.content)) for submission in newest.values()]


def rows_of(sets: list[WriterSet]) -> list[Row]:
    """Both sets side by side; with more than two, the later ones stand behind."""
    proposals = [[Proposal(own.origin(n), unit) for n, unit in enumerate(own.content.written)] for own in sets]
    one, other, *more = [*proposals, *NO_SETS]
    pairs = pair_texts([each.unit.text for each in one], [each.unit.text for each in other])
    rows = [
        Row(one[left] if left is not None else None, other[right] if right is not None else None)
        for left, right in pairs
    ]
    return [*rows, *(Row(each, None) for later in more for each in later)]


def open_second_look(task: Task, *, now: dt.datetime) -> Task | None:
    """Once all writers of a sentence are through. One writer's work is looked at again by the plan's share."""
    share = task.plan.second_look if task.plan else 0
    sentence = lock_sentence(task.sentence_id or 0)
    if len(tasks_of(sentence, TaskKind.WRITE)) == 1 and not is_drawn(sentence.pk, share):
        return None
    return order_second_look(task, now=now)


@transaction.atomic
def order_second_look(task: Task, *, now: dt.datetime, actor: User | None = None) -> Task | None:
    """Ask for a second look at the sentence of a task. None if somebody still writes it, if one is asked for, or if one
    is done that has seen all that was handed in."""
    sentence = lock_sentence(task.sentence_id or 0)  # two who ask at once wait for each other
    writing, looks = tasks_of(sentence, TaskKind.WRITE), tasks_of(sentence, TaskKind.REVIEW)
    if any(own.state != TaskState.DONE for own in [*writing, *looks]) or is_looked_at(writing, looks):
        return None
    if actor:
        record_audit("order second look", task.project, target=f"task {task.pk}", actor=actor, now=now)
    return Task.objects.create(
        project=task.project,
        kind=TaskKind.REVIEW,
        sentence=task.sentence,
        plan=task.plan,
        priority=task.priority,
        created_at=now,
    )


def is_looked_at(writing: Sequence[Task], looks: Sequence[Task]) -> bool:
    """Whether somebody has looked again since the last of the writers handed in."""
    last = Submission.objects.filter(task__in=writing).aggregate(last=Max("pk"))["last"] or 0
    return Submission.objects.filter(task__in=looks, pk__gt=last).exists()


def is_drawn(sentence: int, share: int) -> bool:
    """Whether a sentence is in a share of thousandths; always the same answer for the same sentence."""
    return int(sha256(f"second look/{sentence}".encode()).hexdigest()[:8], 16) % 1000 < share


def open_waiting(project: Project, *, now: dt.datetime) -> int:
    """Where one of two writers is not awaited any more, what the other wrote must not wait for ever."""
    own = Task.objects.filter(project=project, sentence=OuterRef("sentence"))
    live = own.filter(kind=TaskKind.WRITE, state__in=(TaskState.OPEN, TaskState.LEASED))
    looks = own.filter(kind=TaskKind.REVIEW).exclude(state=TaskState.WITHDRAWN)
    counted = WrittenUnit.objects.filter(
        unit__sentence=OuterRef("sentence"), unit__superseded_at__isnull=True, unit__trashed_at__isnull=True
    )
    done = Task.objects.filter(project=project, kind=TaskKind.WRITE, state=TaskState.DONE)
    waiting = done.exclude(Exists(live)).exclude(Exists(looks)).exclude(Exists(counted))
    opened = 0
    for task in waiting.select_related("plan", "project", "sentence"):
        if task.sentence and any(each.content.written for each in sets_of(task.sentence)):
            opened += order_second_look(task, now=now) is not None
    return opened


def store_review(
    submission: Submission, task: Task, content: Content, *, guideline: str, now: dt.datetime
) -> list[Unit]:
    """The outcome of a second look becomes the units of the sentence; who wrote what stays with each."""
    assert task.sentence is not None, "a second look has a sentence"
    sets = sets_of(task.sentence)
    originals = {
        own.origin(place): OriginalText(unit.text, own.submission.author)
        for own in sets
        for place, unit in enumerate(own.content.written)
    }
    require_decided(content, set(originals))
    return put_units(submission, task.sentence, content.written, guideline=guideline, now=now, originals=originals)


def require_decided(content: Content, known: set[Origin]) -> None:
    """Every text of the writers is taken or dropped, and none is named that is not there."""
    used = {origin for unit in content.written for origin in unit.origins} | set(content.dropped)
    if used - known:
        raise BadContent("A text was named that nobody handed in for this sentence.")
    open_texts = len(known - used)
    if open_texts:
        raise NotReady(_("Decide on every text first: %(n)s are open.") % {"n": open_texts})
