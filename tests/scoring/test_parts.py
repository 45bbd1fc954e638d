"""Parts of a score run: helped, lost, cancelled, on a full disk."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from annotation import models
from annotation.services import jobs
from scoring.models import JudgeVersion, Presence, ScorePart, SummaryScore, SystemScore
from scoring.options import checked_options
from scoring.services import parts, score_job
from scoring.services.score_job import help_run, request_score
from tests.conftest import NOW
from tests.factories import SystemFactory
from tests.scoring.runs import score

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "PAIRS_PER_PART", 2)


def test_a_run_is_cut_into_parts(project, judge, small_parts):
    run = score(project)
    assert list(run.score_parts.values_list("state", flat=True)) == ["done"] * 4
    assert sum(run.score_parts.values_list("pairs", flat=True)) == 7


def test_a_helper_does_parts_while_the_run_is_under_way(project, judge, small_parts, monkeypatch):
    helped = []

    def invite(run_id: int) -> None:
        helped.append(ScorePart.objects.filter(run=run_id, state="open").count())
        help_run(run_id, invite=lambda run_id: helped.append(run_id))

    monkeypatch.setitem(
        jobs.JOBS, "score", jobs.Job("nlp", lambda run, ticket: score_job.do_score(run, ticket, invite=invite))
    )
    JudgeVersion.objects.create(name="words", revision="1", created_at=NOW)
    run = score(project)
    assert helped == [4, run.pk]  # whoever helps invites the next
    assert run.state == "done"
    assert len(judge.asked) == len(set(judge.asked)) == 7


def nobody(run_id: int) -> None:
    raise AssertionError("nobody is to be invited")


def test_nobody_helps_a_run_that_has_ended_or_with_another_revision(project, judge, small_parts):
    run = score(project)
    judge.asked.clear()
    help_run(run.pk, invite=nobody)
    models.Run.objects.filter(pk=run.pk).update(
        state="running", claim="00000000-0000-4000-8000-000000000000", heartbeat_at=NOW, ended_at=None
    )
    ScorePart.objects.filter(run=run, number=1).update(state="open", ended_at=None)
    judge.revision = "2"
    help_run(run.pk, invite=nobody)
    assert judge.asked == []


def test_a_helper_that_dies_is_waited_for_and_its_part_done(project, judge, small_parts, settings, monkeypatch):
    settings.RUN_STALE_SECONDS = 1
    monkeypatch.setattr(parts, "POLL_SECONDS", 0.05)

    def die_with_a_part(run_id: int) -> None:
        part = parts._claim_part(run_id, JudgeVersion.objects.get(name="words"))
        assert part.number == 1  # and nobody beats for it

    work = jobs.Job("nlp", lambda run, ticket: score_job.do_score(run, ticket, invite=die_with_a_part))
    monkeypatch.setitem(jobs.JOBS, "score", work)
    run = score(project)
    assert run.score_parts.get(number=1).attempt == 2
    assert Presence.objects.count() == 7


def test_parts_done_out_of_order_do_not_stop_the_next_try(project, judge, small_parts, monkeypatch):
    def help_and_die(run_id: int) -> None:
        version = JudgeVersion.objects.get(name="words")
        first = parts._claim_part(run_id, version)
        parts.do_parts(run_id, judge, version, after_each=lambda: None)  # 2, 3 and 4
        ScorePart.objects.filter(pk=first.pk).update(state="open", claim=None)
        raise SystemExit

    work = jobs.Job("nlp", lambda run, ticket: score_job.do_score(run, ticket, invite=help_and_die))
    monkeypatch.setitem(jobs.JOBS, "score", work)
    run = request_score(project, checked_options({"judge": "words"}), now=NOW)
    with pytest.raises(SystemExit):
        jobs.run_job(run.pk)
    assert sorted(run.score_parts.filter(state="done").values_list("number", flat=True)) == [2, 3, 4]
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.counts["new_pairs"], Presence.objects.count()) == ("done", 7, 7)
    assert len(judge.asked) == 7


def test_a_worker_that_lost_its_run_writes_no_score(project, judge, monkeypatch):
    plain = score_job.Scorer.score

    def lose_then_score(self, batch):
        models.Run.objects.filter(pk=self.run.pk).update(claim="00000000-0000-4000-8000-000000000000")
        return plain(self, batch)

    monkeypatch.setattr(score_job.Scorer, "score", lose_then_score)
    run = request_score(project, checked_options({"judge": "words"}), now=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, SummaryScore.objects.count(), SystemScore.objects.count()) == ("running", 0, 0)


def test_a_claimed_part_without_a_heartbeat_is_opened_again(project, judge, settings):
    run = request_score(project, checked_options({"judge": "words"}), now=NOW)
    version = JudgeVersion.objects.create(name="words", revision="1", created_at=NOW)
    part = ScorePart.objects.create(
        run=run, number=1, judge=version, wanted=[], pairs=0, state="claimed", heartbeat_at=NOW, attempt=1,
        claim="00000000-0000-4000-8000-000000000000",
    )  # fmt: skip
    parts.free_dead_parts(run.pk)
    part.refresh_from_db()
    assert (part.state, part.claim) == ("open", None)
    ScorePart.objects.filter(pk=part.pk).update(
        state="claimed", claim="00000000-0000-4000-8000-000000000000", attempt=parts.MAX_ATTEMPTS
    )
    with pytest.raises(parts.PartKeepsFailing):
        parts.free_dead_parts(run.pk)


def test_a_run_can_be_cancelled_between_two_parts_and_goes_on_later(project, judge, small_parts, monkeypatch, settings):
    plain = judge.judge

    def cancel_then_judge(pairs):
        jobs.cancel_run(models.Run.objects.get(stage="score"), now=NOW)
        run = models.Run.objects.get(stage="score")
        assert run.cancel_requested_at == NOW
        while beaten.acquire(blocking=False):
            pass
        for _ in range(2):  # the first may have begun before the cancellation
            assert beaten.acquire(timeout=10)
        return plain(pairs)

    monkeypatch.setattr(judge, "judge", cancel_then_judge)
    settings.RUN_BEAT_SECONDS = 0.05
    beaten = threading.Semaphore(0)
    beat = jobs.Ticket.beat
    monkeypatch.setattr(jobs.Ticket, "beat", lambda ticket: (beat(ticket), beaten.release()))
    run = request_score(project, checked_options({"judge": "words"}), now=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    kept = Presence.objects.count()
    assert 0 < kept < 7
    monkeypatch.setattr(judge, "judge", plain)
    again = jobs.retry_run(run, now=NOW)
    jobs.run_job(again.pk)
    again.refresh_from_db()
    assert (again.state, again.counts["new_pairs"]) == ("done", 7 - kept)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="fills the disk by a limit that SQLite has")
def test_a_full_disk_loses_nothing_and_doubles_nothing(project, judge, small_parts):
    for number in range(40):
        system = SystemFactory(project=project, name=f"system {number}")
        for example in project.examples.all():
            models.Summary.objects.create(example=example, system=system, text=f"Number {number} of {example.key}.")
    run = request_score(project, checked_options({"judge": "words"}), now=NOW)
    plain, calls = judge.judge, []

    def fill_then_judge(pairs):
        if not calls:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")
                cursor.execute("PRAGMA page_count")
                cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        calls.append(len(pairs))
        return plain(pairs)

    judge.judge = fill_then_judge
    jobs.run_job(run.pk)
    run.refresh_from_db()
    kept = Presence.objects.count()
    assert (run.state, SystemScore.objects.count()) == ("queued", 0)
    assert 0 < kept < 167
    connection.close()  # the limit is that of a connection; a new one has room
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("done", 2)
    assert Presence.objects.count() == 167
    assert len(judge.asked) - len(set(judge.asked)) <= 2  # the part that did not fit, and no other
