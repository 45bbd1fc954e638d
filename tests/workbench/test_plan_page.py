"""The plan page without a browser: what it says, what it refuses."""

from __future__ import annotations

import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation import models
from annotation.planning.budget import chance_over, forecast
from annotation.services.drafts import change_draft, open_desk, pin_sentences
from annotation.services.routes import refresh_routes
from tests.conftest import NOW
from tests.factories import MembershipFactory, ProjectFactory, RatioCurveFactory, TaskFactory, UnitFactory
from tests.planning import hardest, plannable

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client) -> models.Project:
    project = plannable()
    client.force_login(MembershipFactory(project=project, role="lead").user)
    return project


def page(client, project, name: str = "plan", *args, **query) -> str:
    answer = client.get(reverse(name, args=[project.slug, *args]), query)
    assert answer.status_code == 200
    return answer.text


def post(client, project, **fields):
    return client.post(reverse("plan", args=[project.slug]), fields)


def field(text: str, name: str) -> str:
    return re.search(rf'data-f="{name}"[^>]*>([^<]*)<', text).group(1)


def test_the_page_shows_costs_curve_and_power(client, project):
    text = page(client, project)
    assert field(text, "ratio") == "2.5"
    assert field(text, "to_people") == "6"
    assert "Measured on REALSumm (100 examples), not on your data." in text
    assert "no difference from random order could be measured" in text
    assert re.search(r'data-ch="opened">6<', text)
    data = json.loads(re.search(r'id="plan-data"[^>]*>(.*?)</script>', text, re.S).group(1))
    assert len(data["budget"]["mills"]) == 13


def test_without_own_scores_the_pairs_apart_are_those_of_the_curves_corpus(client):
    project = plannable(examples=100, sentences=2, systems=0, slug="hundred")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    text = page(client, project)
    # 300 pairs of 25 systems; the means of 125 differ by .0718 or more.
    assert re.search(
        r'<dd class="figure">125 <small>of 300</small></dd><dd class="note">of the systems of REALSumm', text
    )


def test_one_sentence_references_are_shown_pyrxsums_curve(client):
    project = plannable(examples=3, sentences=1, slug="short")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    assert "Measured on PyrXSum" in page(client, project)


def test_an_own_curve_takes_the_place_of_the_shipped_one(client, project):
    from annotation.services.curves import shipped_curves

    content = {**shipped_curves()["REALSumm"], "corpus": "ours", "examples": 34, "signature": "curve ours"}
    RatioCurveFactory(project=project, content=content, signature="curve ours")
    text = page(client, project)
    assert "Measured on this project, 34 examples with labels." in text
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"})
    assert models.Plan.objects.get().curve == "curve ours"


def test_a_ratio_is_saved_by_a_form_post(client, project):
    answer = post(client, project, do="ratio", ratio="2.25")
    assert (answer.status_code, models.PlanDraft.objects.get().share) == (302, 250)
    assert field(page(client, project), "to_people") == "9"


@pytest.mark.parametrize("ratio", ["", "1.9", "3.01", "two", "NaN", "2.12345", "1e999", "1e999999", "-1e999999"])
def test_a_ratio_that_is_none_is_refused_in_words(client, project, ratio):
    answer = post(client, project, do="ratio", ratio=ratio)
    assert answer.status_code == 422
    assert "Write a ratio from 2.0 to 3.0" in answer.text
    frozen = client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0", "ratio": ratio}, follow=True)
    assert "Write a ratio from 2.0 to 3.0" in frozen.text
    assert models.Plan.objects.count() == 0


@pytest.mark.parametrize("share", ["", "-1", "101", "NaN", "sNaN", "1e999999", "-1e999999"])
@pytest.mark.parametrize("name", ["control", "second_look"])
def test_a_percentage_that_is_none_is_refused_in_words(client, project, name, share):
    fields = {"guideline": "fine-1", "arm": "after", "control": "10", "second_look": "100", name: share}
    answer = post(client, project, do="writing", **fields)
    assert answer.status_code == 422
    assert "Write a percentage from 0 to 100." in answer.text


