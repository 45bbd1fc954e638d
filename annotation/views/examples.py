"""Pages that show the corpus."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation.access import EVERYBODY, project_view
from annotation.models import Label, Project
from annotation.services.browsing import list_examples, read_example

MAX_SEARCH = 200
KNOWN_PARAMETERS = {"q", "after", "before"}


@project_view("GET", "HEAD", roles=EVERYBODY)
def examples(request: HttpRequest, project: Project) -> HttpResponse:
    unknown = set(request.GET) - KNOWN_PARAMETERS
    if unknown:
        return HttpResponseBadRequest(_("Unknown parameter. Known: q, after, before."), content_type="text/plain")
    try:
        after, before = (_position(request.GET.get(name)) for name in ("after", "before"))
    except ValueError:
        return HttpResponseBadRequest(_("after and before must be positions of examples."), content_type="text/plain")
    search = request.GET.get("q", "").replace("\x00", "").strip()[:MAX_SEARCH]
    page = list_examples(project, search=search, after=after, before=before)
    context = {"project": project, "page": "examples", "examples": page, "search": search}
    return render(request, "annotation/examples.html", context)


def _position(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise ValueError(text)
    return int(text)


@project_view("GET", "HEAD", roles=EVERYBODY)
def example(request: HttpRequest, project: Project, position: int) -> HttpResponse:
    view = read_example(project, position, rule=Label.IMPORTED) if position < 2**31 else None
    if view is None:
        raise Http404
    context = {"project": project, "page": "examples", "view": view, "rule": Label.IMPORTED}
    return render(request, "annotation/example.html", context)
