"""What every request goes through."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib.auth import middleware
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect


class LoginRequiredMiddleware(middleware.LoginRequiredMiddleware):
    """Sends strangers to the login. A part of a page asked for by htmx takes the whole page there, and back."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        htmx = request.htmx  # type: ignore[attr-defined]
        if not htmx:
            return super().handle_no_permission(request, view_func)
        back = htmx.current_url_abs_path or reverse("project-list")
        return HttpResponseClientRedirect(resolve_url(f"{reverse('login')}?next={quote(back)}"))