@pytest.mark.parametrize(
    ("goal", "amount", "words"),
    [
        ("money", "-5", "Write a number from 0"),
        ("money", "", "Write a number"),
        ("money", "lots", "Write a number"),
        ("money", "3,50", "Write a number"),
        ("hours", "1e400", "Write a number from 0"),
        ("luck", "3", "Choose dollars or hours"),
    ],
)
def test_a_goal_that_is_none_is_refused_in_words(client, project, goal, amount, words):
    answer = post(client, project, do="solve", goal=goal, amount=amount)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_goal_gives_the_ratio(client, project):
    assert post(client, project, do="solve", goal="money", amount="$0").status_code == 302
    text = page(client, project)
    assert field(text, "ratio") == "3.0"
    assert "For $0.00: ratio 3.0, which costs $0.00. The chance that it costs more than $0.00 is 0 %." in text
    assert "That leaves no sentence to people" in text
    assert post(client, project, do="solve", goal="hours", amount="1,000").status_code == 302
    text = page(client, project)
    assert field(text, "ratio") == "2.0"
    assert "For 1,000 hours: ratio 2.0" in text


def test_a_sum_of_money_tells_how_likely_it_is_not_kept(client, project):
    desk = open_desk(project, now=NOW)
    whole = forecast(desk.budget, 0)
    assert post(client, project, do="solve", goal="money", amount=f"${whole.total / 100:.2f}").status_code == 302
    exactly = chance_over(whole, desk.spread, whole.total)
    assert exactly == pytest.approx(0.5)
    assert f"The chance that it costs more than ${whole.total / 100:.2f} is 50 %." in page(client, project)
    told = api(client, project, "api-cost", dollars=f"{whole.total / 100:.2f}").json()
    assert (told["chance_over_dollars"], told["chance_over_budget"]) == (0.5, None)
    assert api(client, project, "api-cost", dollars="1000").json()["chance_over_dollars"] == 0
    assert api(client, project, "api-cost", ratio="2.5").json()["chance_over_dollars"] is None


def test_a_budget_that_nothing_keeps_is_told(client, project):
    sentence = models.Sentence.objects.first()
    pin_sentences(project, [sentence.pk], "people", now=NOW, actor=None)
    answer = post(client, project, do="solve", goal="money", amount="0")
    assert answer.status_code == 422
    assert "Even the cheapest plan costs $" in answer.text


ASSUMPTIONS = {
    "writing_pay": "hour", "wage": "20", "writing_reward": "0.5", "seconds_per_unit": "30", "units_per_word": "0.2",
    "writers": "1", "rework": "10", "judging_pay": "task", "judging_reward": "0.6", "seconds_per_judgement": "8",
    "units_per_task": "16", "calibration": "10", "adaptive": "on", "votes": "3", "third_votes": "13",
    "third_tasks": "57", "fee_percent": "20", "many_fee_percent": "20", "floor": "15", "annotators": "2",
    "hours_per_week": "10", "budget": "",
}  # fmt: skip


def test_assumptions_are_changed_by_the_form(client, project):
    assert post(client, project, do="assume", **{**ASSUMPTIONS, "budget": "$3", "rework": "12.5"}).status_code == 302
    text = page(client, project)
    assert "at $20.00 an hour" in text
    assert "costs more than $3.00" in text
    assert models.PlanDraft.objects.get().assumptions["rework"] == "0.125"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("wage", "-1", "Write a number from 0.01"),
        ("rework", "150", "Write a percentage from 0 to 100 with"),
        ("rework", "1.234", "at most two digits"),
        ("rework", "x", "Write a number"),
        ("budget", "0", "Write a number from 0.01"),
        ("annotators", "0", "Write a number from 1"),
        ("votes", "2.5", "a whole number"),
    ],
)
def test_a_wrong_assumption_is_marked_and_nothing_typed_is_lost(client, project, name, value, words):
    answer = post(client, project, do="assume", **{**ASSUMPTIONS, "wage": "33", name: value})
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{value}"' in answer.text
    if name != "wage":
        assert 'value="33"' in answer.text
    assert models.PlanDraft.objects.get().assumptions == {}


def test_too_little_pay_is_told(client, project):
    text = page(client, project)
    assert re.search(r'data-warn="pay" hidden', text)
    assert not re.search(r'data-fair="pay" hidden', text)
    post(client, project, do="assume", **{**ASSUMPTIONS, "judging_reward": "0.02", "wage": "9"})
    text = page(client, project)
    assert not re.search(r'data-warn="pay" hidden', text)
    assert "The wage of $9.00 is less than your floor of $15.00 an hour." in text


