"""IMPORT of judgements: what judges answered, from files of batch results or of one row per vote (docs/formats.md).

Whatever the format, a record is what one judge answered in one go about one summary.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeVar

from annotation.csv_cells import restore
from annotation.readers.amt import ANSWERS, BLANK, READ, AmtRow, read_amt_row
from annotation.readers.csv_rows import read_rows
from annotation.readers.fields import (
    MAX_TEXT,
    UNIT_KINDS,
    BadRow,
    check_fields,
    choice_of,
    integer_of,
    key_of,
    list_of,
    object_of,
    text_of,
    time_of,
)
from annotation.readers.jsonl import load_strictly
from annotation.readers.sources import Source, UnreadableSource, few, text_lines
from annotation.records import Problems

MANIFEST = "manifest.json"
CONTENT = "judgements"
FILE_FORMATS = ("amt", "jsonl", "csv")
JOB_PREFIX = "judgements-"
"""Before a format where judgements and corpora go through the same door."""
ORIGINS = ("in_house", "imported", "crowd")
VOTE_ANSWERS = ("present", "not_present", "unsure")
IMPORTED = "imported"
FILLER = "filler"
FIELDS = (
    "example", "system", "unit_kind", "unit_key", "unit_revision", "unit", "filler", "judge", "is_linked", "answer",
    "judged_at", "seconds", "shown", "origin", "assignment", "position", "question", "submitted_at",
    "assignment_seconds", "details",
)  # fmt: skip
KNOWN = frozenset(FIELDS)
SHARED = ("example", "system", "judge", "is_linked", "origin", "submitted_at", "assignment_seconds")
MAX_NAME = 190  # of an assignment: a word comes before some
MAX_QUESTION = 100
MAX_ASKED = 1000
MAX_SECONDS = 1e9

UnitName = tuple[str, str, int | None]
"""Kind, key and revision of a unit; no revision means the current one."""

Unit = TypeVar("Unit")


def file_format_of(job_format: str) -> str | None:
    """The format of a file of judgements, from "judgements-amt" and the like; None for a corpus."""
    name = job_format.removeprefix(JOB_PREFIX)
    return name if name != job_format and name in FILE_FORMATS else None


@dataclass(frozen=True, slots=True)
class AskedRecord:
    """A statement with its answer, None where none was given. `unit` is None where the text alone tells it."""

    text: str
    answer: str | None
    question: str
    unit: UnitName | None = None
    is_filler: bool = False
    judged_at: dt.datetime | None = None
    seconds: float | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """What one judge answered in one go about one summary.

    `name` is "" where the file does not tell; a loose record is a vote of no assignment at all. `summary` is the text
    that was judged, None where the file does not tell.
    """

    example: str
    system: str
    worker: str
    asked: tuple[AskedRecord, ...]
    name: str = ""
    is_loose: bool = False
    is_linked: bool | None = None
    summary: str | None = None
    origin: str = IMPORTED
    seconds: float | None = None
    submitted_at: dt.datetime | None = None
    details: dict[str, Any] = field(default_factory=dict)
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


def read_judgements(
    source: Source, file_format: str, problems: Problems, *, is_ours: bool = False
) -> Iterator[AssignmentRecord]:
    """The records of a source in file order, with bounded memory. `is_ours`: cells are as our export wrote them."""
    ours = is_ours or _has_own_manifest(source, file_format)
    return _READERS[file_format](source, problems, restore if ours else str)


def names_own_export(content: bytes, file_format: str) -> bool:
    """Whether a manifest says that the files beside it are our own export of judgements."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        return False
    told = (manifest.get("content"), manifest.get("format")) if isinstance(manifest, dict) else None
    return told == (CONTENT, file_format)


def _has_own_manifest(source: Source, file_format: str) -> bool:
    if MANIFEST not in source.names() or len(source.names()) < 2:
        return False
    with source.open(MANIFEST) as file:
        return names_own_export(file.read(1_000_000), file_format)


# --- batch results -------------------------------------------------------------------------------------------------


