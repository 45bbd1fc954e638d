"""The API: what it tells, what it refuses, and that its schema is the one that is checked in."""

from __future__ import annotations

import base64
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from annotation import models
from annotation.services import jobs
from annotation.services.accounts import create_token
from annotation.services.demo import load_demo
from tests.conftest import NOW
from tests.factories import ExampleFactory, MembershipFactory, SystemFactory, UnitFactory, UserFactory
from tests.test_layers import ROOT

pytestmark = pytest.mark.django_db

LISTS = ("examples", "sentences", "units", "systems", "summaries", "labels", "runs")


@pytest.fixture
def demo(client) -> models.Project:
    load_demo(password="p", now=NOW)
    client.force_login(models.User.objects.get(username="viktor"))
    return models.Project.objects.get()


def address(name: str, project: models.Project, *args: object) -> str:
    return reverse(f"api-{name}", args=[project.slug, *args])


def read_all(client, url: str) -> list[dict]:
    rows = []
    while url:
        answer = client.get(url)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        rows += page["results"]
        url = page["next"]
    return rows


def test_everything_of_a_project_can_be_read(client, demo):
    units = models.Unit.objects.current().count()
    counts = {
        "examples": 12,
        "sentences": models.Sentence.objects.count(),
        "units": units,
        "systems": 5,
        "summaries": 60,
        "labels": models.Label.objects.count(),
        "runs": 1,
    }
    for name in LISTS:
        rows = read_all(client, address(name, demo) + "?page_size=37")
        assert len(rows) == len({row["id"] for row in rows}) == counts[name], name
    assert [row["slug"] for row in read_all(client, reverse("api-projects"))] == [demo.slug]
    assert client.get(address("project", demo)).json()["name"] == demo.name


def test_sentences_of_an_older_split_can_be_left_out(client, demo):
    first = models.Sentence.objects.order_by("pk").first()
    newer = models.Sentence.objects.create(
        reference=first.reference,
        revision=first.revision + 1,
        position=1,
        start=0,
        end=5,
        text=first.reference.text[:5],
    )
    address_of_all = (
        address("sentences", demo) + f"?example={first.reference.example.key}&reference={first.reference.key}"
    )
    assert len(read_all(client, address_of_all)) > 1
    assert [row["id"] for row in read_all(client, address_of_all + "&current=true")] == [newer.pk]
    assert len(read_all(client, address_of_all + "&current=false")) > 1


def test_filters_narrow_by_the_names_that_people_use(client, demo):
    example = models.Example.objects.order_by("position").first()
    UnitFactory(example=example, kind="stu", key="auto-1", text="The mill closed", rule="clause", reference=None)
    for name, query, count in (
        ("examples", f"?key={example.key}", 1),
        ("sentences", f"?example={example.key}", models.Sentence.objects.filter(reference__example=example).count()),
        ("units", f"?example={example.key}&kind=scu", example.units.filter(kind="scu").count()),
        ("systems", "?name=atlas", 1),
        ("summaries", f"?example={example.key}&system=atlas", 1),
        ("labels", "?system=atlas&rule=imported", models.Label.objects.filter(summary__system__name="atlas").count()),
        ("units", "?rule=clause", 1),
        ("units", "?rule=age", 0),
        ("runs", "?stage=import&state=done", 1),
        ("runs", "?state=failed", 0),
    ):
        assert len(read_all(client, address(name, demo) + query)) == count, (name, query)


@pytest.mark.parametrize("inside", ["p=abc", "p=", "r=1&p=x", "p=9e9", "p=1 OR 1=1", "o=-1", "p=" + "9" * 40])
def test_a_forged_cursor_is_refused(client, demo, inside):
    cursor = base64.b64encode(inside.encode()).decode()
    for url in (*(address(name, demo) for name in LISTS), reverse("api-projects")):
        answer = client.get(url, {"cursor": cursor})
        assert answer.status_code in (200, 404), (url, answer.status_code)
        assert answer.json()


