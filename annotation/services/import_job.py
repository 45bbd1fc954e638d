"""The import as a job: what a worker does with a run of stage "import". A dry run only checks and counts."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Project, Queue, Run, RunState, Stage, User
from annotation.readers import FORMATS
from annotation.readers.judgements import file_format_of
from annotation.records import Problems
from annotation.services.decompose_job import lacks_units, request_decompose
from annotation.services.files import KeptFile, drop_spare_uploads, drop_upload, upload_path
from annotation.services.importing import ImportRefused, ImportReport, import_corpus
from annotation.services.jobs import JobRefused, Ticket, TooManyJobs, register_job, request_job
from annotation.services.judgement_import import MISSING, JudgementReport, JudgementsRefused, import_judgements
from annotation.services.projects import ProjectInTrash

# Problems and notes kept with a run; the whole report could be larger than the corpus.
KEPT_PROBLEMS = 200


class CannotImport(Exception):
    """The dry run does not allow an import. The message says why and what to do."""


def request_import(
    project: Project,
    upload: KeptFile,
    *,
    corpus_format: str,
    dry_run: bool,
    now: dt.datetime,
    actor: User | None = None,
    prefix: str = "",
    blank: str = MISSING,
) -> Run:
    """Note an import to be done, of a corpus or of judgements. The caller sends its id to a worker once this is
    committed. `prefix` and `blank` are for judgements alone."""
    if corpus_format not in FORMATS and file_format_of(corpus_format) is None:
        raise ValueError(f"{corpus_format!r} is no format. Known: {', '.join(FORMATS)}.")
    drop_spare_uploads(project)
    parameters = {
        "upload": upload.place,
        "file": upload.name,
        "bytes": upload.size,
        "sha256": upload.sha256,
        "format": corpus_format,
        "dry_run": dry_run,
    }
    if file_format_of(corpus_format):
        parameters |= {"prefix": prefix, "blank": blank}
    try:
        return request_job(Stage.IMPORT, parameters, now=now, project=project, actor=actor)
    except TooManyJobs:
        drop_upload(upload.place)
        raise


def imports_after(check: Run) -> QuerySet[Run]:
    """Imports of what a dry run has checked, done or under way."""
    runs = Run.objects.filter(project=check.project, stage=Stage.IMPORT, parameters__checked_by=check.pk)
    return runs.exclude(state__in=(RunState.FAILED, RunState.CANCELLED)).order_by("-pk")


@transaction.atomic
def request_import_after(check: Run, *, now: dt.datetime, actor: User | None = None) -> tuple[Run, bool]:
    """Import what a dry run has found good. A second click finds the run of the first: (run, whether it is new)."""
    check = Run.objects.select_for_update().get(pk=check.pk)  # two clicks at once wait for each other
    if check.stage != Stage.IMPORT or not check.parameters.get("dry_run") or check.state != RunState.DONE:
        raise CannotImport(_("This is no finished dry run. Upload the file and let it be checked first."))
    if check.counts.get("problem_count"):
        raise CannotImport(_("The dry run found problems. Mend the file and upload it again."))
    parameters = {**check.parameters, "dry_run": False, "checked_by": check.pk}
    found = imports_after(check).first()
    if found:
        return found, False
    if not upload_path(check.parameters["upload"]).exists():
        raise CannotImport(_("The uploaded file is no longer here. Upload it again."))
    return request_job(Stage.IMPORT, parameters, now=now, project=check.project, actor=actor), True


def do_import(run: Run, ticket: Ticket) -> None:
    """Import what the run asks for. The run is marked as done in the transaction that stores the corpus."""
    parameters, project = run.parameters, run.project
    assert run.started_at is not None, "a claimed run has begun"
    assert project is not None, "an import has a project"
    path = upload_path(parameters["upload"])
    if not path.exists():
        raise JobRefused(_("The uploaded file is no longer here. Upload it again."))
    dry_run = bool(parameters["dry_run"])
    if file_format_of(parameters["format"]):
        _import_votes(run, project, path, ticket)
        return
    signature = f"import format={parameters['format']} sha256={parameters['sha256']}"

    def finish(report: ImportReport) -> None:
        ticket.finish(project=project, counts=describe_report(report), signature=signature)
        if not dry_run and lacks_units(project):
            # Noted in the transaction of the import: a corpus without units is never left lying about.
            follow = request_decompose(project, now=timezone.now(), actor=run.started_by, after=run)
            Run.objects.filter(pk=run.pk).update(counts={**describe_report(report), "follow": follow.pk})

    try:
        report = import_corpus(
            path,
            corpus_format=parameters["format"],
            project_name=project.name,
            now=run.started_at,
            actor=run.started_by,
            dry_run=dry_run,
            progress=ticket.report,
            finish=finish,
        )
    except ImportRefused as refusal:
        if dry_run:  # it has found out what it should
            finish(refusal.report)
            return
        raise JobRefused(str(refusal), describe_report(refusal.report)) from refusal
    except ProjectInTrash as error:
        raise JobRefused(str(error)) from error
    if dry_run:
        finish(report)
    else:
        drop_upload(parameters["upload"])


def _import_votes(run: Run, project: Project, path: Path, ticket: Ticket) -> None:
    """Judgements of a file. A dry run does all of it and takes it back."""
    parameters, dry_run = run.parameters, bool(run.parameters["dry_run"])
    assert run.started_at is not None, "a claimed run has begun"
    try:
        with transaction.atomic():  # the run is done with what it stores, or not at all
            report = import_judgements(
                project,
                path,
                file_format=file_format_of(parameters["format"]) or "",
                now=run.started_at,
                actor=run.started_by,
                prefix=parameters["prefix"],
                blank=parameters["blank"],
                dry_run=dry_run,
                progress=ticket.report,
            )
            signature = f"import format={parameters['format']} sha256={parameters['sha256']}"
            ticket.finish(project=project, counts=_describe_votes(report), signature=signature)
    except JudgementsRefused as refusal:
        if not dry_run:
            raise JobRefused(str(refusal), _describe_votes(refusal.report)) from refusal
        ticket.finish(project=project, counts=_describe_votes(refusal.report), signature="")
        return
    if not dry_run:
        drop_upload(parameters["upload"])


def _describe_votes(report: JudgementReport) -> dict[str, Any]:
    return {
        "file": report.counts.as_dict(),
        "new": report.new.as_dict(),
        "problem_count": report.problems.count,
        "problems": _list_problems(report.problems),
    }


def _list_problems(problems: Problems) -> list[dict[str, Any]]:
    ordered = sorted(problems, key=lambda item: (item.file, item.line or 0))
    return [
        {"file": problem.file, "line": problem.line, "message": problem.message} for problem in ordered[:KEPT_PROBLEMS]
    ]


def describe_report(report: ImportReport) -> dict[str, Any]:
    """A report as JSON: what is in the files, what is new, what is wrong, what is odd."""
    return {
        "file": report.counts.as_dict(),
        "new": report.new.as_dict(),
        "problem_count": report.problems.count,
        "problems": _list_problems(report.problems),
        "notes": report.warnings[:KEPT_PROBLEMS],
        "note_count": len(report.warnings),
        "first_units": report.first_units,
    }


register_job(Stage.IMPORT, queue=Queue.IO, work=do_import)
