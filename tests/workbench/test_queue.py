"""Real worker processes on the real broker of this run: embedded with SQLite, or Redis with PostgreSQL."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from annotation import models
from annotation.benchmarks import repeat_corpus, write_lookalike
from annotation.services.export_job import download_of, request_export
from annotation.services.import_job import request_import
from annotation.services.jobs import cancel_run, has_worker, is_write_locked
from annotation.tasks import send_run
from tests.factories import ProjectFactory
from tests.mini_corpus import as_upload, write_mini_corpus
from tests.workers import QUEUE, has_ended, kill, start_worker, wait_for, wait_until
from workbench.celery import app

COPIES = 12
pytestmark = QUEUE
__all__ = ["start_worker", "wait_for", "wait_until"]


def is_writing(run: models.Run) -> bool:
    """Whether the import is inside its transaction. SQLite shows nobody what happens there, but nobody else can write."""
    if connection.vendor == "postgresql":
        return run.phase == "writing"
    return all(write_lock_is_taken() for _ in range(5))


def write_lock_is_taken() -> bool:
    time.sleep(0.05)
    return is_write_locked()


def ask(path: Path, *, send: bool = True, corpus_format: str = "lite2-3pyramid") -> models.Run:
    project = models.Project.objects.first() or ProjectFactory(name="P")
    upload = as_upload(path)
    run = request_import(project, upload, corpus_format=corpus_format, dry_run=False, now=timezone.now())
    if send:
        send_run(run)
    return run


@pytest.fixture
def large(tmp_path) -> Path:
    """A corpus that takes some seconds to import."""
    return repeat_corpus(write_lookalike(tmp_path / "once"), tmp_path / "large", COPIES)


def test_a_worker_imports_what_was_asked_for_and_shows_itself(start_worker, wait_for, mini, tmp_path):
    start_worker()
    run = wait_for(ask(mini), has_ended)
    assert (run.state, run.error, run.attempt) == ("done", "", 1)
    assert run.counts["new"]["labels"] == 8
    assert run.project.examples.count() == 3
    assert has_worker("io")
    assert has_worker("nlp")

    bad = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0", "7", "1"]})
    failed = wait_for(ask(bad), has_ended)
    assert failed.state == "failed"
    assert any(problem["message"].startswith("has the label '7'") for problem in failed.counts["problems"])
    assert models.Label.objects.count() == 8


def test_a_run_whose_message_never_came_is_done_all_the_same(start_worker, wait_for, mini):
    run = ask(mini, send=False)
    start_worker()
    assert wait_for(run, has_ended).state == "done"


@pytest.mark.parametrize("phase", ["checking", "writing"])
def test_a_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(start_worker, wait_for, large, phase):
    worker = start_worker()
    run = ask(large)
    wait_for(run, lambda run: run.phase == "checking" and run.steps_done)
    if phase == "writing":
        wait_for(run, is_writing)
    kill(worker)
    run.refresh_from_db()
    assert run.state == "running"  # nobody could say otherwise
    assert models.Example.objects.count() == 0  # the transaction died with the worker

    start_worker()
    run = wait_for(run, has_ended)
    assert (run.state, run.attempt) == ("done", 2)
    assert run.counts["new"]["examples"] == models.Example.objects.count() == 100 * COPIES
    assert models.Summary.objects.count() == 2500 * COPIES
    assert models.Label.objects.count() == 26_400 * COPIES
    assert models.AuditEntry.objects.filter(action="import").count() == 1


def test_a_running_import_can_be_cancelled(start_worker, wait_for, tmp_path):
    start_worker()
    # Long to check, so that it does not matter when this process gets its turn: on SQLite nobody can cancel what writes.
    lines = (f'{{"id": "{n}", "reference": "R {n}.", "summaries": {{"a": "S {n}."}}}}' for n in range(150_000))
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(lines))
    run = ask(many, corpus_format="jsonl")
    wait_for(run, lambda run: run.state == "running")
    assert cancel_run(run, now=timezone.now())
    assert wait_for(run, has_ended).state == "cancelled"
    assert models.Example.objects.count() == 0


def test_a_worker_killed_in_the_middle_of_an_export_leaves_one_whole_zip(start_worker, wait_for, large):
    worker = start_worker()
    project = wait_for(ask(large), has_ended).project
    run = request_export(project, corpus_format="jsonl", now=timezone.now())
    send_run(run)
    wait_for(run, lambda run: run.phase == "writing" and run.steps_done)
    kill(worker)
    run.refresh_from_db()
    assert (run.state, download_of(run)) == ("running", None)

    start_worker()
    run = wait_for(run, has_ended)
    assert (run.state, run.attempt, run.counts["examples"]) == ("done", 2, 100 * COPIES)
    path = download_of(run)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == run.counts["download"]["sha256"]
    assert models.AuditEntry.objects.filter(action="export").count() == 1


@pytest.mark.redis
def test_the_broker_of_this_run_is_redis():
    assert settings.CELERY_BROKER_URL.startswith("redis://")
    with app.connection_for_read() as broker:
        assert broker.ensure_connection(max_retries=3).connected
