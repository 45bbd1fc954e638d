"""Who may call what: every route, every method, every role, in the own project and in another one.

A route that is missing from the table fails the test, and so does one that answers somebody it should not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation import models
from tests.factories import ExampleFactory, InvitationFactory, MembershipFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
ROLES = ("lead", "annotator", "adjudicator", "viewer")
READ = {"GET", "HEAD"}


@dataclass(frozen=True)
class Rule:
    """`who` may call a route by `methods`. Everybody else: sent to the login, 403, or 404 in other projects."""

    methods: frozenset[str]
    who: frozenset[str]  # roles, "anonymous", "outsider" (signed in, no member), "staff"


def rule(methods: set[str], *who: str) -> Rule:
    return Rule(frozenset(methods), frozenset(who))


ANYBODY = ("anonymous", "outsider", "staff", *ROLES)
SIGNED_IN = ("outsider", "staff", *ROLES)
MEMBERS = ("staff", *ROLES)
LEADS = ("staff", "lead")

TABLE: dict[str, Rule] = {
    "project-list": rule(READ, *SIGNED_IN),
    "project-home": rule(READ, *MEMBERS),
    "login": rule(READ | {"POST"}, *ANYBODY),
    "logout": rule({"POST"}, *SIGNED_IN),
    "password-change": rule(READ | {"POST"}, *SIGNED_IN),
    "password-reset": rule(READ | {"POST"}, *ANYBODY),
    "healthz": rule(READ, *ANYBODY),
    "readyz": rule(READ, *ANYBODY),
    "annotation:examples": rule(READ, *MEMBERS),
    "annotation:example": rule(READ, *MEMBERS),
    "annotation:members": rule(READ, *MEMBERS),
    "annotation:invite": rule({"POST"}, *LEADS),
    "annotation:change-role": rule({"POST"}, *LEADS),
    "annotation:remove-member": rule({"POST"}, *LEADS),
    "annotation:revoke-invitation": rule({"POST"}, *LEADS),
    "annotation:join": rule(READ | {"POST"}, *ANYBODY),
}


def routes(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            space = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from routes(pattern.url_patterns, prefix + space)
        else:
            yield prefix + (pattern.name or str(pattern.pattern)), pattern


ROUTES = dict(routes(get_resolver().url_patterns))


def test_every_route_is_in_the_table():
    assert set(ROUTES) == set(TABLE)


@pytest.fixture
def world():
    """A project with somebody of every role, an outsider who leads another project, and staff."""
    project = ProjectFactory(slug="own")
    people = {role: MembershipFactory(project=project, role=role).user for role in ROLES}
    MembershipFactory(project=project, role="lead")  # so that no lead is the last one
    other = MembershipFactory(project=ProjectFactory(slug="other"), role="lead")
    return {**people, "outsider": other.user, "staff": UserFactory(is_staff=True), "anonymous": None}


def address(name: str, slug: str) -> str:
    """A real address of a route, with objects of the project of a slug."""
    project = models.Project.objects.get(slug=slug)
    target = MembershipFactory(project=project, role="viewer")
    arguments = {
        "slug": slug,
        "membership_id": target.pk,
        "invitation_id": InvitationFactory(project=project, created_by=target.user).pk,
        "position": (project.examples.first() or ExampleFactory(project=project, position=1)).position,
        "token": "unknown",
        "uidb64": "MQ",
    }
    needed = ROUTES[name].pattern.regex.groupindex if hasattr(ROUTES[name].pattern, "regex") else {}
    return reverse(name, kwargs={key: arguments[key] for key in needed})


def verdict(status: int, location: str) -> str:
    if status in (403, 404, 405):
        return {403: "refused", 404: "not found", 405: "no such method"}[status]
    return "to the login" if status == 302 and location.startswith(reverse("login")) else "answered"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_only_those_who_may_are_answered(client, world, name):
    allowed = TABLE[name]
    for who, user in world.items():
        for method in METHODS:
            client.logout()
            if user:
                client.force_login(user)
            answer = client.generic(method, address(name, "own"))
            got = verdict(answer.status_code, answer.headers.get("Location", ""))
            if user and name == "logout" and method == "POST":
                got = "answered"  # by the login page
            may_call, may_method = who in allowed.who, method in allowed.methods
            if who == "anonymous" and not may_call:
                expected = {"to the login"}
            elif not may_method:
                expected = {"no such method"}
            elif may_call:
                expected = {"answered"}
            else:
                expected = {"refused"} if who in ROLES else {"not found"}
            assert got in expected, f"{method} {name} as {who}: {answer.status_code}, {got}"


@pytest.mark.parametrize("name", sorted(name for name in TABLE if "slug" in str(ROUTES[name].pattern)))
def test_another_project_does_not_exist(client, world, name):
    """With the highest role at home, and with objects of either project in the address."""
    client.force_login(world["lead"])
    for method in TABLE[name].methods:
        assert client.generic(method, address(name, "other")).status_code == 404


@pytest.mark.parametrize("name", ["annotation:change-role", "annotation:remove-member", "annotation:revoke-invitation"])
def test_objects_of_another_project_cannot_be_reached_through_ones_own(client, world, name):
    client.force_login(world["lead"])
    foreign = address(name, "other").replace("/projects/other/", "/projects/own/")
    before = [list(model.objects.order_by("pk").values()) for model in (models.Membership, models.Invitation)]
    assert client.post(foreign, {"role": "lead"}).status_code == 404
    after = [list(model.objects.order_by("pk").values()) for model in (models.Membership, models.Invitation)]
    assert after == before


def test_a_removed_member_is_out_at_the_next_request(client, world):
    client.force_login(world["viewer"])
    home = reverse("project-home", args=["own"])
    assert client.get(home).status_code == 200
    models.Membership.objects.filter(user=world["viewer"]).update(left_at=models.Membership.objects.first().joined_at)
    assert client.get(home).status_code == 404
