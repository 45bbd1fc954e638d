"""The control interface, for tests: time, failures, a clean table. There is no route to it unless a token is set."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from mturk.exchange.models import Requester
from mturk.exchange.services import clock, faults, resetting
from mturk.exchange.services.ledger import check_balance
from mturk.exchange.services.settling import settle

View = Callable[[HttpRequest], JsonResponse]


def controlled(*methods: str) -> Callable[[View], View]:
    """A view for whoever has the token. To everybody else there is nothing here."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @login_not_required
        @wraps(view)
        def guarded(request: HttpRequest) -> JsonResponse:
            token = settings.EXCHANGE_CONTROL_TOKEN
            if not token or not constant_time_compare(request.headers.get("X-Control-Token", ""), token):
                raise Http404
            return require_http_methods(list(methods))(view)(request)

        return guarded

    return decorate


def body_of(request: HttpRequest) -> dict[str, Any]:
    read = json.loads(request.body or b"{}")
    if not isinstance(read, dict):
        raise ValueError("The body must be a JSON object.")
    return read


@controlled("GET", "POST")
def time(request: HttpRequest) -> JsonResponse:
    """How far the clock is ahead; POST {"advance": seconds} puts it further."""
    if request.method == "POST":
        try:
            clock.advance(int(body_of(request)["advance"]))
        except (KeyError, TypeError, ValueError) as error:
            return JsonResponse({"error": str(error)}, status=400)
        settle(now=clock.now())
    return JsonResponse({"offset_s": clock.offset_s(), "now": clock.now().isoformat()})


@controlled("GET", "POST", "DELETE")
def failures(request: HttpRequest) -> JsonResponse:
    """Failures that have happened; POST orders one, DELETE cancels all."""
    if request.method == "POST":
        try:
            faults.order(**body_of(request))
        except (TypeError, ValueError) as error:
            return JsonResponse({"error": str(error)}, status=400)
    elif request.method == "DELETE":
        faults.cancel_all()
    return JsonResponse({"fired": faults.fired()})


@controlled("GET")
def balance(request: HttpRequest) -> JsonResponse:
    """The accounts of every requester, added up again; `differences` is empty where they balance."""
    now = clock.now()
    settle(now=now)
    rows = {row.key_id: vars(check_balance(row, now=now)) for row in Requester.objects.all()}
    return JsonResponse({"requesters": rows})


@controlled("POST")
def reset(request: HttpRequest) -> JsonResponse:
    resetting.reset()
    return JsonResponse({})
