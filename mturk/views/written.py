"""What the crowd wrote: a person takes of it what shall be SCUs."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.access import LEADS, project_view
from annotation.models import Project
from annotation.parameters import only_known, whole_number
from annotation.views.desk import user_of
from mturk.models import CrowdBatch, CrowdKind
from mturk.services.taking import take, written_of

PAGE = 10
WHY_WORDS = {
    "short": gettext_lazy("three words or fewer"),
    "long": gettext_lazy("more than 20 words"),
    "twice": gettext_lazy("says what another says"),
}


@project_view("GET", "HEAD", "POST", roles=LEADS)
def written(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Statements by reference, those ticked that LitePyramid's rules would keep."""
    only_known(request.GET, "page")
    batch = get_object_or_404(CrowdBatch, project=project, number=number)
    if batch.kind != CrowdKind.WRITING and request.method != "POST":
        return redirect("mturk:batch", project.slug, number)
    if request.method == "POST":
        chosen = [_pair(text) for text in request.POST.getlist("take")]
        made = take(batch, chosen, now=timezone.now(), actor=user_of(request))
        messages.success(request, ngettext("%(n)s SCU was made.", "%(n)s SCUs were made.", made) % {"n": f"{made:,}"})
        return redirect("mturk:written", project.slug, number)
    pages = Paginator(written_of(batch), PAGE)
    page = whole_number(request.GET, "page") or 1
    if page > pages.num_pages:
        raise Http404
    shown = pages.get_page(page)
    context = {
        "project": project,
        "page": "crowd",
        "batch": batch,
        "shown": shown,
        "rows": [(one, [(each, WHY_WORDS.get(each.why, "")) for each in one.statements]) for one in shown],
    }
    return render(request, "mturk/written.html", context)


def _pair(text: str) -> tuple[int, int]:
    pk, _sign, place = text.partition("-")
    if not (pk.isdecimal() and place.isdecimal() and text.isascii() and len(text) < 40):
        raise BadRequest(_("That is no page of ours."))
    return int(pk), int(place)
