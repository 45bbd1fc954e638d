"""Work of the crowd, one piece at a time: approve it, reject it with a reason, take a rejection back, add a bonus."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.access import LEADS, project_view
from annotation.models import Project
from annotation.parameters import one_of, only_known, whole_number
from annotation.views.desk import user_of
from mturk.models import BonusState, CrowdAssignment, CrowdBatch
from mturk.pricing import dollars, read_cents
from mturk.services import deciding
from mturk.views.batches import ACTS_ERRORS, ask_market, batch_of
from mturk.views.words import CHECK_WORDS

PAGE = 25
TABS = {"read": gettext_lazy("To read"), "rejected": gettext_lazy("Rejected"), "all": gettext_lazy("All work")}


@project_view("GET", "HEAD", "POST", roles=LEADS)
def review(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Work that failed a check and waits, what was rejected, or all of it."""
    only_known(request.GET, "page", "show")
    found = batch_of(project, number)
    show = one_of(request.GET, "show", TABS) or "read"
    if request.method == "POST":
        _decide(request, found)
        return redirect(f"{reverse('mturk:review', args=[project.slug, number])}?show={show}")
    lists = {"read": deciding.failing(found), "rejected": deciding.rejected(found), "all": deciding.all_work(found)}
    rows = lists[show].select_related("hit", "worker").prefetch_related("bonuses")
    shown = Paginator(rows, PAGE).get_page(whole_number(request.GET, "page") or 1)
    context = {
        "project": project,
        "page": "crowd",
        "batch": found,
        "tabs": [(name, words, lists[name].count()) for name, words in TABS.items()],
        "show": show,
        "shown": shown,
        "works": [_work(row) for row in shown],
        "shortest": deciding.SHORTEST_REASON,
    }
    return render(request, "mturk/review.html", context)


def _work(row: CrowdAssignment) -> dict[str, object]:
    """A piece of work as the page shows it, and what can still be done with it."""
    now = timezone.now()
    bonuses = [bonus for bonus in row.bonuses.all() if bonus.state != BonusState.FAILED]
    return {
        "row": row,
        "checks": [CHECK_WORDS.get(name, name) for name in row.checks],
        "answers": _answers(row),
        "bonuses": bonuses,
        "next_bonus": deciding.next_bonus(row),
        "can_decide": deciding.is_open(row),
        "can_take_back": deciding.why_not_taken_back(row, now=now) == "",
        "can_bonus": not deciding.is_rejected(row),
    }


def _answers(row: CrowdAssignment) -> list[tuple[str, str, bool]]:
    """What was asked and said, in the order of the page; whether it was a filler."""
    given = row.answers or {}
    if "rows" not in row.hit.page:
        return [(name, text, False) for name, text in given.items() if name.startswith("s") and name[1:].isdecimal()]
    return [
        (asked["text"], given.get(f"u{place}", ""), asked["unit"] is None)
        for place, asked in enumerate(row.hit.page["rows"], start=1)
    ]


def _decide(request: HttpRequest, found: CrowdBatch) -> None:
    pk = whole_number(request.POST, "assignment")
    if pk is None:
        raise BadRequest(_("That is no page of ours."))
    row = get_object_or_404(CrowdAssignment.objects.select_related("hit", "worker"), hit__crowd_batch=found, pk=pk)
    do, now, actor = request.POST.get("do", ""), timezone.now(), user_of(request)
    if do not in ("approve", "reject", "take-back", "bonus"):
        raise BadRequest(_("That is no page of ours."))
    try:
        if do == "reject":
            deciding.wish_rejection(row, request.POST.get("reason", ""), now=now, actor=actor)
            words = _("Rejected, with your reason.")
        elif do == "bonus":
            cents, purpose = read_cents(request.POST.get("amount", "")), request.POST.get("purpose", "")[:40]
            bonus = deciding.plan_bonus(row, cents, purpose, request.POST.get("reason", ""), now=now, actor=actor)
            words = _("A bonus of %(amount)s is sent.") % {"amount": dollars(bonus.cents)}
        else:
            deciding.wish_approval([row], found, now=now, actor=actor)
            words = _("Approved.") if do == "approve" else _("The rejection is taken back, and the work is paid.")
        ask_market(request, found)
        messages.success(request, words)
    except ACTS_ERRORS as error:
        messages.error(request, str(error))
