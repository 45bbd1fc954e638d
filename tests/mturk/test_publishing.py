"""Each planned HIT once, wherever publishing is cut off."""

from __future__ import annotations

import contextlib
import datetime as dt

import pytest

from annotation import models as annotation
from annotation.services.queue import claim_next
from mturk.market import NoFunds, Refused, Unclear
from mturk.models import CrowdBatch, CrowdHit, PaidAction
from mturk.pricing import OverCap
from mturk.services.ending import resume
from mturk.services.money import reserved_in_rows, set_cap
from mturk.services.planning import CannotPublish, confirm
from mturk.services.publishing import PublishStopped, publish_batch, retry_failed
from mturk.services.reconciling import reconcile
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.judging import judged_project
from tests.mturk.crowds import confirmed, drafted
from tests.mturk.fakes import FakeMarket, Killed, Trouble

pytestmark = pytest.mark.django_db


def publish(batch: CrowdBatch, market: FakeMarket):
    return publish_batch(batch.pk, market, clock=market.clock)


def states(batch: CrowdBatch) -> list[str]:
    return list(CrowdHit.objects.filter(crowd_batch=batch).order_by("task").values_list("state", flat=True))


def fail_once(operation: str, when: str, error: BaseException):
    left = [error]

    def fault(called: str, at: str) -> None:
        if (called, at) == (operation, when) and left:
            raise left.pop()

    return fault


def test_a_batch_is_published_whole():
    batch, market = confirmed(), FakeMarket()
    done = publish(batch, market)
    batch.refresh_from_db()
    assert done.live == len(market.hits) == 4
    assert (batch.state, set(states(batch))) == ("live", {"live"})
    assert batch.reserved_cents == 4 * 2 * 42 == reserved_in_rows(batch)
    assert PaidAction.objects.filter(kind="create_hit").count() == 4


def test_token_and_annotation_are_stored_before_the_call():
    batch, seen = confirmed(), []

    def look(operation: str, when: str) -> None:
        if when == "before":
            row = CrowdHit.objects.filter(crowd_batch=batch, state="sending").get()
            seen.append((len(row.token), row.annotation))

    publish(batch, FakeMarket(fault=look))
    assert seen == [(64, f"wb1:{batch.key}:{task}:1") for task in (1, 2, 3, 4)]


def test_publishing_twice_sends_nothing_twice():
    batch, market = confirmed(), FakeMarket()
    publish(batch, market)
    publish(batch, market)
    assert len(market.hits) == 4
    assert market.calls.count("create_hit") == 4


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_point_and_begun_again_it_ends_in_each_hit_once(when):
    batch, market = confirmed(), FakeMarket(fault=fail_once("create_hit", when, Killed()))
    with pytest.raises(Killed):
        publish(batch, market)
    assert states(batch)[0] == "sending"
    publish(batch, market)
    assert len(market.hits) == 4
    assert set(states(batch)) == {"live"}


def test_a_reply_that_is_lost_is_no_second_hit():
    batch, market = confirmed(), FakeMarket(fault=fail_once("create_hit", "after", Unclear("dropped")))
    publish(batch, market)
    assert len(market.hits) == 4
    assert set(CrowdHit.objects.values_list("hit_id", flat=True)) == set(market.hits)


def test_an_id_that_the_market_does_not_tell_is_found_by_annotation():
    market = FakeMarket(fault=fail_once("create_hit", "after", Unclear("dropped")), tells_ids=False)
    batch = confirmed()
    publish(batch, market)
    assert set(states(batch)) == {"live"}
    assert len(market.hits) == 4


def test_after_a_day_a_row_is_looked_up_and_never_sent_again_unseen():
    batch, market = confirmed(), FakeMarket(fault=fail_once("create_hit", "after", Killed()))
    with pytest.raises(Killed):
        publish(batch, market)
    market.now += dt.timedelta(hours=30)
    publish(batch, market)
    assert len(market.hits) == 4
    assert CrowdHit.objects.get(task=1).revision == 1  # adopted as it was