@pytest.mark.parametrize(
    "query",
    [
        "?page_size=1000000000", "?page_size=0", "?page_size=-1", "?page_size=x", "?cursor=%00", "?cursor=x",
        "?user__password__startswith=a", "?project=2", "?ordering=id", "?format=api", "?unknown=",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", [*LISTS, "projects"])
def test_odd_parameters_are_refused(client, demo, name, query):
    url = reverse("api-projects") if name == "projects" else address(name, demo)
    answer = client.get(url + query)
    assert answer.status_code in (400, 404)
    assert answer.json()["detail"]


def test_a_choice_that_does_not_exist_is_refused(client, demo):
    assert client.get(address("units", demo) + "?kind=acu").status_code == 400
    assert client.get(address("runs", demo) + "?state=lost").status_code == 400
    assert client.get(address("sentences", demo) + "?revision=99999999999").status_code == 400


def test_the_trash_and_other_projects_do_not_show(client, demo):
    models.Example.objects.filter(position=1).update(trashed_at=NOW)
    models.System.objects.filter(name="atlas").update(trashed_at=NOW)
    ExampleFactory()
    SystemFactory()
    assert len(read_all(client, address("examples", demo))) == 11
    assert len(read_all(client, address("systems", demo))) == 4
    assert len(read_all(client, address("summaries", demo))) == 44
    assert not read_all(client, address("labels", demo) + "?system=atlas")


def test_a_page_takes_a_constant_number_of_queries(client, demo, django_assert_max_num_queries):
    for name in LISTS:
        with django_assert_max_num_queries(7):
            client.get(address(name, demo) + "?page_size=200")


def test_a_lead_creates_a_project_and_imports_into_it(client, monkeypatch):
    lead = MembershipFactory(role="lead").user
    sent = []
    monkeypatch.setattr("annotation.api.views.send_run", lambda run: sent.append(run.pk))
    headers = {"Authorization": f"Bearer {create_token(lead, name='script', now=NOW)}"}
    made = client.post(
        reverse("api-projects"), {"name": "New corpus"}, headers=headers, content_type="application/json"
    )
    assert (made.status_code, made.json()["slug"]) == (201, "new-corpus")
    twice = client.post(
        reverse("api-projects"), {"name": "new corpus"}, headers=headers, content_type="application/json"
    )
    assert (twice.status_code, twice.json()) == (400, {"name": ["A project of that name exists here already."]})
    bad = client.post(reverse("api-projects"), {"name": "a\u202eb"}, headers=headers, content_type="application/json")
    assert bad.status_code == 400

    project = models.Project.objects.get(slug="new-corpus")
    line = b'{"id": "a", "reference": "The mill closed.", "summaries": {"s": "It shut."}}\n'
    fields = {"file": SimpleUploadedFile("c.jsonl", line), "format": "jsonl"}
    started = client.post(address("imports", project), fields, headers=headers)
    assert started.status_code == 202, started.text
    run = started.json()
    assert (run["state"], run["dry_run"], sent) == ("queued", False, [run["id"]])
    jobs.run_job(run["id"])
    followed = client.get(address("run", project, run["id"]), headers=headers).json()
    assert (followed["state"], followed["counts"]["new"]["examples"]) == ("done", 1)
    assert followed["ended_at"]


def test_a_bad_import_is_refused_with_a_reason(client, settings):
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    url = address("imports", membership.project)
    assert client.post(url, {"format": "jsonl"}).json() == {"file": ["No file was submitted."]}
    fields = {"file": SimpleUploadedFile("c.jsonl", b"x" * 2000), "format": "xml"}
    assert "format" in client.post(url, fields).json()
    settings.IMPORT_MAX_BYTES = 1000
    big = client.post(url, {"file": SimpleUploadedFile("c.jsonl", b"x" * 2000), "format": "jsonl"})
    assert (big.status_code, "larger than" in big.json()["file"][0]) == (400, True)
    assert client.post(url, "{}", content_type="application/json").status_code == 415
    assert models.Run.objects.count() == 0


def test_a_queue_that_is_full_is_told(client, monkeypatch):
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    monkeypatch.setattr(jobs, "MAX_UNFINISHED", 0)
    fields = {"file": SimpleUploadedFile("c.jsonl", b"x"), "format": "jsonl"}
    answer = client.post(address("imports", membership.project), fields)
    assert (answer.status_code, "not done yet" in answer.json()["detail"]) == (429, True)


def test_a_session_needs_its_csrf_token_and_a_bearer_does_not():
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    user = UserFactory(is_staff=True)
    strict.force_login(user)
    assert strict.post(reverse("api-projects"), {"name": "P"}).status_code == 403
    strict.logout()
    headers = {"Authorization": f"Bearer {create_token(user, name='script', now=NOW)}"}
    assert (
        strict.post(
            reverse("api-projects"), {"name": "P"}, headers=headers, content_type="application/json"
        ).status_code
        == 201
    )


def test_fields_that_are_not_known_or_that_nobody_may_set_are_refused(client):
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    odd = {"name": "P", "slug": "mine", "created_at": "1990-01-01", "trashed_at": "1990-01-01", "id": 77}
    answer = client.post(reverse("api-projects"), odd, content_type="application/json")
    assert (answer.status_code, set(answer.json())) == (400, set(odd) - {"name"})
    fields = {"file": SimpleUploadedFile("c.jsonl", b"x"), "format": "jsonl", "dryrun": "true"}
    answer = client.post(address("imports", membership.project), fields)
    assert (answer.status_code, answer.json()) == (400, {"dryrun": ["This field is not known here."]})
    assert models.Run.objects.count() == 0


def test_programs_get_json_even_where_there_is_nothing(client):
    for url in ("/api/v1/", "/api/v1/nothing/"):
        answer = client.get(url)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not found."})


def test_the_schema_is_the_one_that_is_checked_in(tmp_path):
    """After a change: manage.py spectacular --file docs/openapi.yaml"""
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(made), validate=True, fail_on_warn=True)
    assert made.read_text(encoding="utf-8") == (ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8")


def test_the_schema_is_served_to_those_who_are_signed_in(client):
    assert client.get(reverse("api-schema")).status_code == 401
    client.force_login(UserFactory())
    answer = client.get(reverse("api-schema"), headers={"Accept": "application/json"})
    assert "/api/v1/projects/{slug}/units/" in json.loads(answer.content)["paths"]
