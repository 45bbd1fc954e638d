"""JUDGE: what people answered elsewhere, from files. All of it or nothing, and nothing is overwritten."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q

from annotation.batching import batched
from annotation.models import (
    Answer,
    Assignment,
    Example,
    FillerAnswer,
    Judgement,
    JudgementVersion,
    Person,
    Project,
    Summary,
    System,
    Unit,
    User,
    WorkerIdentity,
)
from annotation.pseudonyms import is_pseudonym, is_row, row_pseudonym
from annotation.readers import Limits, UnreadableSource, open_source
from annotation.readers.fields import BadRow
from annotation.readers.judgements import (
    FILE_FORMATS,
    MANIFEST,
    AskedRecord,
    AssignmentRecord,
    match_statements,
    names_own_export,
    normal,
    read_judgements,
)
from annotation.records import Problems
from annotation.services.auditing import record_audit
from annotation.services.bulk import insert_rows, quoted_columns, quoted_table
from annotation.services.judging import store_judgements
from annotation.services.pseudonyms import exported_name, name_worker

# Assignments per batch: enough to make bulk inserts pay, few enough to keep memory flat.
BATCH = 400
MISSING, PRESENT = "missing", "present"
BLANKS = (MISSING, PRESENT)
MANY_ROWS = 1_000
VOTE = ("unit_id", "summary_id", "judge_id", "assignment_id", "answer", "shown", "seconds", "judged_at")
ANALYZED = [model._meta.db_table for model in (Person, Assignment, Judgement, JudgementVersion, FillerAnswer)]

Progress = Callable[[str, int, int], None]
"""Told the phase, the bytes read and the bytes there are."""


@dataclass(slots=True)
class VoteCounts:
    """How many of each. `missing`: units that were asked and got no answer; `judges`: people who were not known."""

    assignments: int = 0
    judgements: int = 0
    fillers: int = 0
    fillers_present: int = 0
    missing: int = 0
    judges: int = 0

    def add(self, asked: Iterable[tuple[int | None, str | None]], *, is_loose: bool) -> None:
        self.assignments += not is_loose
        for unit, answer in asked:
            if unit is None:
                self.fillers += 1
                self.fillers_present += answer == Answer.PRESENT
            else:
                self.judgements += answer is not None
                self.missing += answer is None

    def as_dict(self) -> dict[str, int]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(slots=True)
class JudgementReport:
    """What the files hold, what of it is new, how many assignments (or votes of none) were known, and what is wrong."""

    counts: VoteCounts = field(default_factory=VoteCounts)
    new: VoteCounts = field(default_factory=VoteCounts)
    known: int = 0
    problems: Problems = field(default_factory=Problems)


class JudgementsRefused(Exception):
    """The files have problems; nothing was written."""

    def __init__(self, report: JudgementReport) -> None:
        super().__init__(f"{report.problems.count} problem(s); nothing was imported.")
        self.report = report


def import_judgements(
    project: Project,
    path: Path,
    *,
    file_format: str,
    now: dt.datetime,
    actor: User | None = None,
    prefix: str = "",
    blank: str = MISSING,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> JudgementReport:
    """Import votes into a project that has their corpus, in one transaction. A dry run does all and takes it back.

    `prefix` stands in front of the names of systems here, not in the file. `blank` says what an answer that was left
    blank is: missing, or present, which is LitePyramid's rule.
    """
    if file_format not in FILE_FORMATS:
        raise ValueError(f"{file_format!r} is no format. Known: {', '.join(FILE_FORMATS)}.")
    if blank not in BLANKS:
        raise ValueError(f"blank is {blank!r}; it must be one of {', '.join(BLANKS)}.")
    with transaction.atomic():
        # Two imports into one project wait for each other: what is known and who judged before is decided behind this.
        project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        importing = _Importing(project, now=now, prefix=prefix, blank=blank)
        report = importing.report
        _read(path, file_format, importing, progress)
        if report.problems:
            raise JudgementsRefused(report)
        if report.new.judgements > MANY_ROWS and connection.vendor == "postgresql":
            # The planner knows nothing of these rows until its own round comes, and plans badly meanwhile.
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE " + ", ".join(ANALYZED))
        detail = {"format": file_format, "prefix": prefix, "blank": blank, "new": report.new.as_dict()}
        target = os.fsencode(path.name).decode("utf-8", "replace")
        record_audit("import judgements", project, target=target, actor=actor, now=now, detail=detail)
        if dry_run:
            transaction.set_rollback(True)
    return report


def _read(path: Path, file_format: str, importing: _Importing, progress: Progress | None) -> None:
    problems = importing.report.problems
    try:
        with closing(open_source(path, Limits(settings.IMPORT_MAX_BYTES))) as source:
            total = sum(source.size(name) for name in source.names())
            records = read_judgements(source, file_format, problems, is_ours=_lies_in_own_export(path, file_format))
            for batch in batched(records, BATCH):
                importing.take(batch)
                if progress:
                    progress("reading", min(source.bytes_read, total), total)
            if not importing.report.counts.assignments + importing.report.counts.judgements and not problems:
                raise UnreadableSource(f"{source.label} holds no row. There is nothing to import.")
    except UnreadableSource as error:
        problems.add(os.fsencode(path.name).decode("utf-8", "replace"), None, str(error))


def _lies_in_own_export(path: Path, file_format: str) -> bool:
    """Whether a single file lies beside the manifest of an export of ours."""
    manifest = path.parent / MANIFEST
    if not path.is_file() or not manifest.is_file():
        return False
    with manifest.open("rb") as file:
        return names_own_export(file.read(1_000_000), file_format)


@dataclass(frozen=True, slots=True)
class _UnitRow:
    pk: int
    key: str
    text: str


@dataclass(slots=True)
class _Units:
    """The units of an example, by name and (the current ones) by text."""

    by_name: dict[tuple[str, str, int | None], _UnitRow] = field(default_factory=dict)
    by_text: defaultdict[str, list[_UnitRow]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class _Judge:
    key: str
    name: str  # elsewhere; "" where only the pseudonym is known
    is_linked: bool


Content = tuple[int, str, frozenset[tuple[int, str]], tuple[str | None, ...]]
"""What makes two assignments the same: summary, judge, answers to units, answers to fillers in their order."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A record with its rows found: what is left is whether it is new."""

    record: AssignmentRecord
    key: str  # "" for a vote of no assignment
    aliases: tuple[str, ...]  # other keys under which the same may stand here
    summary: int
    judge: _Judge
    asked: tuple[tuple[_UnitRow | None, str | None, AskedRecord], ...]

    @property
    def given(self) -> list[tuple[int | None, str | None]]:
        return [(unit.pk if unit else None, answer) for unit, answer, _ in self.asked]

    @property
    def content(self) -> Content:
        answers = frozenset((unit, answer) for unit, answer in self.given if unit is not None and answer is not None)
        return self.summary, self.judge.key, answers, tuple(answer for unit, answer in self.given if unit is None)


