"""IMPORT: check everything first, then write all of it or nothing."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from annotation.comparing import compare_example
from annotation.models import (
    Example,
    FoldAxis,
    Label,
    Project,
    Reference,
    Run,
    RunState,
    Sentence,
    Stage,
    Summary,
    System,
    Unit,
    User,
)  # fmt: skip
from annotation.readers import Limits, UnreadableSource, open_source, read_corpus
from annotation.records import Counts, ExampleRecord, FoldRecord, Problems, Record, SystemRecord, UnitRecord
from annotation.services.auditing import record_audit
from annotation.services.loading import LoadedExample, load_examples, load_folds
from annotation.services.projects import find_project, obtain_project
from annotation.services.routes import forget_routes
from annotation.services.storing import Addition, Store

# Examples per batch: enough to make bulk inserts pay, few and small enough to keep memory flat.
BATCH_EXAMPLES = 50
BATCH_CHARACTERS = 4_000_000
# A text this long is taken, and flagged: it is hardly one summary.
LONG_TEXT = 100_000
FIRST_UNITS = 5
KEYS_PER_QUERY = 500
ANALYZED = [model._meta.db_table for model in (Example, Reference, Sentence, Summary, Unit, Label)]
MANY_ROWS = 1_000

Progress = Callable[[str, int, int], None]
"""Told the phase ("checking", "writing"), the bytes read and the bytes there are."""


@dataclass(slots=True)
class ImportReport:
    """What a corpus holds, what of it is new here, and everything that is wrong with it."""

    counts: Counts = field(default_factory=Counts)
    new: Counts = field(default_factory=Counts)
    problems: Problems = field(default_factory=Problems)
    first_units: list[str] = field(default_factory=list)
    project: Project | None = None
    run: Run | None = None

    @property
    def warnings(self) -> list[str]:
        """What is odd, but not wrong."""
        return self.problems.notes


class ImportRefused(Exception):
    """The corpus has problems; nothing was written."""

    def __init__(self, report: ImportReport) -> None:
        super().__init__(f"{report.problems.count} problem(s); nothing was imported.")
        self.report = report


def import_corpus(
    path: Path,
    *,
    corpus_format: str,
    project_name: str,
    now: dt.datetime,
    actor: User | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    finish: Callable[[ImportReport], None] | None = None,
) -> ImportReport:
    """Import a corpus into a project, new or known, in one transaction. A dry run only checks and counts.

    The user given leads a project that is new. `finish` is called last in the transaction: a job marks its run as
    done there, or raises and undoes everything. Without it, a run of its own is written.
    """
    report = _read(path, corpus_format, find_project(project_name), None, progress)
    if report.problems:
        raise ImportRefused(report)
    if dry_run:
        return report
    with transaction.atomic():
        project = obtain_project(project_name, now=now, lead=actor)
        # Two imports into one project wait for each other: positions and conflicts are decided under this lock.
        project = Project.objects.select_for_update().get(pk=project.pk)
        report = _read(path, corpus_format, project, Store(project, now=now), progress)
        if report.problems:
            raise ImportRefused(report)
        if connection.vendor == "postgresql" and report.new.total() > MANY_ROWS:
            # The planner knows nothing of these rows until its own round comes, and plans badly meanwhile.
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE " + ", ".join(ANALYZED))
        forget_routes(project)
        detail = {"new": report.new.as_dict()}
        record_audit("import", project, target=_printable(Path(path.name)), actor=actor, now=now, detail=detail)
        if finish:
            finish(report)
        else:
            parameters = {
                "file": _printable(Path(path.name)),
                "path": _printable(path),
                "format": corpus_format,
                "project": project.name,
            }
            report.run = _record_run(report, parameters, actor, now)
    return report


def _printable(path: Path) -> str:
    """A path as text, even if its name is not UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _record_run(report: ImportReport, parameters: dict[str, str], actor: User | None, now: dt.datetime) -> Run:
    """The run of an import that nobody queued: it is stored with the data, either both are there or neither."""
    return Run.objects.create(
        project=report.project,
        stage=Stage.IMPORT,
        state=RunState.DONE,
        parameters=parameters,
        counts={"file": report.counts.as_dict(), "new": report.new.as_dict()},
        started_by=actor,
        created_at=now,
        started_at=now,
        ended_at=timezone.now(),
    )


