"""How people come to the worker site, and leave it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from mturk.exchange.models import LinkKind
from mturk.exchange.services import clock
from mturk.exchange.services.recruiting import (
    PARTICIPANT_NAMES,
    BadLink,
    check_participant,
    enrol_participant,
    enrol_user,
    find_link,
)
from mturk.exchange.views.identity import SESSION_KEY, open_view

PROBLEMS = {
    "unknown": gettext_lazy("This link does not count any more, or was cut when it was copied. Ask whoever gave it."),
    "no_participant": gettext_lazy("This link lacks your participant id. Open it from the page of your panel."),
}


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Somebody with an account begins to work."""
    enrol_user(request.user, now=clock.now())  # type: ignore[arg-type]
    request.session.pop(SESSION_KEY, None)
    return redirect("exchange:work")


@open_view("GET", "HEAD", "POST")
def join(request: HttpRequest, token: str) -> HttpResponse:
    """A recruitment link. Looking at it changes nothing: mail filters look at links, too."""
    try:
        link = find_link(token)
        if link.kind == LinkKind.IN_HOUSE:
            return join_in_house(request, token)
        participant = check_participant(given_participant(request))
    except BadLink as error:
        return render(request, "exchange/join.html", {"problem": PROBLEMS[str(error)], "page": "join"}, status=410)
    if request.method == "POST":
        worker = enrol_participant(link, participant, now=clock.now())
        request.session.cycle_key()
        request.session[SESSION_KEY] = worker.pk
        return redirect("exchange:work")
    return render(request, "exchange/join.html", {"link": link, "participant": participant, "page": "join"})


def join_in_house(request: HttpRequest, token: str) -> HttpResponse:
    link = find_link(token)
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST":
        enrol_user(request.user, now=clock.now(), link=link)
        request.session.pop(SESSION_KEY, None)
        messages.success(request, _("You are in. Choose what to work on."))
        return redirect("exchange:work")
    return render(request, "exchange/join.html", {"link": link, "page": "join"})


def given_participant(request: HttpRequest) -> str:
    """The participant id from the form or the address, under any of the names that panels use."""
    given = request.POST if request.method == "POST" else request.GET
    return next((given[name] for name in PARTICIPANT_NAMES if given.get(name)), "")


@open_view("POST")
def leave(request: HttpRequest) -> HttpResponse:
    """A participant leaves; an account stays signed in."""
    request.session.pop(SESSION_KEY, None)
    return redirect("exchange:work")
