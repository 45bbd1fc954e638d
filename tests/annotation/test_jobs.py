"""Jobs: claimed once, finished with their data, taken over when a worker dies, cancelled, tried again."""

from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
import uuid

import pytest
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from annotation import models
from annotation.models import RunState
from annotation.services import jobs
from annotation.services.files import drop_upload, upload_path
from annotation.services.import_job import CannotImport, request_import, request_import_after
from annotation.tasks import Pulse
from tests.conftest import NOW
from tests.factories import ExampleFactory, ProjectFactory, RunFactory, UserFactory, WorkerFactory
from tests.mini_corpus import as_upload, write_mini_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(mini) -> models.Run:
    return ask(mini)


def ask(path, *, dry_run: bool = False) -> models.Run:
    project = models.Project.objects.first() or ProjectFactory(name="P")
    return request_import(project, as_upload(path), corpus_format="lite2-3pyramid", dry_run=dry_run, now=NOW)


@pytest.fixture(autouse=True)
def quick_heart(settings):
    settings.RUN_BEAT_SECONDS = 0.05


def make_running(**fields: object) -> models.Run:
    started = timezone.now() - dt.timedelta(hours=1)
    return RunFactory(
        **{
            "state": RunState.RUNNING,
            "claim": uuid.uuid4(),
            "started_at": started,
            "heartbeat_at": started,
            "attempt": 1,
            **fields,
        }
    )


def test_a_run_is_done_once_however_often_it_is_sent(run):
    jobs.run_job(run.pk)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt, run.claim, run.project.name) == ("done", 1, None, "P")
    assert run.counts["new"]["labels"] == 8
    assert run.ended_at >= run.started_at
    assert models.Run.objects.filter(stage="import").count() == 1
    assert models.Example.objects.count() == 3


def test_what_is_wrong_with_a_corpus_is_kept_with_the_run(tmp_path):
    bad = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0", "7", "1"]})
    run = ask(bad)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.error == "2 problem(s); nothing was imported."
    assert ("labels/beta.label", 2) in {(problem["file"], problem["line"]) for problem in run.counts["problems"]}
    assert run.counts["refused"]
    assert models.Example.objects.count() == 0


def test_a_dry_run_tells_what_is_wrong_and_writes_nothing(tmp_path):
    bad = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0", "7", "1"]})
    run = ask(bad, dry_run=True)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, run.counts["problem_count"]) == ("done", "", 2)
    assert {problem["file"] for problem in run.counts["problems"]} == {"labels/beta.label"}
    assert 2 in {problem["line"] for problem in run.counts["problems"]}
    assert models.Example.objects.count() == 0
    with pytest.raises(CannotImport, match="Mend the file"):
        request_import_after(run, now=NOW)


def test_a_good_dry_run_is_imported_once_and_its_file_forgotten(mini):
    check = ask(mini, dry_run=True)
    with pytest.raises(CannotImport, match="no finished dry run"):
        request_import_after(check, now=NOW)
    jobs.run_job(check.pk)
    check.refresh_from_db()
    assert models.Example.objects.count() == 0
    run, is_new = request_import_after(check, now=NOW)
    assert request_import_after(check, now=NOW) == (run, False)
    assert is_new
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, models.Example.objects.count()) == ("done", 3)
    assert run.signature == f"import format=lite2-3pyramid sha256={'0' * 64}"
    assert not upload_path(run.parameters["upload"]).parent.exists()


def test_an_upload_that_is_gone_is_told(mini):
    check = ask(mini, dry_run=True)
    jobs.run_job(check.pk)
    drop_upload(check.parameters["upload"])
    with pytest.raises(CannotImport, match="Upload it again"):
        request_import_after(check, now=NOW)
    late = ask(mini)
    drop_upload(late.parameters["upload"])
    jobs.run_job(late.pk)
    late.refresh_from_db()
    assert (late.state, late.error) == ("failed", "The uploaded file is no longer here. Upload it again.")


