"""EXPORT of judgements: who said what of which unit, under pseudonyms, with a manifest of counts to check it by."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import Q, QuerySet

from annotation.models import Answer, Assignment, FillerAnswer, Judgement, Person, Project, System, Unit, User
from annotation.readers.judgements import (
    CONTENT,
    FILE_FORMATS,
    MANIFEST,
    AskedRecord,
    AssignmentRecord,
    match_statements,
    normal,
)
from annotation.services.auditing import record_audit
from annotation.services.exporting import ExportRefused, _prepare, _sha256, snapshot
from annotation.services.pseudonyms import exported_name
from annotation.writers.judgements import AmtTable, CsvVotes, JsonlVotes, amt_columns, amt_row
from annotation.writers.lite23 import is_file_name

VERSION = 1
CHUNK = 300
LOOSE = "votes of no assignment"
TRASHED = "judgements of what is in the trash"

Row = TypeVar("Row", bound=models.Model)
UnitKey = tuple[str, str, int]
"""Kind, key and revision of a unit."""


@dataclass(slots=True)
class JudgementCounts:
    """What was written. `missing`: units that were asked and got no answer."""

    assignments: int = 0
    judgements: int = 0
    fillers: int = 0
    fillers_present: int = 0
    judges: int = 0
    missing: int = 0

    def add(self, record: AssignmentRecord) -> None:
        fillers = [one for one in record.asked if one.is_filler]
        answered = sum(one.answer is not None for one in record.asked if not one.is_filler)
        self.assignments += not record.is_loose
        self.judgements += answered
        self.missing += len(record.asked) - len(fillers) - answered
        self.fillers += len(fillers)
        self.fillers_present += sum(one.answer == Answer.PRESENT for one in fillers)

    def as_dict(self) -> dict[str, int]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(slots=True)
class JudgementExport:
    """What was written, what has no place in it, and the files with their sums."""

    counts: JudgementCounts = field(default_factory=JudgementCounts)
    left_out: dict[str, int] = field(default_factory=dict)
    files: list[dict[str, str | int]] = field(default_factory=list)
    directory: Path = Path()


def export_judgements(
    project: Project, folder: Path, *, file_format: str, now: dt.datetime, actor: User | None = None
) -> JudgementExport:
    """Write the judgements of a project into a new or empty folder, which appears when it is complete or not at all."""
    if file_format not in FILE_FORMATS:
        raise ValueError(f"{file_format!r} is no format. Known: {', '.join(FILE_FORMATS)}.")
    directory = Path(os.path.abspath(folder))  # noqa: PTH100 (resolves "..", leaves links as they are)
    draft = _prepare(directory)
    try:
        report = write_judgements(project, draft, file_format=file_format, now=now)
        report.directory = directory
        draft.chmod(0o755)
        with transaction.atomic():
            # The folder appears last: if the log cannot be written, there is no export either.
            detail = {"format": file_format, "counts": report.counts.as_dict()}
            record_audit("export judgements", project, target=directory.name, actor=actor, now=now, detail=detail)
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


def write_judgements(project: Project, folder: Path, *, file_format: str, now: dt.datetime) -> JudgementExport:
    """Write one state of a project's judgements, with their manifest, into an empty folder."""
    report = JudgementExport()
    with snapshot():
        if file_format == "amt":
            rows = _write_amt(project, folder, report.counts)
        else:
            rows = _write_votes(project, folder / f"judgements.{file_format}", report.counts)
        report.counts.judges = _count_judges(project, with_loose=file_format != "amt")
        report.left_out = _left_out(project, report.counts, with_loose=file_format != "amt")
    report.files = [
        {"name": name, "rows": number, "bytes": (folder / name).stat().st_size, "sha256": _sha256(folder / name)}
        for name, number in sorted(rows.items())
    ]
    manifest = {
        "product": "Pyramid Workbench",
        "content": CONTENT,
        "format": file_format,
        "version": VERSION,
        "project": project.name,
        "exported_at": now.isoformat(),
        "counts": report.counts.as_dict(),
        "left_out": report.left_out,
        "files": report.files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return report


def _write_votes(project: Project, path: Path, counts: JudgementCounts) -> dict[str, int]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = JsonlVotes(file) if path.suffix == ".jsonl" else CsvVotes(file)
        for chunk in _in_chunks(_live_assignments(project)):
            for _, record in _Chunk(project, chunk).records():
                counts.add(record)
                writer.write(record)
        for record in _loose_records(project):
            counts.add(record)
            writer.write(record)
    return {path.name: writer.rows}


def _write_amt(project: Project, folder: Path, counts: JudgementCounts) -> dict[str, int]:
    """A file for each system that people judged."""
    judged = _live_assignments(project).order_by().values("summary__system")
    systems = sorted(System.objects.filter(pk__in=judged).values_list("name", "pk"))
    refused = [name for name, _ in systems if not is_file_name(f"{name}.csv")]
    folded = [name.casefold() for name, _ in systems]
    refused += [name for name, _ in systems if folded.count(name.casefold()) > 1]
    if refused:
        raise ExportRefused(
            f"amt has a file for each system, and {refused[0]!r} cannot be the name of one of its own. "
            "Use the format jsonl, which holds everything."
        )
    return {f"{name}.csv": _write_system(project, pk, folder / f"{name}.csv", counts) for name, pk in systems}


def _write_system(project: Project, system: int, path: Path, counts: JudgementCounts) -> int:
    """The first line names every column that a row has, so rows wait in a file of their own until all are known."""
    columns: set[str] = set()
    statements = 0
    with TemporaryFile("w+", encoding="utf-8", dir=path.parent) as waiting:
        for record, row in _amt_rows(project, system):
            counts.add(record)
            columns |= row.keys()
            statements = max(statements, len(record.asked))
            waiting.write(json.dumps(row) + "\n")
        waiting.seek(0)
        with path.open("w", encoding="utf-8", newline="") as file:
            table = AmtTable(file, amt_columns(columns, statements))
            for line in waiting:
                table.write(json.loads(line))
    return table.rows


def _amt_rows(project: Project, system: int) -> Iterator[tuple[AssignmentRecord, dict[str, str]]]:
    for chunk in _in_chunks(_live_assignments(project).filter(summary__system=system)):
        loaded = _Chunk(project, chunk)
        for assignment, record in loaded.records():
            texts = loaded.by_text[assignment.summary.example_id]
            yield record, amt_row(record, with_units=_needs_names(record, texts))


def _needs_names(record: AssignmentRecord, units: dict[str, list[UnitKey]]) -> bool:
    """Whether somebody who reads the statements alone would take one for another unit, or a filler for a unit."""
    if any(one.is_filler != (one.text.strip() == "BLANK") for one in record.asked):
        return True
    asked = [one for one in record.asked if not one.is_filler]
    return match_statements([one.text for one in asked], units) != [one.unit for one in asked]


# --- rows -------------------------------------------------------------------------------------------------------------


def _live_assignments(project: Project) -> QuerySet[Assignment]:
    live = Q(summary__example__trashed_at__isnull=True, summary__system__trashed_at__isnull=True)
    return Assignment.objects.filter(live, project=project)


def _loose_judgements(project: Project) -> QuerySet[Judgement]:
    live = Q(
        summary__example__trashed_at__isnull=True,
        summary__system__trashed_at__isnull=True,
        unit__trashed_at__isnull=True,
    )
    return Judgement.objects.filter(live, assignment__isnull=True, summary__example__project=project)


def _in_chunks(rows: QuerySet[Row]) -> Iterator[list[Any]]:
    """Rows in the order in which they were stored, with bounded memory."""
    last = 0
    related = rows.select_related("summary__example", "summary__system", "judge").defer(
        "summary__example__document"  # long, and in no file of judgements
    )
    while chunk := list(related.filter(pk__gt=last).order_by("pk")[:CHUNK]):
        last = chunk[-1].pk
        yield chunk
        if len(chunk) < CHUNK:
            return


class _Chunk:
    """Some assignments with all that was said in them, in a fixed number of queries."""

    def __init__(self, project: Project, assignments: list[Assignment]) -> None:
        self.project, self.assignments = project, assignments
        ids = [one.pk for one in assignments]
        self.votes: defaultdict[int, dict[int, tuple[Any, ...]]] = defaultdict(dict)
        told = ("assignment", "unit", "answer", "judged_at", "seconds", "shown")
        # Sorted here: asked to sort by row, SQLite would walk through the whole table instead of taking the index.
        votes = sorted(Judgement.objects.filter(assignment__in=ids).values_list("pk", *told))
        for _, assignment, unit, *vote in votes:
            self.votes[assignment][unit] = tuple(vote)
        self.fillers: defaultdict[int, dict[int, tuple[str, str | None]]] = defaultdict(dict)
        said = FillerAnswer.objects.filter(assignment__in=ids)
        for assignment, position, text, answer in said.values_list("assignment", "position", "text", "answer"):
            self.fillers[assignment][position] = (text, answer)
        # What an import would take a text for: the current units of an example by their normal texts, in their order.
        self.by_text: defaultdict[int, dict[str, list[UnitKey]]] = defaultdict(dict)
        self.units: dict[int, tuple[UnitKey, str]] = {}
        live = Unit.objects.live().filter(example__in={one.summary.example_id for one in assignments})
        columns = ("pk", "example", "kind", "key", "revision", "text", "superseded_at")
        for pk, example, kind, key, revision, text, superseded_at in live.order_by(
            "kind", "position", "pk"
        ).values_list(*columns):
            self.units[pk] = ((kind, key, revision), text)
            if superseded_at is None:
                self.by_text[example].setdefault(normal(text), []).append((kind, key, revision))

    def records(self) -> Iterator[tuple[Assignment, AssignmentRecord]]:
        for one in self.assignments:
            asked = tuple(self._asked(one))
            if not asked:  # all that it was about is in the trash
                continue
            yield (
                one,
                AssignmentRecord(
                    example=one.summary.example.key,
                    system=one.summary.system.name,
                    worker=_name(self.project, one.judge),
                    asked=asked,
                    name=one.key.removeprefix("file-"),
                    is_linked=one.judge.is_linked,
                    summary=one.summary.text,
                    origin=one.origin,
                    seconds=one.seconds,
                    submitted_at=_utc(one.submitted_at),
                    details=one.details,
                ),
            )

    def _asked(self, one: Assignment) -> Iterator[AskedRecord]:
        votes, fillers = self.votes[one.pk], self.fillers[one.pk]
        asked = [(unit, question, place) for place, (unit, question) in enumerate(one.asked, start=1)]
        # Nothing that somebody said is left out, even if the list of what was asked does not have it.
        named = {unit for unit, _, _ in asked}
        more = [unit for unit in votes if unit not in named]
        asked += [(unit, str(place), 0) for place, unit in enumerate(more, start=len(asked) + 1)]
        places = {place for unit, _, place in asked if unit is None}
        asked += [(None, f"filler {place}", place) for place in sorted(fillers.keys() - places)]
        for unit, question, place in asked:
            if unit is None and place in fillers:
                text, answer = fillers[place]
                yield AskedRecord(text, answer, question, is_filler=True)
            elif unit in self.units:
                name, text = self.units[unit]
                answer, judged_at, seconds, shown = votes.get(unit, (None, None, None, ""))
                yield AskedRecord(text, answer, question, name, False, _utc(judged_at), seconds, shown)


def _loose_records(project: Project) -> Iterator[AssignmentRecord]:
    """Votes that came without an assignment."""
    for chunk in _in_chunks(_loose_judgements(project)):
        units = Unit.objects.in_bulk({one.unit_id for one in chunk})
        for one in chunk:
            unit = units[one.unit_id]
            asked = AskedRecord(
                text=unit.text,
                answer=one.answer,
                question="",
                unit=(unit.kind, unit.key, unit.revision),
                judged_at=_utc(one.judged_at),
                seconds=one.seconds,
                shown=one.shown,
            )
            yield AssignmentRecord(
                example=one.summary.example.key,
                system=one.summary.system.name,
                worker=_name(project, one.judge),
                asked=(asked,),
                is_loose=True,
                is_linked=one.judge.is_linked,
            )


def _name(project: Project, judge: Person) -> str:
    return exported_name(project, judge.key, has_account=judge.user_id is not None)


def _utc(moment: dt.datetime | None) -> dt.datetime | None:
    return moment.astimezone(dt.UTC) if moment else None


def _count_judges(project: Project, *, with_loose: bool) -> int:
    wanted = Q(pk__in=_live_assignments(project).order_by().values("judge"))
    if with_loose:
        wanted |= Q(pk__in=_loose_judgements(project).values("judge"))
    return Person.objects.filter(wanted, project=project).count()


def _left_out(project: Project, counts: JudgementCounts, *, with_loose: bool) -> dict[str, int]:
    loose = 0 if with_loose else _loose_judgements(project).count()
    total = Judgement.objects.filter(summary__example__project=project).count()
    found = {TRASHED: total - counts.judgements - loose, LOOSE: loose}
    return {what: number for what, number in found.items() if number}
