"""The page of a HIT in a market's frame. No cookie, no session: all it knows is in its signed address."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from mturk.services.task_pages import find_page
from mturk.task_html import render_task, submit_origins
from mturk.task_links import BadTaskLink, read
from mturk.task_pages import PREVIEW, Frame

_ASSIGNMENT = re.compile(r"[A-Z0-9]{1,64}")


class BadCall(ValueError):
    """The market, or somebody else, has opened the page in a way that would lose or leak answers."""


@login_not_required
@xframe_options_exempt
@never_cache
@require_safe
def task(request: HttpRequest, token: str) -> HttpResponse:
    """One HIT, to look at or to answer."""
    try:
        page = find_page(read(token))
    except BadTaskLink:
        return _refuse(_("There is no task at this address. Return the HIT; that costs nothing."), 410)
    try:
        frame = read_frame(request)
    except BadCall as error:
        return _refuse(str(error), 400)
    return _frameable(HttpResponse(render_task(page, frame)), frame)


def read_frame(request: HttpRequest) -> Frame:
    """How the market has called: it appends its own parameters to our address."""
    assignment_id = parameter(request.GET, "assignmentId")
    if assignment_id in ("", PREVIEW):
        return Frame()
    if not _ASSIGNMENT.fullmatch(assignment_id):
        raise BadCall(_("The number of the assignment is broken. Return the HIT; that costs nothing."))
    submit_to = parameter(request.GET, "turkSubmitTo").rstrip("/")
    own = f"{request.scheme}://{request.get_host()}"
    if not any(is_known(submit_to, known) for known in (own, *submit_origins())):
        raise BadCall(
            _("This page was opened with a strange address for the answers. Return the HIT; that costs nothing.")
        )
    return Frame(assignment_id, f"{submit_to}/mturk/externalSubmit")


def parameter(query: QueryDict, name: str) -> str:
    """A parameter of the market. Some workers' tools do not decode "&amp;", so its name may begin with "amp;"."""
    return query.get(name) or query.get(f"amp;{name}") or ""


def is_known(address: str, known: str) -> bool:
    """Whether an address lies at a known origin; "https://*.example.org" stands for all hosts below it."""
    try:
        parts = urlsplit(address)
        scheme, _slashes, host = known.partition("://")
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password is not None)
        is_there = parts.netloc.endswith(host[1:]) if host.startswith("*.") else parts.netloc == host
        return is_plain and is_there and parts.scheme == scheme and not re.search(r"[\s\\]", address)
    except ValueError:
        return False


def origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _refuse(why: str, status: int) -> HttpResponse:
    return _frameable(HttpResponse(render_to_string("mturk/task_refused.html", {"why": why}), status=status), Frame())


def _frameable(response: HttpResponse, frame: Frame) -> HttpResponse:
    """Let only known markets show it. A sandboxed frame has no origin of its own, so ours is named in full."""
    own = f"'self' {settings.PUBLIC_URL}"
    markets = " ".join(["'self'", *submit_origins()])
    target = origin_of(frame.action) if frame.action else "'none'"
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {own}; script-src {own}; img-src {own}; base-uri 'none'; "
        f"form-action {target}; frame-ancestors {markets}"
    )
    return response
