"""Badges of the writing page: what a worker's parser and judge say of a unit. They come late and never block."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from annotation.access import WRITERS, project_view
from annotation.models import Arm, Project, Queue, Task, TaskKind
from annotation.services.jobs import has_worker
from annotation.services.text_checks import TextFinding, known_findings
from annotation.writing.content import MOST_LETTERS, MOST_UNITS, plain
from scoring.tasks import ask_for_checks

MAX_BYTES = 250_000


@project_view("POST", roles=WRITERS)
def unit_checks(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """What is known of some texts; with `ask`, a worker is told to find out about the others."""
    kinds = (TaskKind.WRITE, TaskKind.REVIEW)
    task = get_object_or_404(Task.objects.select_related("sentence"), project=project, pk=task_id, kind__in=kinds)
    assert task.sentence is not None, "a task of writing has a sentence"
    texts, is_first = _asked(request)
    known = known_findings(task.sentence, texts)
    missing = [text for text in texts if text not in known]
    is_worked = has_worker(Queue.NLP.value)
    if missing and is_first and is_worked and task.holder_id == request.user.pk:
        ask_for_checks(task.sentence.pk, missing)
    hides_judge = task.arm == Arm.NONE
    told = {text: _told(known[text], hides_judge=hides_judge) for text in texts if text in known}
    return JsonResponse({"found": told, "waiting": len(missing), "has_worker": is_worked})


def _told(found: TextFinding, *, hides_judge: bool) -> dict[str, bool]:
    """In the control share nobody sees what the judge says."""
    if hides_judge or not (found.is_doubtful or found.is_sure):  # in between the judge has nothing to say
        return {"verb": found.has_verb}
    return {"verb": found.has_verb, "follows": found.is_sure}


def _asked(request: HttpRequest) -> tuple[list[str], bool]:
    try:
        if len(request.body) > MAX_BYTES:
            raise ValueError("too long")
        given: Any = json.loads(request.body)
        texts = given["texts"]
        is_sound = isinstance(texts, list) and len(texts) <= MOST_UNITS
        if not is_sound or not all(isinstance(text, str) and len(text) <= MOST_LETTERS for text in texts):
            raise ValueError("no list of texts")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadRequest(_("That is no page of ours.")) from error
    return [text for text in dict.fromkeys(plain(text) for text in texts) if text], given.get("ask") is True
