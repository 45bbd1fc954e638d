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
from mturk.models import CrowdBatch
from scoring.models import SummaryScore
from scoring.options import ScoreOptions
from tests.conftest import NOW
from tests.factories import (
    AssignmentFactory,
    BatchFactory,
    ExampleFactory,
    FlagFactory,
    InvitationFactory,
    MembershipFactory,
    PlanFactory,
    ProjectFactory,
    RunFactory,
    SheetFactory,
    SummaryFactory,
    SummaryScoreFactory,
    SystemFactory,
    SystemScoreFactory,
    TaskFactory,
    UnitFactory,
    UserFactory,
)
from tests.mturk.exchange.rows import RecruitmentLinkFactory, RequesterFactory

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
WRITERS = ("staff", "lead", "annotator", "adjudicator")
READERS = ("staff", "lead", "viewer")  # those who never judge
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
    "plan": rule(READ | {"POST"}, *LEADS),
    "freeze-plan": rule({"POST"}, *LEADS),
    "annotation:plan-sentences": rule(READ, *LEADS),
    "annotation:plan-pin": rule({"POST"}, *LEADS),
    "annotation:plan-frozen": rule(READ, *READERS),
    "annotation:plan-units": rule(READ, *READERS),
    "annotation:tasks": rule(READ, *MEMBERS),
    "annotation:write": rule(READ, *WRITERS),
    "annotation:write-next": rule({"POST"}, *WRITERS),
    "annotation:write-task": rule(READ, *WRITERS),
    "annotation:write-draft": rule({"POST"}, *WRITERS),
    "annotation:write-state": rule(READ, *WRITERS),
    "annotation:write-beat": rule({"POST"}, *WRITERS),
    "annotation:write-submit": rule({"POST"}, *WRITERS),
    "annotation:write-leave": rule({"POST"}, *WRITERS),
    "scoring:unit-checks": rule({"POST"}, *WRITERS),
    "annotation:write-again": rule({"POST"}, *WRITERS),
    "annotation:judge": rule(READ, *WRITERS),
    "annotation:judge-next": rule({"POST"}, *WRITERS),
    "annotation:judge-task": rule(READ, *WRITERS),
    "annotation:judge-draft": rule({"POST"}, *WRITERS),
    "annotation:judge-state": rule(READ, *WRITERS),
    "annotation:judge-beat": rule({"POST"}, *WRITERS),
    "annotation:judge-again": rule({"POST"}, *WRITERS),
    "annotation:judge-submit": rule({"POST"}, *WRITERS),
    "annotation:judge-leave": rule({"POST"}, *WRITERS),
    "annotation:batches": rule(READ | {"POST"}, *LEADS),
    "annotation:close-batch": rule({"POST"}, *LEADS),
    "annotation:open-units": rule(READ | {"POST"}, *LEADS),
    "annotation:make-labels": rule({"POST"}, *LEADS),
    "annotation:judges": rule(READ, *LEADS),
    "annotation:judge-quality": rule(READ | {"POST"}, *LEADS),
    "mturk:batches": rule(READ, *LEADS),
    "mturk:new": rule(READ | {"POST"}, *LEADS),
    "mturk:people": rule(READ | {"POST"}, *LEADS),
    "mturk:batch": rule(READ, *LEADS),
    "mturk:publish": rule({"POST"}, *LEADS),
    "mturk:act": rule({"POST"}, *LEADS),
    "mturk:review": rule(READ | {"POST"}, *LEADS),
    "mturk:written": rule(READ | {"POST"}, *LEADS),
    "annotation:write-reopen": rule({"POST"}, *WRITERS),
    "annotation:review-next": rule({"POST"}, *WRITERS),
    "annotation:write-history": rule(READ, *WRITERS),
    "annotation:time-sheet": rule(READ, *WRITERS),
    "annotation:write-notes": rule(READ, *LEADS),
    "annotation:settle-flag": rule({"POST"}, *LEADS),
    "annotation:reserve": rule({"POST"}, *LEADS),
    "annotation:order-look": rule({"POST"}, *LEADS),
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
    "api-systems": rule(API_READ | {"POST"}, *MEMBERS, post=LEADS),
    "api-summaries": rule(API_READ, *MEMBERS),
    "api-labels": rule(API_READ, *MEMBERS),
    "api-runs": rule(API_READ, *MEMBERS),
    "api-run": rule(API_READ, *MEMBERS),
    "api-cancel-run": rule({"POST", "OPTIONS"}, *LEADS),
    "api-cost": rule(API_READ, *LEADS),
    "api-curve": rule(API_READ, *READERS),
    "api-plans": rule(API_READ | {"POST"}, *READERS, post=LEADS),
    "api-plan-sentences": rule(API_READ, *READERS),
    "api-judgements": rule(API_READ, *READERS),
    "api-agreement": rule(API_READ, *READERS),
    "api-crowd-batches": rule(API_READ, *LEADS),
    "api-crowd-dry-run": rule(API_READ, *LEADS),
    "api-claim": rule({"POST", "OPTIONS"}, *WRITERS),
    "api-task": rule(API_READ, *WRITERS),
    "api-draft": rule({"PUT", "OPTIONS"}, *WRITERS),
    "api-submit": rule({"POST", "OPTIONS"}, *WRITERS),
    "api-beat": rule({"POST", "OPTIONS"}, *WRITERS),
    "api-release": rule({"POST", "OPTIONS"}, *WRITERS),
    "api-skip": rule({"POST", "OPTIONS"}, *WRITERS),
    "api-imports": rule({"POST", "OPTIONS"}, *LEADS),
    "api-scorings": rule({"POST", "OPTIONS"}, *LEADS),
    "api-scores": rule(API_READ, *READERS),
    "scoring:results": rule(READ, *READERS),
    "scoring:start": rule(READ | {"POST"}, *LEADS),
    "scoring:add-system": rule(READ | {"POST"}, *LEADS),
    "scoring:table": rule(READ, *READERS),
    "scoring:differences": rule(READ, *READERS),
    "scoring:system": rule(READ, *READERS),
    "scoring:summary": rule(READ, *READERS),
    "scoring:unit": rule(READ, *READERS),
    "annotation:join": rule(READ | {"POST"}, *ANYBODY),
    "mturk:task": rule(READ, *ANYBODY),  # signed addresses only: see test_task_pages
    # Whoever is no worker is sent to the door of the worker site: see test_site
    "exchange:links": rule(READ | {"POST"}, "staff"),
    "exchange:revoke-link": rule({"POST"}, "staff"),
    "exchange:work": rule(READ, *ANYBODY),
    "exchange:start": rule({"POST"}, *SIGNED_IN),
    "exchange:leave": rule({"POST"}, *ANYBODY),
    "exchange:join": rule(READ | {"POST"}, *ANYBODY),
    "exchange:group": rule(READ, *ANYBODY),
    "exchange:accept-next": rule({"POST"}, *ANYBODY),
    "exchange:preview": rule(READ, *ANYBODY),
    "exchange:accept": rule({"POST"}, *ANYBODY),
    "exchange:assignment": rule(READ | {"POST"}, *ANYBODY),
    "exchange:state": rule(READ, *ANYBODY),
    "exchange:return": rule({"POST"}, *ANYBODY),
    "exchange:done": rule(READ, *ANYBODY),
    "exchange:ask": rule({"POST"}, *ANYBODY),
    "exchange:qualification": rule(READ, *ANYBODY),
    "exchange:begin-test": rule({"POST"}, *ANYBODY),
    "exchange:test": rule(READ | {"POST"}, *ANYBODY),
    "exchange:earnings": rule(READ, *ANYBODY),
    "exchange:finish": rule(READ, *ANYBODY),
    "exchange:frame": rule(READ, *ANYBODY),
    "exchange:submit": rule({"POST"}, *ANYBODY),
    "exchange:api": rule({"POST"}, *ANYBODY),  # who calls is in the signature
    "exchange:keys": rule(READ | {"POST"}, "staff"),
    "exchange:renew-key": rule({"POST"}, "staff"),
    "exchange:revoke-key": rule({"POST"}, "staff"),
    "exchange:deposit": rule({"POST"}, "staff"),
    "exchange:pay": rule(READ | {"POST"}, "staff"),
    "exchange:pay-list": rule(READ, "staff"),
    "exchange:simulated": rule(READ | {"POST"}),  # off, unless the server is set up for it
}
# No cookie counts here, so there is nothing that another site could borrow: calls of the API are signed, and answers
# come from frames, known by an id that nobody can guess.
WITHOUT_COOKIE = {"exchange:api", "exchange:submit"}


