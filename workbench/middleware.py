"""What every request goes through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.contrib.auth import middleware
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from workbench import health

Next = Callable[[HttpRequest], HttpResponseBase]
PROBES = {"/healthz": health.healthz, "/readyz": health.readyz}
RETRY_SECONDS = 30


class HealthMiddleware:
    """Answers probes before anything else: they come by the address of the machine, over plain http."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path)
        return probe(request) if probe else self.get_response(request)


class LoginRequiredMiddleware(middleware.LoginRequiredMiddleware):
    """Sends strangers to the login, and from there back to a page: never to an address that takes a POST only."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        is_part = bool(request.htmx)  # type: ignore[attr-defined]
        if request.method in ("GET", "HEAD") and not is_part:
            return super().handle_no_permission(request, view_func)
        header = "HX-Current-URL" if is_part else "Referer"
        target = f"{reverse('login')}?next={quote(own_page(request, request.headers.get(header, '')))}"
        if is_part:  # the whole page goes to the door, not the part
            return HttpResponseClientRedirect(target)
        return HttpResponse(status=302, headers={"Location": target})


def own_page(request: HttpRequest, url: str) -> str:
    """The path of a page of ours; the list of projects for any other address."""
    if not url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure()):
        return reverse("project-list")
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


class PlainAnswersMiddleware:
    """Turns what people would see as a blank page or a fault into words with a way out."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.htmx and response.status_code in (403, 404):  # type: ignore[attr-defined]
            # The thing is gone, or not ours any more: the whole page says so, and stops asking.
            return HttpResponseClientRefresh()
        if response.status_code == 405 and not getattr(response, "content", b"") and request.method != "HEAD":
            page = render(request, "405.html", status=405)
            page.headers["Allow"] = response.headers.get("Allow", "")
            return page
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, OperationalError) and connection.vendor == "sqlite" and "locked" in str(error):
            page = render(request, "503.html", status=503)
            page.headers["Retry-After"] = str(RETRY_SECONDS)
            return page
        return None


def client_address(request: HttpRequest) -> str:
    """Where a request comes from. Behind a trusted proxy that is the address which the proxy itself has added."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.TRUST_PROXY else ""
    return forwarded.rsplit(",", 1)[-1].strip() or request.META.get("REMOTE_ADDR", "")
