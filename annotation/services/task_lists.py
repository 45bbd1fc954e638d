"""Lists and counts of tasks. A count and the list that it leads to come from the same place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.models import Membership, Project, Role, Task, TaskKind, TaskState, User

PAGE = 50


@dataclass(frozen=True, slots=True)
class TaskPage:
    rows: list[Task]
    total: int
    after: int | None


def tasks_of(project: Project, kind: str, states: Collection[str]) -> QuerySet[Task]:
    """Tasks of live examples."""
    own = Task.objects.filter(project=project, kind=kind, state__in=states)
    if kind == TaskKind.JUDGE:
        return own.filter(summary__example__trashed_at__isnull=True)
    return own.filter(sentence__reference__example__trashed_at__isnull=True)


def list_tasks(project: Project, kind: str, states: Collection[str], *, after: int | None = None) -> TaskPage:
    """A page of tasks in the order of their ids."""
    own = tasks_of(project, kind, states)
    related = own.select_related(
        "sentence__reference__example", "summary__example", "holder", "done_by", "reserved_for"
    )
    rows = list(related.filter(pk__gt=after or 0).order_by("pk")[: PAGE + 1])
    return TaskPage(rows[:PAGE], own.count(), rows[PAGE - 1].pk if len(rows) > PAGE else None)


def count_open(project: Project) -> int:
    """Writing tasks that wait for somebody."""
    return tasks_of(project, TaskKind.WRITE, [TaskState.OPEN]).count()


def is_writing(project: Project) -> bool:
    """Whether sentences wait for writers, or are with them."""
    return tasks_of(project, TaskKind.WRITE, [TaskState.OPEN, TaskState.LEASED]).exists()


def count_tasks(project: Project) -> dict[tuple[str, str], int]:
    """How many tasks there are, by kind and state."""
    found: dict[tuple[str, str], int] = {}
    for kind in TaskKind.values:
        rows = tasks_of(project, kind, TaskState.values).order_by().values_list("state").annotate(number=Count("pk"))
        found |= {(kind, state): number for state, number in rows}
    return found


def people_of(project: Project) -> list[User]:
    """Members who write and judge, by name."""
    own = Membership.objects.filter(project=project, left_at__isnull=True).exclude(role=Role.VIEWER)
    return list(User.objects.filter(pk__in=own.values("user")).order_by("username"))