def test_after_a_day_a_row_that_the_market_does_not_have_gets_a_new_token():
    batch, market = confirmed(), FakeMarket(fault=fail_once("create_hit", "before", Killed()))
    with pytest.raises(Killed):
        publish(batch, market)
    old = CrowdHit.objects.get(task=1).token
    market.now += dt.timedelta(hours=30)
    publish(batch, market)
    hit = CrowdHit.objects.get(task=1)
    assert (hit.revision, hit.state) == (2, "live")
    assert hit.token != old
    assert hit.annotation.endswith(":1:2")
    assert len(market.hits) == 4


def test_a_hit_that_shows_up_late_is_taken_down_beside_the_one_that_counts():
    batch, market = confirmed(), FakeMarket()
    publish(batch, market)
    first = next(iter(market.hits.values()))
    twin = market.create_hit(
        first.type_id, question="", assignments=2, lifetime_s=999, annotation=first.annotation, token="other"
    )
    reconcile(batch, market, now=market.now)
    assert market.get_hit(twin).is_over
    assert not market.get_hit(first.hit_id).is_over
    assert annotation.AuditEntry.objects.filter(action="expire surplus HIT").count() == 1


def test_without_funds_it_pauses_and_goes_on_when_there_are_some():
    batch, market = confirmed(), FakeMarket(funds=2 * 2 * 42)
    with pytest.raises(PublishStopped):
        publish(batch, market)
    batch.refresh_from_db()
    assert (batch.state, batch.pause_reason) == ("paused", "funds")
    assert states(batch) == ["live", "live", "planned", "planned"]
    with pytest.raises(PublishStopped):
        publish(batch, market)  # nothing goes out while it is paused
    market.funds += 1_000
    resume(batch, now=NOW, actor=None)
    publish(batch, market)
    assert len(market.hits) == 4


def test_a_no_after_silence_proves_nothing():
    """The HIT was made, the reply lost, and the second call found no funds: the row must not be forgotten."""
    faults = iter([None, Unclear("dropped"), NoFunds("insufficient", "InsufficientFunds")])

    def fault(operation: str, when: str) -> None:
        error = next(faults, None)
        if error:
            raise error

    batch, market = confirmed(), FakeMarket(fault=fault)
    with pytest.raises(PublishStopped):
        publish(batch, market)
    assert states(batch)[0] == "unknown"
    resume(batch, now=NOW, actor=None)
    publish(batch, market)
    assert len(market.hits) == 4


def test_what_the_market_refuses_is_failed_and_costs_nothing_until_it_is_tried_again():
    batch, market = (
        confirmed(),
        FakeMarket(fault=fail_once("create_hit", "before", Refused("XML", "ParameterValidationError"))),
    )
    done = publish(batch, market)
    batch.refresh_from_db()
    assert (done.failed, batch.reserved_cents, reserved_in_rows(batch)) == (1, 3 * 84, 3 * 84)
    assert retry_failed(batch, now=NOW, actor=None) == 1
    publish(batch, market)
    batch.refresh_from_db()
    assert (len(market.hits), batch.reserved_cents, batch.state) == (4, 4 * 84, "live")


def test_nothing_is_planned_beyond_the_cap():
    batch = drafted(cap_cents=4 * 84 - 1)
    with pytest.raises(OverCap, match=r"Raise the cap by at least \$0.01"):
        confirm(batch, typed="", now=NOW, actor=None)
    batch.refresh_from_db()
    assert (batch.state, batch.reserved_cents, CrowdHit.objects.count()) == ("draft", 0, 0)
    assert not annotation.Batch.objects.get().is_crowd
    set_cap(batch, 4 * 84, now=NOW, actor=None)
    assert confirm(batch, typed="", now=NOW, actor=None).reserved_cents == 4 * 84


def test_the_cap_cannot_go_below_what_is_reserved():
    batch = confirmed()
    with pytest.raises(OverCap):
        set_cap(batch, 100, now=NOW, actor=None)


def test_confirming_twice_plans_once():
    batch = confirmed()
    confirm(batch, typed="", now=NOW, actor=None)
    assert CrowdHit.objects.count() == 4