class _Importing:
    """One pass over the files, a batch at a time. Rows are looked up for a batch, never one by one."""

    def __init__(self, project: Project, *, now: dt.datetime, prefix: str, blank: str) -> None:
        self.project, self.now, self.prefix, self.blank = project, now, prefix, blank
        self.report = JudgementReport()
        rows = System.objects.filter(project=project).values_list("name", "pk", "trashed_at")
        self.systems = {name: (pk, trashed_at is not None) for name, pk, trashed_at in rows}
        self.names = {pk: name for name, (pk, _) in self.systems.items()}
        self.own = self._own_people()
        self.twins: Counter[bytes] = Counter()  # rows of the file at hand that read the same
        self.file = ""
        self.examples: dict[str, tuple[int, bool]] = {}
        self.summaries: dict[int, dict[int, tuple[int, str]]] = {}  # example → system → summary and text
        self.units: dict[int, _Units] = {}

    def _own_people(self) -> dict[str, str]:
        """Who stands in an export of this project under another name than here: name there → key here."""
        people = Person.objects.filter(project=self.project)
        hidden = people.filter(Q(user__isnull=False) | ~(Q(key__startswith="w-") | Q(key__startswith="row-")))
        return {
            exported_name(self.project, key, has_account=user is not None): key
            for key, user in hidden.values_list("key", "user")
        }

    def take(self, records: Sequence[AssignmentRecord]) -> None:
        self._load(records)
        ready = []
        for record in records:
            try:
                ready.append(self._resolve(record))
            except BadRow as error:
                self._problem(record, str(error))
        self._add(ready)

    def _problem(self, record: AssignmentRecord, message: str) -> None:
        self.report.problems.add(record.file, record.line, message)

    # --- looking up -----------------------------------------------------------------------------------------------

    def _load(self, records: Sequence[AssignmentRecord]) -> None:
        rows = Example.objects.filter(project=self.project, key__in={record.example for record in records})
        self.examples = {key: (pk, at is not None) for key, pk, at in rows.values_list("key", "pk", "trashed_at")}
        named: set[int] = set()
        unnamed: set[int] = set()
        systems: set[int] = set()
        for record in records:
            example = self.examples.get(record.example)
            if example is not None:
                system = self._named_system(record)
                (named if system else unnamed).add(example[0])
                systems |= {system[1]} if system else set()
        self.summaries = defaultdict(dict)
        self._load_summaries(Summary.objects.filter(example__in=named, system__in=systems))
        self._load_summaries(Summary.objects.filter(example__in=unnamed, system__trashed_at__isnull=True))
        self._load_units(named | unnamed)

    def _load_summaries(self, rows: Iterable[Summary]) -> None:
        for pk, example, system, text in rows.values_list("pk", "example", "system", "text"):  # type: ignore[attr-defined]
            self.summaries[example][system] = (pk, text)

    def _load_units(self, examples: set[int]) -> None:
        self.units = defaultdict(_Units)
        live = Unit.objects.live().filter(example__in=examples).order_by("kind", "position", "pk")
        columns = ("pk", "example", "kind", "key", "revision", "text", "superseded_at")
        for pk, example, kind, key, revision, text, superseded_at in live.values_list(*columns):
            unit, units = _UnitRow(pk, key, text), self.units[example]
            units.by_name[kind, key, revision] = unit
            if superseded_at is None:
                units.by_name[kind, key, None] = unit
                units.by_text[normal(text)].append(unit)

    def _named_system(self, record: AssignmentRecord) -> tuple[str, int, bool] | None:
        """The system that a record names: its name, row, and whether it is in the trash."""
        for name in (self.prefix + record.system, record.system) if record.system else ():
            if name in self.systems:
                return (name, *self.systems[name])
        return None

    def _resolve(self, record: AssignmentRecord) -> _Ready:
        example, is_trashed = self.examples.get(record.example, (0, False))
        if not example:
            raise BadRow(f"there is no example {record.example!r} here. Check its id, or import the corpus first.")
        if is_trashed:
            raise BadRow(f"example {record.example!r} is in the trash here. Restore it first.")
        system, summary, text = self._find_summary(record, example)
        if record.summary is not None and normal(record.summary) != normal(text):
            raise BadRow(
                f"the summary of example {record.example!r} by {system!r} reads otherwise here. A vote is about one "
                "text: import the corpus that was judged."
            )
        asked = tuple(
            (unit, self._answer(one), one)
            for one, unit in zip(record.asked, self._find_units(record, example), strict=True)
        )
        key = self._key(record, system)
        aliases = () if not record.name else {record.name, record.name.removeprefix("amt-")} - {key}
        return _Ready(record, key, tuple(sorted(aliases)), summary, self._judge(record, key), asked)

    def _answer(self, one: AskedRecord) -> str | None:
        # The rule is about facts: whoever left a filler blank has not called it present.
        return (
            Answer.PRESENT.value if one.answer is None and not one.is_filler and self.blank == PRESENT else one.answer
        )

    def _find_summary(self, record: AssignmentRecord, example: int) -> tuple[str, int, str]:
        found = self._named_system(record)
        if found is None:
            found = self._system_by_text(record, example)
        name, system, is_trashed = found
        if is_trashed:
            raise BadRow(f"system {name!r} is in the trash here. Restore it first.")
        if system not in self.summaries[example]:
            raise BadRow(f"system {name!r} has no summary of example {record.example!r} here. Import it first.")
        return name, *self.summaries[example][system]

    def _system_by_text(self, record: AssignmentRecord, example: int) -> tuple[str, int, bool]:
        """The one system whose name ends like the one in the file and whose summary is the one that was judged."""
        tried = " or ".join(repr(name) for name in dict.fromkeys((self.prefix + record.system, record.system)) if name)
        if record.summary is None:
            raise BadRow(
                f"there is no system {tried} here. Check its name, or give the part that is missing as prefix."
                if tried
                else "the row tells neither its system nor the summary. Add Input.summaryId."
            )
        wanted = normal(record.summary)
        names = sorted(
            self.names[system]
            for system, (_, text) in self.summaries[example].items()
            if self.names[system].endswith(record.system) and normal(text) == wanted
        )
        if len(names) > 1:
            raise BadRow(
                f"{len(names)} systems wrote this summary of example {record.example!r}: {', '.join(names[:5])}. Tell "
                "which one by Input.summaryId, or by a prefix of the names."
            )
        if not names:
            ending = f" whose name ends with {record.system!r}" if record.system else ""
            raise BadRow(
                (f"there is no system {tried} here, and " if tried else "")
                + f"no system{ending} wrote this summary of example {record.example!r}. Check Input.summaryId, the "
                "prefix, and whether the summary is here."
            )
        return (names[0], *self.systems[names[0]])

    def _find_units(self, record: AssignmentRecord, example: int) -> Iterator[_UnitRow | None]:
        units = self.units[example]
        by_text = [one.text for one in record.asked if not one.is_filler and one.unit is None]
        matched = iter(match_statements(by_text, units.by_text))
        seen: set[int] = set()
        for place, one in enumerate(record.asked, start=1):
            if one.is_filler:
                yield None
                continue
            unit = next(matched) if one.unit is None else units.by_name.get(one.unit)
            if unit is None:
                raise BadRow(_no_unit(record, place, one, is_known=normal(one.text) in units.by_text))
            if one.unit is not None and one.text not in ("", unit.text) and normal(one.text) != normal(unit.text):
                raise BadRow(
                    f"unit {unit.key!r} of example {record.example!r} reads otherwise here ({unit.text[:60]!r}). Name "
                    "the revision that was judged."
                )
            if unit.pk in seen:
                raise BadRow(f"unit {unit.key!r} is asked twice in one assignment. Keep one answer.")
            seen.add(unit.pk)
            yield unit

    def _key(self, record: AssignmentRecord, system: str) -> str:
        if record.is_loose:
            return ""
        if record.name:
            # "task-" are our own tasks, here or in another house: a name of theirs must never stand in the way of ours.
            return f"file-{record.name}" if record.name.startswith(("task-", "file-")) else record.name
        if record.file != self.file:
            self.file, self.twins = record.file, Counter()
        # The pseudonym, not the name: a digest that holds a name can be searched for it.
        worker = self._worker_key(record.worker) if record.worker else ""
        answers = [[normal(one.text), one.answer] for one in record.asked]
        basis = json.dumps([record.example, system, worker, answers])
        digest = sha256(basis.encode()).digest()[:12]
        self.twins[digest] += 1
        return "row-" + sha256(f"{basis}{self.twins[digest]}".encode()).hexdigest()[:24]

    def _worker_key(self, worker: str) -> str:
        return self.own.get(worker, worker) if is_pseudonym(worker) else name_worker(self.project, worker)

    def _judge(self, record: AssignmentRecord, key: str) -> _Judge:
        if not record.worker:
            return _Judge(row_pseudonym(key), "", is_linked=False)
        is_linked = not is_row(record.worker) if record.is_linked is None else record.is_linked
        name = "" if is_pseudonym(record.worker) else record.worker
        return _Judge(self._worker_key(record.worker), name, is_linked)

    # --- what is new ----------------------------------------------------------------------------------------------

    def _add(self, ready: Sequence[_Ready]) -> None:
        known = self._known({key for one in ready for key in (one.key, *one.aliases) if key})
        rows = Person.objects.filter(project=self.project, key__in={one.judge.key for one in ready})
        people = dict(rows.values_list("key", "pk"))
        judged = self._judged({one.summary for one in ready}, people)
        new = [one for one in ready if self._is_new(one, known, judged)]
        if new:
            self._store(new, people)

    def _known(self, keys: set[str]) -> dict[str, Content]:
        """Assignments that are here by their keys. Units in the trash are in no export, so they are not compared."""
        rows = Assignment.objects.filter(project=self.project, key__in=keys)
        found = {pk: (key, summary, judge) for pk, key, summary, judge in rows.values_list(
            "pk", "key", "summary", "judge__key"
        )}  # fmt: skip
        votes: defaultdict[int, set[tuple[int, str]]] = defaultdict(set)
        fillers: defaultdict[int, list[str | None]] = defaultdict(list)
        if found:
            live = Judgement.objects.filter(assignment__in=found, unit__trashed_at__isnull=True)
            for pk, unit, answer in live.values_list("assignment", "unit", "answer"):
                votes[pk].add((unit, answer))
            said = FillerAnswer.objects.filter(assignment__in=found).order_by("assignment", "position")
            for pk, filler in said.values_list("assignment", "answer"):
                fillers[pk].append(filler)
        return {
            key: (summary, judge, frozenset(votes[pk]), tuple(fillers[pk]))
            for pk, (key, summary, judge) in found.items()
        }

    def _judged(self, summaries: set[int], people: dict[str, int]) -> dict[tuple[int, int, str], str]:
        """What people of this batch said before: (unit, summary, judge) → answer."""
        if not people:
            return {}
        rows = Judgement.objects.filter(summary__in=summaries, judge__in=people.values())
        columns = ("unit", "summary", "judge__key", "answer")
        return {(unit, summary, judge): answer for unit, summary, judge, answer in rows.values_list(*columns)}

    def _is_new(self, one: _Ready, known: dict[str, Content], judged: dict[tuple[int, int, str], str]) -> bool:
        self.report.counts.add(one.given, is_loose=one.record.is_loose)
        votes = {(unit.pk, one.summary, one.judge.key): answer for unit, answer, _ in one.asked if unit and answer}
        if any(known.get(key) == one.content for key in (one.key, *one.aliases)) or (
            one.record.is_loose and all(judged.get(vote) == answer for vote, answer in votes.items())
        ):
            self.report.known += 1
            return False
        if one.key in known:
            name = one.record.name or one.key
            self._problem(
                one.record, f"assignment {name!r} is here already, with other answers. Nothing was overwritten."
            )
            return False
        for unit, answer, _ in one.asked:
            if unit and answer and (unit.pk, one.summary, one.judge.key) in judged:
                judge = one.judge.key  # a pseudonym: problems are shown to others than leads
                self._problem(
                    one.record,
                    f"judge {judge!r} has judged unit {unit.key!r} of this summary before. "
                    "One judge has one vote: take the row out, or name another judge.",
                )
                return False
        judged.update(votes)
        if one.key:
            known[one.key] = one.content
        return True

    # --- writing --------------------------------------------------------------------------------------------------

    def _store(self, new: Sequence[_Ready], people: dict[str, int]) -> None:
        self._store_people({one.judge.key: one.judge for one in new}, people)
        assignments = Assignment.objects.bulk_create(
            Assignment(
                project=self.project,
                key=one.key,
                summary_id=one.summary,
                judge_id=people[one.judge.key],
                origin=one.record.origin,
                asked=[[unit.pk if unit else None, asked.question] for unit, _, asked in one.asked],
                details=one.record.details,
                seconds=one.record.seconds,
                submitted_at=one.record.submitted_at,
            )
            for one in new
            if one.key
        )
        by_key = {assignment.key: assignment.pk for assignment in assignments}
        insert_rows(Judgement, VOTE, (row for one in new if one.key for row in self._votes(one, by_key, people)))
        _begin_histories(list(by_key.values()))
        store_judgements(
            Judgement(**dict(zip(VOTE, row, strict=True)))
            for one in new
            if not one.key
            for row in self._votes(one, by_key, people)
        )
        insert_rows(
            FillerAnswer,
            ("assignment_id", "position", "text", "answer"),
            (
                (by_key[one.key], place, asked.text, answer)
                for one in new
                for place, (unit, answer, asked) in enumerate(one.asked, start=1)
                if unit is None
            ),
        )
        for one in new:
            self.report.new.add(one.given, is_loose=one.record.is_loose)

    def _votes(self, one: _Ready, by_key: dict[str, int], people: dict[str, int]) -> Iterator[tuple[Any, ...]]:
        """Rows of Judgement, by the fields of VOTE."""
        judge, assignment = people[one.judge.key], by_key.get(one.key)
        for unit, answer, asked in one.asked:
            if unit and answer:
                judged_at = asked.judged_at or one.record.submitted_at or self.now
                yield unit.pk, one.summary, judge, assignment, answer, asked.shown, asked.seconds, judged_at

    def _store_people(self, judges: dict[str, _Judge], people: dict[str, int]) -> None:
        missing = [judge for key, judge in judges.items() if key not in people]
        made = Person.objects.bulk_create(
            Person(project=self.project, key=judge.key, is_linked=judge.is_linked) for judge in missing
        )
        people.update((person.key, person.pk) for person in made)
        self.report.new.judges += len(made)
        named = {people[key]: judge.name for key, judge in judges.items() if judge.name}
        known = set(WorkerIdentity.objects.filter(person__in=named).values_list("person", flat=True))
        WorkerIdentity.objects.bulk_create(
            WorkerIdentity(person_id=person, name=name) for person, name in named.items() if person not in known
        )


