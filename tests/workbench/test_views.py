"""What a person sees on the first pages."""

import re

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from annotation.models import Membership, Project, Run, User
from annotation.services.demo import DEMO_PROJECT, load_demo
from tests.conftest import NOW
from tests.factories import (
    ExampleFactory,
    LabelFactory,
    MembershipFactory,
    PlanFactory,
    ProjectFactory,
    RunFactory,
    UnitFactory,
    UserFactory,
)
from workbench.middleware import client_address

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(client):
    load_demo(password="secret", now=NOW)
    client.force_login(User.objects.get(username="lena"))
    return client


def test_pages_ask_for_a_login(client):
    for url in (reverse("project-list"), reverse("project-home", args=["x"])):
        answer = client.get(url)
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("login"))


def test_a_wrong_password_is_told_without_saying_which_half(client):
    UserFactory(username="lena")
    texts = []
    for name in ("lena", "nobody"):
        page = client.post(reverse("login"), {"username": name, "password": "x"})
        assert page.status_code == 200
        text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page.content.decode())
        texts.append(text.replace(name, ""))
    assert "do not match" in texts[0]
    assert texts[0] == texts[1]


def test_the_list_and_the_home_of_a_project(demo):
    page = demo.get(reverse("project-list")).content.decode()
    assert DEMO_PROJECT in page
    assert "12 examples, 5 systems." in page
    home = demo.get(reverse("project-home", args=["demo-twelve-stories"])).content.decode()
    assert "Your role: lead." in home
    assert "5 people</a> work on it." in home
    assert "395" in home
    assert home.index(">atlas<") < home.index(">beacon<") < home.index(">ember<")


def strip(client, project: Project) -> dict[str, str]:
    stages = client.get(reverse("project-home", args=[project.slug])).context["stages"]
    return {stage.name: stage.state for stage in stages}


def test_the_strip_shows_every_stage_of_the_walk_in_order(demo):
    found = strip(demo, Project.objects.get(name=DEMO_PROJECT))
    assert " ".join(found) == ("import split decompose rank plan write judge publish aggregate score evaluate export")
    assert " ".join(name for name, state in found.items() if state == "done") == "import split aggregate"


def next_title(client, project: Project) -> str:
    return client.get(reverse("project-home", args=[project.slug])).context["next"].title


def test_the_home_says_what_to_do_next(client):
    membership = MembershipFactory(role="lead")
    project = membership.project
    client.force_login(membership.user)
    assert next_title(client, project) == "Next: import a corpus"
    assert strip(client, project)["import"] == "wait"
    failed = RunFactory(project=project, state="failed", ended_at=NOW, error="x")
    assert next_title(client, project) == "Next: look at the import that failed"
    run = RunFactory(project=project)
    assert next_title(client, project) == "Under way: import"
    Run.objects.filter(pk__in=(failed.pk, run.pk)).update(state="cancelled", ended_at=NOW)
    example = ExampleFactory(project=project)
    assert next_title(client, project) == "Next: make automatic units"
    UnitFactory(example=example, kind="stu", provenance="derived")
    assert next_title(client, project) == "Next: plan who covers which sentence"
    PlanFactory(project=project)
    assert next_title(client, project) == "Next: invite the people you work with"
    annotator = MembershipFactory(project=project).user
    assert next_title(client, project) == "Next: look through the examples"
    LabelFactory(unit__example=example, summary__example=example)
    assert next_title(client, project) == "Next: take the results with you"
    client.force_login(annotator)
    assert next_title(client, project) == "Next: read the examples"


def test_a_new_project_leads_to_its_import(client):
    lead = MembershipFactory(role="lead").user
    client.force_login(lead)
    made = client.post(reverse("new-project"), {"name": "Coastline news"})
    assert made.headers["Location"] == reverse("annotation:import", args=["coastline-news"])
    assert Membership.objects.get(project__slug="coastline-news").user == lead
    for name, words in (("coastline NEWS", "exists here already"), ("", "required"), ("a\u202eb", "The name")):
        answer = client.post(reverse("new-project"), {"name": name})
        assert answer.status_code == 422
        assert words in answer.text
    named_new = client.post(reverse("new-project"), {"name": "New"})
    assert named_new.headers["Location"] == reverse("annotation:import", args=["new-2"])


def test_staff_act_as_leads_everywhere(client):
    project = ProjectFactory()
    client.force_login(UserFactory(is_staff=True))
    assert next_title(client, project) == "Next: import a corpus"


def test_what_cannot_be_understood_gets_a_page(client):
    membership = MembershipFactory()
    client.force_login(membership.user)
    answer = client.get(reverse("annotation:examples", args=[membership.project.slug]) + "?page=1")
    assert answer.status_code == 400
    assert "Unknown parameter in the address. Known here: q, after, before." in answer.text


