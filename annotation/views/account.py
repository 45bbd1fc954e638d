"""The page of one's own account: password, theme, keys for programs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.forms import ThemeForm, TokenForm
from annotation.models import ApiToken, Theme, User
from annotation.services import accounts


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the account; a post changes the password."""
    assert isinstance(request.user, User)
    form: Any = PasswordChangeForm(request.user)
    if request.method == "POST":
        form = PasswordChangeForm(request.user, request.POST)
        if form.is_valid():
            user = accounts.set_password(request.user, form.cleaned_data["new_password1"], now=timezone.now())
            update_session_auth_hash(request, user)
            words = _(
                "The password was changed. Other devices have to sign in again; tokens work until you revoke them."
            )
            messages.success(request, words)
            return redirect("annotation:account")
    return show_account(request, password_form=form)


def show_account(request: HttpRequest, *, new_token: str = "", **forms: Any) -> HttpResponse:
    assert isinstance(request.user, User)
    context = {
        "password_form": PasswordChangeForm(request.user),
        "token_form": TokenForm(),
        **forms,
        "themes": Theme.choices,
        "tokens": ApiToken.objects.filter(user=request.user).order_by("-created"),
        "new_token": new_token,
    }
    failed = any(form.errors for form in forms.values())
    return render(request, "annotation/account.html", context, status=422 if failed else 200)


class ResetPassword(PasswordResetConfirmView):
    """Set a new password by a link that an administrator made."""

    success_url = reverse_lazy("login")

    def form_valid(self, form: Any) -> HttpResponse:
        accounts.set_password(form.user, form.cleaned_data["new_password1"], now=timezone.now())
        del self.request.session[INTERNAL_RESET_SESSION_TOKEN]
        messages.success(self.request, _("The password was set. Sign in with it."))
        return redirect(str(self.success_url))


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
    # Shown in this answer and never again: only a hash of it is stored.
    key = accounts.create_token(request.user, name=form.cleaned_data["name"], now=timezone.now())
    return show_account(request, new_token=key)


@require_POST
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    assert isinstance(request.user, User)
    if not accounts.revoke_token(request.user, token_key, now=timezone.now()):
        raise Http404
    messages.success(request, _("The token was revoked. Programs that use it are refused from now on."))
    return redirect("annotation:account")