def test_the_rule_of_the_seed_can_be_chosen(client, project):
    post(client, project, do="options", rule="seed")
    assert field(page(client, project), "to_stus") == "5"
    answer = post(client, project, do="options", rule="mine")
    assert answer.status_code == 422


def test_empty_and_unranked_projects_say_what_to_do(client):
    project = ProjectFactory()
    client.force_login(MembershipFactory(project=project, role="lead").user)
    assert "There is no sentence to plan. Import references first." in page(client, project)
    assert client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"}).status_code == 302
    assert models.Plan.objects.count() == 0


def test_all_equal_easiness_is_no_problem(client, project):
    models.Ranking.objects.update(easiness=0.5)
    text = page(client, project)
    assert field(text, "to_people") == "6"
    assert "All sentences are equally easy" in text
    post(client, project, do="options", rule="seed")
    text = page(client, project)
    assert field(text, "to_stus") == "0"  # none is easier than the others
    assert "By the seed’s rule" in text


def test_freezing_leads_to_the_plan_and_its_file(client, project):
    answer = client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0", "ratio": "2.25"}, follow=True)
    assert "Plan 1 is frozen. 9 writing tasks were opened; 9 are open now." in answer.text
    assert "It cannot be changed." in answer.text
    lines = b"".join(client.get(reverse("annotation:plan-units", args=[project.slug, 1])).streaming_content).decode()
    assert lines.splitlines()[3] == "A mill 0 shut.\tA mill 1 shut.\tA mill 2 shut."
    text = page(client, project)
    assert "Plan 1 at 2.25 holds." in text
    assert re.search(r'data-ch="opened">0</span> open now, <span data-ch="withdrawn">0', text)
    again = client.post(reverse("freeze-plan", args=[project.slug]), {"after": "1"}, follow=True)
    assert "Nothing has changed since the newest plan" in again.text
    late = client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"}, follow=True)
    assert "froze plan 1 meanwhile" in late.text
    assert models.Plan.objects.count() == 1


def test_what_a_plan_costs_is_for_leads(client, project):
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"})
    frozen = reverse("annotation:plan-frozen", args=[project.slug, 1])
    assert "writing $" in client.get(frozen).text
    assert "forecast" in client.get(reverse("api-plans", args=[project.slug])).json()["results"][0]
    client.force_login(MembershipFactory(project=project, role="viewer").user)
    assert "$" not in client.get(frozen).text
    assert "forecast" not in client.get(reverse("api-plans", args=[project.slug])).json()["results"][0]


def test_a_frozen_plan_shows_its_sentences_in_order(client, project):
    refresh_routes(project, now=NOW)
    pin_sentences(project, [hardest(project)], "stus", note="a list of names", now=NOW, actor=None)
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"})
    plan = models.Plan.objects.get()
    rows = list(plan.sentences.order_by("rank").select_related("sentence"))
    text = page(client, project, "annotation:plan-frozen", 1)
    places = [text.index(row.sentence.text) for row in rows]
    assert places == sorted(places)
    assert "a list of names" in text
    pinned = page(client, project, "annotation:plan-frozen", 1, show="pinned")
    assert [row.sentence.text in pinned for row in rows] == [row.is_pinned for row in rows]
    assert rows[0].sentence.text not in page(client, project, "annotation:plan-frozen", 1, after=1)


def test_the_slider_is_answered_with_what_freezing_would_do(client, project):
    text = page(client, project)
    token = re.search(r'name="draft" value="(\w+)"', text).group(1)
    answer = client.post(
        reverse("plan", args=[project.slug]), {"do": "ratio", "ratio": "2.25"}, headers={"HX-Request": "true"}
    )
    told = answer.json()
    assert told["changes"]["opened"] == 9
    assert told["draft"] != token
    freeze = reverse("freeze-plan", args=[project.slug])
    refused = client.post(freeze, {"after": "0", "draft": token}, follow=True)
    assert "The draft has changed since you saw it." in refused.text
    client.post(freeze, {"after": "0", "draft": told["draft"], "ratio": "2.5"})
    assert models.Plan.objects.get().share == 500


