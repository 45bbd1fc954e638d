"""Pages that show several apps at once, put together from the cards that each app gives."""

from __future__ import annotations

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.http import require_http_methods, require_safe

import annotation.cards
import mturk.cards
import scoring.cards
from annotation.access import EVERYBODY, READERS, may_create_projects, project_view
from annotation.cards import STAGES, NextCard, StageCard, work_card
from annotation.forms import ProjectForm
from annotation.models import Project, User
from annotation.services.jobs import missing_queues
from annotation.services.overview import ProjectOverview, describe_projects, list_projects
from annotation.services.projects import ProjectExists, create_project
from scoring.cards import human_scores_card


@require_safe
def project_list(request: HttpRequest) -> HttpResponse:
    context = {
        "projects": list_projects(request.user),
        "may_create": may_create_projects(request.user),
        "in_trash": Project.objects.restorable_by(request.user).order_by("name"),
    }
    return render(request, "workbench/project_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    if not may_create_projects(request.user):
        raise PermissionDenied(_("Only leads of a project, and staff, create projects. Ask one of them."))
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)
        try:
            project = create_project(form.cleaned_data["name"], now=timezone.now(), lead=request.user)
            return redirect("annotation:import", project.slug)
        except ProjectExists:
            form.add_error("name", _("A project of that name exists here already. Choose another name."))
    return render(request, "workbench/new_project.html", {"form": form}, status=422 if form.errors else 200)


@project_view("GET", "HEAD", roles=EVERYBODY)
def project_home(request: HttpRequest, project: Project) -> HttpResponse:
    (overview,) = describe_projects([project], request.user)
    context = {
        "project": project,
        "page": "home",
        "overview": overview,
        "stages": stage_strip(overview),
        "next": next_step(overview),
        "missing": missing_queues(project),
        # Whoever judges must not know how systems stand.
        "scores": human_scores_card(project) if overview.role in READERS else None,
        "work": work_card(overview),
    }
    return render(request, "workbench/project_home.html", context)


def stage_strip(overview: ProjectOverview) -> list[StageCard]:
    """The stages of the walk, in order, from whichever app has them."""
    cards = [card for app in (annotation.cards, scoring.cards, mturk.cards) for card in app.stages(overview)]
    by_name = {card.name: card for card in cards}
    return [by_name[name] for name in STAGES]


def next_step(overview: ProjectOverview) -> NextCard | None:
    apps = (annotation.cards, scoring.cards, mturk.cards)
    cards = [card for app in apps for card in app.next_steps(overview)]
    return max(cards, key=lambda card: card.urgency, default=None)


API = "/api/"


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Programs get JSON, people a page."""
    if request.path.startswith(API):
        return JsonResponse({"detail": _("Not found.")}, status=404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(API):
        return JsonResponse({"detail": _("Something failed on the server. Try again.")}, status=500)
    return defaults.server_error(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What we refuse ourselves is said; what Django refuses (forged hosts, broken uploads) is not told in detail."""
    words = str(exception) if isinstance(exception, BadRequest) else ""
    return render(request, "400.html", {"words": words}, status=400)
