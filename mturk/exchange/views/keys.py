"""Pages for staff: requesters with their keys and money, and what workers are owed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.csv_cells import neutralise
from annotation.models import User
from mturk.exchange.forms import DepositForm, PaidForm, RequesterForm
from mturk.exchange.models import Requester, Worker
from mturk.exchange.money import dollars_of
from mturk.exchange.services import clock, payouts, requesters
from mturk.exchange.services.settling import settle
from mturk.exchange.signing import REGION

View = Callable[..., HttpResponse]


def staff_view(*methods: str) -> Callable[[View], View]:
    """A page for staff. To everybody else there is nothing here."""

    def decorate(view: View) -> View:
        @require_http_methods(methods)
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not (isinstance(request.user, User) and request.user.is_staff):
                raise Http404
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def actor_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@staff_view("GET", "HEAD", "POST")
def keys(request: HttpRequest) -> HttpResponse:
    form = RequesterForm(request.POST or None)
    if request.method != "POST":
        return show_keys(request, form)
    if not form.is_valid():
        return show_keys(request, form, status=422)
    made = requesters.create_requester(
        form.cleaned_data["name"],
        now=clock.now(),
        owner=actor_of(request),
        deposit_cents=form.cleaned_data["deposit"] or 0,
        actor=actor_of(request),
    )
    # Shown in this answer and on no page again.
    return show_keys(request, RequesterForm(), made=made)


def show_keys(
    request: HttpRequest, form: RequesterForm, *, made: Requester | None = None, status: int = 200
) -> HttpResponse:
    settle(now=clock.now())
    context = {
        "requesters": Requester.objects.select_related("owner"),
        "form": form,
        "made": made,
        "endpoint": settings.PUBLIC_URL + reverse("exchange:api"),
        "region": REGION,
    }
    return render(request, "exchange/keys.html", context, status=status)


@staff_view("POST")
def renew_key(request: HttpRequest, requester_id: int) -> HttpResponse:
    """Another key for the same account, shown in this answer and on no page again."""
    requester = get_object_or_404(Requester, pk=requester_id, revoked_at__isnull=True)
    made = requesters.renew_key(requester, now=clock.now(), actor=actor_of(request))
    return show_keys(request, RequesterForm(), made=made)


@staff_view("POST")
def revoke_key(request: HttpRequest, requester_id: int) -> HttpResponse:
    requester = get_object_or_404(Requester, pk=requester_id)
    if requesters.revoke_requester(requester, now=clock.now(), actor=actor_of(request)):
        messages.success(request, _("The key of %(name)s is revoked.") % {"name": requester.name})
    return redirect("exchange:keys")


@staff_view("POST")
def deposit(request: HttpRequest, requester_id: int) -> HttpResponse:
    requester = get_object_or_404(Requester, pk=requester_id)
    form = DepositForm(request.POST)
    if form.is_valid():
        cents = form.cleaned_data["deposit"]
        try:
            requesters.deposit(requester, cents, now=clock.now(), actor=actor_of(request))
        except ValueError as error:
            messages.error(request, str(error))
        else:
            words = {"amount": f"${dollars_of(cents)}", "name": requester.name}
            messages.success(request, _("%(amount)s were noted for %(name)s.") % words)
    else:
        messages.error(request, _("Nothing was noted. Give an amount of dollars, e.g. 20.00."))
    return redirect("exchange:keys")


@staff_view("GET", "HEAD")
def pay_list(request: HttpRequest) -> HttpResponse:
    """What is owed as CSV, for whoever pays."""
    settle(now=clock.now())
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="owed.csv"'
    lines = csv.writer(answer)
    lines.writerow(("worker", "person", "simulated", "requester", "dollars"))
    for row in payouts.list_owed():
        person = str(row.worker.user) if row.worker.user else row.worker.participant
        cells = (row.worker.worker_id, neutralise(person), int(row.worker.is_simulated), neutralise(row.requester.name))
        lines.writerow((*cells, dollars_of(row.cents)))
    return answer


@staff_view("GET", "HEAD", "POST")
def pay(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        note_payout(request)
        return redirect("exchange:pay")
    settle(now=clock.now())
    owed = payouts.list_owed()
    context = {"owed": owed, "total_cents": sum(row.cents for row in owed)}
    return render(request, "exchange/pay.html", context)


def note_payout(request: HttpRequest) -> None:
    form = PaidForm(request.POST)
    wanted = form.cleaned_data if form.is_valid() else {"requester": 0, "worker": 0, "cents": 0}
    requester = Requester.objects.filter(pk=wanted["requester"]).first()
    worker = Worker.objects.filter(pk=wanted["worker"]).first()
    if requester is None or worker is None:
        messages.error(request, _("Nothing was noted: the form was not complete. Look at the list again."))
        return
    try:
        payouts.mark_paid(requester, worker, wanted["cents"], now=clock.now(), actor=actor_of(request))
    except payouts.NotOwed:
        words = _("Nothing was noted: %(worker)s is owed less by now. Look at the list again.")
        messages.error(request, words % {"worker": worker.worker_id})
    else:
        paid = {"amount": f"${dollars_of(wanted['cents'])}", "worker": worker.worker_id}
        messages.success(request, _("%(amount)s to %(worker)s are noted as paid.") % paid)
