"""Who is at the worker site: somebody with an account, or a participant who came by a link."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from mturk.exchange.models import Worker
from mturk.exchange.services.recruiting import worker_of

SESSION_KEY = "exchange_worker"
WHY = {
    "gone": gettext_lazy("Somebody else took the last one of this HIT. Take another."),
    "none_left": gettext_lazy("No HIT of this group is left for you."),
    "not_qualified": gettext_lazy("This group is for workers with a qualification that you do not have."),
    "too_many": gettext_lazy("You hold as many HITs as one worker may. Hand in or return one first."),
}

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def current_worker(request: HttpRequest) -> Worker | None:
    """The participant of this session, else the worker of the account."""
    key = request.session.get(SESSION_KEY)
    if key is not None:
        worker = Worker.objects.select_related("link").filter(pk=key).first()
        if worker is not None and (worker.link is None or worker.link.revoked_at is None):
            return worker
    return worker_of(request.user) if request.user.is_authenticated else None


def open_view(*methods: str) -> Callable[[View[P]], View[P]]:
    """A page of the worker site that anybody may open."""

    def wrap(view: View[P]) -> View[P]:
        return login_not_required(never_cache(require_http_methods([*methods])(view)))

    return wrap


def worker_view(*methods: str) -> Callable[[Callable[Concatenate[HttpRequest, Worker, P], HttpResponse]], View[P]]:
    """A page for workers. Everybody else goes to the door of the site."""

    def wrap(view: Callable[Concatenate[HttpRequest, Worker, P], HttpResponse]) -> View[P]:
        @wraps(view)
        def inner(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            worker = current_worker(request)
            if worker is None:
                return redirect("exchange:work")
            return view(request, worker, *args, **kwargs)

        return open_view(*methods)(inner)

    return wrap