# Whoever may not use these is not told that there is something.
HIDDEN = {
    "exchange:links",
    "exchange:revoke-link",
    "annotation:restore-project",
    "annotation:revoke-token",
    "exchange:keys",
    "exchange:renew-key",
    "exchange:revoke-key",
    "exchange:deposit",
    "exchange:pay",
    "exchange:pay-list",
    "exchange:simulated",
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
    if name == "annotation:restore-project":
        models.Project.objects.filter(pk=project.pk).update(trashed_at=NOW)
    else:
        models.Project.objects.filter(pk=project.pk).update(trashed_at=None)
    example = project.examples.first() or ExampleFactory(project=project, position=1)
    scored = make_scores(example)
    plan = project.plans.first() or PlanFactory(project=project)
    project.batches.first() or BatchFactory(project=project, number=plan.number)
    make_crowd_batch(project, plan.number)
    arguments = {
        "slug": slug,
        "run_id": scored.run_id if name.startswith("scoring:") else make_export(project).pk,
        "system_id": scored.summary.system_id,
        "unit_id": scored.units[0][0],
        "number": plan.number,
        "flag_id": FlagFactory(task__project=project, task__sentence__reference__example=example).pk,
        "task_id": make_task(project, example, name),
        "person_id": AssignmentFactory(project=project, judge__project=project, summary=scored.summary).judge_id,
        "kind": "example",
        "pk": example.pk,
        "token_key": "unknown",
        "membership_id": target.pk,
        "invitation_id": InvitationFactory(project=project, created_by=target.user).pk,
        "position": example.position,
        "token": "unknown",
        "uidb64": "MQ",
        "link_id": RecruitmentLinkFactory.create().pk,
        "hit_type_id": "unknown",
        "hit_id": "unknown",
        "assignment_id": "unknown",
        "type_id": "unknown",
        "request_id": "unknown",
        "requester_id": RequesterFactory.create().pk,
    }
    needed = ROUTES[name].pattern.regex.groupindex if hasattr(ROUTES[name].pattern, "regex") else {}
    return reverse(name, kwargs={key: arguments[key] for key in needed})


def make_crowd_batch(project: models.Project, number: int) -> None:
    """A draft, which sends nothing anywhere."""
    if not project.crowd_batches.exists():
        CrowdBatch.objects.create(
            project=project, number=number, batch=project.batches.first(), key=project.slug, environment="exchange",
            endpoint="", title="HITs", description="HITs", assignments=1, duration_s=60, lifetime_s=60,
            auto_approval_s=60, rewards=[{"name": "all", "systems": [], "cents": 1}], cap_cents=0, created_at=NOW,
            fees={"percent": "0", "many_percent": "0", "many": 10},
        )  # fmt: skip


def make_export(project: models.Project) -> models.Run:
    """A finished export with its file."""
    settings.EXPORTS_DIR.mkdir(parents=True, exist_ok=True)
    (settings.EXPORTS_DIR / "access-test.zip").write_bytes(b"zip")
    download = {"place": "access-test.zip", "name": "own.zip", "bytes": 3, "sha256": ""}
    done = {"state": "done", "started_at": NOW, "ended_at": NOW, "counts": {"download": download}}
    return RunFactory(project=project, stage="export", parameters={"format": "jsonl"}, **done)


def make_task(project: models.Project, example: models.Example, name: str) -> int:
    """A task of the kind that a route is for."""
    if not name.startswith("annotation:judge"):
        return TaskFactory(project=project, sentence__reference__example=example).pk
    sheet = SheetFactory(
        batch=project.batches.first() or BatchFactory(project=project), summary__example=example,
        summary__system__project=project,
    )  # fmt: skip
    return TaskFactory(project=project, kind="judge", sentence=None, sheet=sheet, summary=sheet.summary).pk


def make_scores(example: models.Example) -> SummaryScore:
    """A finished score run with one summary and one unit."""
    summary = SummaryFactory(example=example, system=SystemFactory(project=example.project))
    unit = UnitFactory(example=example)
    counts = {"systems": 1, "examples": 1, "units": 1, "pairs": 1, "compared": 1, "differing": 1, "new_pairs": 1}
    done = {"state": "done", "started_at": NOW, "ended_at": NOW, "counts": counts, "signature": "lite2"}
    run = RunFactory(
        project=example.project, stage="score", parameters=ScoreOptions("lite2", "embedded").as_dict(), **done
    )
    for variant in ("plain", "normalised"):
        SystemScoreFactory(run=run, system=summary.system, variant=variant)
    return SummaryScoreFactory(run=run, summary=summary, units=[[unit.pk, 1, 0.9, 0, 0]], differing=1)


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
                assert status < 300 or status in (400, 409, 415), (method, who, status)
            else:
                assert status == (403 if who in ROLES else 404), (method, who, status)


@pytest.mark.parametrize(
    "name", sorted(name for name, rule in TABLE.items() if "POST" in rule.methods and name not in WITHOUT_COOKIE)
)
def test_every_form_wants_its_csrf_token(world, name):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world["staff"])
    before = models.AuditEntry.objects.count()
    assert strict.post(address(name, "own")).status_code == 403
    assert models.AuditEntry.objects.count() == before


def objects_in_address(name: str) -> set[str]:
    return set(ROUTES[name].pattern.regex.groupindex) - {"slug", "position", "number", "token", "uidb64", "token_key"}


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
