"""Projects with a batch to judge, and judges who answer by a rule."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable

from annotation import models
from annotation.judging.answers import Answers, Given
from annotation.services.batches import BatchOptions, create_batch
from annotation.services.judging import Question, hand_in_answers, questions_of
from annotation.services.queue import claim_next
from tests.conftest import NOW
from tests.planning import plannable

Says = Callable[[models.Task, Question], str]


def judged_project(slug: str = "judge", *, examples: int = 2, sentences: int = 3, systems: int = 2) -> models.Project:
    return plannable(examples=examples, sentences=sentences, systems=systems, scus=True, slug=slug)


def open_batch(project: models.Project, **given) -> models.Batch:
    options = BatchOptions(**{"with_fillers": False, **given})
    return create_batch(project, options, now=NOW, actor=None)


def answer_sheet(
    project: models.Project, user: models.User, says: Says, *, seconds: float = 2.0, now: dt.datetime = NOW
) -> models.Submission | None:
    """The next sheet, answered and handed in; None if there is none."""
    task = claim_next(project, user, "judge", now=now)
    if task is None:
        return None
    rows = questions_of(task, user)
    given = tuple(Given(place, says(task, row), seconds) for place, row in enumerate(rows, start=1))
    answers = Answers(given, seconds * len(rows))
    return hand_in_answers(task.pk, user, task.lease_token, key=uuid.uuid4(), answers=answers, now=now)


def answer_all(project: models.Project, user: models.User, says: Says, **given) -> int:
    """Everything that waits for somebody."""
    number = 0
    while answer_sheet(project, user, says, **given):
        number += 1
    return number


def always(answer: str) -> Says:
    """The same of every unit; a filler is never present."""
    return lambda task, row: answer if row.unit else "not_present"