def test_a_project_that_went_into_the_trash_takes_no_import(run):
    models.Project.objects.update(trashed_at=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "is in the trash" in run.error


def test_an_unknown_format_is_refused_at_once(mini):
    with pytest.raises(ValueError, match="is no format"):
        request_import(ProjectFactory(), as_upload(mini), corpus_format="xml", dry_run=True, now=NOW)


def test_one_project_cannot_fill_the_queue(run):
    for _ in range(jobs.MAX_UNFINISHED - 1):
        RunFactory(project=run.project)
    with pytest.raises(jobs.TooManyJobs, match="10 jobs of this project"):
        jobs.request_job("import", {}, now=NOW, project=run.project)
    assert jobs.request_job("import", {}, now=NOW, project=ProjectFactory()).state == "queued"


def test_a_failure_of_ours_is_recorded_and_raised(run, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", fail))
    with pytest.raises(OSError, match="disk full"):
        jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.error.startswith(f"A fault of ours. The log of the worker has it under run {run.pk}.")


def test_a_worker_that_is_stopped_gives_its_run_back(run, monkeypatch):
    def stop(*_):
        raise SystemExit

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", stop))
    with pytest.raises(SystemExit):
        jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.claim) == ("queued", None)


def test_a_worker_that_lost_its_claim_stores_nothing(run, monkeypatch):
    """The run was given to somebody else while this worker was slow: its transaction must not go through."""
    other = uuid.uuid4()
    real = jobs.Ticket.finish

    def finish_late(ticket, **fields):
        models.Run.objects.filter(pk=run.pk).update(claim=other)
        real(ticket, **fields)

    monkeypatch.setattr(jobs.Ticket, "finish", finish_late)
    jobs.run_job(run.pk)
    assert models.Example.objects.count() == 0
    assert models.AuditEntry.objects.count() == 0


def work_until_told(run, ticket):
    """A long job that never ends by itself."""
    deadline = timezone.now() + dt.timedelta(seconds=30)
    step = 0
    while timezone.now() < deadline:
        step += 1
        ticket.report("counting", step, 10**9)
    raise AssertionError("nobody stopped the job")


def test_the_heart_beats_and_tells_the_progress_until_the_run_is_cancelled(run, monkeypatch):
    seen = []
    beat = jobs.Ticket.beat

    def watch(ticket):
        beat(ticket)
        row = models.Run.objects.get(pk=run.pk)
        seen.append((row.heartbeat_at, row.phase, row.steps_done))
        if len(seen) == 4:
            assert jobs.cancel_run(row, now=timezone.now())

    monkeypatch.setattr(jobs.Ticket, "beat", watch)
    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", work_until_told))
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.claim) == ("cancelled", None)
    assert [phase for _, phase, _ in seen[:4]] == ["counting"] * 4
    assert seen[0][0] < seen[3][0]
    assert 0 < seen[0][2] < seen[3][2]


def test_a_worker_learns_that_its_claim_is_gone(run, monkeypatch):
    beat = jobs.Ticket.beat

    def take(ticket):
        models.Run.objects.filter(pk=run.pk).update(claim=uuid.uuid4())
        beat(ticket)

    monkeypatch.setattr(jobs.Ticket, "beat", take)
    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", work_until_told))
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "running"  # it is somebody else's now


def test_a_waiting_run_is_cancelled_at_once_and_an_ended_one_is_not(run):
    actor = UserFactory()
    assert jobs.cancel_run(run, now=NOW, actor=actor)
    assert run.state == "cancelled"
    assert not jobs.cancel_run(run, now=NOW)
    jobs.run_job(run.pk)
    assert models.Example.objects.count() == 0
    assert models.AuditEntry.objects.get().actor == actor


def test_a_run_is_tried_again_as_a_new_one(run):
    with pytest.raises(jobs.CannotRetry, match="Only a run that failed"):
        jobs.retry_run(run, now=NOW)
    jobs.cancel_run(run, now=NOW)
    again = jobs.retry_run(run, now=NOW)
    assert (again.retry_of, again.parameters, again.state) == (run, run.parameters, "queued")
    jobs.run_job(again.pk)
    assert models.Example.objects.count() == 3


def test_a_run_without_a_heartbeat_is_queued_again():
    dead = make_running()
    alive = make_running(heartbeat_at=timezone.now())
    assert [run.pk for run in jobs.sweep_runs()] == [dead.pk]
    assert jobs.sweep_runs() == []  # it was sent just now
    for run in (dead, alive):
        run.refresh_from_db()
    assert (dead.state, dead.claim, alive.state) == ("queued", None, "running")


def test_a_run_whose_message_was_lost_is_sent_again(run):
    models.Run.objects.update(sent_at=NOW)  # in March
    assert [found.pk for found in jobs.sweep_runs()] == [run.pk]
    assert jobs.sweep_runs() == []
    RunFactory(sent_at=timezone.now())
    assert jobs.sweep_runs() == []


def test_a_run_that_kills_its_workers_is_given_up():
    run = make_running(attempt=jobs.MAX_ATTEMPTS)
    assert jobs.sweep_runs() == []
    run.refresh_from_db()
    assert run.state == "failed"
    assert "Its worker died 5 times." in run.error


def test_a_cancelled_run_of_a_dead_worker_is_not_done_again():
    run = make_running(cancel_requested_at=NOW)
    assert jobs.sweep_runs() == []
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_who_works_is_asked_of_the_database():
    assert not jobs.has_worker("io")
    WorkerFactory(seen_at=timezone.now() - dt.timedelta(minutes=2))
    assert not jobs.has_worker("io")
    jobs.show_worker("w", ["io"])
    jobs.show_worker("w", ["io"])
    assert models.Worker.objects.filter(name="w").count() == 1
    assert (jobs.has_worker("io"), jobs.has_worker("nlp")) == (True, False)
    project = ProjectFactory()
    for queue in ("nlp", "io"):
        RunFactory(queue=queue, project=project)
    assert jobs.missing_queues(project) == ["nlp"]
    assert jobs.missing_queues(ProjectFactory()) == []
    jobs.hide_worker("w")
    assert jobs.missing_queues(project) == ["io", "nlp"]


