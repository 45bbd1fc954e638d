"""IMPORT: check everything first, then write all of it or nothing."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Count

from annotation.comparing import compare_example
from annotation.models import Example, FoldAxis, Project, Run, RunState, Stage, Summary, System, User
from annotation.readers import Limits, UnreadableSource, open_source, read_corpus
from annotation.records import Counts, ExampleRecord, FoldRecord, Problems, Record, SystemRecord, UnitRecord
from annotation.services.auditing import record_audit
from annotation.services.loading import LoadedExample, load_examples, load_folds
from annotation.services.projects import create_project, find_project
from annotation.services.storing import Addition, Store

# Examples per batch: enough to make bulk inserts pay, few enough to keep memory flat.
BATCH = 50
# A text this long is taken, and flagged: it is hardly one summary.
LONG_TEXT = 100_000
WARNINGS_KEPT = 100
FIRST_UNITS = 5

Progress = Callable[[str, int, int], None]
"""Told the phase ("checking", "writing"), the bytes read and the bytes there are."""


@dataclass(slots=True)
class ImportReport:
    """What a corpus holds, what of it is new here, and everything that is wrong with it."""

    counts: Counts = field(default_factory=Counts)
    new: Counts = field(default_factory=Counts)
    problems: Problems = field(default_factory=Problems)
    warnings: list[str] = field(default_factory=list)
    first_units: list[str] = field(default_factory=list)
    project: Project | None = None
    run: Run | None = None

    def warn(self, message: str) -> None:
        if len(self.warnings) < WARNINGS_KEPT:
            self.warnings.append(message)


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
    run: Run | None = None,
) -> ImportReport:
    """Import a corpus into a project, new or known, in one transaction. A dry run only checks and counts.

    `run` is the row of a job that was asked for earlier; without one, a row is written with the data.
    """
    report = _read(path, corpus_format, find_project(project_name), None, progress)
    if report.problems:
        raise ImportRefused(report)
    if dry_run:
        return report
    with transaction.atomic():
        project = find_project(project_name) or create_project(project_name, now=now, lead=actor)
        # Two imports into one project wait for each other: positions and conflicts are decided under this lock.
        project = Project.objects.select_for_update().get(pk=project.pk)
        report = _read(path, corpus_format, project, Store(project, now=now), progress)
        if report.problems:
            raise ImportRefused(report)
        parameters = {"path": str(path), "format": corpus_format, "project": project.name}
        report.run = _close_run(
            run or Run(stage=Stage.IMPORT, created_at=now, started_by=actor, parameters=parameters), report, now
        )
        record_audit("import", project, target=path.name, actor=actor, now=now, detail={"new": report.new.as_dict()})
    return report


def _close_run(run: Run, report: ImportReport, now: dt.datetime) -> Run:
    """The outcome is stored with the data: either both are there or neither."""
    run.project = report.project
    run.state = RunState.DONE
    run.started_at = run.started_at or now
    run.ended_at = now
    run.steps_done = run.steps_total
    run.counts = {"file": report.counts.as_dict(), "new": report.new.as_dict()}
    run.save()
    return run


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
        problems.add(path.name, None, str(error))
    if not problems:
        reading.check_summaries(path.name)
    reading.report.counts.systems = len(reading.named_systems)
    return reading.report


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    iterator = iter(records)
    while batch := list(itertools.islice(iterator, BATCH)):
        yield batch


class _Reading:
    """What one pass has learnt so far, and the checks that need to know it."""

    def __init__(self, project: Project | None, store: Store | None) -> None:
        self.report = ImportReport(project=project)
        self.project = project
        self.store = store
        systems = System.objects.filter(project=project) if project else System.objects.none()
        self.systems = {system.name: system.trashed_at is not None for system in systems}  # name → in the trash
        self.folds = {(fold.axis, fold.name): fold for fold in (load_folds(project) if project else [])}
        self.named_systems: set[str] = set()
        self.seen: dict[str, int] = {}  # example key → its line
        # A system must have a summary of every example that is not in the trash: counts of both, stored and new.
        self.examples = Example.objects.filter(project=project).live().count() if project else 0
        self.summaries = Counter(_count_summaries(project) if project else {})
        self.lacking: dict[str, str] = {}  # system → the first example in this file without its summary

    def take(self, batch: list[Record]) -> None:
        for record in batch:
            if isinstance(record, SystemRecord):
                self._take_system(record)
        self._take_examples([record for record in batch if isinstance(record, ExampleRecord)])
        for record in batch:
            if isinstance(record, FoldRecord):
                self._take_fold(record)

    # --- systems -------------------------------------------------------------------------------------------------

    def _take_system(self, record: SystemRecord) -> None:
        self.named_systems.add(record.name)
        if record.name not in self.systems:
            self._add_system(record.name, trashed_at=record.trashed_at)
        elif self.systems[record.name] and not record.trashed_at:
            self._problem(record, f"system {record.name!r} is in the trash. Restore it first.")

    def _add_system(self, name: str, *, trashed_at: str | None = None) -> None:
        self.systems[name] = trashed_at is not None
        self.report.new.systems += 1
        if len(self.seen) > 1:
            self.lacking[name] = next(iter(self.seen))  # the system comes up only now
        if self.store:
            self.store.add_system(name, trashed_at)

    # --- examples ------------------------------------------------------------------------------------------------

    def _take_examples(self, records: list[ExampleRecord]) -> None:
        stored = self._load([record.key for record in records])
        additions = []
        for record in records:
            if record.key in self.seen:
                self._problem(record, f"example {record.key!r} stands in line {self.seen[record.key]} already.")
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
        texts = [("document", record.document or "")]
        texts += [(f"reference {reference.key!r}", reference.text) for reference in record.references]
        texts += [(f"summary by {summary.system!r}", summary.text) for summary in record.summaries]
        for what, text in texts:
            if len(text) >= LONG_TEXT:
                report.warn(f"example {record.key!r}: the {what} has {len(text):,} characters. Is it one text?")
        for reference in record.references:
            if not reference.sentences:
                report.warn(f"example {record.key!r}: reference {reference.key!r} is blank and has no sentence.")

    def _compare(self, record: ExampleRecord, loaded: LoadedExample | None) -> Addition | None:
        """What a record adds to what is stored; None if it cannot be added."""
        before = self.report.problems.count
        new = record
        if loaded is None and not record.references:
            self._problem(record, f"example {record.key!r} is new and has no reference. Give it at least one.")
        if loaded is not None:
            difference = compare_example(loaded.record, record)
            new = difference.new
            for conflict in difference.conflicts:
                self._problem(record, f"example {record.key!r} {conflict}. Nothing was overwritten.")
        for message in _broken_links(record, loaded):
            self._problem(record, message)
        if self.report.problems.count > before:
            return None
        self.report.new.add_example(new, stored=loaded.record if loaded else None)
        for summary in new.summaries:
            if summary.system not in self.systems:
                self._add_system(summary.system)
        self._count_summaries(record, new, loaded)
        return Addition(new, loaded)

    # --- every system has a summary of every example ---------------------------------------------------------------

    def _count_summaries(self, record: ExampleRecord, new: ExampleRecord, loaded: LoadedExample | None) -> None:
        if record.trashed_at or (loaded and loaded.record.trashed_at):
            return
        self.examples += loaded is None
        self.summaries.update(summary.system for summary in new.summaries)
        here = {summary.system for summary in record.summaries} | set(loaded.summaries if loaded else ())
        for system in self.systems.keys() - here:
            self.lacking.setdefault(system, record.key)

    def check_summaries(self, file: str) -> None:
        for system, is_trashed in sorted(self.systems.items()):
            if self.summaries[system] < self.examples and not is_trashed:
                example = self.lacking.get(system) or self._first_without(system)
                self.report.problems.add(
                    file,
                    None,
                    f"system {system!r} has {self.summaries[system]} summaries for {self.examples} examples "
                    f"(example {example!r} has none). Add them; write an empty text where the system gave none.",
                )

    def _first_without(self, system: str) -> str:
        """The first stored example, not in this file, that lacks a system."""
        stored = Example.objects.filter(project=self.project).live().exclude(summaries__system__name=system)
        keys = stored.order_by("position").values_list("key", flat=True)
        return next((key for key in keys.iterator() if key not in self.seen), "")

    # --- folds ---------------------------------------------------------------------------------------------------

    def _take_fold(self, record: FoldRecord) -> None:
        self.report.counts.folds += 1
        known = self.folds.get((record.axis, record.name))
        missing = [member for member in record.members if not self._has_member(record.axis, member)]
        if known is not None and known.members != record.members:
            self._problem(
                record, f"fold {record.name!r} by {record.axis} has other members here. Nothing was overwritten."
            )
        elif missing:
            self._problem(record, f"fold {record.name!r} names {missing[0]!r}, which is not among the {record.axis}.")
        elif known is None:
            self.folds[record.axis, record.name] = record
            self.report.new.folds += 1
            if self.store and not self.report.problems:
                self.store.add_fold(record)

    def _has_member(self, axis: str, member: str) -> bool:
        if axis == FoldAxis.SYSTEMS:
            return member in self.systems
        return member in self.seen or Example.objects.filter(project=self.project, key=member).exists()

    def _problem(self, record: Record, message: str) -> None:
        self.report.problems.add(record.file, record.line, message)


def _count_summaries(project: Project) -> dict[str, int]:
    rows = Summary.objects.filter(system__project=project, example__trashed_at__isnull=True)
    return dict(rows.values_list("system__name").annotate(n=Count("pk")).order_by())


def _broken_links(record: ExampleRecord, loaded: LoadedExample | None) -> Iterator[str]:
    """Everything that a part points to must be in the file or stored."""
    references = {reference.key for reference in record.references} | set(loaded.references if loaded else ())
    systems = {summary.system for summary in record.summaries} | set(loaded.summaries if loaded else ())
    sentences = set(loaded.sentences if loaded else ())
    for reference in record.references:
        sentences.update((reference.key, sentence.revision, sentence.position) for sentence in reference.sentences)
    for unit in record.units:
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


def _places(unit: UnitRecord) -> Iterator[tuple[str, tuple[int, int] | None]]:
    if unit.reference is not None:
        yield unit.reference, unit.sentence
    for contributor in unit.contributors:
        yield contributor.reference, contributor.sentence
