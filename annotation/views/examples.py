"""Pages that show the corpus."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.access import EVERYBODY, READERS, project_view
from annotation.models import Label, Project
from annotation.parameters import only_known, whole_number
from annotation.services.browsing import list_examples, read_example
from annotation.services.task_lists import is_writing

MAX_SEARCH = 200
MAX_POSITION = 2**31


@project_view("GET", "HEAD", roles=EVERYBODY)
def examples(request: HttpRequest, project: Project) -> HttpResponse:
    only_known(request.GET, "q", "after", "before")
    search = request.GET.get("q", "").replace("\x00", "").strip()[:MAX_SEARCH]
    found = list_examples(
        project, search=search, after=whole_number(request.GET, "after"), before=whole_number(request.GET, "before")
    )
    context = {
        "project": project,
        "page": "examples",
        "examples": found,
        "search": search,
        "is_beyond": "after" in request.GET or "before" in request.GET,
    }
    return render(request, "annotation/examples.html", context)


@project_view("GET", "HEAD", roles=EVERYBODY)
def example(request: HttpRequest, project: Project, position: int) -> HttpResponse:
    hides_stus = project.viewer_role not in READERS and is_writing(project)
    known = position < MAX_POSITION
    view = read_example(project, position, rule=Label.IMPORTED, without_stus=hides_stus) if known else None
    if view is None:
        raise Http404
    context = {
        "project": project,
        "page": "examples",
        "view": view,
        "rule": Label.IMPORTED,
    }
    return render(request, "annotation/example.html", context)