def test_one_sentence_is_told(client):
    project = plannable(examples=1, sentences=1, slug="one")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    assert "There is one sentence" in page(client, project)


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table_pins_and_previews(client, project):
    refresh_routes(project, now=NOW)
    row = models.Route.objects.get(rank=1)
    pin = reverse("annotation:plan-pin", args=[project.slug])
    answer = client.post(pin, {"sentence": row.sentence_id, "pin": "stus", "show": "all", "sort": "hard", "q": ""})
    assert answer.headers["Location"].endswith(f"#s{row.sentence_id}")
    text = page(client, project, "annotation:plan-sentences", show="pinned")
    assert text.count("take the pin away") == 1
    assert "with pins the ratio is 2.5." in text
    assert "no sentence is pinned" not in text
    preview = page(client, project, "annotation:plan-sentences", q="number 2", pin="people")
    assert "3 sentences are in this list, 3 would change." in preview
    assert client.post(pin, {"q": "number 2"}).status_code == 400  # where to?
    client.post(pin, {"pin": "people", "q": "number 2", "note": "hard"})  # nobody has seen this list
    assert not models.Pin.objects.filter(note="hard").exists()
    seen = re.search(r'name="seen" value="(\w+)"', preview).group(1)
    client.post(pin, {"pin": "people", "q": "number 2", "note": "hard", "seen": seen})
    assert models.Pin.objects.filter(removed_at=None, note="hard").count() == 3


def test_the_order_by_length_is_named_by_length(client, project):
    text = page(client, project, "annotation:plan-sentences")
    assert re.search(r'<a href="[^"]*sort=long[^"]*">([^<]*)</a>', text).group(1) == "longest first"  # not "Cost"


@pytest.mark.parametrize("query", [{"show": "moon"}, {"sort": "luck"}, {"after": "x"}, {"pin": "moon"}, {"page": "2"}])
def test_an_address_that_means_nothing_is_refused(client, project, query):
    assert client.get(reverse("annotation:plan-sentences", args=[project.slug]), query).status_code == 400


def test_a_page_of_the_table_costs_the_same_for_few_and_many(client, project, django_assert_max_num_queries):
    refresh_routes(project, now=NOW)
    with django_assert_max_num_queries(12):
        page(client, project, "annotation:plan-sentences")


# --- the home --------------------------------------------------------------------------------------------------------


def test_every_number_of_the_home_is_the_length_of_its_list(client, project):
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"})
    first, second = models.Task.objects.order_by("pk")[:2]
    models.Task.objects.filter(pk=first.pk).update(state="done", done_at=NOW)
    holder = MembershipFactory(project=project).user
    models.Task.objects.filter(pk=second.pk).update(
        state="leased", holder=holder, lease_token="0" * 32, leased_until=NOW
    )
    TaskFactory(project=project, kind="review", sentence=first.sentence)
    text = page(client, project, "project-home")
    tiles = re.findall(r'<dt>([^<]*)</dt><dd class="figure"><a href="([^"]*tasks[^"]*)">(\d+)</a>', text)
    assert [(label, number) for label, _, number in tiles] == [
        ("To write", "4"), ("In progress", "1"), ("In review", "1"), ("Done", "1"),
    ]  # fmt: skip
    for _, address, number in tiles:
        listed = client.get(address.replace("&amp;", "&"))
        assert f'data-total="{number}"' in listed.text
        assert listed.text.count("<tr>") - 1 == int(number)
    assert "of $" in text
    assert "planned for writing" in text


def test_a_starving_queue_is_told(client, project):
    change_draft(project, share=900, now=NOW)
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0"})
    assert "no annotator is in this project" in page(client, project, "project-home")
    for _ in range(3):
        MembershipFactory(project=project)
    assert "The queue starves: 2 tasks are open for 3 annotators." in page(client, project, "project-home")


# --- the API ---------------------------------------------------------------------------------------------------------


def api(client, project, name: str, *args, **query):
    return client.get(reverse(name, args=[project.slug, *args]), query)


def test_cost_through_the_api(client, project):
    found = api(client, project, "api-cost", ratio="2.25").json()
    assert (found["ratio"], found["to_people"], found["chance_over_budget"]) == ("2.25", 9, None)
    assert found["total"] == found["writing"] + found["judging"] + found["fees"]
    assert api(client, project, "api-cost", dollars="0").json()["ratio"] == "3.0"
    assert api(client, project, "api-cost", hours="0").json()["to_write"] == 0
    assert api(client, project, "api-cost").json()["ratio"] == "2.5"
    for query in ({"ratio": "4"}, {"dollars": "-1"}, {"ratio": "2.1", "hours": "3"}, {"luck": "1"}):
        assert api(client, project, "api-cost", **query).status_code == 400
    empty = ProjectFactory()
    client.force_login(MembershipFactory(project=empty, role="lead").user)
    assert "Import references first" in api(client, empty, "api-cost").json()["detail"]


