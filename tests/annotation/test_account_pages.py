"""One's own account: theme, password, tokens."""

from __future__ import annotations

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import models
from annotation.services.accounts import create_token
from tests.conftest import NOW
from tests.factories import ApiTokenFactory, UserFactory

pytestmark = pytest.mark.django_db

ACCOUNT = reverse("annotation:account")


@pytest.fixture
def user(client) -> models.User:
    user = UserFactory()
    client.force_login(user)
    return user


def test_the_theme_is_written_into_the_page_by_the_server(client, user):
    assert "data-theme" not in client.get(ACCOUNT).text
    client.post(reverse("annotation:theme"), {"theme": "dark"})
    for address in (ACCOUNT, reverse("project-list")):
        assert '<html lang="en" data-theme="dark">' in client.get(address).text
    told = client.post(reverse("annotation:theme"), {"theme": "pink"}, follow=True)
    assert "That is no theme" in told.text
    client.post(reverse("annotation:theme"), {"theme": "system"})
    assert "data-theme" not in client.get(ACCOUNT).text


def test_a_wrong_old_password_is_told(client, user):
    answer = client.post(ACCOUNT, {"old_password": "x", "new_password1": "new-word-73", "new_password2": "new-word-73"})
    assert answer.status_code == 422
    assert "entered incorrectly" in answer.text


def test_a_token_is_shown_once_and_kept_as_a_hash(client, user):
    shown = client.post(reverse("annotation:create-token"), {"name": "nightly script"})
    key = shown.context["new_token"]
    assert key in shown.text
    assert key not in client.get(ACCOUNT).text
    token = models.ApiToken.objects.get()
    assert key not in (token.digest, token.token_key)
    assert token.expiry - timezone.now() > dt.timedelta(days=300)
    assert models.AuditEntry.objects.get(action="create token").actor == user


def test_a_token_needs_a_name(client, user):
    assert client.post(reverse("annotation:create-token"), {"name": " "}).status_code == 422
    assert models.ApiToken.objects.count() == 0


def test_a_token_works_until_it_is_revoked_or_ends(client, user):
    key = create_token(user, name="script", now=NOW)
    client.logout()
    projects = reverse("api-projects")
    headers = {"Authorization": f"Bearer {key}"}
    assert client.get(projects, headers=headers).status_code == 200
    models.ApiToken.objects.update(expiry=timezone.now() - dt.timedelta(seconds=1))
    assert client.get(projects, headers=headers).status_code == 401

    key = create_token(user, name="script", now=NOW)
    client.force_login(user)
    client.post(reverse("annotation:revoke-token", args=[key[:15]]))
    client.logout()
    assert client.get(projects, headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_a_token_of_somebody_who_was_locked_out_is_refused(client, user):
    key = create_token(user, name="script", now=NOW)
    client.logout()
    models.User.objects.update(is_active=False)
    assert client.get(reverse("api-projects"), headers={"Authorization": f"Bearer {key}"}).status_code == 401


@pytest.mark.parametrize("header", ["Bearer", "Bearer x", "Bearer a b", "Bearer \u00fc", "Token x", "Basic eDp5"])
def test_odd_headers_are_refused(client, header):
    answer = client.get(reverse("api-projects"), headers={"Authorization": header})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_nobody_revokes_the_token_of_another(client, user):
    token = ApiTokenFactory()
    assert client.post(reverse("annotation:revoke-token", args=[token.token_key])).status_code == 404
    assert models.ApiToken.objects.count() == 1
