"""The pages of the crowd, as a lead sees them."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import models as annotation
from annotation.services.jobs import TooManyJobs
from mturk.models import CrowdAssignment, CrowdBatch, CrowdHit
from mturk.services.collecting import collect_batch
from mturk.services.deciding import carry_out, plan_bonus
from mturk.services.publishing import publish_batch
from mturk.views import asking, people, wizard
from tests.factories import MembershipFactory
from tests.judging import judged_project, open_batch
from tests.mturk.crowds import answer, confirmed, drafted, work_all, xml
from tests.mturk.fakes import FakeMarket

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client, monkeypatch):
    """A project whose lead is signed in; no message leaves for a broker."""
    project = judged_project(slug="crowd")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    monkeypatch.setattr("mturk.views.batches.send_run", lambda run: None)
    monkeypatch.setattr("mturk.views.wizard.send_run", lambda run: None)
    return project


@pytest.fixture
def market(monkeypatch):
    market = FakeMarket()
    monkeypatch.setattr(wizard, "try_market", lambda name: (market, ""))
    monkeypatch.setattr(people, "try_market", lambda name: (market, ""))
    monkeypatch.setattr(people, "market_now", lambda name: market)
    return market


FORM = {
    "preset": "realsumm", "kind": "presence", "environment": "exchange", "batch": "1", "template": "external",
    "title": "Are the facts in a text?", "description": "Read.", "keywords": "text", "reward": "0.15",
    "group_name": "abstractive", "group_reward": "0.20", "group_system": ["system0"], "assignments": "3",
    "duration": "90", "lifetime": "24", "approval": "72", "expected": "90", "cap": "10.00",
}  # fmt: skip


def text_of(answer) -> str:
    return answer.content.decode()


def out(project, market: FakeMarket, **given) -> CrowdBatch:
    batch = confirmed(project, **given)
    publish_batch(batch.pk, market, clock=market.clock)
    return batch


def test_an_empty_list_leads_on(client, project):
    page = text_of(client.get(reverse("mturk:batches", args=[project.slug])))
    assert "Nothing is published yet" in page
    assert "30 September 2026" in page
    assert 'aria-current="page">Crowd' in page


def test_every_preset_can_be_opened(client, project):
    open_batch(project)
    page = text_of(client.get(reverse("mturk:new", args=[project.slug])))
    for name in ("realsumm", "pyrxsum", "litepyramid", "litepyramid-writing"):
        assert f"?preset={name}" in page
        assert client.get(reverse("mturk:new", args=[project.slug]) + f"?preset={name}").status_code == 200


def test_a_dry_run_tells_the_cost_to_the_cent_and_writes_nothing(client, project, market):
    open_batch(project)
    page = text_of(client.post(reverse("mturk:new", args=[project.slug]), {**FORM, "do": "preview"}))
    assert "$2.10" in page  # 2 summaries × 3 × $0.20 and 2 × 3 × $0.15
    assert "$6.00 an hour is under the floor of $15.00" in page
    assert not CrowdBatch.objects.exists()


def test_reputation_is_replaced_on_the_exchange_and_nobody_to_take_it_is_a_problem(client, project, market):
    open_batch(project)
    given = {**FORM, "percent": "99", "number": "5001", "places": "US GB", "do": "preview"}
    page = text_of(client.post(reverse("mturk:new", args=[project.slug]), given))
    assert "Nobody has a reputation on the exchange" in page
    assert "nobody could take a HIT" in page
    batch_page = reverse("mturk:new", args=[project.slug])
    client.post(batch_page, {**given, "do": "draft"})
    batch = CrowdBatch.objects.get()
    assert batch.requirements == [{"kind": "named", "value": 0, "places": [], "name": "Pyramid judges"}]
    client.post(reverse("mturk:publish", args=[project.slug, 1]))
    batch.refresh_from_db()
    assert batch.state == "draft"
    # Once somebody has the qualification, it can go.
    market.grant(market.create_qualification("Pyramid judges", ""), "AWORKER1")
    client.post(reverse("mturk:publish", args=[project.slug, 1]))
    batch.refresh_from_db()
    assert batch.state == "publishing"
    assert annotation.Run.objects.get(stage="publish").parameters["crowd_batch"] == batch.pk


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reward": "free"}, "sum of money"),
        ({"assignments": "many"}, "whole number"),
        ({"title": ""}, "The title"),
        ({"batch": "77"}, "Choose a batch"),
        ({"places": "USA"}, "two letters"),
        ({"places": "US1NY"}, "two letters"),
        ({"places": "DE-BY"}, "two letters"),
        ({"places": "US " * 31}, "At most 30"),
        ({"percent": "101"}, "at most 100"),
        ({"environment": "mars"}, "no market"),
        ({"duration": "0"}, "between 30 seconds"),
    ],
)
def test_what_makes_no_sense_is_said(client, project, market, change, words):
    open_batch(project)
    answered = client.post(reverse("mturk:new", args=[project.slug]), {**FORM, **change, "do": "preview"})
    assert answered.status_code == 422
    assert words in text_of(answered)


def test_a_market_of_amazon_is_warned_of_by_its_closure(client, project, settings, monkeypatch):
    monkeypatch.setitem(
        settings.CROWD_ENVIRONMENTS, "amazon",
        {"endpoint_url": "https://mturk-requester.us-east-1.amazonaws.com", "region": "us-east-1",
         "key_id_variable": "NO_KEY", "secret_variable": "NO_SECRET"},
    )  # fmt: skip
    open_batch(project)
    page = text_of(
        client.post(reverse("mturk:new", args=[project.slug]), {**FORM, "environment": "amazon", "do": "preview"})
    )
    assert "Amazon closed Mechanical Turk on 30 September 2026" in page
    assert asking.try_market("amazon") == (None, "")


def test_another_market_asks_for_typed_words(client, project, settings, monkeypatch, market):
    monkeypatch.setitem(
        settings.CROWD_ENVIRONMENTS, "lab",
        {"endpoint_url": "https://turk.example.org/", "region": "us-east-1", "key_id_variable": "A",
         "secret_variable": "B"},
    )  # fmt: skip
    batch = drafted(project, environment="lab")
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "Are the facts in a text? $6.00" in page
    client.post(reverse("mturk:publish", args=[project.slug, batch.number]), {"typed": "yes"})
    batch.refresh_from_db()
    assert batch.state == "draft"
    words = {"typed": "Are the facts in a text? $6.00"}
    client.post(reverse("mturk:publish", args=[project.slug, batch.number]), words)
    batch.refresh_from_db()
    assert batch.state == "publishing"


def test_a_batch_shows_its_hits_money_and_workers(client, project, market):
    batch = out(project, market)
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "not_present"})
    collect_batch(batch.pk, market, clock=market.clock)
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "Next: review work, 8 pass every check" in page
    assert "do not" not in page.split("pass every check")[1][:10]
    assert "$3.36" in page
    assert "AWORKER1" not in page
    assert "w-" in page
    assert "Agreement" in page
    listed = text_of(client.get(reverse("mturk:batches", args=[project.slug])))
    assert "8 of 8" in listed
    home = text_of(client.get(reverse("project-home", args=[project.slug])))
    assert "Review 8 assignments" in home
    assert "4 HITs" in home


def test_simulated_workers_are_told_from_people(client, project, market):
    batch = out(project, market)
    work_all(market, batch, {"AWORKER1": "present", "ASIMULATED7Q": "present"})
    collect_batch(batch.pk, market, clock=market.clock)
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert page.count(">simulated</span>") == 1
    assert "ASIMULATED" not in page


def test_approving_stores_the_decision_and_asks_a_worker_to_tell_it(client, project, market):
    batch = out(project, market)
    work_all(market, batch, {"AWORKER1": "present"})
    collect_batch(batch.pk, market, clock=market.clock)
    client.post(reverse("mturk:act", args=[project.slug, batch.number]), {"do": "approve"})
    assert set(CrowdAssignment.objects.values_list("wish", "status")) == {("approve", "submitted")}
    assert annotation.Run.objects.filter(stage="collect").count() == 1


def test_only_what_the_page_has_shown_is_approved(client, project, market):
    batch = out(project, market)
    work_all(market, batch, {"AWORKER1": "present"})
    collect_batch(batch.pk, market, clock=market.clock)
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    last = CrowdAssignment.objects.order_by("pk").last()
    assert f'name="last" value="{last.pk}"' in page
    work_all(market, batch, {"AWORKER2": "present"})  # comes in while the page is open
    collect_batch(batch.pk, market, clock=market.clock)
    client.post(reverse("mturk:act", args=[project.slug, batch.number]), {"do": "approve", "last": last.pk})
    assert CrowdAssignment.objects.filter(wish="approve").count() == 4
    assert not CrowdAssignment.objects.filter(wish="approve", pk__gt=last.pk).exists()


def test_a_decision_is_said_to_be_stored_even_if_many_jobs_wait(client, project, market, monkeypatch):
    (row,) = handed_in(project, market, "")

    def too_many(*given, **named):
        raise TooManyJobs("too many")

    monkeypatch.setattr("mturk.views.batches.request_collect", too_many)
    address = reverse("mturk:review", args=[project.slug, row.hit.crowd_batch.number])
    page = text_of(client.post(address, {"assignment": row.pk, "do": "approve"}, follow=True))
    assert "Approved." in page
    assert "told within some minutes" in page
    row.refresh_from_db()
    assert row.wish == "approve"


def test_open_hits_stay_longer_at_a_click(client, project, market):
    batch = out(project, market)
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "Keep open HITs for 168 more hours" in page
    client.post(reverse("mturk:act", args=[project.slug, batch.number]), {"do": "extend"})
    assert set(CrowdHit.objects.values_list("status", flat=True)) == {"Due"}


def test_work_that_fails_a_check_is_read_and_rejected_with_a_reason_only(client, project, market):
    batch = out(project, market)
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", "<no xml", seconds=9)
    market.work(hit.hit_id, "AWORKER2", answer(hit, "unsure", comment="<script>alert(1)</script>"))
    collect_batch(batch.pk, market, clock=market.clock)
    address = reverse("mturk:review", args=[project.slug, batch.number])
    page = text_of(client.get(address))
    assert "&lt;no xml" in page
    assert "unsure of everything" in page
    row = CrowdAssignment.objects.first()
    client.post(address, {"assignment": row.pk, "do": "reject", "reason": "bad"})
    row.refresh_from_db()
    assert row.wish == ""
    client.post(address, {"assignment": row.pk, "do": "reject", "reason": "The answer is empty in every part."})
    row.refresh_from_db()
    assert (row.wish, row.wished_by) == ("reject", annotation.User.objects.get(memberships__role="lead"))
    other = CrowdAssignment.objects.last()
    client.post(address, {"assignment": other.pk, "do": "approve"})
    other.refresh_from_db()
    assert other.wish == "approve"


@pytest.mark.parametrize("act", ["collect", "pause", "stop", "continue", "delete"])
def test_acts_are_taken_up_by_a_worker(client, project, market, act):
    batch = out(project, market)
    assert client.post(reverse("mturk:act", args=[project.slug, batch.number]), {"do": act}).status_code == 302
    assert annotation.Run.objects.filter(stage__in=("collect", "publish")).count() == 1
    assert client.get(reverse("mturk:batch", args=[project.slug, batch.number])).status_code == 200


def test_a_paused_batch_is_resumed_and_the_cap_is_set(client, project, market):
    batch = out(project, market)
    address = reverse("mturk:act", args=[project.slug, batch.number])
    for given in ({"do": "pause"}, {"do": "resume"}, {"do": "cap", "cap": "50"}):
        client.post(address, given)
    batch.refresh_from_db()
    assert (batch.state, batch.cap_cents) == ("live", 5_000)
    client.post(address, {"do": "cap", "cap": "0.01"})
    batch.refresh_from_db()
    assert batch.cap_cents == 5_000
    assert client.post(address, {"do": "format the disk"}).status_code == 400


def test_the_top_up_is_what_the_page_has_shown(client, project, market):
    batch = out(project, market)
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", answer(hit, seconds="150"), seconds=160)
    collect_batch(batch.pk, market, clock=market.clock)
    address = reverse("mturk:act", args=[project.slug, batch.number])
    assert "Pay bonuses" not in text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    client.post(address, {"do": "approve"})
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "Pay bonuses of $0.21" in page
    client.post(address, {"do": "top-up", "expected": "20"})
    assert not CrowdAssignment.objects.filter(bonuses__isnull=False).exists()
    client.post(address, {"do": "top-up", "expected": "21"})
    assert CrowdAssignment.objects.get().bonuses.get().cents == 21


def test_qualifications_are_made_granted_and_taken_away(client, project, market):
    address = reverse("mturk:people", args=[project.slug])
    client.post(address, {"environment": "exchange", "do": "make", "name": "Pyramid judges"})
    client.post(address, {"environment": "exchange", "do": "grant", "name": "Pyramid judges", "worker": "AWORKER1"})
    type_id = market.qualifications["Pyramid judges"]
    assert market.holders[type_id] == {"AWORKER1"}
    page = text_of(client.get(address))
    assert "$10,000.00 in the account" in page
    client.post(address, {"environment": "exchange", "do": "revoke", "name": "Pyramid judges", "worker": "AWORKER1"})
    assert market.holders[type_id] == set()
    client.post(
        address, {"environment": "exchange", "do": "block", "worker": "AWORKER1", "reason": "Clicks at random."}
    )
    assert market.blocked == {"AWORKER1": "Clicks at random."}
    client.post(
        address, {"environment": "exchange", "do": "block", "worker": "not an id", "reason": "Clicks at random."}
    )
    assert len(market.blocked) == 1
    targets = annotation.AuditEntry.objects.filter(action="block worker").values_list("target", flat=True)
    assert [target[:2] for target in targets] == ["w-"]  # the log knows pseudonyms alone


def test_a_draft_whose_judging_batch_is_closed_says_so(client, project, market):
    batch = drafted(project)
    annotation.Batch.objects.update(closed_at="2026-03-02T09:30Z")
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "cannot be published as it is" in page


def test_what_the_crowd_wrote_becomes_scus_when_somebody_takes_it(client, project, market):
    annotation.Unit.objects.filter(kind="scu").update(superseded_at="2026-03-02T09:30Z")
    batch = confirmed(project, kind="writing")
    publish_batch(batch.pk, market, clock=market.clock)
    hit = CrowdHit.objects.first()
    said = [
        "A mill shut in the year 1900.",
        "Short.",
        "In the year 1900 a mill shut.",
        "<script>alert(1)</script> is no fact at all",
    ]
    market.work(hit.hit_id, "AWORKER1", xml({f"s{place}": text for place, text in enumerate(said, start=1)}))
    collect_batch(batch.pk, market, clock=market.clock)
    address = reverse("mturk:written", args=[project.slug, batch.number])
    page = text_of(client.get(address))
    assert page.count("checked") == 2
    assert "three words or fewer" in page
    assert "says what another says" in page
    assert "<script>alert" not in page
    row = CrowdAssignment.objects.get()
    for _twice in range(2):
        client.post(address, {"take": [f"{row.pk}-1", f"{row.pk}-4"]})
    made = annotation.Unit.objects.current().filter(kind="scu", author=row.worker)
    assert [unit.text for unit in made.order_by("position")] == [said[0], said[3]]
    assert {unit.provenance for unit in made} == {"written"}
    assert client.post(address, {"take": ["1; drop"]}).status_code == 400


def handed_in(project, market: FakeMarket, *texts: str) -> list[CrowdAssignment]:
    """Work of several people on the first HIT, collected."""
    batch = out(project, market, assignments=3)
    hit = CrowdHit.objects.order_by("pk").first()
    for number, text in enumerate(texts, start=1):
        market.work(hit.hit_id, f"AWORKER{number}", text or answer(hit))
    collect_batch(batch.pk, market, clock=market.clock)
    return list(CrowdAssignment.objects.order_by("pk"))


def test_a_rejection_is_taken_back_before_and_after_the_market_heard_of_it(client, project, market):
    early, late = handed_in(project, market, "", "")
    batch = early.hit.crowd_batch
    address = reverse("mturk:review", args=[project.slug, batch.number]) + "?show=rejected"
    reason = "Every statement has the same answer, the fillers too."
    client.post(address, {"assignment": late.pk, "do": "reject", "reason": reason})
    carry_out(batch.pk, market, clock=market.clock)
    CrowdAssignment.objects.update(submitted_at=timezone.now())  # pages read the real clock
    client.post(address, {"assignment": early.pk, "do": "reject", "reason": reason})
    page = text_of(client.get(address))
    assert page.count("Take the rejection back and pay $0.42") == 2
    assert page.count(reason) == 2
    reserved = CrowdBatch.objects.get().reserved_cents
    for row in (early, late):
        client.post(address, {"assignment": row.pk, "do": "take-back"})
    assert CrowdBatch.objects.get().reserved_cents == reserved + 42  # that of `early` was still set aside
    carry_out(batch.pk, market, clock=market.clock)
    assert set(CrowdAssignment.objects.values_list("status", "wish")) == {("approved", "")}
    assert "Nothing is rejected" in text_of(client.get(address))


def test_an_old_rejection_stands(client, project, market):
    (row,) = handed_in(project, market, "")
    CrowdAssignment.objects.update(
        status="rejected", decided_at="2026-03-02T09:30Z", submitted_at="2020-01-01T00:00Z", feedback="Empty."
    )
    address = reverse("mturk:review", args=[project.slug, row.hit.crowd_batch.number]) + "?show=rejected"
    assert "Take the rejection back" not in text_of(client.get(address))
    told = text_of(client.post(address, {"assignment": row.pk, "do": "take-back"}, follow=True))
    assert "too late" in told
    row.refresh_from_db()
    assert row.wish == ""


def test_a_bonus_for_one_piece_of_work_is_paid_once_however_often_the_page_is_sent(client, project, market):
    (row,) = handed_in(project, market, "")
    batch = row.hit.crowd_batch
    address = reverse("mturk:review", args=[project.slug, batch.number]) + "?show=all"
    assert 'value="bonus 1"' in text_of(client.get(address))
    given = {"assignment": row.pk, "do": "bonus", "amount": "0.25", "reason": "For your comment."}
    for _twice in range(2):
        client.post(address, {**given, "purpose": "bonus 1"})
    assert [bonus.cents for bonus in row.bonuses.all()] == [25]
    assert 'value="bonus 2"' in text_of(client.get(address))
    client.post(address, {**given, "purpose": "bonus 2"})  # the same again, and wanted this time
    carry_out(batch.pk, market, clock=market.clock)
    assert sorted(row.bonuses.values_list("purpose", "state")) == [("bonus 1", "sent"), ("bonus 2", "sent")]
    assert len(list(market.list_bonuses(row.assignment_id))) == 2


@pytest.mark.parametrize(("change", "words"), [({"amount": "much"}, "0.15"), ({"reason": " "}, "needs an amount")])
def test_a_bonus_that_makes_no_sense_is_refused(client, project, market, change, words):
    (row,) = handed_in(project, market, "")
    address = reverse("mturk:review", args=[project.slug, row.hit.crowd_batch.number])
    given = {"assignment": row.pk, "do": "bonus", "amount": "1", "reason": "Thanks.", "purpose": "bonus 1", **change}
    assert words in text_of(client.post(address, given, follow=True))
    assert not row.bonuses.exists()


def test_a_bonus_like_another_is_not_taken_for_it(project, market):
    """Two alike: the first went through, the reply to the second was lost before it was made."""
    (row,) = handed_in(project, market, "")
    for purpose in ("bonus 1", "bonus 2"):
        plan_bonus(row, 5, purpose, "Thank you.", now=market.clock(), actor=None)
    _first, second = row.bonuses.order_by("pk")
    row.bonuses.filter(pk=second.pk).update(state="failed")
    carry_out(row.hit.crowd_batch_id, market, clock=market.clock)
    row.bonuses.filter(pk=second.pk).update(
        state="unknown", first_sent_at="2026-03-02T09:00Z", sent_at="2026-03-02T09:00Z"
    )
    carry_out(row.hit.crowd_batch_id, market, clock=market.clock)
    assert len(list(market.list_bonuses(row.assignment_id))) == 2
    assert set(row.bonuses.values_list("state", flat=True)) == {"sent"}


def test_what_could_not_be_read_is_read_again(client, project, market):
    (row,) = handed_in(project, market, "<no xml")
    batch = row.hit.crowd_batch
    address = reverse("mturk:act", args=[project.slug, batch.number])
    page = text_of(client.get(reverse("mturk:batch", args=[project.slug, batch.number])))
    assert "Try to read them again" in page
    assert "still cannot be read" in text_of(client.post(address, {"do": "read-again"}, follow=True))
    CrowdAssignment.objects.update(raw=answer(row.hit))
    assert "1 answer is read now" in text_of(client.post(address, {"do": "read-again"}, follow=True))
    row.refresh_from_db()
    assert row.problem == ""
    assert row.stored.judgements.count() == len([each for each in row.hit.page["rows"] if each["unit"]])
