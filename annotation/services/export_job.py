"""The export as a job: a zip of everything, made by a worker, kept for some days, downloaded through the project."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
import shutil
import tempfile
import zipfile
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.models import Project, Queue, Run, RunState, Stage, User
from annotation.readers import FORMATS
from annotation.readers.judgements import file_format_of
from annotation.services.auditing import record_audit
from annotation.services.exporting import ExportRefused, ExportReport, write_corpus
from annotation.services.files import export_path
from annotation.services.jobs import JobRefused, Ticket, register_job, request_job
from annotation.services.judgement_export import JudgementExport, write_judgements

# A zip holds no dates before 1980; a fixed one makes the same corpus the same file.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def request_export(project: Project, *, corpus_format: str, now: dt.datetime, actor: User | None = None) -> Run:
    """Note an export to be done. The caller sends its id to a worker once this is committed."""
    if corpus_format not in FORMATS and file_format_of(corpus_format) is None:
        raise ValueError(f"{corpus_format!r} is no format. Known: {', '.join(FORMATS)}.")
    return request_job(Stage.EXPORT, {"format": corpus_format}, now=now, project=project, actor=actor)


def do_export(run: Run, ticket: Ticket) -> None:
    """Write the project into a zip. The file lies in its place before the run is marked as done, never after."""
    project, now, corpus_format = run.project, run.started_at, run.parameters["format"]
    assert project is not None, "an export has a project"
    assert now is not None, "a claimed run has begun"
    settings.EXPORTS_DIR.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=settings.EXPORTS_DIR))
    target = export_path(f"{secrets.token_hex(16)}.zip")
    folder = draft / f"{project.slug}-{corpus_format}"
    try:
        folder.mkdir()
        report = _write(project, folder, corpus_format, now, ticket)
        _pack(folder, draft / target.name, ticket)
        download = {
            "place": target.name,
            "name": f"{folder.name}-{now:%Y-%m-%d}.zip",
            "bytes": (draft / target.name).stat().st_size,
            "sha256": _sha256(draft / target.name),
        }
        (draft / target.name).replace(target)
        counts = {**report.counts.as_dict(), "left_out": report.left_out, "files": report.files, "download": download}
        with transaction.atomic():
            detail = {"format": corpus_format, "sha256": download["sha256"]}
            record_audit("export", project, target=str(download["name"]), actor=run.started_by, now=now, detail=detail)
            ticket.finish(project=project, counts=counts, signature=f"export format={corpus_format}")
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, ExportRefused):
            raise JobRefused(str(error)) from error
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(
    project: Project, folder: Path, corpus_format: str, now: dt.datetime, ticket: Ticket
) -> ExportReport | JudgementExport:
    file_format = file_format_of(corpus_format)
    if file_format:
        ticket.report("writing", 0, 1)
        return write_judgements(project, folder, file_format=file_format, now=now)
    return write_corpus(
        project,
        folder,
        corpus_format=corpus_format,
        now=now,
        progress=lambda done, total: ticket.report("writing", done, total),
    )


def download_of(run: Run) -> Path | None:
    """The file that an export made, as long as it is kept."""
    download = run.counts.get("download") if run.stage == Stage.EXPORT and run.state == RunState.DONE else None
    path = export_path(download["place"]) if download else None
    return path if path and path.is_file() else None


def _pack(folder: Path, target: Path, ticket: Ticket) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
        for number, path in enumerate(files, start=1):
            info = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", ZIP_DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as member:
                shutil.copyfileobj(source, member, 1024 * 1024)
            ticket.report("packing", number, len(files))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


register_job(Stage.EXPORT, queue=Queue.IO, work=do_export)