def _read_amt(source: Source, problems: Problems, decode: Callable[[str], str]) -> Iterator[AssignmentRecord]:
    names = [name for name in source.names() if len(source.names()) == 1 or name.lower().endswith(".csv")]
    if not names:
        raise UnreadableSource(f"{source.label} holds no .csv file. It has: {few(source.names())}.")
    for name in names:
        is_first = True
        for row in read_rows(source, name, problems, required=(), optional=None):
            if is_first and not {"Input.eventId", "Input.example_id"} & set(row.cells):
                raise UnreadableSource(
                    f"{name} has neither a column Input.eventId nor Input.example_id, so it is no file of batch "
                    f"results. It has: {few(list(row.cells))}. Name the file or the folder that holds them."
                )
            is_first = False
            try:
                cells = {decode(column): decode(cell) for column, cell in row.cells.items()}
                yield _amt_record(_checked(read_amt_row(cells)), name, row.line)
            except BadRow as error:
                problems.add(name, row.line, str(error))


def _checked(row: AmtRow) -> AmtRow:
    key_of(row.example, "Input.eventId")
    for what, value in (("Input.summaryId", row.system), ("WorkerId", row.worker), ("AssignmentId", row.assignment)):
        if value:
            key_of(value, what)
    if len(row.assignment) > MAX_NAME:
        raise BadRow(f"AssignmentId has more than {MAX_NAME} characters.")
    return row


def _amt_record(row: AmtRow, file: str, line: int) -> AssignmentRecord:
    units = _named_units(row.units, len(row.answers)) if row.units else [None] * len(row.answers)
    return AssignmentRecord(
        example=row.example,
        system=row.system,
        worker=row.worker,
        name=name_assignment(row.assignment),
        asked=tuple(
            AskedRecord(
                one.statement,
                one.answer,
                one.question,
                None if unit in (None, FILLER) else unit,  # type: ignore[arg-type]
                is_filler=unit == FILLER or (unit is None and one.is_filler),
            )
            for one, unit in zip(row.answers, units, strict=True)
        ),
        summary=row.summary or None,
        seconds=row.seconds,
        submitted_at=row.submitted_at,
        details=row.details,
        file=file,
        line=line,
    )


OWN_NAME = re.compile(r"(task|file|row)-.*", re.S)
"""Names that we give to assignments ourselves. Those of Mechanical Turk are capital letters and digits."""


def name_assignment(cell: str) -> str:
    return cell if not cell or OWN_NAME.fullmatch(cell) else f"amt-{cell}"


def _named_units(cell: str, number: int) -> list[UnitName | str]:
    try:
        names = list_of(load_strictly(cell), "Input.units")
    except BadRow as error:
        raise BadRow(f"Input.units {error}") from None
    if len(names) != number:
        raise BadRow(f"Input.units names {len(names)} units for {number} statements.")
    return [name if name == FILLER else _unit_name(*_triple(name)) for name in names]


def _triple(name: Any) -> list[Any]:
    if not isinstance(name, list) or len(name) != 3:
        raise BadRow('Input.units must hold [kind, key, revision] or "filler" for each statement.')
    return name


def _unit_name(kind: Any, key: Any, revision: Any) -> UnitName:
    return (
        choice_of(kind, UNIT_KINDS, "unit_kind"),
        _key(key, "unit_key"),
        None if revision is None else integer_of(revision, "unit_revision", least=1),
    )


# --- one row per vote ------------------------------------------------------------------------------------------------


def _read_jsonl(source: Source, problems: Problems, decode: Callable[[str], str]) -> Iterator[AssignmentRecord]:
    name = _only_file(source, (".jsonl", ".ndjson"))
    return _grouped(_jsonl_rows(source, name, problems), name, problems)


def _jsonl_rows(source: Source, name: str, problems: Problems) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in text_lines(source, name, problems):
        if line is None or not line.strip():
            continue
        try:
            yield number, object_of(load_strictly(line), "the line")
        except BadRow as error:
            problems.add(name, number, str(error))


def _read_csv(source: Source, problems: Problems, decode: Callable[[str], str]) -> Iterator[AssignmentRecord]:
    name = _only_file(source, (".csv",))
    return _grouped(_csv_rows(source, name, problems, decode), name, problems)


