"""The example browser and the page of one example."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotation import models
from annotation.services.demo import load_demo
from annotation.services.importing import import_corpus
from annotation.services.trashing import move_to_trash
from tests.conftest import NOW
from tests.factories import ExampleFactory, MembershipFactory, ReferenceFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client) -> models.Project:
    membership = MembershipFactory(role="viewer")
    client.force_login(membership.user)
    return membership.project


def fill(project: models.Project, number: int) -> None:
    for position in range(1, number + 1):
        example = ExampleFactory(project=project, key=f"e{position}", position=position)
        ReferenceFactory(example=example, key="1", position=1, text=f"<t> Story {position} . </t>")


def listed(client, project, query: str = "") -> tuple[list[str], str]:
    page = client.get(reverse("annotation:examples", args=[project.slug]) + query).content.decode()
    return re.findall(r">(e\d+)</a>", page), page


def test_paging_forth_and_back_shows_every_example_once(client, project):
    fill(project, 120)
    first, page = listed(client, project)
    assert "Earlier" not in page
    second, _ = listed(client, project, "?after=50")
    third, page = listed(client, project, "?after=100")
    assert "Later" not in page
    assert first + second + third == [f"e{position}" for position in range(1, 121)]
    back, page = listed(client, project, "?before=101")
    assert back == second
    assert "Earlier" in page
    assert "Later" in page
    assert "Earlier" not in listed(client, project, "?before=51")[1]


def test_search_looks_into_ids_and_references(client, project):
    fill(project, 12)
    assert listed(client, project, "?q=e11")[0] == ["e11"]
    assert listed(client, project, "?q=story+7")[0] == ["e7"]
    page = listed(client, project, "?q=%3Cscript%3E")[1]
    assert "Nothing found" in page
    assert "<script>" not in page
    assert "Show all examples" in page


@pytest.mark.parametrize(
    "query",
    ["?after=x", "?before=-1", "?after=1e9", "?after=9999999999999999999", "?size=1000000000", "?user__password=x"],
)
def test_odd_parameters_are_refused(client, project, query):
    assert client.get(reverse("annotation:examples", args=[project.slug]) + query).status_code == 400


def test_a_page_takes_as_many_queries_for_many_examples(client, project, django_assert_max_num_queries):
    fill(project, 60)
    with django_assert_max_num_queries(12):
        client.get(reverse("annotation:examples", args=[project.slug]))


def test_the_trash_and_other_projects_do_not_show(client, project):
    fill(project, 2)
    other = ExampleFactory(position=3, key="e3")
    move_to_trash(models.Example.objects.get(key="e2"), now=NOW)
    assert listed(client, project)[0] == ["e1"]
    for position in (2, 3, 2**40):
        assert client.get(f"/projects/{project.slug}/examples/{position}/").status_code == 404
    assert other.project != project


def test_one_example_with_everything_that_hangs_on_it(client):
    load_demo(password="p", now=NOW)
    client.force_login(models.User.objects.get(username="viktor"))
    page = client.get("/projects/demo-twelve-stories/examples/1/").content.decode()
    for words in ("harbour-bridge", "Reference 4", "weight 4", "by a person", "ember", "not present", "Example 1"):
        assert words in page, words
    assert page.count('class="sentence"') == 4  # each reference is one sentence until it is split
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_sentence_marks_machine_units_and_missing_parts_are_shown(client, project, mini):
    import_corpus(mini, corpus_format="lite2-3pyramid", project_name=project.name, now=NOW)
    page = client.get(f"/projects/{project.slug}/examples/1/").content.decode()
    assert "&lt;t&gt;" not in page
    assert page.count('class="sentence"') == 2
    assert page.count('data-by="machine"') == 2
    second = client.get(f"/projects/{project.slug}/examples/2/").content.decode()
    assert "The system wrote nothing." in second


@pytest.mark.parametrize(
    "evil", ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "{{7*7}}", "\u202eabc"]
)
def test_a_corpus_cannot_run_script(client, project, tmp_path, evil):
    import json

    line = {"id": f"x{evil.replace(chr(0x202e), '')}", "document": evil, "reference": evil, "summaries": {"s" + evil.replace(chr(0x202e), ""): evil},
            "units": [{"text": evil, "labels": {"imported": {"s" + evil.replace(chr(0x202e), ""): 1}}}]}  # fmt: skip
    (tmp_path / "c.jsonl").write_text(json.dumps(line))
    import_corpus(tmp_path / "c.jsonl", corpus_format="jsonl", project_name=project.name, now=NOW)
    for address in ("examples/", "examples/1/", ""):
        page = client.get(f"/projects/{project.slug}/{address}").content.decode()
        assert "<img src=x" not in page
        assert "<script>alert" not in page
        assert ">49<" not in page


def test_a_system_in_the_trash_is_nowhere(client):
    load_demo(password="p", now=NOW)
    client.force_login(models.User.objects.get(username="lena"))
    move_to_trash(models.System.objects.get(name="atlas"), now=NOW)
    home = client.get(reverse("project-home", args=["demo-twelve-stories"]))
    assert home.context["overview"].labels == 395 * 4 // 5
    rows = client.get(reverse("annotation:examples", args=["demo-twelve-stories"])).context["examples"].rows
    assert {row.summaries for row in rows} == {4}
    shown = client.get(reverse("annotation:example", args=["demo-twelve-stories", 1]))
    assert "atlas" not in shown.text
    assert shown.context["view"].systems == ["beacon", "cobalt", "drift", "ember"]


def test_a_place_behind_the_end_leads_back(client, project):
    shown = client.get(reverse("annotation:examples", args=[project.slug]) + "?after=999").text
    assert "No more examples" in shown
    assert "Show all examples" in shown