def _read(
    path: Path, corpus_format: str, project: Project | None, store: Store | None, progress: Progress | None
) -> ImportReport:
    """One pass over the corpus. With a store, what is new is written as it comes; without, nothing is."""
    reading = _Reading(project, store)
    problems = reading.report.problems
    try:
        with closing(open_source(path, Limits(settings.IMPORT_MAX_BYTES))) as source:
            total = sum(source.size(name) for name in source.names())
            for batch in _batches(read_corpus(source, corpus_format, problems)):
                reading.take(batch)
                if progress:
                    progress("writing" if store else "checking", min(source.bytes_read, total), total)
    except UnreadableSource as error:
        problems.add(_printable(Path(path.name)), None, str(error))
    reading.finish(_printable(Path(path.name)))
    return reading.report


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Examples in batches, other records one by one, in the order of the file."""
    batch: list[Record] = []
    size = 0
    for record in records:
        if isinstance(record, ExampleRecord):
            batch.append(record)
            size += _characters(record)
        if not isinstance(record, ExampleRecord) or len(batch) >= BATCH_EXAMPLES or size >= BATCH_CHARACTERS:
            if batch:
                yield batch
            batch, size = [], 0
        if not isinstance(record, ExampleRecord):
            yield [record]
    if batch:
        yield batch


def _characters(record: ExampleRecord) -> int:
    texts = [record.document or "", *(reference.text for reference in record.references)]
    return sum(map(len, texts)) + sum(len(summary.text) for summary in record.summaries)


class _Reading:
    """What one pass has learnt so far, and the checks that need to know it."""

    def __init__(self, project: Project | None, store: Store | None) -> None:
        self.report = ImportReport(project=project)
        self.project = project
        self.store = store
        systems = System.objects.filter(project=project) if project else System.objects.none()
        self.stored_systems = {system.name: system.trashed_at is not None for system in systems}  # name → in the trash
        self.new_systems: dict[str, bool] = {}
        self.trashed_in_file: set[str] = set()
        self.partial_systems: set[str] = set()
        self.named_systems: set[str] = set()
        self.stored_folds = {(fold.axis, fold.name): fold for fold in (load_folds(project) if project else [])}
        self.folds: list[FoldRecord] = []
        self.seen: dict[str, int] = {}  # example key → its line
        # A new system needs a summary of every example that is not in the trash, stored or new.
        self.examples = Example.objects.filter(project=project).live().count() if project else 0
        self.summaries: Counter[str] = Counter()
        self.lacking: dict[str, str] = {}  # system → the first example in this file without its summary
        self.blank: dict[str, list[str]] = {}  # system → examples with an empty summary

    def take(self, batch: list[Record]) -> None:
        examples = [record for record in batch if isinstance(record, ExampleRecord)]
        for record in batch:
            if isinstance(record, SystemRecord):
                self._take_system(record)
            elif isinstance(record, FoldRecord):
                self.folds.append(record)  # they may stand before what they name
        if examples:
            self._take_examples(examples)

    def finish(self, file: str) -> None:
        for fold in self.folds:
            self._take_fold(fold)
        if not self.report.problems:
            self._check_new_systems(file)
        for system, examples in sorted(self.blank.items()):
            self.report.problems.note(
                f"system {system!r} has {len(examples)} empty summary(s), the first for example {examples[0]!r}."
            )
        self.report.counts.systems = len(self.named_systems)

    # --- systems -------------------------------------------------------------------------------------------------

    def _take_system(self, record: SystemRecord) -> None:
        name = record.name
        stored_in_trash = self.stored_systems.get(name)
        self.named_systems.add(name)
        if record.partial:
            self.partial_systems.add(name)
        if record.trashed_at:
            self.trashed_in_file.add(name)
        if name in self.new_systems:
            self._problem(
                record, f"system {name!r} is told of after its first summary. Put this line before the examples."
            )
        elif stored_in_trash is None:
            self._add_system(name, trashed_at=record.trashed_at)
        elif stored_in_trash and not record.trashed_at:
            self._problem(record, f"system {name!r} is in the trash here. Restore it first.")
        elif record.trashed_at and not stored_in_trash:
            self._problem(record, f"system {name!r} is in the trash in the file, but not here.")

    def _add_system(self, name: str, *, trashed_at: str | None = None) -> None:
        self.new_systems[name] = trashed_at is not None
        self.report.new.systems += 1
        if len(self.seen) > 1:
            self.lacking[name] = next(iter(self.seen))  # the system comes up only now
        if self.store:
            self.store.add_system(name, trashed_at)

    def _check_new_systems(self, file: str) -> None:
        for system, is_trashed in sorted(self.new_systems.items()):
            if self.summaries[system] < self.examples and not is_trashed and system not in self.partial_systems:
                example = self.lacking.get(system) or self._first_unseen()
                self.report.problems.add(
                    file,
                    None,
                    f"system {system!r} has {self.summaries[system]} summaries for {self.examples} examples "
                    f"(example {example!r} has none). Add them; write an empty text where the system gave none.",
                )

    def _first_unseen(self) -> str:
        """The first stored example that is not in this file."""
        keys = Example.objects.filter(project=self.project).live().order_by("position").values_list("key", flat=True)
        return next((key for key in keys.iterator() if key not in self.seen), "")

    # --- examples ------------------------------------------------------------------------------------------------

    def _take_examples(self, records: list[ExampleRecord]) -> None:
        stored = self._load([record.key for record in records])
        additions = []
        for record in records:
            if record.key in self.seen:
                line = self.seen[record.key]
                self._problem(record, f"example {record.key!r} stands in line {line} already. Give it another id.")
                continue
            self.seen[record.key] = record.line
            self._note(record)
            addition = self._compare(record, stored.get(record.key))
            if addition is not None:
                additions.append(addition)
        if self.store and not self.report.problems:
            self.store.add_examples(additions)

    def _load(self, keys: list[str]) -> dict[str, LoadedExample]:
        if self.project is None:
            return {}
        examples = list(Example.objects.filter(project=self.project, key__in=keys))
        return {loaded.record.key: loaded for loaded in load_examples(examples)}

    def _note(self, record: ExampleRecord) -> None:
        """Count an example and flag what is odd but not wrong."""
        report = self.report
        report.counts.add_example(record)
        self.named_systems.update(summary.system for summary in record.summaries)
        for unit in record.units[: FIRST_UNITS - len(report.first_units)]:
            report.first_units.append(f"{record.key} {unit.key}: {unit.text}")
        for what, text in _named_texts(record):
            if len(text) >= LONG_TEXT:
                message = f"example {record.key!r}: the {what} has {len(text):,} characters. Is it one text?"
                report.problems.note(message)
        for reference in record.references:
            if not reference.sentences:
                report.problems.note(
                    f"example {record.key!r}: reference {reference.key!r} is blank and has no sentence."
                )
        for summary in record.summaries:
            if not summary.text.strip():
                self.blank.setdefault(summary.system, []).append(record.key)

    def _compare(self, record: ExampleRecord, loaded: LoadedExample | None) -> Addition | None:
        """What a record adds to what is stored; None if it cannot be added."""
        before = self.report.problems.count
        new = record
        if loaded is None:
            self._check_new_example(record)
        else:
            difference = compare_example(loaded.record, record)
            new = difference.new
            for conflict in difference.conflicts:
                self._problem(record, f"example {record.key!r} {conflict}. Nothing was overwritten.")
        for message in _broken_links(record, loaded):
            self._problem(record, message)
        for system in sorted({summary.system for summary in new.summaries} - self.trashed_in_file):
            if self.stored_systems.get(system):
                self._problem(record, f"system {system!r} is in the trash here. Restore it first.")
        if self.report.problems.count > before:
            return None
        self.report.new.add_example(new, stored=loaded.record if loaded else None)
        for summary in new.summaries:
            if summary.system not in self.stored_systems and summary.system not in self.new_systems:
                self._add_system(summary.system)
        self._count_summaries(record, loaded)
        return Addition(new, loaded)

    def _check_new_example(self, record: ExampleRecord) -> None:
        if not record.references:
            self._problem(record, f"example {record.key!r} is new and has no reference. Give it at least one.")
        if record.trashed_at:
            return
        needed = {name for name, in_trash in self.stored_systems.items() if not in_trash} - self.partial_systems
        for system in sorted(needed - {summary.system for summary in record.summaries}):
            self._problem(
                record,
                f"example {record.key!r} is new and has no summary by system {system!r}. Add it; write an empty text "
                "if the system gave none.",
            )

    def _count_summaries(self, record: ExampleRecord, loaded: LoadedExample | None) -> None:
        if record.trashed_at or (loaded and loaded.record.trashed_at):
            return
        self.examples += loaded is None
        here = {summary.system for summary in record.summaries}
        self.summaries.update(here)
        for system in self.new_systems.keys() - here:
            self.lacking.setdefault(system, record.key)

    # --- folds ---------------------------------------------------------------------------------------------------

    def _take_fold(self, record: FoldRecord) -> None:
        self.report.counts.folds += 1
        known = self.stored_folds.get((record.axis, record.name))
        members = self._known_members(record)
        missing = [member for member in record.members if member not in members]
        if known is not None and known.members != record.members:
            what = f"fold {record.name!r} by {record.axis}"
            self._problem(record, f"{what} stands here already, with other members. Nothing was overwritten.")
        elif missing:
            self._problem(record, f"fold {record.name!r} names {missing[0]!r}, which is not among the {record.axis}.")
        elif known is None:
            self.stored_folds[record.axis, record.name] = record
            self.report.new.folds += 1
            if self.store and not self.report.problems:
                self.store.add_fold(record)

    def _known_members(self, record: FoldRecord) -> set[str]:
        if record.axis == FoldAxis.SYSTEMS:
            return self.stored_systems.keys() | self.new_systems.keys()
        known = self.seen.keys() & set(record.members)
        rest = [member for member in record.members if member not in known]
        for start in range(0, len(rest), KEYS_PER_QUERY):
            keys = rest[start : start + KEYS_PER_QUERY]
            rows = (
                Example.objects.filter(project=self.project, key__in=keys) if self.project else Example.objects.none()
            )
            known |= set(rows.values_list("key", flat=True))
        return known

    def _problem(self, record: Record, message: str) -> None:
        self.report.problems.add(record.file, record.line, message)


def _named_texts(record: ExampleRecord) -> Iterator[tuple[str, str]]:
    yield "document", record.document or ""
    for reference in record.references:
        yield f"reference {reference.key!r}", reference.text
    for summary in record.summaries:
        yield f"summary by {summary.system!r}", summary.text


def _broken_links(record: ExampleRecord, loaded: LoadedExample | None) -> Iterator[str]:
    """Everything that a part points to must be in the file or stored."""
    references = {reference.key for reference in record.references} | set(loaded.references if loaded else ())
    systems = {summary.system for summary in record.summaries} | set(loaded.summaries if loaded else ())
    sentences = set(loaded.sentences if loaded else ())
    for reference in record.references:
        sentences.update((reference.key, sentence.revision, sentence.position) for sentence in reference.sentences)
    texts = {item.key: item.text for item in (*(loaded.record.references if loaded else ()), *record.references)}
    for unit in record.units:
        places = [place for span in unit.spans for place in span]
        if places and (unit.reference is None or places[-1] > len(texts.get(unit.reference, "")) or not rises(places)):
            yield f"unit {unit.key!r} has spans that are no places of its reference, in order: {list(unit.spans)}."
        for contributor in unit.contributors:
            if contributor.end is not None and contributor.end > len(texts.get(contributor.reference, "")):
                yield f"a contributor of unit {unit.key!r} ends behind reference {contributor.reference!r}."
        for key, sentence in _places(unit):
            if key not in references:
                yield f"unit {unit.key!r} names reference {key!r}, which does not exist."
            elif sentence and (key, *sentence) not in sentences:
                yield f"unit {unit.key!r} names sentence {sentence[1]}, which reference {key!r} does not have."
        for system in sorted({label.system for label in unit.labels} - systems):
            yield f"unit {unit.key!r} has a label for system {system!r}, which has no summary here."
    for mix in record.mixes:
        if mix.reference not in references:
            yield f"mix {mix.name!r} names reference {mix.reference!r}, which does not exist."


def rises(numbers: list[int]) -> bool:
    return all(one <= other for one, other in pairwise(numbers))


def _places(unit: UnitRecord) -> Iterator[tuple[str, tuple[int, int] | None]]:
    if unit.reference is not None:
        yield unit.reference, unit.sentence
    for contributor in unit.contributors:
        yield contributor.reference, contributor.sentence