def _csv_rows(
    source: Source, name: str, problems: Problems, decode: Callable[[str], str]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    required = ("example", "system", "judge", "answer")
    optional = tuple(column for column in FIELDS if column not in required)
    for row in read_rows(source, name, problems, required=required, optional=optional):
        try:
            yield row.line, {column: _value(column, decode(cell)) for column, cell in row.cells.items() if cell}
        except BadRow as error:
            problems.add(name, row.line, str(error))


def _value(column: str, cell: str) -> Any:
    """A cell as JSON would give it."""
    if column in ("unit_revision", "position"):
        return int(cell) if re.fullmatch(r"[0-9]{1,9}", cell) else cell
    if column in ("seconds", "assignment_seconds"):
        return float(cell) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,20})?(e-[0-9]{1,2})?", cell) else cell
    if column == "is_linked":
        return {"1": True, "0": False}.get(cell, cell)
    return load_strictly(cell) if column == "details" else cell


def _only_file(source: Source, endings: tuple[str, ...]) -> str:
    names = source.names()
    found = [name for name in names if name.lower().endswith(endings)]
    if len(names) == 1:
        return names[0]
    if len(found) != 1:
        raise UnreadableSource(
            f"{source.label} must hold one {endings[0]} file of judgements. It has: {few(found or names)}."
        )
    return found[0]


def _grouped(
    rows: Iterable[tuple[int, Mapping[str, Any]]], name: str, problems: Problems
) -> Iterator[AssignmentRecord]:
    """Rows of one assignment stand together; a row without one stands for itself."""
    seen: set[str] = set()

    def key(numbered: tuple[int, Mapping[str, Any]]) -> object:
        told = numbered[1].get("assignment")
        return object() if told is None else told  # like no other

    for _, group in groupby(rows, key):
        own = list(group)
        try:
            first = _assignment(own[0][1], name, own[0][0])
            if first.name in seen:
                raise BadRow(
                    f"assignment {first.name!r} has rows further up. Sort the file: rows of one stand together."
                )
            if len(own) > MAX_ASKED:
                raise BadRow(f"assignment {first.name!r} has more than {MAX_ASKED} rows.")
        except BadRow as error:
            problems.add(name, own[0][0], str(error))
            continue
        if first.name:
            seen.add(first.name)
        asked = list(_all_asked(own, first, name, problems))
        if len(asked) == len(own):
            yield replace(first, asked=tuple(asked))


def _all_asked(
    rows: Sequence[tuple[int, Mapping[str, Any]]], of: AssignmentRecord, name: str, problems: Problems
) -> Iterator[AskedRecord]:
    """The statements of an assignment. A row that is none becomes a problem."""
    shared = [rows[0][1].get(column) for column in SHARED]
    for place, (line, row) in enumerate(rows, start=1):
        try:
            if not row.keys() <= KNOWN:
                check_fields(row, FIELDS, "the row")
            # As they are written: to read them once for each assignment is much of the speed.
            is_same = row is rows[0][1] or [row.get(column) for column in SHARED] == shared
            if not is_same or row.get("details") not in (None, rows[0][1].get("details")):
                raise BadRow(f"rows of assignment {of.name!r} must have the same {', '.join(SHARED)} and details.")
            position = None if row.get("position") is None else integer_of(row["position"], "position", least=1)
            if not of.is_loose and position not in (None, place):
                raise BadRow(f"row {place} of assignment {of.name!r} has the position {position}.")
            one = _asked(row, place)
            if of.is_loose and one.answer is None:
                raise BadRow("the row has neither an answer nor an assignment, so it says nothing.")
            yield one
        except BadRow as error:
            problems.add(name, line, str(error))


def _assignment(row: Mapping[str, Any], file: str, line: int) -> AssignmentRecord:
    """What a row says of its assignment."""
    name = "" if row.get("assignment") is None else key_of(row["assignment"], "assignment")
    if len(name) > MAX_NAME:
        raise BadRow(f"assignment has more than {MAX_NAME} characters.")
    linked = row.get("is_linked")
    if linked is not None and not isinstance(linked, bool):
        raise BadRow(f"is_linked must be true or false (in CSV 1 or 0), not {linked!r:.40}.")
    return AssignmentRecord(
        example=_key(row.get("example"), "example"),
        system=_key(row.get("system"), "system"),
        worker=_key(row.get("judge"), "judge"),
        asked=(),
        name=name,
        is_loose=not name,
        is_linked=linked,
        origin=choice_of(row.get("origin") or IMPORTED, ORIGINS, "origin"),
        seconds=_seconds(row.get("assignment_seconds"), "assignment_seconds"),
        submitted_at=_time(row.get("submitted_at"), "submitted_at"),
        details=_details(row.get("details")),
        file=file,
        line=line,
    )


