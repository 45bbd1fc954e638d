"""Who may call what: every route, every method, every role, in the own project and in another one.

A route that is missing from the table fails the test, and so does one that answers somebody it should not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation import models
from annotation.services.accounts import create_token
from tests.conftest import NOW
from tests.factories import (
    ExampleFactory,
    InvitationFactory,
    MembershipFactory,
    ProjectFactory,
    RunFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
ROLES = ("lead", "annotator", "adjudicator", "viewer")
READ = {"GET", "HEAD"}


@dataclass(frozen=True)
class Rule:
    """`who` may call a route by `methods`. Everybody else: sent to the login, 403, or 404 in other projects."""

    methods: frozenset[str]
    who: frozenset[str]  # roles, "anonymous", "outsider" (signed in, no member), "staff"
    post: frozenset[str]  # the same, for POST


def rule(methods: set[str], *who: str, post: tuple[str, ...] | None = None) -> Rule:
    return Rule(frozenset(methods), frozenset(who), frozenset(who if post is None else post))


ANYBODY = ("anonymous", "outsider", "staff", *ROLES)
SIGNED_IN = ("outsider", "staff", *ROLES)
MEMBERS = ("staff", *ROLES)
LEADS = ("staff", "lead")
CREATORS = ("staff", "lead", "outsider")  # the outsider leads another project
API_READ = READ | {"OPTIONS"}

TABLE: dict[str, Rule] = {
    "project-list": rule(READ, *SIGNED_IN),
    "project-home": rule(READ, *MEMBERS),
    "login": rule(READ | {"POST"}, *ANYBODY),
    "logout": rule({"POST"}, *SIGNED_IN),
    "new-project": rule(READ | {"POST"}, *CREATORS),
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
    "annotation:import": rule(READ | {"POST"}, *LEADS),
    "annotation:decompose": rule(READ | {"POST"}, *LEADS),
    "annotation:export": rule(READ | {"POST"}, *LEADS),
    "annotation:runs": rule(READ, *MEMBERS),
    "annotation:run": rule(READ, *MEMBERS),
    "annotation:run-progress": rule(READ, *MEMBERS),
    "annotation:start-import": rule({"POST"}, *LEADS),
    "annotation:cancel-run": rule({"POST"}, *LEADS),
    "annotation:retry-run": rule({"POST"}, *LEADS),
    "annotation:download": rule(READ, *LEADS),
    "annotation:trash": rule(READ, *LEADS),
    "annotation:trash-system": rule({"POST"}, *LEADS),
    "annotation:trash-project": rule({"POST"}, *LEADS),
    "annotation:trash-row": rule({"POST"}, *LEADS),
    "annotation:restore-row": rule({"POST"}, *LEADS),
    "annotation:restore-project": rule({"POST"}, *LEADS),
    "annotation:audit": rule(READ, *LEADS),
    "annotation:account": rule(READ | {"POST"}, *SIGNED_IN),
    "annotation:theme": rule({"POST"}, *SIGNED_IN),
    "annotation:create-token": rule({"POST"}, *SIGNED_IN),
    "annotation:revoke-token": rule({"POST"}),  # one's own only: see test_account_pages
    "api-schema": rule(API_READ, *SIGNED_IN),
    "api-docs": rule(API_READ, *SIGNED_IN),
    "api-projects": rule(API_READ | {"POST"}, *SIGNED_IN, post=CREATORS),
    "api-project": rule(API_READ, *MEMBERS),
    "api-examples": rule(API_READ, *MEMBERS),
    "api-sentences": rule(API_READ, *MEMBERS),
    "api-units": rule(API_READ, *MEMBERS),
    "api-systems": rule(API_READ, *MEMBERS),
    "api-summaries": rule(API_READ, *MEMBERS),
    "api-labels": rule(API_READ, *MEMBERS),
    "api-runs": rule(API_READ, *MEMBERS),
    "api-run": rule(API_READ, *MEMBERS),
    "api-imports": rule({"POST", "OPTIONS"}, *LEADS),
    "annotation:join": rule(READ | {"POST"}, *ANYBODY),
}


# Whoever may not use these is not told that there is something.
HIDDEN = {"annotation:restore-project", "annotation:revoke-token"}


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
    if name == "annotation:restore-project":
        models.Project.objects.filter(pk=project.pk).update(trashed_at=NOW)
    else:
        models.Project.objects.filter(pk=project.pk).update(trashed_at=None)
    example = project.examples.first() or ExampleFactory(project=project, position=1)
    arguments = {
        "slug": slug,
        "run_id": make_export(project).pk,
        "kind": "example",
        "pk": example.pk,
        "token_key": "unknown",
        "membership_id": target.pk,
        "invitation_id": InvitationFactory(project=project, created_by=target.user).pk,
        "position": example.position,
        "token": "unknown",
        "uidb64": "MQ",
    }
    needed = ROUTES[name].pattern.regex.groupindex if hasattr(ROUTES[name].pattern, "regex") else {}
    return reverse(name, kwargs={key: arguments[key] for key in needed})


def make_export(project: models.Project) -> models.Run:
    """A finished export with its file."""
    settings.EXPORTS_DIR.mkdir(parents=True, exist_ok=True)
    (settings.EXPORTS_DIR / "access-test.zip").write_bytes(b"zip")
    download = {"place": "access-test.zip", "name": "own.zip", "bytes": 3, "sha256": ""}
    done = {"state": "done", "started_at": NOW, "ended_at": NOW, "counts": {"download": download}}
    return RunFactory(project=project, stage="export", parameters={"format": "jsonl"}, **done)


def verdict(status: int, location: str) -> str:
    if status in (401, 403, 404, 405):
        return {401: "to the login", 403: "refused", 404: "not found", 405: "no such method"}[status]
    return "to the login" if status == 302 and location.startswith(reverse("login")) else "answered"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_only_those_who_may_are_answered(client, world, name):
    allowed = TABLE[name]
    for who, user in world.items():
        for method in METHODS:
            client.logout()
            if user:
                client.force_login(user)
            models.Example.objects.update(trashed_at=None)
            answer = client.generic(method, address(name, "own"))
            for close_file in answer._resource_closers:
                close_file()
            got = verdict(answer.status_code, answer.headers.get("Location", ""))
            if user and name == "logout" and method == "POST":
                got = "answered"  # by the login page
            may_call = who in (allowed.post if method == "POST" else allowed.who)
            may_method = method in allowed.methods
            if who == "anonymous" and not may_call:
                expected = {"to the login"}
            elif not may_method:
                expected = {"no such method"}
            elif may_call:
                expected = {"answered"}
            else:
                expected = {"refused"} if who in ROLES and name not in HIDDEN else {"not found"}
            assert got in expected, f"{method} {name} as {who}: {answer.status_code}, {got}"


@pytest.mark.parametrize("name", sorted(name for name in TABLE if "slug" in str(ROUTES[name].pattern)))
@pytest.mark.parametrize("role", ROLES)
def test_another_project_does_not_exist(client, world, name, role):
    client.force_login(world[role])
    for method in METHODS:
        expected = 404 if method in TABLE[name].methods else 405
        assert client.generic(method, address(name, "other")).status_code == expected


@pytest.mark.parametrize("name", sorted(name for name in TABLE if name.startswith("api-") and name != "api-docs"))
def test_a_token_may_what_its_user_may(client, world, name):
    """The same walk as with a session. A session that is there as well adds nothing."""
    for who, user in world.items():
        headers = {"Authorization": f"Bearer {create_token(user, name='t', now=NOW)}"} if user else {}
        for method in METHODS:
            status = client.generic(method, address(name, "own"), headers=headers).status_code
            allowed = who in (TABLE[name].post if method == "POST" else TABLE[name].who)
            if not user:
                assert status == 401, (method, who)
            elif method not in TABLE[name].methods:
                assert status == 405, (method, who)
            elif allowed:
                assert status < 300 or status in (400, 415), (method, who, status)
            else:
                assert status == (403 if who in ROLES else 404), (method, who, status)


@pytest.mark.parametrize("name", sorted(name for name, rule in TABLE.items() if "POST" in rule.methods))
def test_every_form_wants_its_csrf_token(world, name):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world["staff"])
    before = models.AuditEntry.objects.count()
    assert strict.post(address(name, "own")).status_code == 403
    assert models.AuditEntry.objects.count() == before


def objects_in_address(name: str) -> set[str]:
    return set(ROUTES[name].pattern.regex.groupindex) - {"slug", "position", "token", "uidb64", "token_key"}


@pytest.mark.parametrize(
    "name", sorted(name for name in TABLE if objects_in_address(name) and "slug" in str(ROUTES[name].pattern))
)
def test_objects_of_another_project_cannot_be_reached_through_ones_own(client, world, name):
    client.force_login(world["lead"])
    foreign = address(name, "other").replace("/projects/other/", "/projects/own/")
    kept = (models.Membership, models.Invitation, models.Run, models.Example, models.AuditEntry)
    before = [list(model.objects.order_by("pk").values()) for model in kept]
    for method in TABLE[name].methods - {"OPTIONS"}:  # which tells of no object
        assert client.generic(method, foreign).status_code == 404
    assert [list(model.objects.order_by("pk").values()) for model in kept] == before


def test_a_removed_member_is_out_at_the_next_request(client, world):
    client.force_login(world["viewer"])
    pages = [reverse("project-home", args=["own"]), reverse("api-examples", args=["own"])]
    assert [client.get(page).status_code for page in pages] == [200, 200]
    models.Membership.objects.filter(user=world["viewer"]).update(left_at=models.Membership.objects.first().joined_at)
    assert [client.get(page).status_code for page in pages] == [404, 404]
    assert client.post(reverse("annotation:cancel-run", args=["own", 1])).status_code == 404
