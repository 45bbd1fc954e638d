"""Judging presence in house: the door to the queue, one sheet at a time, and leaving it."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import WRITERS, project_view
from annotation.judging.answers import ANSWERS, Answers, answers_json, read_answers
from annotation.judging.showing import as_shown
from annotation.models import Project, Task, TaskKind
from annotation.parameters import only_known
from annotation.services import queue
from annotation.services.judging import hand_in_answers, judging_progress, own_answers, questions_of
from annotation.services.writing import StaleDraft, newest_draft, save_draft
from annotation.views.desk import next_task, payload_of, seen_by, token_of, user_of
from annotation.views.judging_words import ANSWER_WORDS, JUDGE_RULES, JUDGE_WORDS
from annotation.writing.content import BadContent, NotReady

JUDGE = TaskKind.JUDGE.value
MOST_COUNTED = 1000  # beyond it the door says "more than"


@project_view("GET", "HEAD", roles=WRITERS)
def judge(request: HttpRequest, project: Project) -> HttpResponse:
    """The door to the queue: how far the work is, and the button for the next summary."""
    only_known(request.GET)
    user = user_of(request)
    held = Task.objects.filter(project=project, kind=JUDGE, holder=user).first()
    # Sheets, not tasks: one that wants three votes waits once for each judge.
    open_sheets = queue.open_for(project, user, JUDGE).order_by().values("sheet").distinct()
    waiting = open_sheets[: MOST_COUNTED + 1].count()
    context = {
        "project": project,
        "page": "judge",
        "held": held,
        "waiting": waiting,
        "most": MOST_COUNTED,
        "progress": judging_progress(project, user, now=timezone.now()),
        "why": "" if held or waiting else queue.explain_empty(project, user, JUDGE).why,
        "minutes": int(queue.LEASE.total_seconds() // 60),
        "rules": JUDGE_RULES,
    }
    return render(request, "annotation/judge_queue.html", context)


@project_view("POST", roles=WRITERS)
def claim(request: HttpRequest, project: Project) -> HttpResponse:
    """The next sheet."""
    return next_task(request, project, JUDGE)


@project_view("GET", "HEAD", roles=WRITERS)
def task(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """The page of a sheet that the person holds."""
    only_known(request.GET)
    found = _task(project, task_id)
    if found.holder_id != user_of(request).pk:
        messages.error(request, _("That summary is not yours now. Take the next one; what you answered is kept."))
        return redirect("annotation:judge", project.slug)
    return _page(request, project, found, own_answers(found, user_of(request)))


def _page(request: HttpRequest, project: Project, found: Task, answers: Answers, problem: str = "") -> HttpResponse:
    assert found.summary is not None, "a judging task has a summary"
    user, draft = user_of(request), newest_draft(found)
    given = answers.by_row()
    rows = questions_of(found, user)
    text = as_shown(found.summary.text)
    context: dict[str, Any] = {
        "project": project,
        "page": "judge",
        "task": found,
        "text": text,
        "rows": [
            (place, row.text, given[place].answer if place in given else "") for place, row in enumerate(rows, start=1)
        ],
        "answers": ANSWER_WORDS.items(),
        "rules": JUDGE_RULES,
        "progress": judging_progress(project, user, now=timezone.now()),
        "submission_key": uuid.uuid4(),
        "problem": problem,
        "for_browser": {
            "task": found.pk,
            "token": str(found.lease_token),
            "version": draft.version if draft else 0,
            "page": str(draft.page) if draft and draft.page else "",
            "user": user.pk,
            "content": answers_json(answers),
            "words": {name: str(words) for name, words in JUDGE_WORDS.items()},
        },
    }
    answer = render(request, "annotation/judge_task.html", context, status=422 if problem else 200)
    answer["Cache-Control"] = "no-store"  # "Back" must not show a form that is handed in
    return answer


@project_view("POST", roles=WRITERS)
def hand_in(request: HttpRequest, project: Project, task_id: int) -> HttpResponseBase:
    """Hand the sheet in and go on to the next one. Where something is missing, stay."""
    found, user, now = _task(project, task_id), user_of(request), timezone.now()
    given = payload_of(request) if "payload" in request.POST else {}
    token = token_of(request.POST.get("token"))
    try:
        answers = read_answers(given.get("content")) if given else _plain(request)
        hand_in_answers(
            found.pk, user, token, key=token_of(request.POST.get("key")), answers=answers, now=now, seen=seen_by(given)
        )
    except StaleDraft as error:
        messages.error(request, str(error))
        return redirect("annotation:judge-task", project.slug, found.pk)
    except NotReady as problem:
        if found.holder_id != user.pk:
            return redirect("annotation:judge", project.slug)
        return _page(request, project, found, answers, str(problem))
    except queue.LeaseLost as error:
        save_draft(found.pk, user, token, base=-1, content=answers, now=now)
        messages.error(request, str(error))
        return redirect("annotation:judge", project.slug)
    except BadContent as error:
        raise BadRequest(str(error)) from error
    return next_task(request, project, JUDGE)


def _plain(request: HttpRequest) -> Answers:
    """The plain form, without script: a group of radio buttons for each row."""
    rows = [
        {"row": int(name.removeprefix("row-")), "answer": value}
        for name, value in request.POST.items()
        if name.startswith("row-") and name.removeprefix("row-").isdecimal() and len(name) < 8 and value in ANSWERS
    ]
    return read_answers({"answers": rows})


def _task(project: Project, task_id: int) -> Task:
    return get_object_or_404(Task.objects.select_related("summary", "sheet"), project=project, pk=task_id, kind=JUDGE)
