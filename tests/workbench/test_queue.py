"""A real worker process takes a message from the real broker of this run: embedded, or Redis with PostgreSQL."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from annotation import models
from annotation.services.jobs import request_import, run_import
from annotation.tasks import import_corpus_task
from tests.conftest import NOW
from tests.mini_corpus import write_mini_corpus
from workbench import processes
from workbench.celery import app

ROOT = Path(__file__).resolve().parent.parent.parent
# One process at a time uses the broker of this run.
pytestmark = [pytest.mark.xdist_group("queue"), pytest.mark.django_db(transaction=True)]


def database_url() -> str:
    """The address of the database that this test runs on, for another process."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{config['NAME']}"
    return f"postgres://{config['USER']}:{config['PASSWORD']}@{config['HOST']}:{config['PORT']}/{config['NAME']}"


@pytest.fixture
def worker(tmp_path):
    """A Celery worker as production runs it."""
    app.control.purge()
    log = tmp_path / "worker.log"
    command = [
        sys.executable, "-m", "celery", "--app", "workbench", "worker", "--queues", "io,nlp", "--concurrency", "1",
        "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO",
    ]  # fmt: skip
    with log.open("wb") as output:
        process = processes.start(
            command,
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database_url(), "PYRAMID_VAR": str(settings.VAR_DIR)},
            stdout=output,
            stderr=output,
        )
    yield log
    processes.stop(process)


def wait_for_end(run: models.Run, log: Path) -> models.Run:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run.refresh_from_db()
        if run.ended_at:
            return run
        time.sleep(0.1)
    raise AssertionError(f"The run did not end. The worker says:\n{log.read_text()[-3000:]}")


def send(path: Path) -> models.Run:
    run = request_import(path, corpus_format="lite2-3pyramid", project_name="P", now=NOW)
    import_corpus_task.delay(run.pk)
    return run


def test_a_worker_imports_what_was_asked_for(worker, mini, tmp_path):
    run = wait_for_end(send(mini), worker)
    assert (run.state, run.error) == ("done", "")
    assert run.counts["new"]["labels"] == 8
    assert run.project.examples.count() == 3

    bad = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0", "7", "1"]})
    failed = wait_for_end(send(bad), worker)
    assert failed.state == "failed"
    assert "labels/beta.label, line 2: has the label '7'" in failed.error
    assert models.Label.objects.count() == 8


@pytest.mark.redis
def test_the_broker_of_this_run_is_redis():
    assert settings.CELERY_BROKER_URL.startswith("redis://")
    with app.connection_for_read() as broker:
        assert broker.ensure_connection(max_retries=3).connected


def test_a_second_message_for_a_run_does_nothing(mini):
    run = request_import(mini, corpus_format="lite2-3pyramid", project_name="P", now=NOW)
    run_import(run.pk, now=NOW)
    run_import(run.pk, now=NOW)
    run.refresh_from_db()
    assert run.state == "done"
    assert models.Run.objects.count() == 1
    assert models.Example.objects.count() == 3


def test_a_failure_of_ours_is_recorded_and_raised(mini, monkeypatch):
    from annotation.services import jobs

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(jobs, "import_corpus", fail)
    run = request_import(mini, corpus_format="lite2-3pyramid", project_name="P", now=NOW)
    with pytest.raises(OSError, match="disk full"):
        run_import(run.pk, now=NOW)
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "OSError: disk full")


def test_an_unknown_format_is_refused_at_once(mini):
    with pytest.raises(ValueError, match="is no format"):
        request_import(mini, corpus_format="xml", project_name="P", now=NOW)
