"""EXPORT: everything of a project into a folder, whole or not at all, with a manifest to check it by."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Example, Project, Run, RunState, Stage, User
from annotation.records import Counts
from annotation.services.auditing import record_audit
from annotation.services.loading import iterate_examples, load_folds, load_systems
from annotation.writers import WRITERS, CorpusWriter

MANIFEST = "manifest.json"

Progress = Callable[[int, int], None]
"""Told the examples written and the examples there are."""


class ExportRefused(Exception):
    """Nothing was written. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written, and what the format has no place for."""

    counts: Counts
    left_out: dict[str, int]
    files: list[dict[str, str | int]]
    directory: Path


def export_corpus(
    project: Project,
    directory: Path,
    *,
    corpus_format: str,
    now: dt.datetime,
    actor: User | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """Write a project into a new or empty folder. The folder appears when it is complete, or not at all."""
    directory = Path(os.path.abspath(directory))  # noqa: PTH100 (resolves "..", leaves links as they are)
    draft = _prepare(directory)
    try:
        report = write_corpus(project, draft, corpus_format=corpus_format, now=now, progress=progress)
        report = replace(report, directory=directory)
        draft.chmod(0o755)
        with transaction.atomic():
            # The folder appears last: if the log cannot be written, there is no export either.
            _record(project, report, corpus_format, now, actor)
            draft.replace(directory)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise ExportRefused(
            f"{directory} cannot be written: {error.strerror or error}. Name another folder."
        ) from error
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return report


def write_corpus(
    project: Project, folder: Path, *, corpus_format: str, now: dt.datetime, progress: Progress | None = None
) -> ExportReport:
    """Write one state of a project, with its manifest, into an empty folder."""
    writer = _write(project, folder, corpus_format, progress)
    files = _write_manifest(project, folder, corpus_format, writer, now)
    return ExportReport(writer.counts, dict(writer.left_out), files, folder)


def _prepare(directory: Path) -> Path:
    """A draft folder beside the target, after a look at the target."""
    try:
        if directory.exists() and not directory.is_dir():
            raise ExportRefused(f"{directory} is a file. Name a folder that does not exist yet.")
        if directory.exists() and any(directory.iterdir()):
            raise ExportRefused(
                f"{directory} is not empty. Name a folder that does not exist yet; nothing is overwritten."
            )
        directory.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        raise ExportRefused(f"{directory} cannot be written: {error.strerror}. Name another folder.") from error


def _write(project: Project, draft: Path, corpus_format: str, progress: Progress | None) -> CorpusWriter:
    with snapshot():
        total = Example.objects.filter(project=project).count()
        with closing(WRITERS[corpus_format](draft, project.name, load_systems(project))) as writer:
            for number, loaded in enumerate(iterate_examples(project), start=1):
                writer.write_example(loaded.record)
                if progress:
                    progress(number, total)
            writer.finish(load_folds(project))
    if writer.refusals:
        reasons = "\n  ".join(writer.refusals)
        raise ExportRefused(
            f"{corpus_format} cannot hold this project:\n  {reasons}\nUse the format jsonl, which holds everything."
        )
    return writer


@contextmanager
def snapshot() -> Iterator[None]:
    """Read from one state of the database, whatever others write meanwhile, and without keeping them from it."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        # Not atomic(): with IMMEDIATE transactions that would take the write lock.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def _write_manifest(
    project: Project, draft: Path, corpus_format: str, writer: CorpusWriter, now: dt.datetime
) -> list[dict[str, str | int]]:
    files: list[dict[str, str | int]] = [
        {"name": path.relative_to(draft).as_posix(), "bytes": path.stat().st_size, "sha256": _sha256(path)}
        for path in sorted(draft.rglob("*"))
        if path.is_file()
    ]
    manifest = {
        "product": "Pyramid Workbench",
        "format": corpus_format,
        "project": project.name,
        "exported_at": now.isoformat(),
        "counts": writer.counts.as_dict(),
        "left_out": dict(writer.left_out),
        "files": files,
    }
    (draft / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return files


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(project: Project, report: ExportReport, corpus_format: str, now: dt.datetime, actor: User | None) -> None:
    """The run and the audit entry of an export that nobody queued."""
    Run.objects.create(
        project=project,
        stage=Stage.EXPORT,
        state=RunState.DONE,
        parameters={"directory": str(report.directory), "format": corpus_format},
        counts=report.counts.as_dict(),
        started_by=actor,
        created_at=now,
        started_at=now,
        ended_at=timezone.now(),
    )
    detail = {"format": corpus_format}
    record_audit("export", project, target=report.directory.name, actor=actor, now=now, detail=detail)
