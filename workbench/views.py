"""Pages that show several apps at once."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import EVERYBODY, project_view
from annotation.models import Project
from annotation.services.overview import describe_projects, list_projects
from scoring.services import human_scores


@require_safe
def project_list(request: HttpRequest) -> HttpResponse:
    return render(request, "workbench/project_list.html", {"projects": list_projects(request.user)})


@project_view("GET", "HEAD", roles=EVERYBODY)
def project_home(request: HttpRequest, project: Project) -> HttpResponse:
    (overview,) = describe_projects([project], request.user)
    return render(
        request,
        "workbench/project_home.html",
        {"overview": overview, "project": project, "page": "home", "scores": _ranked(project)},
    )


def _ranked(project: Project) -> list[tuple[str, float | None]]:
    scores = human_scores(project)
    return sorted(scores.items(), key=lambda item: (item[1] is None, -(item[1] or 0), item[0]))