def _begin_histories(assignments: Sequence[int]) -> None:
    """The first version of every judgement of some new assignments, as `store_judgements` writes it."""
    if not assignments:
        return
    version = ", ".join(quoted_columns(JudgementVersion, ("judgement_id", "version", "answer", "judged_at")))
    pk, answer, judged_at, assignment = quoted_columns(Judgement, ("id", "answer", "judged_at", "assignment_id"))
    marks = ", ".join(["%s"] * len(assignments))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {quoted_table(JudgementVersion)} ({version}) SELECT {pk}, 1, {answer}, {judged_at} "  # noqa: S608
            f"FROM {quoted_table(Judgement)} WHERE {assignment} IN ({marks})",
            assignments,
        )


def _no_unit(record: AssignmentRecord, place: int, one: AskedRecord, *, is_known: bool) -> str:
    if one.unit is not None:
        kind, key, revision = one.unit
        which = f", revision {revision}," if revision else ""
        return f"example {record.example!r} has no {kind} {key!r}{which} here. Import the units that were judged."
    statement = f"statement {place} ({one.text[:60]!r})"
    if is_known:
        return f"{statement} stands here more often than there are units that read so. Take the further ones out."
    return f"{statement} is no current unit of example {record.example!r}. Check the text, or import the units first."
