"""The page of one's own account: password, theme, keys for programs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.forms import ThemeForm, TokenForm
from annotation.models import ApiToken, Theme, User
from annotation.services import accounts

NEW_TOKEN = "new-api-token"  # noqa: S105 (the name of a place in the session)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the account; a post changes the password."""
    assert isinstance(request.user, User)
    form: Any = PasswordChangeForm(request.user)
    if request.method == "POST":
        form = PasswordChangeForm(request.user, request.POST)
        if form.is_valid():
            update_session_auth_hash(request, accounts.set_password(request.user, form.cleaned_data["new_password1"]))
            messages.success(request, _("The password was changed. Other devices have to sign in again."))
            return redirect("annotation:account")
    return show_account(request, password_form=form)


def show_account(request: HttpRequest, **forms: Any) -> HttpResponse:
    assert isinstance(request.user, User)
    context = {
        "password_form": PasswordChangeForm(request.user),
        "token_form": TokenForm(),
        **forms,
        "themes": Theme.choices,
        "tokens": ApiToken.objects.filter(user=request.user).order_by("-created"),
        # Shown once: only a hash of it is stored.
        "new_token": request.session.pop(NEW_TOKEN, None),
    }
    failed = any(form.errors for form in forms.values())
    return render(request, "annotation/account.html", context, status=422 if failed else 200)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    form = ThemeForm(request.POST)
    if form.is_valid():
        accounts.set_theme(request.user, form.cleaned_data["theme"])
    else:
        messages.error(request, _("That is no theme. Choose one of the list."))
    return redirect("annotation:account")


@require_POST
def create_token(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    form = TokenForm(request.POST)
    if not form.is_valid():
        return show_account(request, token_form=form)
    request.session[NEW_TOKEN] = accounts.create_token(request.user, name=form.cleaned_data["name"], now=timezone.now())
    return redirect("annotation:account")


@require_POST
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    assert isinstance(request.user, User)
    if not accounts.revoke_token(request.user, token_key, now=timezone.now()):
        raise Http404
    messages.success(request, _("The token was revoked. Programs that use it are refused from now on."))
    return redirect("annotation:account")
