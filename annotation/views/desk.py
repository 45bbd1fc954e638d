"""What every page of work asks of the server: keep what is on it, a sign of life, the same task again."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import WRITERS, project_view
from annotation.judging.answers import read_answers
from annotation.models import Project, Task, TaskKind, User
from annotation.services import queue
from annotation.services.writing import flag, newest_draft, save_draft
from annotation.writing.content import BadContent, read_content

MAX_BYTES = 500_000
WRITING, JUDGING = ("annotation:write", "annotation:write-task"), ("annotation:judge", "annotation:judge-task")
DOORS = {TaskKind.WRITE.value: WRITING, TaskKind.REVIEW.value: WRITING, TaskKind.JUDGE.value: JUDGING}
"""By kind of task: the page of its queue, and the page of the task itself."""


def payload_of(request: HttpRequest) -> dict[str, Any]:
    """JSON of a page: the whole body, or a form field where a browser sends it while a page closes."""
    try:
        text = request.POST["payload"] if "payload" in request.POST else request.body.decode()
        if len(text) > MAX_BYTES:
            raise BadRequest(_("This is more than one sentence can need."))
        given = json.loads(text)
        assert isinstance(given, dict)
        return given
    except (ValueError, AssertionError, RecursionError) as error:
        raise BadRequest(_("That is no page of ours.")) from error


def token_of(text: object) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError as error:
        raise BadRequest(_("That is no page of ours.")) from error


@project_view("POST", roles=WRITERS)
def save(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """Keep what is on the page, whatever has happened to the lease."""
    found, given = _task(project, task_id), payload_of(request)
    base = given.get("version")
    if not isinstance(base, int) or isinstance(base, bool):
        raise BadRequest(_("That is no page of ours."))
    try:
        read = read_answers if found.kind == TaskKind.JUDGE else read_content
        content = read(given.get("content"))
    except BadContent as error:
        return JsonResponse({"detail": str(error)}, status=422)
    token, page = token_of(given.get("token")), token_of(given["page"]) if given.get("page") else None
    saved = save_draft(found.pk, user_of(request), token, base=base, content=content, now=timezone.now(), page=page)
    holds = Task.objects.filter(pk=found.pk, holder=user_of(request), lease_token=token).exists()
    return JsonResponse({"state": saved.state, "version": saved.version, "holds": holds})


@project_view("GET", "HEAD", roles=WRITERS)
def state(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """What a page asks after it was cut off: a fresh form token, and whether the task is still its own."""
    found = _task(project, task_id)
    draft = newest_draft(found)
    return JsonResponse(
        {
            "csrf": get_token(request),
            "holds": found.holder_id == user_of(request).pk,
            "version": draft.version if draft else 0,
        }
    )


@project_view("POST", roles=WRITERS)
def beat(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """A sign of life of an open page."""
    found, given = _task(project, task_id), payload_of(request)
    try:
        until = queue.extend_lease(found.pk, user_of(request), token_of(given.get("token")), now=timezone.now())
    except queue.LeaseLost as error:
        return JsonResponse({"detail": str(error)}, status=409)
    return JsonResponse({"until": until.isoformat()})


@project_view("POST", roles=WRITERS)
def again(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """The same task again for a page whose lease has ended, if nobody else has come."""
    found = queue.retake(_task(project, task_id).pk, user_of(request), now=timezone.now())
    if found is None:
        return JsonResponse({"detail": _("Somebody else has this task now, or it is done.")}, status=409)
    draft = newest_draft(found)
    return JsonResponse({"token": str(found.lease_token), "version": draft.version if draft else 0})


def seen_by(given: Mapping[str, Any]) -> tuple[int, uuid.UUID] | None:
    """The version that a page has seen, and which page it is; None for the plain form, which knows neither."""
    version, page = given.get("version"), given.get("page")
    return (version, token_of(page)) if isinstance(version, int) and page else None


def next_task(request: HttpRequest, project: Project, kind: str) -> HttpResponse:
    """The next piece of work of a kind, or the door of its queue with the reason why there is none."""
    door, page = DOORS[kind]
    task = queue.claim_next(project, user_of(request), kind, now=timezone.now())
    if task is None:
        messages.success(request, queue.explain_empty(project, user_of(request), kind).why)
        return redirect(door, project.slug)
    return redirect(page, project.slug, task.pk)


@project_view("POST", roles=WRITERS)
def leave(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """Skip a task with a reason, flag it to the lead, or put it back."""
    found, user, now = _task(project, task_id), user_of(request), timezone.now()
    do, note = request.POST.get("do", ""), request.POST.get("note", "")
    token = token_of(request.POST.get("token"))
    door, page = DOORS[found.kind]
    try:
        if do == "skip":
            queue.skip(found, user, token, note, now=now)
            return next_task(request, project, found.kind)
        if do == "flag":
            flag(found, user, note, now=now)
            messages.success(request, _("Your lead will look at it. You can go on."))
            return redirect(page, project.slug, found.pk)
        if do == "release":
            queue.release(found.pk, user, token, now=now)
            return redirect(door, project.slug)
    except (queue.CannotSkip, queue.LeaseLost, BadContent) as error:
        messages.error(request, str(error))
        return redirect(page, project.slug, found.pk)
    raise BadRequest(_("That is no page of ours."))


def _task(project: Project, task_id: int) -> Task:
    return get_object_or_404(Task, project=project, pk=task_id)


def user_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