def test_curve_and_plans_through_the_api(client, project):
    curve = api(client, project, "api-curve").json()
    assert (curve["corpus"], curve["is_own"], len(curve["levels"])) == ("REALSumm", False, 11)
    made = client.post(
        reverse("api-plans", args=[project.slug]), {"after": 0, "ratio": "2.25"}, content_type="application/json"
    )
    assert (made.status_code, made.json()["number"], made.json()["share"]) == (201, 1, 250)
    again = client.post(reverse("api-plans", args=[project.slug]), {"after": 0}, content_type="application/json")
    assert again.status_code == 409
    assert [row["number"] for row in api(client, project, "api-plans").json()["results"]] == [1]
    rows = api(client, project, "api-plan-sentences", 1, route="stus").json()["results"]
    assert [row["rank"] for row in rows] == [10, 11, 12]
    assert api(client, project, "api-plan-sentences", 2).status_code == 404


def test_the_api_freezes_the_draft_that_was_seen_and_no_other(client, project):
    address = reverse("api-plans", args=[project.slug])
    seen = api(client, project, "api-cost").json()["draft"]
    pin_sentences(project, [hardest(project)], "stus", now=NOW, actor=None)
    refused = client.post(address, {"after": 0, "draft": seen}, content_type="application/json")
    assert refused.status_code == 409
    assert "The draft has changed since you saw it." in refused.json()["detail"]
    assert models.Plan.objects.count() == 0
    seen = api(client, project, "api-cost", ratio="2.25").json()["draft"]
    made = client.post(address, {"after": 0, "draft": seen, "ratio": "2.25"}, content_type="application/json")
    assert (made.status_code, made.json()["share"]) == (201, 250)


@pytest.mark.django_db(transaction=True)
def test_scores_of_a_plan_carry_it_in_their_signature(client):
    project = plannable(scus=True, slug="scored")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0", "ratio": "2.25"})
    for unit in models.Unit.objects.all():
        for summary in models.Summary.objects.filter(example=unit.example):
            models.Label.objects.create(unit=unit, summary=summary, rule="imported", present=unit.kind == "scu")
    from io import StringIO

    out = StringIO()
    call_command("score", "scored", "--metric", "plan", "--judge", "human", "--json", stdout=out)
    scores = json.loads(out.getvalue().splitlines()[-1])
    text = json.dumps(scores)
    plan = models.Plan.objects.get()
    assert f"plan:1@{plan.digest[:12]}" in text
    assert scores["systems"]["system0"]["score"] == pytest.approx(0.75)
    assert '"plan-1' in text  # by its number
    page = client.get(reverse("scoring:start", args=["scored"]), {"metric": "plan-7"})
    assert "There is no such plan" in page.text
    with pytest.raises(Exception, match="There is no such plan"):
        call_command("score", "scored", "--metric", "plan-7", "--judge", "human", stdout=StringIO())


def test_the_estimate_of_a_plan_counts_its_stus(client, project):
    """12 sentences with an STU each, 2 systems, no SCU yet."""
    start = reverse("scoring:start", args=[project.slug])
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "0", "ratio": "3.0"})
    assert "At most 24 pairs" in client.get(start, {"metric": "plan-1", "judge": "embedded"}).text
    client.post(reverse("freeze-plan", args=[project.slug]), {"after": "1", "ratio": "2.25"})
    assert "At most 6 pairs" in client.get(start, {"metric": "plan", "judge": "embedded"}).text
    for sentence in models.Sentence.objects.all():
        UnitFactory(example=sentence.reference.example, kind="scu", sentence=sentence, reference=sentence.reference)
    assert "At most 30 pairs" in client.get(start, {"metric": "plan-2", "judge": "embedded"}).text
    assert "At most 24 pairs" in client.get(start, {"metric": "plan-1", "judge": "embedded"}).text
    assert "About 24 pairs" in client.get(start, {"metric": "lite2.5", "judge": "embedded"}).text