def test_the_list_takes_as_many_queries_for_many_projects(client, django_assert_num_queries):
    user = UserFactory()
    for _ in range(8):
        MembershipFactory(user=user)
    client.force_login(user)
    with django_assert_num_queries(15):
        client.get(reverse("project-list"))


def test_somebody_without_projects_is_told_what_to_do(client):
    client.force_login(UserFactory())
    assert "No projects yet" in client.get(reverse("project-list")).content.decode()


def test_other_peoples_projects_do_not_exist(client):
    membership = MembershipFactory()
    other = ProjectFactory()
    client.force_login(membership.user)
    assert client.get(reverse("project-home", args=[membership.project.slug])).status_code == 200
    answer = client.get(reverse("project-home", args=[other.slug]))
    assert answer.status_code == 404
    assert "does not exist" in answer.content.decode()


def test_a_project_without_labels_says_not_measured(client):
    membership = MembershipFactory(role="lead")
    ExampleFactory(project=membership.project)
    client.force_login(membership.user)
    page = client.get(reverse("project-home", args=[membership.project.slug])).content.decode()
    assert "Not measured" in page


def test_a_name_with_markup_is_shown_as_text(client):
    evil = "<script>alert(1)</script>{{7*7}}"
    membership = MembershipFactory(project=ProjectFactory(name=evil))
    client.force_login(membership.user)
    for url in (reverse("project-list"), reverse("project-home", args=[membership.project.slug])):
        page = client.get(url).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}" in page


def test_headers_are_strict(client):
    answer = client.get(reverse("login"))
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_signing_out_needs_a_post(demo):
    assert demo.get(reverse("logout")).status_code == 405
    assert demo.post(reverse("logout")).url == reverse("login")
    assert demo.get(reverse("project-list")).status_code == 302


def test_a_form_sent_after_the_session_ended_leads_back_to_its_page(client):
    membership = MembershipFactory(role="lead")
    page = reverse("annotation:members", args=[membership.project.slug])
    target = reverse("annotation:invite", args=[membership.project.slug])
    answer = client.post(target, {}, headers={"Referer": f"http://testserver{page}"})
    assert answer.headers["Location"] == f"{reverse('login')}?next={page}"
    for referer in ("https://evil.example/x", "//evil.example", "javascript:alert(1)", ""):
        answer = client.post(target, {}, headers={"Referer": referer})
        assert answer.headers["Location"] == f"{reverse('login')}?next=/"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_the_login_leads_to_no_other_site(client, target):
    user = UserFactory(username="lena")
    user.set_password("lighthouse-keeper-7")
    user.save()
    form = {"username": "lena", "password": "lighthouse-keeper-7", "next": target}
    assert client.post(reverse("login"), form).headers["Location"] == reverse("project-list")


def test_an_address_for_forms_says_so_to_visitors(client):
    client.force_login(UserFactory())
    answer = client.get(reverse("logout"))
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "Nothing was changed." in answer.text


def test_a_form_without_its_token_is_told_what_to_do():
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(UserFactory())
    answer = strict.post(reverse("annotation:theme"), {"theme": "dark"})
    assert answer.status_code == 403
    assert "send the form once more" in answer.text


def test_a_part_of_a_page_that_is_gone_reloads_the_page(client):
    client.force_login(UserFactory())
    answer = client.get("/projects/gone/runs/1/progress/", headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


def test_a_busy_database_is_told_with_a_time(client, monkeypatch):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has many writers")
    client.force_login(UserFactory())

    def locked(*_):
        raise OperationalError("database is locked")

    monkeypatch.setattr("annotation.services.accounts.set_theme", locked)
    answer = client.post(reverse("annotation:theme"), {"theme": "dark"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert "try again in a minute" in answer.text


def test_the_address_of_a_client_comes_from_a_trusted_proxy_only(rf, settings):
    request = rf.get("/", headers={"X-Forwarded-For": "6.6.6.6, 192.0.2.7"}, REMOTE_ADDR="10.0.0.1")
    assert client_address(request) == "10.0.0.1"
    settings.TRUST_PROXY = True
    assert client_address(request) == "192.0.2.7"  # what the proxy saw, not what the client claims


def test_whoever_judges_does_not_see_how_systems_stand(client):
    membership = MembershipFactory(role="annotator")
    ExampleFactory(project=membership.project)
    client.force_login(membership.user)
    page = client.get(reverse("project-home", args=[membership.project.slug])).content.decode()
    assert "Human scores" not in page
