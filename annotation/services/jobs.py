"""Jobs that a worker does: the run row says what is wanted and what came of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from annotation.models import Run, RunState, Stage, User
from annotation.readers import FORMATS
from annotation.services.importing import ImportRefused, import_corpus
from annotation.services.projects import ProjectInTrash

# Messages shown with a failed run; the whole report would be larger than the corpus.
SHOWN_PROBLEMS = 50


def request_import(
    path: Path, *, corpus_format: str, project_name: str, now: dt.datetime, actor: User | None = None
) -> Run:
    """Note an import to be done. The caller sends its id to a worker once this is committed."""
    if corpus_format not in FORMATS:
        raise ValueError(f"{corpus_format!r} is no format. Known: {', '.join(FORMATS)}.")
    return Run.objects.create(
        stage=Stage.IMPORT,
        parameters={"path": str(path), "format": corpus_format, "project": project_name},
        started_by=actor,
        created_at=now,
    )


def run_import(run_id: int, *, now: dt.datetime) -> None:
    """Do a requested import once. A second message for the same run finds it claimed and does nothing."""
    claimed = Run.objects.filter(pk=run_id, state=RunState.QUEUED).update(
        state=RunState.RUNNING, started_at=now, heartbeat_at=now
    )
    if not claimed:
        return
    run = Run.objects.get(pk=run_id)
    wanted = run.parameters
    try:
        import_corpus(
            Path(wanted["path"]),
            corpus_format=wanted["format"],
            project_name=wanted["project"],
            now=now,
            actor=run.started_by,
            run=run,
        )
    except ImportRefused as refusal:
        problems = [str(problem) for problem in refusal.report.problems]
        _fail(run_id, "\n".join([str(refusal), *problems[:SHOWN_PROBLEMS]]), now)
    except ProjectInTrash as error:
        _fail(run_id, str(error), now)
    except BaseException as error:
        _fail(run_id, f"{type(error).__name__}: {error}", now)
        raise


def _fail(run_id: int, error: str, now: dt.datetime) -> None:
    Run.objects.filter(pk=run_id, state=RunState.RUNNING).update(state=RunState.FAILED, error=error, ended_at=now)
