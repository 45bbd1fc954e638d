"""The frame in which a HIT is shown, and where its form is sent. Both do without cookies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from mturk.exchange.form_answers import Field, Given, fields_of, lay_out
from mturk.exchange.models import Hit, HitAssignment, Worker
from mturk.exchange.question_form import Overview
from mturk.exchange.services import clock
from mturk.exchange.services.working import Outcome, submit
from mturk.exchange.showing import frame_url, origin_of, read_question

_SALT = "exchange.frame"
_STATUS = {Outcome.HANDED_IN: 200, Outcome.AGAIN: 200, Outcome.TOO_LARGE: 413, Outcome.LATE: 409, Outcome.RETURNED: 409}


def own_origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"


def frame_origin(request: HttpRequest) -> str:
    """The second origin; "" if there is none. On a laptop, the other name of the same machine."""
    second: str = settings.EXCHANGE_FRAME_ORIGIN
    if second:
        return second if second != own_origin(request) else ""
    host, colon, port = request.get_host().partition(":")
    twin = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}.get(host)
    return f"{request.scheme}://{twin}{colon}{port}" if twin and not settings.PRODUCTION else ""


def show_frame(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    hit: Hit,
    worker: Worker,
    assignment: HitAssignment | None = None,
    given: Given | None = None,
) -> HttpResponse:
    """A page around a HIT. What comes with the HIT is shown from the second origin, or not at all.

    Questions of a form are asked on the page itself; `given` is what somebody answered who has to mend it.
    """
    shown, own = read_question(hit.question), own_origin(request)
    if shown.form is not None:
        return show_form(request, template, context, lay_out(shown.form, given), is_open=assignment is not None)
    address, origin = shown.url, origin_of(shown.url)
    # Somebody else's page may use its own cookies; one of ours, or one that came with a HIT, has no origin at all.
    sandbox = (
        "allow-scripts allow-forms" if origin == own else "allow-scripts allow-forms allow-same-origin allow-popups"
    )
    if shown.html:
        origin, sandbox = frame_origin(request), "allow-scripts allow-forms"
        token = signing.Signer(salt=_SALT).sign_object({"h": hit.hit_id, "o": origin, "s": own}).replace(":", ".")
        address = f"{origin}{reverse('exchange:frame', args=[token])}" if origin else ""
    if address:
        address = frame_url(
            address,
            assignment_id=assignment.assignment_id if assignment else "",
            hit_id=hit.hit_id,
            worker_id=worker.worker_id,
            submit_to=own + reverse("exchange:submit").removesuffix("/mturk/externalSubmit"),
        )
    response = render(request, template, {**context, "frame": address, "sandbox": sandbox})
    # Ours as well: the frame shows what externalSubmit answers. No other page of ours lets itself be framed.
    response._csp_update = {"frame-src": [origin, own] if address else ["'none'"]}  # type: ignore[attr-defined]
    return response


def show_form(
    request: HttpRequest, template: str, context: dict[str, Any], parts: Sequence[Overview | Field], *, is_open: bool
) -> HttpResponse:
    """A page with questions of a form; they can be answered if it is open. Nothing that was given is lost."""
    mend = [field for field in fields_of(parts) if field.problem]
    more = {"parts": parts, "mend": mend, "is_open": is_open}
    return render(request, template, {**context, **more}, status=422 if mend else 200)


@login_not_required
@xframe_options_exempt
@require_safe
def frame(request: HttpRequest, token: str) -> HttpResponse:
    """A page that came with a HIT. It is nobody's: no cookie, no origin, and never at the address of the site."""
    try:
        given = signing.Signer(salt=_SALT).unsign_object(token.replace(".", ":"))
        hit = Hit.objects.filter(hit_id=given["h"], disposed_at__isnull=True).first()
    except (signing.BadSignature, ValueError, KeyError, TypeError):
        hit = None
    if hit is None or own_origin(request) != given["o"] or given["o"] == given["s"]:
        return HttpResponse("This page is shown only inside its HIT.", status=400, content_type="text/plain")
    response = HttpResponse(read_question(hit.question).html)
    response.headers["Content-Security-Policy"] = (
        "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline' https:; "
        "style-src 'unsafe-inline' https:; img-src https: data:; media-src https: data:; font-src https: data:; "
        f"connect-src https:; base-uri 'none'; form-action {given['s']}; frame-ancestors {given['s']}"
    )
    response.headers["Cache-Control"] = "private, max-age=600"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@login_not_required
@csrf_exempt
@xframe_options_exempt
@require_POST
def external_submit(request: HttpRequest) -> HttpResponse:
    """Where every HIT's form is sent. The id of the assignment, which nobody can guess, says whose it is."""
    pairs = [(name, text) for name, texts in request.POST.lists() for text in texts]
    given = request.POST.get("assignmentId") or request.POST.get("amp;assignmentId") or ""
    assignment_id = given if re.fullmatch(r"[A-Z0-9]{1,64}", given) else ""
    outcome = submit(assignment_id, pairs, now=clock.now()) if assignment_id else Outcome.UNKNOWN
    page = render_to_string("exchange/submitted.html", {"outcome": outcome.value})
    response = HttpResponse(page, status=_STATUS.get(outcome, 400))
    own = f"'self' {own_origin(request)}"
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {own}; img-src {own}; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {own}"
    )
    return response
