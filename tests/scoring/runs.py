"""Score runs of tests: asked for, done, and read."""

from __future__ import annotations

from annotation import models
from annotation.services import jobs
from scoring.models import SystemScore
from scoring.options import checked_options
from scoring.services.score_job import request_score
from tests.conftest import NOW


def score(project: models.Project, *, ok: bool = True, **given: object) -> models.Run:
    run = request_score(project, checked_options({"judge": "words", **given}), now=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert (run.state == "done") == ok, run.error
    return run


def table(run: models.Run, variant: str = "plain") -> dict[str, SystemScore]:
    return {row.system.name: row for row in run.system_scores.filter(variant=variant).select_related("system")}


def values(run: models.Run) -> dict[str, float | None]:
    return {name: row.value for name, row in table(run).items()}
