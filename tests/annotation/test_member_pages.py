"""What people see and send on the pages about members, invitations and passwords."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation import models
from annotation.services.accounts import set_password
from tests.conftest import NOW
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
PASSWORD = "lighthouse-keeper-7"


@pytest.fixture
def lead(client) -> models.Membership:
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    return membership


def make_link(client, lead) -> str:
    page = client.post(
        reverse("annotation:invite", args=[lead.project.slug]), {"role": "annotator", "note": "Ada"}, follow=True
    )
    return re.search(r'value="(http://127\.0\.0\.1:8000/join/[^"]+)"', page.content.decode()).group(1)


def path_of(link: str) -> str:
    return link.removeprefix("http://127.0.0.1:8000")


def test_a_link_is_shown_once(client, lead):
    link = make_link(client, lead)
    page = client.get(reverse("annotation:members", args=[lead.project.slug])).content.decode()
    assert link not in page
    assert "Ada" in page


def test_somebody_new_joins_by_link(client, lead):
    link = path_of(make_link(client, lead))
    client.logout()
    assert "Join" in client.get(link).content.decode()
    form = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post(link, form).url == reverse("project-home", args=[lead.project.slug])
    assert client.get(reverse("project-home", args=[lead.project.slug])).status_code == 200
    again = client.get(link)
    assert again.status_code == 410
    assert "has been used" in again.content.decode()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"username": "ada", "password1": "short", "password2": "short"}, "too short"),
        ({"username": "ada", "password1": PASSWORD, "password2": "other-" + PASSWORD}, "match"),
        ({"username": "", "password1": PASSWORD, "password2": PASSWORD}, "required"),
    ],
)
def test_a_bad_account_is_told_and_the_link_lives_on(client, lead, form, words):
    link = path_of(make_link(client, lead))
    client.logout()
    page = client.post(link, form)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert not models.User.objects.filter(username="ada").exists()
    assert client.get(link).status_code == 200


def test_somebody_with_an_account_joins_with_it(client, lead):
    link = path_of(make_link(client, lead))
    user = UserFactory()
    client.force_login(user)
    client.post(link)
    assert models.Membership.objects.get(user=user).role == "annotator"


def test_a_forged_role_is_refused(client, lead):
    page = client.post(reverse("annotation:invite", args=[lead.project.slug]), {"role": "owner"})
    assert page.status_code == 422
    assert models.Invitation.objects.count() == 0
    member = MembershipFactory(project=lead.project)
    client.post(reverse("annotation:change-role", args=[lead.project.slug, member.pk]), {"role": "owner"})
    member.refresh_from_db()
    assert (member.role, member.left_at) == ("annotator", None)


def test_the_last_lead_cannot_be_removed_and_is_told(client, lead):
    page = client.post(reverse("annotation:remove-member", args=[lead.project.slug, lead.pk]), follow=True)
    assert "would have no lead" in page.content.decode()


def test_members_see_people_but_no_invitations(client, lead):
    make_link(client, lead)
    client.force_login(MembershipFactory(project=lead.project, role="viewer").user)
    page = client.get(reverse("annotation:members", args=[lead.project.slug])).content.decode()
    assert lead.user.username in page
    assert "Ada" not in page
    assert "Remove" not in page


def test_ten_wrong_passwords_are_enough(client):
    user = UserFactory(username="lena")
    user.set_password(PASSWORD)
    user.save()
    wrong = {"username": "lena", "password": "wrong"}
    statuses = [client.post(reverse("login"), wrong).status_code for _ in range(10)]
    assert statuses[:9] == [200] * 9
    locked = client.post(reverse("login"), {"username": "lena", "password": PASSWORD})
    assert locked.status_code == 429
    assert "Wait a quarter of an hour" in locked.content.decode()
    elsewhere = client.post(reverse("login"), {"username": "lena", "password": PASSWORD}, REMOTE_ADDR="192.0.2.7")
    assert elsewhere.status_code == 302  # somebody else's guesses do not lock the owner out


def test_a_password_can_be_changed(client):
    user = UserFactory()
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    new = "another-" + PASSWORD
    client.post(reverse("annotation:account"), {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    user.refresh_from_db()
    assert user.check_password(new)


def test_a_reset_link_works_once(client, capsys):
    user = UserFactory(username="lena")
    call_command("reset_link", "lena")
    link = path_of(capsys.readouterr().out.strip())
    form = client.get(link, follow=True)
    target = form.redirect_chain[-1][0]
    client.post(target, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    client.session.flush()
    assert "does not work" in client.get(link, follow=True).content.decode()


def test_a_new_password_ends_the_lock(client):
    user = UserFactory(username="lena")
    for _ in range(11):
        client.post(reverse("login"), {"username": "lena", "password": "wrong"})
    set_password(user, PASSWORD, now=NOW)
    answer = client.post(reverse("login"), {"username": "lena", "password": PASSWORD})
    assert answer.status_code == 302


def test_a_member_is_told_at_once_that_the_link_is_not_for_them(client, lead):
    link = path_of(make_link(client, lead))
    shown = client.get(link)
    assert shown.status_code == 410
    assert "a member of" in shown.text
