"""Rows in great numbers, for benchmarks: rankings and tasks without the work behind them."""

from __future__ import annotations

import datetime as dt

from annotation.models import Destination, Project, Ranking, Route, Sentence, Task, TaskKind, User
from annotation.services.drafts import pin_sentences
from annotation.services.routes import refresh_routes

ROWS_PER_QUERY = 5000
MARKED = 20


def rank_all(project: Project, *, now: dt.datetime) -> None:
    """An easiness for every sentence, and the routes that follow from it."""
    keys = Sentence.objects.filter(reference__example__project=project).values_list("pk", flat=True)
    rows = (
        Ranking(sentence_id=key, easiness=(key * 7919 % 1000) / 1000, ranker="none", basis="none", created_at=now)
        for key in keys
    )
    Ranking.objects.bulk_create(rows, batch_size=ROWS_PER_QUERY)
    refresh_routes(project, now=now)


def mark_few(project: Project, *, now: dt.datetime) -> None:
    """Some sentences with a pin and some with a warning, as many in a large project as in a small one."""
    rows = Route.objects.filter(project=project)
    keys = list(rows.order_by("rank").values_list("sentence_id", flat=True))
    step = max(len(keys) // MARKED, 1)
    pin_sentences(project, keys[::step], Destination.PEOPLE, now=now, actor=None)
    rows.exclude(sentence__in=keys[step // 2 :: step]).update(warnings=[], is_warned=False)


def open_all(project: Project, *, now: dt.datetime) -> None:
    """A writing task for every sentence."""
    keys = Sentence.objects.filter(reference__example__project=project).values_list("pk", flat=True)
    tasks = (
        Task(project=project, kind=TaskKind.WRITE, sentence_id=key, priority=key % 997, created_at=now) for key in keys
    )
    Task.objects.bulk_create(tasks, batch_size=ROWS_PER_QUERY)


def make_users(number: int) -> list[User]:
    return User.objects.bulk_create(User(username=f"person{place}") for place in range(number))
