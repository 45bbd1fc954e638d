"""Who may work: qualifications by name, and blocks."""

from __future__ import annotations

import re

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import LEADS, project_view
from annotation.models import Project
from annotation.parameters import only_known
from annotation.views.desk import user_of
from mturk.environments import NoEnvironment, environments
from mturk.market import MarketError
from mturk.models import CrowdQualification
from mturk.pricing import dollars
from mturk.services import qualifying
from mturk.services.planning import JUDGES_HERE
from mturk.views.asking import market_now, try_market

WORKER = re.compile(r"A[A-Z0-9]{1,63}")


@project_view("GET", "HEAD", "POST", roles=LEADS)
def people(request: HttpRequest, project: Project) -> HttpResponse:
    """Qualifications on each market with how many have them, the account's balance, and blocks."""
    only_known(request.GET)
    if request.method == "POST":
        try:
            messages.success(request, _act(request, project))
        except (MarketError, NoEnvironment, ValueError) as error:
            messages.error(request, str(error))
        return redirect("mturk:people", project.slug)
    context = {
        "project": project,
        "page": "crowd",
        "places": [_place(name.name) for name in environments()],
        "usual": JUDGES_HERE,
    }
    return render(request, "mturk/people.html", context)


def _place(name: str) -> dict[str, object]:
    """What a market tells now. One that does not answer is shown with the reason."""
    market, why = try_market(name)
    own = CrowdQualification.objects.filter(environment=name)
    rows: list[tuple[CrowdQualification, int | None]] = [(row, None) for row in own]
    balance = ""
    if market is not None:
        try:
            balance = dollars(market.balance().available)
            rows = [(row, market.count_holders(row.type_id)) for row in own]
        except MarketError as error:
            why = str(error)
    return {"name": name, "why": why, "balance": balance, "qualifications": rows}


def _act(request: HttpRequest, project: Project) -> str:
    given, now, actor = request.POST, timezone.now(), user_of(request)
    do, place = given.get("do", ""), given.get("environment", "")
    market = market_now(place)
    if do == "make":
        name = " ".join(given.get("name", "").split())
        if not name:
            raise ValueError(_("A qualification needs a name."))
        qualifying.make_qualification(project, place, name, name, market, now=now, actor=actor)
        return _("“%(name)s” is there. Grant it to those who may work.") % {"name": name}
    worker = given.get("worker", "").strip().upper()
    if not WORKER.fullmatch(worker):
        raise ValueError(_("A worker’s id begins with A and has capital letters and digits."))
    if do in ("block", "unblock"):
        reason = " ".join(given.get("reason", "").split())
        if do == "block" and len(reason) < 10:
            raise ValueError(_("Say why: a block counts against the worker. A qualification is the milder way."))
        if do == "block":
            qualifying.block(project, worker, reason[:1000], market, now=now, actor=actor)
            return _("Blocked.")
        qualifying.unblock(project, worker, market, now=now, actor=actor)
        return _("Unblocked.")
    if do not in ("grant", "revoke"):
        raise BadRequest(_("That is no page of ours."))
    own = get_object_or_404(CrowdQualification, environment=place, name=given.get("name", ""))
    change = qualifying.grant if do == "grant" else qualifying.revoke
    change(project, own, worker, market, now=now, actor=actor)
    return _("Granted.") if do == "grant" else _("Taken away.")
