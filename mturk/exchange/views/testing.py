"""Qualification tests on the worker site: what a test is, begin it, answer it in its time."""

from __future__ import annotations

import datetime as dt
import math

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mturk.exchange.form_answers import fields_of, lay_out
from mturk.exchange.models import QualificationType, RequestState, Worker
from mturk.exchange.services import clock, testing
from mturk.exchange.services.testing import Result
from mturk.exchange.views.frames import show_form
from mturk.exchange.views.identity import worker_view

READ = ("GET", "HEAD")
WHY = {
    "gone": gettext_lazy("This test cannot be taken now."),
    "waits": gettext_lazy("You have handed in this test. The requester decides."),
    "once": gettext_lazy("You have taken this test. It can be taken once."),
    "early": gettext_lazy("You have taken this test. It can be taken again later."),
}
TOLD = {
    Result.WAITS: gettext_lazy("The test is handed in. The requester decides."),
    Result.AGAIN: gettext_lazy("This test was handed in already; nothing has changed."),
    Result.LATE: gettext_lazy("The time for this test was over, so its answers do not count."),
    Result.GONE: gettext_lazy("This qualification does not exist any more."),
}


@worker_view(*READ)
def qualification(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    """What a qualification is, and its test before it begins: a look costs no time."""
    kind, now = find_kind(type_id), clock.now()
    standing = testing.standing_of(worker, kind, now=now)
    form = testing.form_of(kind.test)
    context = {"worker": worker, "page": "work", "kind": kind, "standing": standing, "why": WHY.get(standing.why, "")}
    number = len(form.questions) if form else 0
    return render(request, "exchange/qualification.html", {**context, "number": number})


@worker_view("POST")
def begin_test(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    try:
        begun = testing.begin_test(worker, find_kind(type_id), now=clock.now())
    except testing.CannotTest as error:
        messages.warning(request, WHY[str(error)])
        return redirect("exchange:qualification", type_id)
    return redirect("exchange:test", begun.request_id)


@worker_view(*READ, "POST")
def test(request: HttpRequest, worker: Worker, request_id: str) -> HttpResponse:
    """A test under work, with the time that is left. Its answers come here, too."""
    own = get_object_or_404(
        worker.qualification_requests.select_related("qualification_type__requester", "worker"), request_id=request_id
    )
    kind, now = own.qualification_type, clock.now()
    form = testing.form_of(own.test)
    if form is None:
        raise Http404
    given = dict(request.POST.lists()) if request.method == "POST" else None
    parts = lay_out(form, given)
    left = (own.deadline or now) - now
    is_over = own.state != RequestState.TESTING or left <= dt.timedelta()
    fields = fields_of(parts)
    if is_over or (given is not None and not any(field.problem for field in fields)):
        answers = [] if is_over else [field.answer for field in fields if field.answer]
        outcome, value = testing.hand_in_test(own, answers, now=now)
        if outcome != Result.TOO_LARGE:
            tell(request, kind, outcome, value)
            if outcome == Result.GONE:
                return redirect("exchange:work")
            return redirect("exchange:qualification", kind.qualification_type_id)
        messages.error(request, _("The answers are longer than this exchange takes. Shorten them."))
    context = {"worker": worker, "page": "work", "kind": kind, "left_s": max(0, math.ceil(left.total_seconds()))}
    words = {"hand_in": _("Hand in the test")}
    return show_form(request, "exchange/test.html", {**context, **words}, parts, is_open=True)


def tell(request: HttpRequest, kind: QualificationType, outcome: Result, value: int | None) -> None:
    if outcome == Result.GRANTED:
        words = _("You have “%(name)s” now, with the value %(value)s.") % {"name": kind.name, "value": value}
        messages.success(request, words)
    else:
        messages.info(request, TOLD[outcome])


def find_kind(type_id: str) -> QualificationType:
    """A qualification that has a test."""
    kinds = QualificationType.objects.exclude(test="").select_related("requester")
    return get_object_or_404(kinds, qualification_type_id=type_id, deleted_at__isnull=True)