def _asked(row: Mapping[str, Any], place: int) -> AskedRecord:
    filler, text, key = row.get(FILLER), row.get("unit"), row.get("unit_key")
    answer = row.get("answer")
    if answer is not None:
        choice_of(answer, VOTE_ANSWERS, "answer")
    if filler is not None and (text is not None or key is not None):
        raise BadRow("the row names both a unit and a filler. Keep one.")
    if filler is None and text is None and key is None:
        raise BadRow("the row names no unit: give unit_key, or the text of the unit as unit.")
    if filler is not None and row.get("assignment") is None:
        raise BadRow("a filler needs the assignment that it stood in.")
    kind = row.get("unit_kind")
    return AskedRecord(
        text=text_of("" if filler is None and text is None else (filler or text), "the text"),
        answer=answer,
        question=_question(row.get("question"), place),
        unit=None if key is None else _unit_name("scu" if kind is None else kind, key, row.get("unit_revision")),
        is_filler=filler is not None,
        judged_at=_time(row.get("judged_at"), "judged_at"),
        seconds=_seconds(row.get("seconds"), "seconds"),
        shown=_shown(row.get("shown")),
    )


def _question(value: Any, place: int) -> str:
    if value is None:
        return str(place)
    question = _key(value, "question")
    if len(question) > MAX_QUESTION or {"'", '"'} <= set(question):
        raise BadRow(f"question must have at most {MAX_QUESTION} characters, and quotes of one kind only.")
    return question


def _shown(value: Any) -> str:
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value)):
        raise BadRow("shown must be a SHA-256 of 64 hex digits. Leave it out if it is not known.")
    return value or ""


def _seconds(value: Any, what: str) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value < MAX_SECONDS):
        raise BadRow(f"{what} must be a number from 0, not {value!r:.40}.")
    return None if value is None else float(value)


def _time(value: Any, what: str) -> dt.datetime | None:
    if isinstance(value, str):
        return _known_time(value, what)
    time_of(value, what)
    return None


@lru_cache(maxsize=1000)  # rows of one file often have one time
def _known_time(value: str, what: str) -> dt.datetime:
    return dt.datetime.fromisoformat(time_of(value, what) or "")


def _key(value: Any, what: str) -> str:
    return _known_key(value, what) if isinstance(value, str) else key_of(value, what)


@lru_cache(maxsize=10_000)  # a few names stand in very many rows
def _known_key(value: str, what: str) -> str:
    return key_of(value, what)


def _details(value: Any) -> dict[str, Any]:
    details = object_of(value, "details") if value is not None else {}
    for column, cell in details.items():
        text_of(column, "a name in details")
        text_of(cell, f"{column!r} in details")
        # Under one of these names, what is not checked would come out as if it were.
        if READ.fullmatch(column) and column not in ("SubmitTime", "WorkTimeInSeconds"):
            raise BadRow(f"details must not hold {column!r}, which has a field of its own.")
    if len(json.dumps(details)) > MAX_TEXT // 100:
        raise BadRow("details are longer than 100,000 characters.")
    return details


_READERS: dict[str, Callable[[Source, Problems, Callable[[str], str]], Iterator[AssignmentRecord]]] = {
    "amt": _read_amt,
    "jsonl": _read_jsonl,
    "csv": _read_csv,
}


# --- statements and units ---------------------------------------------------------------------------------------------


def normal(text: str) -> str:
    """A text by which two can be compared: one space between words."""
    return " ".join(text.split())


def match_statements(statements: Sequence[str], units: Mapping[str, Sequence[Unit]]) -> list[Unit | None]:
    """The unit of each statement: one that reads the same, and where several do, the first, then the next.

    `units` has them by their normal texts, in their order. None where there is none, or none any more.
    """
    taken: dict[str, int] = {}
    found: list[Unit | None] = []
    for statement in map(normal, statements):
        place = taken.get(statement, 0)
        taken[statement] = place + 1
        known = units.get(statement, ())
        found.append(known[place] if place < len(known) else None)
    return found


__all__ = ["ANSWERS", "BLANK", "AskedRecord", "AssignmentRecord", "match_statements", "read_judgements"]
