"""Around the writing: what somebody has handed in, time sheets, notes for the lead, tasks kept for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.access import LEADS, WRITERS, project_view
from annotation.csv_cells import neutralise
from annotation.models import Flag, Project, Role, Task, TaskKind, TaskState
from annotation.parameters import only_known, whole_number
from annotation.services import queue, reopening
from annotation.services.notes import late_answers, late_texts, open_flags, settle_flag, skipped
from annotation.services.second_look import order_second_look
from annotation.services.task_lists import people_of
from annotation.views.desk import user_of


@project_view("GET", "HEAD", roles=WRITERS)
def history(request: HttpRequest, project: Project) -> HttpResponse:
    """What the person has handed in, newest first; it can be opened again until somebody else has looked."""
    only_known(request.GET, "before")
    work, older = reopening.list_work(project, user_of(request), before=whole_number(request.GET, "before"))
    return render(
        request,
        "annotation/write_history.html",
        {"project": project, "page": "write", "work": work, "older": older, "is_beyond": "before" in request.GET},
    )


@project_view("POST", roles=WRITERS)
def reopen(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """Put something that was handed in back on the desk."""
    task = get_object_or_404(Task, project=project, pk=task_id, kind=TaskKind.WRITE)
    try:
        reopening.reopen(task.pk, user_of(request), now=timezone.now())
    except reopening.CannotReopen as error:
        messages.error(request, str(error))
        return redirect("annotation:write-history", project.slug)
    return redirect("annotation:write-task", project.slug, task.pk)


@project_view("GET", "HEAD", roles=WRITERS)
def time_sheet(request: HttpRequest, project: Project) -> StreamingHttpResponse:
    """The time sheet as CSV: one's own, or everybody's for a lead."""
    only_known(request.GET, "who")
    is_all = request.GET.get("who") == "all"
    if is_all and project.viewer_role != Role.LEAD:
        raise PermissionDenied
    rows = reopening.time_sheet(project, None if is_all else user_of(request))
    answer = StreamingHttpResponse(_csv(rows), content_type="text/csv; charset=utf-8")
    name = f"time-{project.slug}{'' if is_all else '-own'}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _csv(rows: Iterator[tuple[str | int | float, ...]]) -> Iterator[str]:
    for row in (reopening.SHEET, *rows):
        line = io.StringIO()
        csv.writer(line).writerow(neutralise(cell) if isinstance(cell, str) else cell for cell in row)
        yield line.getvalue()


@project_view("GET", "HEAD", roles=LEADS)
def notes(request: HttpRequest, project: Project) -> HttpResponse:
    """What writers left for the lead."""
    only_known(request.GET)
    context = {
        "project": project,
        "page": "write",
        "flags": open_flags(project),
        "late": late_texts(project),
        "late_answers": late_answers(project),
        "skipped": skipped(project),
    }
    return render(request, "annotation/write_notes.html", context)


@project_view("POST", roles=LEADS)
def settle(request: HttpRequest, project: Project, flag_id: int) -> HttpResponse:
    """The lead has looked at a flag."""
    found = get_object_or_404(Flag, task__project=project, pk=flag_id)
    if settle_flag(project, found.pk, now=timezone.now(), actor=user_of(request)):
        messages.success(request, _("Settled."))
    else:
        messages.error(request, _("That flag is settled already."))
    return redirect("annotation:write-notes", project.slug)


@project_view("POST", roles=LEADS)
def reserve(request: HttpRequest, project: Project) -> HttpResponse:
    """Keep ticked tasks for somebody, or give them back to all."""
    kind, who = request.POST.get("kind", ""), request.POST.get("who", "")
    ticked = [text for text in request.POST.getlist("task") if text.isascii() and text.isdecimal() and len(text) < 18]
    person = next((one for one in people_of(project) if str(one.pk) == who), None)
    if kind not in TaskKind.values or (who and person is None):
        raise BadRequest(_("Choose somebody of this project."))
    tasks = Task.objects.filter(pk__in=ticked, kind=kind)
    changed = queue.reserve(tasks, person, project=project, now=timezone.now(), actor=user_of(request))
    if changed:
        words = ngettext("%(n)s task is changed.", "%(n)s tasks are changed.", changed) % {"n": f"{changed:,}"}
        messages.success(request, words)
    else:
        messages.error(request, _("Nothing was changed. Tick tasks that are still open."))
    return redirect(f"{reverse('annotation:tasks', args=[project.slug])}?kind={kind}&state=open")


@project_view("POST", roles=LEADS)
def order_look(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """Ask for a second look at a finished sentence."""
    task = get_object_or_404(Task, project=project, pk=task_id, kind=TaskKind.WRITE)
    if task.state == TaskState.DONE and order_second_look(task, now=timezone.now(), actor=user_of(request)):
        messages.success(request, _("Somebody else will look at it."))
    else:
        messages.error(request, _("A second look is asked for already, or done."))
    return redirect(f"{reverse('annotation:tasks', args=[project.slug])}?kind=write&state=done")
