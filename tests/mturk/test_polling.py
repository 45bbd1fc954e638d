"""Batches are collected by themselves: each by one worker, once an interval, and not any more when they are over."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from kombu.exceptions import OperationalError

from annotation.services import jobs
from mturk import tasks
from mturk.market import HitFacts, Unclear
from mturk.models import CrowdAssignment, CrowdBatch
from mturk.services import deciding
from mturk.services.crowd_job import poll
from mturk.services.polling import claim_due
from mturk.services.publishing import publish_batch
from tests.conftest import NOW
from tests.judging import judged_project
from tests.mturk.crowds import confirmed, drafted, work_all
from tests.mturk.fakes import FakeMarket

pytestmark = pytest.mark.django_db

LATER = NOW + dt.timedelta(minutes=6)


@pytest.fixture
def market() -> FakeMarket:
    return FakeMarket()


def out(market: FakeMarket) -> CrowdBatch:
    batch = confirmed()
    publish_batch(batch.pk, market, clock=market.clock)
    return batch


def test_a_batch_is_claimed_once_an_interval(market):
    batch = out(market)
    drafted(judged_project(slug="other"))
    assert claim_due(now=NOW) == [batch.pk]
    assert claim_due(now=NOW) == []
    assert claim_due(now=NOW + dt.timedelta(minutes=4)) == []
    assert claim_due(now=LATER) == [batch.pk]


def test_one_that_was_just_collected_by_hand_can_wait(market):
    batch = out(market)
    CrowdBatch.objects.update(collected_at=NOW)
    assert claim_due(now=NOW + dt.timedelta(minutes=1)) == []
    assert claim_due(now=LATER) == [batch.pk]


@pytest.mark.parametrize(("state", "is_due"), [("done", False), ("paused", True), ("stopped", True)])
def test_what_is_over_is_not_asked_about(market, state, is_due):
    batch = out(market)
    CrowdBatch.objects.update(state=state, pause_reason="person" if state == "paused" else "")
    assert (claim_due(now=NOW) == [batch.pk]) is is_due


def test_a_stopped_batch_is_over_when_all_its_work_is_decided(market):
    batch = out(market)
    batch.hits.update(status="Reviewable")
    CrowdBatch.objects.update(state="stopped")
    assert claim_due(now=NOW) == []


def test_it_can_be_turned_off(market, settings):
    out(market)
    settings.CROWD_POLL_SECONDS = 0
    assert claim_due(now=NOW) == []


def test_a_turn_collects_and_tells_decisions(market):
    batch = out(market)
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "present"})
    poll(batch.pk, connect_to=lambda _batch: market)
    assert CrowdAssignment.objects.filter(stored__isnull=False).count() == 8
    deciding.wish_approval(deciding.passing(batch), batch, now=NOW, actor=None)
    poll(batch.pk, connect_to=lambda _batch: market)
    batch.refresh_from_db()
    assert batch.state == "done"


def test_a_market_that_is_away_is_logged_and_asked_again(market, monkeypatch, caplog):
    batch = out(market)

    def away() -> Iterator[HitFacts]:
        raise Unclear("no answer")

    monkeypatch.setattr(market, "list_hits", away)
    poll(batch.pk, connect_to=lambda _batch: market)
    assert "not collected (no answer)" in caplog.text
    assert claim_due(now=NOW) == [batch.pk]


def test_workers_of_the_crowd_have_it_among_their_chores(market, monkeypatch):
    batch = out(market)
    sent = []
    monkeypatch.setattr(tasks.poll_task, "apply_async", lambda given, **options: sent.append((given, options["queue"])))
    jobs.do_chores(["nlp"], now=NOW)
    assert sent == []
    jobs.do_chores(["io", "nlp"], now=NOW)
    assert sent == [((batch.pk,), "io")]


def test_a_broker_that_is_away_costs_an_interval_and_no_more(market, monkeypatch, caplog):
    batch = out(market)

    def away(*given: object, **options: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(tasks.poll_task, "apply_async", away)
    tasks.poll_due(NOW)
    assert "cannot be reached" in caplog.text
    assert claim_due(now=LATER) == [batch.pk]