def test_another_market_needs_words_that_are_typed(settings, monkeypatch):
    changed = {
        "endpoint_url": "https://turk.example.org/", "region": "us-east-1", "key_id_variable": "A", "secret_variable": "B"
    }  # fmt: skip
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", changed)
    batch = drafted(environment="lab")
    for typed in ("", "yes", "Are the facts in a text? $4.00"):
        with pytest.raises(CannotPublish, match=r"Type exactly: Are the facts in a text\? \$6.00"):
            confirm(batch, typed=typed, now=NOW, actor=None)
    done = confirm(batch, typed="Are the facts in a text?  $6.00", now=NOW, actor=None)
    assert done.reserved_cents == 4 * 2 * 50  # with Amazon's fees, which is what others are taken to have


def test_a_batch_never_moves_to_another_address(settings, monkeypatch):
    lab = {"endpoint_url": "https://turk.example.org/", "region": "r", "key_id_variable": "A", "secret_variable": "B"}
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", lab)
    batch = confirm(drafted(environment="lab"), typed="Are the facts in a text? $6.00", now=NOW, actor=None)
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", {**lab, "endpoint_url": "https://elsewhere.example.org/"})
    market = FakeMarket()
    with pytest.raises(PublishStopped, match="another address"):
        publish(batch, market)
    assert market.hits == {}
    batch.refresh_from_db()
    assert batch.pause_reason == "market"


def test_groups_of_systems_have_their_reward():
    batch = confirmed(
        rewards=[{"name": "a", "systems": ["system0"], "cents": 20}, {"name": "b", "systems": [], "cents": 15}]
    )
    market = FakeMarket()
    publish(batch, market)
    assert sorted(hit.reward for hit in market.hits.values()) == [15, 15, 20, 20]
    assert len(market.types) == 2  # HITs of one reward are one group for workers
    assert batch.reserved_cents == 2 * (2 * 20 + 2 * 15)


def test_nobody_here_is_given_what_the_crowd_does():
    project = judged_project()
    confirmed(project)
    assert claim_next(project, UserFactory(), "judge", now=NOW) is None


def test_a_batch_that_people_here_have_begun_is_not_given_away():
    project = judged_project()
    batch = drafted(project)
    assert claim_next(project, UserFactory(), "judge", now=NOW)
    with pytest.raises(CannotPublish, match="have begun"):
        confirm(batch, typed="", now=NOW, actor=None)


def test_as_many_slots_as_workers_are_asked():
    batch = confirmed(assignments=4, judging={"votes": 2})
    assert batch.batch.votes == 2  # as it was when it was drafted
    assert annotation.Batch.objects.get().votes == 4
    assert annotation.Task.objects.filter(state="open").count() == 4 * 4


@pytest.mark.parametrize("seed", range(8))
def test_killed_and_faulted_at_random_it_ends_in_each_hit_once(seed):
    """Hours pass between the tries, so that tokens run out as well."""
    batch = confirmed(judged_project(examples=4), cap_cents=8 * 84)
    trouble = Trouble(seed, share=0.4, kinds=("drop", "busy", "kill", "funds"))
    market = FakeMarket(fault=trouble)
    for step in range(60):
        with contextlib.suppress(Killed, PublishStopped):
            publish(batch, market)
        batch.refresh_from_db()
        assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents
        if batch.state == "paused":
            resume(batch, now=market.now, actor=None)
        if batch.state == "live":
            break
        market.now += dt.timedelta(hours=trouble.chance.choice([0, 1, 30]))
        if step > 40:
            trouble.share = 0.0
    assert batch.state == "live"
    open_hits = [hit for hit in market.hits.values() if hit.expires_at > hit.created_at]
    assert len(open_hits) == 8
    assert len({hit.annotation.split(":")[2] for hit in open_hits}) == 8
    assert {hit.hit_id for hit in open_hits} == set(CrowdHit.objects.values_list("hit_id", flat=True))
    assert PaidAction.objects.filter(kind="create_hit").count() == 8
    assert trouble.count > 0
