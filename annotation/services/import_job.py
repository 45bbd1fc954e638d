"""The import as a job: what a worker does with a run of stage "import"."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from annotation.models import Queue, Run, Stage, User
from annotation.readers import FORMATS
from annotation.services.importing import ImportRefused, ImportReport, import_corpus
from annotation.services.jobs import JobRefused, Ticket, register_job, request_job
from annotation.services.projects import BadProjectName, ProjectInTrash

# Messages kept with a failed run; the whole report could be larger than the corpus.
KEPT_PROBLEMS = 50


def request_import(
    path: Path, *, corpus_format: str, project_name: str, now: dt.datetime, actor: User | None = None
) -> Run:
    """Note an import to be done. The caller sends its id to a worker once this is committed."""
    if corpus_format not in FORMATS:
        raise ValueError(f"{corpus_format!r} is no format. Known: {', '.join(FORMATS)}.")
    parameters = {"path": str(path), "format": corpus_format, "project": project_name}
    return request_job(Stage.IMPORT, parameters, now=now, actor=actor)


def do_import(run: Run, ticket: Ticket) -> None:
    """Import what the run asks for. The run is marked as done in the transaction that stores the corpus."""

    def finish(report: ImportReport) -> None:
        counts = {"file": report.counts.as_dict(), "new": report.new.as_dict()}
        ticket.finish(project=report.project, counts=counts)

    assert run.started_at is not None, "a claimed run has begun"
    try:
        import_corpus(
            Path(run.parameters["path"]),
            corpus_format=run.parameters["format"],
            project_name=run.parameters["project"],
            now=run.started_at,
            actor=run.started_by,
            progress=ticket.report,
            finish=finish,
        )
    except ImportRefused as refusal:
        problems = [str(problem) for problem in refusal.report.problems]
        raise JobRefused("\n".join([str(refusal), *problems[:KEPT_PROBLEMS]])) from refusal
    except (ProjectInTrash, BadProjectName) as error:
        raise JobRefused(str(error)) from error


register_job(Stage.IMPORT, queue=Queue.IO, work=do_import)
