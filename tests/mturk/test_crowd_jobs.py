"""Publishing and collecting as runs: progress, cancelling, a market that is away, and the commands."""

from __future__ import annotations

from functools import partial

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Run
from annotation.services import jobs
from mturk.market import Unclear
from mturk.models import CrowdBatch, CrowdHit
from mturk.services import crowd_job, deciding
from mturk.services.crowd_job import do_collect, do_publish, request_collect, request_publish, runs_of
from tests.conftest import NOW
from tests.judging import judged_project
from tests.mturk.crowds import confirmed, drafted, work_all
from tests.mturk.fakes import FakeMarket, Killed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def market(monkeypatch) -> FakeMarket:
    market = FakeMarket()
    for stage, work in (("publish", do_publish), ("collect", do_collect)):
        known = jobs.JOBS[stage]
        monkeypatch.setitem(jobs.JOBS, stage, jobs.Job(known.queue, partial(work, connect_to=lambda batch: market)))
    return market


def run(stage: str, batch: CrowdBatch, **given) -> Run:
    ask = request_publish if stage == "publish" else request_collect
    asked = ask(batch, now=NOW, actor=None, **given)
    jobs.run_job(asked.pk)
    asked.refresh_from_db()
    return asked


def test_a_run_publishes_and_another_collects(market):
    batch = confirmed()
    done = run("publish", batch)
    assert (done.state, done.counts["live"], done.steps_done, done.queue) == ("done", 4, 4, "io")
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "present"})
    assert run("collect", batch).counts["stored"] == 8
    deciding.wish_approval(deciding.passing(batch), batch, now=NOW, actor=None)
    assert run("collect", batch).counts["approved"] == 8
    batch.refresh_from_db()
    assert batch.state == "done"
    assert run("collect", batch, every=True, delete=True).counts["deleted"] == 4


def test_a_second_request_finds_the_first(market):
    batch = confirmed()
    first = request_publish(batch, now=NOW, actor=None)
    assert request_publish(batch, now=NOW, actor=None) == first
    assert runs_of(batch) == [first]


def test_a_cancelled_run_leaves_what_was_done_and_the_next_goes_on(market):
    batch = confirmed()
    asked = request_publish(batch, now=NOW, actor=None)

    def cancel(operation: str, when: str) -> None:
        if when == "after" and len(market.hits) == 2:
            Run.objects.filter(pk=asked.pk).update(cancel_requested_at=NOW)

    market.fault = cancel
    real = jobs.Ticket.report

    def report(ticket, *given):
        ticket.beat()  # the heart would, in a while
        real(ticket, *given)

    jobs.Ticket.report = report
    try:
        jobs.run_job(asked.pk)
    finally:
        jobs.Ticket.report = real
    asked.refresh_from_db()
    assert (asked.state, len(market.hits)) == ("cancelled", 2)
    market.fault = lambda operation, when: None
    assert run("publish", batch).state == "done"
    assert len(market.hits) == 4


def test_a_run_whose_worker_died_goes_on_at_the_next(market):
    batch = confirmed()
    asked = request_publish(batch, now=NOW, actor=None)

    def kill(operation: str, when: str) -> None:
        if when == "after" and len(market.hits) == 3:
            raise Killed

    market.fault = kill
    with pytest.raises(Killed):
        jobs.run_job(asked.pk)
    market.fault = lambda operation, when: None
    jobs.run_job(asked.pk)
    asked.refresh_from_db()
    assert (asked.state, len(market.hits)) == ("done", 4)
    assert set(CrowdHit.objects.values_list("state", flat=True)) == {"live"}


def test_a_market_that_is_away_fails_the_run_in_words_and_it_can_be_tried_again(market):
    batch = confirmed()

    def away(operation: str, when: str) -> None:
        raise Unclear("no answer")

    market.fault = away
    failed = run("publish", batch)
    assert (failed.state, failed.error) == ("failed", "no answer")
    assert failed.counts["refused"] is False
    market.fault = lambda operation, when: None
    again = jobs.retry_run(failed, now=NOW)
    jobs.run_job(again.pk)
    assert len(market.hits) == 4


def test_without_keys_the_run_says_what_to_set(monkeypatch):
    monkeypatch.delenv("EXCHANGE_KEY_ID", raising=False)
    failed = run("publish", confirmed())
    assert "EXCHANGE_KEY_ID" in failed.error


def test_the_commands(market, monkeypatch, capsys):
    for name in ("publish_hits", "collect_hits"):
        monkeypatch.setattr(f"mturk.management.commands.{name}.market_of", lambda batch: market)
    batch = drafted(judged_project(slug="commands"))
    call_command("publish_hits", "commands", batch.number, "--dry-run")
    assert "4 HITs, 8 assignments, $3.36" in capsys.readouterr().out
    assert market.hits == {}
    call_command("publish_hits", "commands", batch.number)
    call_command("publish_hits", "commands", batch.number)
    assert len(market.hits) == 4
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "present"})
    call_command("collect_hits", "commands", "--approve")
    assert "8 new, 8 read, 0 with a problem, 8 approved" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no crowd batch 9"):
        call_command("collect_hits", "commands", 9)
    with pytest.raises(CommandError, match="no crowd batch 9"):
        call_command("publish_hits", "commands", 9)


def test_the_market_of_a_batch_is_that_of_its_environment(monkeypatch):
    monkeypatch.setenv("EXCHANGE_KEY_ID", "k")
    monkeypatch.setenv("EXCHANGE_SECRET", "s")
    assert crowd_job.market_of(drafted()).client.meta.endpoint_url.endswith("/exchange/api/")