def test_a_run_whose_worker_died_is_said_to_wait_and_can_be_cancelled_at_once():
    run = make_running(project=ProjectFactory())
    assert jobs.is_abandoned(run)
    assert jobs.missing_queues(run.project) == ["io"]
    jobs.show_worker("w", ["io"])
    assert not jobs.is_abandoned(run)  # somebody will take it over
    assert jobs.cancel_run(run, now=NOW)
    assert (run.state, run.claim) == ("cancelled", None)
    assert not jobs.is_abandoned(make_running(heartbeat_at=timezone.now()))


def test_while_somebody_writes_to_sqlite_nobody_is_missed():
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has many writers")
    run = make_running()
    with contextlib.closing(sqlite3.connect(connection.settings_dict["NAME"])) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert not jobs.is_abandoned(run)
        writer.rollback()
    assert jobs.is_abandoned(run)


def test_a_passing_fault_of_the_database_is_tried_again(run, monkeypatch):
    faults = [OperationalError("database is locked")]
    real = jobs.JOBS["import"].work

    def work(run, ticket):
        if faults:
            raise faults.pop()
        real(run, ticket)

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", work))
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.sent_at) == ("queued", None)
    assert run in jobs.sweep_runs()
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("done", 2)


def test_a_fault_that_does_not_pass_ends_in_the_end(run, monkeypatch):
    def fail(*_):
        raise OperationalError("host db.example.org is away")

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", fail))
    for _ in range(jobs.MAX_ATTEMPTS):
        jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "example.org" not in run.error


def test_the_heart_goes_on_after_a_lost_connection(run, monkeypatch):
    beats = []
    beat = jobs.Ticket.beat

    def stumble(ticket):
        beats.append(1)
        if len(beats) == 1:
            raise InterfaceError("connection already closed")
        beat(ticket)
        if len(beats) == 3:
            jobs.cancel_run(models.Run.objects.get(pk=run.pk), now=NOW)

    monkeypatch.setattr(jobs.Ticket, "beat", stumble)
    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", work_until_told))
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"


@pytest.mark.parametrize(("can_undo", "state", "examples"), [(True, "cancelled", 0), (False, "done", 1)])
def test_what_was_cancelled_before_its_end_is_undone_if_it_can_be(run, monkeypatch, can_undo, state, examples):
    def work(run, ticket):
        with transaction.atomic():
            ExampleFactory(project=run.project)
            assert jobs.cancel_run(run, now=NOW)  # the heart has no time to see it
            ticket.finish(project=run.project, counts={}, can_undo=can_undo)

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", work))
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state, models.Example.objects.count()) == (state, examples)


def test_a_run_that_should_be_cancelled_is_not_begun_again(run, monkeypatch):
    def stop(run, ticket):
        models.Run.objects.filter(pk=run.pk).update(cancel_requested_at=NOW)
        raise SystemExit

    monkeypatch.setitem(jobs.JOBS, "import", jobs.Job("io", stop))
    with pytest.raises(SystemExit):
        jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    other = RunFactory(cancel_requested_at=NOW)
    jobs.run_job(other.pk)
    other.refresh_from_db()
    assert other.state == "cancelled"


def test_two_clicks_on_try_again_make_one_run(run):
    jobs.cancel_run(run, now=NOW)
    assert jobs.retry_run(run, now=NOW) == jobs.retry_run(run, now=NOW)
    assert models.Run.objects.count() == 2


def test_runs_of_a_queue_that_nobody_works_on_are_not_sent_again():
    nlp, io = RunFactory(queue="nlp"), RunFactory(queue="io")
    assert jobs.sweep_runs(["io"]) == [io]
    assert jobs.sweep_runs(["io", "nlp"]) == [nlp]


def test_after_a_blockage_the_pulse_gives_all_hearts_a_beat_of_time(settings, monkeypatch):
    settings.RUN_STALE_SECONDS = 30
    monkeypatch.setattr("annotation.tasks.send_run", lambda run: None)
    run = make_running()
    pulse = Pulse("w", ["io"])
    pulse._beat()  # the first one, or the first after a long time
    run.refresh_from_db()
    assert run.state == "running"
    pulse._beat()
    run.refresh_from_db()
    assert run.state == "queued"


def test_only_the_newest_uploads_of_a_project_are_kept(mini):
    runs = [ask(mini, dry_run=True) for _ in range(7)]
    for run in runs:
        jobs.run_job(run.pk)
    last = ask(mini, dry_run=True)
    kept = [upload_path(run.parameters["upload"]).exists() for run in runs]
    assert kept == [False, False, True, True, True, True, True]
    assert upload_path(last.parameters["upload"]).exists()


@pytest.mark.parametrize("place", ["", ".", "../x", "abc/c.jsonl", f"{'0' * 32}/a/b"])
def test_only_a_place_of_an_upload_is_dropped(place):
    with pytest.raises(ValueError, match="no place of an upload"):
        drop_upload(place)
