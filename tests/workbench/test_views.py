"""What a person sees on the first pages."""

import re

import pytest
from django.urls import reverse

from annotation.models import User
from annotation.services.demo import DEMO_PROJECT, load_demo
from tests.conftest import NOW
from tests.factories import MembershipFactory, ProjectFactory, UserFactory

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
    assert "5 people work on it. Your role: lead." in home
    assert "395" in home
    assert home.index(">atlas<") < home.index(">beacon<") < home.index(">ember<")


def test_the_list_takes_as_many_queries_for_many_projects(client, django_assert_num_queries):
    user = UserFactory()
    for _ in range(8):
        MembershipFactory(user=user)
    client.force_login(user)
    with django_assert_num_queries(11):
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
    membership = MembershipFactory()
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
