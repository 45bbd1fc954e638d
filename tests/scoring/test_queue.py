"""Score runs with real workers and a real, tiny NLI model: killed in the middle, helped, without a broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
from django.conf import settings
from django.utils import timezone

from annotation import models
from annotation.benchmarks import write_lookalike
from annotation.services.importing import import_corpus
from annotation.tasks import send_run
from scoring.models import Presence, ScorePart, SummaryScore, SystemScore
from scoring.options import checked_options
from scoring.services.score_job import request_score
from scoring.signatures import text_digest
from tests.conftest import NOW
from tests.private_servers import private_redis
from tests.scoring.judges import write_tiny_nli
from tests.workers import QUEUE, ROOT, database_url, has_ended, kill, start_worker, wait_for, wait_until

pytestmark = QUEUE
__all__ = ["start_worker", "wait_for", "wait_until"]
EXAMPLES = 8


@pytest.fixture
def project(tmp_path) -> models.Project:
    import_corpus(write_lookalike(tmp_path / "c"), corpus_format="lite2-3pyramid", project_name="Like", now=NOW)
    models.Example.objects.filter(position__gt=EXAMPLES).update(trashed_at=NOW)
    return models.Project.objects.get()


def ask(project: models.Project, tmp_path) -> models.Run:
    judge = str(write_tiny_nli(tmp_path / "tiny"))
    return request_score(project, checked_options({"metric": "lite2", "judge": judge}), now=timezone.now())


def distinct_pairs(project: models.Project) -> int:
    """Pairs of texts, each counted once however many systems wrote it."""
    found = set()
    for example in project.examples.live():
        summaries = {text_digest(text) for text in example.summaries.values_list("text", flat=True) if text.strip()}
        units = {text_digest(text) for text in example.units.filter(kind="scu").values_list("text", flat=True)}
        found |= {(summary, unit) for summary in summaries for unit in units}
    return len(found)


def test_a_worker_killed_in_the_middle_of_a_part_loses_nothing_and_doubles_nothing(
    start_worker, wait_for, project, tmp_path
):
    workers = [start_worker(), start_worker()]
    run = ask(project, tmp_path)
    send_run(run)
    wait_for(run, lambda run: run.phase == "judging" and ScorePart.objects.filter(run=run, state="done").exists())
    for worker in workers:
        kill(worker)
    run.refresh_from_db()
    assert run.state == "running"  # nobody could say otherwise
    kept = Presence.objects.count()
    assert 0 < kept < distinct_pairs(project)
    assert SystemScore.objects.count() == 0

    start_worker()
    run = wait_for(run, has_ended, seconds=180)
    assert (run.state, run.attempt) == ("done", 2)
    assert Presence.objects.count() == distinct_pairs(project)
    assert SummaryScore.objects.filter(run=run).count() == 25 * EXAMPLES
    assert SystemScore.objects.filter(run=run).count() == 50
    assert models.AuditEntry.objects.filter(action="score").count() == 1


@pytest.mark.redis
def test_a_broker_that_dies_in_the_middle_stops_nobody(start_worker, wait_for, project, tmp_path):
    with ExitStack() as broker:
        start_worker(CELERY_BROKER_URL=broker.enter_context(private_redis()))
        run = ask(project, tmp_path)  # the worker's own sweeper finds it
        wait_for(run, lambda run: run.phase == "judging" and ScorePart.objects.filter(run=run, state="done").exists())
    run = wait_for(run, has_ended, seconds=180)
    assert (run.state, run.attempt) == ("done", 1)
    assert Presence.objects.count() == distinct_pairs(project)
    assert SummaryScore.objects.filter(run=run).count() == 25 * EXAMPLES
    assert models.AuditEntry.objects.filter(action="score").count() == 1


def test_without_a_broker_the_worker_that_has_the_run_does_all_of_it(project, tmp_path):
    judge = str(write_tiny_nli(tmp_path / "tiny"))
    gone = {"DATABASE_URL": database_url(), "CELERY_BROKER_URL": "redis://127.0.0.1:1/0"}
    command = [sys.executable, "manage.py", "score", "like", "--judge", judge, "--json"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYRAMID_VAR": str(settings.VAR_DIR), **gone},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "the broker cannot be reached now" in done.stderr
    scores = json.loads(done.stdout.splitlines()[-1])
    assert len(scores["systems"]) == 25
    assert SummaryScore.objects.count() == 25 * EXAMPLES
