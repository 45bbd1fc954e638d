"""Pages about what is kept: the trash and the audit log."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import LEADS, project_view
from annotation.models import Project, System, User
from annotation.parameters import MAX_DIGITS, only_known, whole_number
from annotation.services.history import list_audit
from annotation.services.trashing import LISTED, find_trashable, list_trash, move_to_trash, restore_from_trash


@project_view("GET", "HEAD", roles=LEADS)
def trash(request: HttpRequest, project: Project) -> HttpResponse:
    systems = System.objects.live().filter(project=project).order_by("name")
    context = {"project": project, "page": "trash", "rows": list_trash(project), "systems": systems, "listed": LISTED}
    return render(request, "annotation/trash.html", context)


@project_view("POST", roles=LEADS)
def move(request: HttpRequest, project: Project, kind: str, pk: int) -> HttpResponse:
    """Put an example, a system or a unit into the trash."""
    row = find_trashable(project, kind, pk)
    if row is None:
        raise Http404
    assert isinstance(request.user, User)
    if move_to_trash(row, now=timezone.now(), actor=request.user):
        words = _("Moved to the trash: %(name)s. Restore it here if that was a mistake.")
        messages.success(request, words % {"name": row})
    return redirect("annotation:trash", project.slug)


@project_view("POST", roles=LEADS)
def move_system(request: HttpRequest, project: Project) -> HttpResponseBase:
    """Put a system that was chosen from a list into the trash."""
    number = request.POST.get("system", "")
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
        messages.error(request, _("That is no system. Choose one of the list."))
        return redirect("annotation:trash", project.slug)
    return move(request, project.slug, "system", int(number))


@project_view("POST", roles=LEADS)
def restore(request: HttpRequest, project: Project, kind: str, pk: int) -> HttpResponse:
    row = find_trashable(project, kind, pk)
    if row is None:
        raise Http404
    assert isinstance(request.user, User)
    if restore_from_trash(row, now=timezone.now(), actor=request.user):
        messages.success(request, _("Restored: %(name)s.") % {"name": row})
    return redirect("annotation:trash", project.slug)


@project_view("POST", roles=LEADS)
def move_project(request: HttpRequest, project: Project) -> HttpResponse:
    assert isinstance(request.user, User)
    move_to_trash(project, now=timezone.now(), actor=request.user)
    messages.success(
        request, _("The project %(name)s is in the trash. Restore it at the end of this page.") % {"name": project}
    )
    return redirect("project-list")


@require_POST
def restore_project(request: HttpRequest, slug: str) -> HttpResponse:
    """A project in the trash is seen by nobody, so this is the one address that does not go through access.py."""
    project = get_object_or_404(Project.objects.restorable_by(request.user), slug=slug)
    assert isinstance(request.user, User)
    restore_from_trash(project, now=timezone.now(), actor=request.user)
    return redirect("project-home", project.slug)


@project_view("GET", "HEAD", roles=LEADS)
def audit(request: HttpRequest, project: Project) -> HttpResponse:
    only_known(request.GET, "before")
    entries = list_audit(project, before=whole_number(request.GET, "before"))
    return render(request, "annotation/audit.html", {"project": project, "page": "audit", "entries": entries})
