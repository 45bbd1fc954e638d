"""What writers leave for the lead: flags, sentences that were skipped, and texts that came too late to count."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction

from annotation.judging.answers import read_answers
from annotation.models import DraftVersion, Flag, Project, Skip, TaskKind, User
from annotation.services.auditing import record_audit
from annotation.writing.content import read_content

SHOWN = 50


@dataclass(frozen=True, slots=True)
class LateText:
    """A draft that was kept beside the work."""

    draft: DraftVersion
    texts: list[str]
    comment: str = ""
    dropped: int = 0


def open_flags(project: Project) -> list[Flag]:
    rows = Flag.objects.filter(task__project=project, settled_at__isnull=True)
    return list(
        rows.select_related("user", "task__sentence__reference__example", "task__summary__example").order_by("pk")
    )


def count_open_flags(project: Project) -> int:
    return Flag.objects.filter(task__project=project, settled_at__isnull=True).count()


def skipped(project: Project) -> list[Skip]:
    """Who did not want what, newest first."""
    rows = Skip.objects.filter(task__project=project).select_related(
        "user", "task__sentence__reference__example", "task__summary__example"
    )
    return list(rows.order_by("-pk")[:SHOWN])


def late_texts(project: Project) -> list[LateText]:
    """The newest late draft of every task, person and page; each one holds all that was on the page."""
    rows = DraftVersion.objects.filter(task__project=project, is_late=True).exclude(task__kind=TaskKind.JUDGE)
    newest: dict[tuple[int, int, uuid.UUID | None], DraftVersion] = {}
    for row in rows.select_related("author", "task__sentence__reference__example").order_by("-pk")[: SHOWN * 10]:
        newest.setdefault((row.task_id, row.author_id, row.page), row)
    in_time = _texts_in_time(newest.values())
    found = []
    for row in newest.values():
        content = read_content(row.content)
        texts = [unit.text for unit in content.written]
        is_known = set(texts) <= in_time.get((row.task_id, row.author_id), set())
        if content.comment or content.dropped or not is_known:
            found.append(LateText(row, texts, content.comment, len(content.dropped)))
    return found[:SHOWN]


def _texts_in_time(late: Collection[DraftVersion]) -> dict[tuple[int, int], set[str]]:
    """By task and person: the texts of their newest draft that counted. A late text among them is no news."""
    tasks = {row.task_id for row in late}
    rows = DraftVersion.objects.filter(task__in=tasks, author__in={row.author_id for row in late}, is_late=False)
    newest = rows.order_by("task", "author", "version").values_list("task", "author", "content")
    last = {(task, author): content for task, author, content in newest.iterator()}
    return {key: {unit.text for unit in read_content(content).written} for key, content in last.items()}


@dataclass(frozen=True, slots=True)
class LateAnswers:
    """Answers of a judge that came when the sheet was no longer theirs."""

    draft: DraftVersion
    number: int


def late_answers(project: Project) -> list[LateAnswers]:
    """The newest late page of every sheet and judge, unless the same judge has handed that sheet in."""
    rows = DraftVersion.objects.filter(task__project=project, task__kind=TaskKind.JUDGE, is_late=True)
    newest: dict[tuple[int, int], DraftVersion] = {}
    for row in rows.select_related("author", "task__summary__example").order_by("-pk")[: SHOWN * 10]:
        if row.task.done_by_id != row.author_id:
            newest.setdefault((row.task_id, row.author_id), row)
    return [LateAnswers(row, len(read_answers(row.content).given)) for row in newest.values()][:SHOWN]


@transaction.atomic
def settle_flag(project: Project, flag_id: int, *, now: dt.datetime, actor: User) -> bool:
    """The lead has looked. False if it was settled already."""
    flag = Flag.objects.filter(task__project=project, pk=flag_id, settled_at__isnull=True)
    if not flag.update(settled_at=now, settled_by=actor):
        return False
    record_audit("settle flag", project, target=f"flag {flag_id}", actor=actor, now=now)
    return True
