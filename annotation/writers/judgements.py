"""EXPORT of judgements: each writer mirrors the reader of its format (docs/formats.md)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from annotation.csv_cells import neutralise
from annotation.readers.amt import LETTERS, UNITS, write_questions
from annotation.readers.judgements import FIELDS, FILLER, AskedRecord, AssignmentRecord

# --- one row per vote ------------------------------------------------------------------------------------------------


def vote_rows(record: AssignmentRecord) -> Iterator[dict[str, Any]]:
    """A row for each statement that was asked, in the order of FIELDS; what is not told is None."""
    for place, one in enumerate(record.asked, start=1):
        yield dict(zip(FIELDS, _vote_cells(record, place, one), strict=True))


def _vote_cells(record: AssignmentRecord, place: int, one: AskedRecord) -> tuple[Any, ...]:
    unit = (None, None, None, None, one.text) if one.unit is None else (*one.unit, one.text, None)
    judged_at = one.judged_at.isoformat() if one.judged_at else None
    vote = (record.worker, record.is_linked, one.answer, judged_at, one.seconds, one.shown or None, record.origin)
    if record.is_loose:
        return record.example, record.system, *unit, *vote, None, None, None, None, None, None
    submitted_at = record.submitted_at.isoformat() if record.submitted_at else None
    # Once is enough: they are the same for all rows of an assignment, and often long.
    details = record.details if place == 1 and record.details else None
    return (
        record.example, record.system, *unit, *vote, record.name, place, one.question, submitted_at, record.seconds,
        details,
    )  # fmt: skip


class JsonlVotes:
    """One JSON object a line; what is not told is left out, but for the answer."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.rows = 0

    def write(self, record: AssignmentRecord) -> None:
        for row in vote_rows(record):
            told = {name: value for name, value in row.items() if value is not None or name == "answer"}
            self.file.write(json.dumps(told, ensure_ascii=False) + "\n")
            self.rows += 1


class CsvVotes:
    """The same as a table, safe to open in a spreadsheet."""

    def __init__(self, file: TextIO) -> None:
        self.table = table_of(file)
        self.table.writerow(FIELDS)
        self.rows = 0

    def write(self, record: AssignmentRecord) -> None:
        for row in vote_rows(record):
            self.table.writerow([_cell(value) for value in row.values()])
            self.rows += 1


def _cell(value: Any) -> str | int | float:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return int(value)
    if value is None:
        return ""
    return neutralise(value) if isinstance(value, str) else value


def table_of(file: TextIO) -> Any:
    # All text in quotes: a lone carriage return would otherwise end a row.
    return csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)


# --- batch results ---------------------------------------------------------------------------------------------------

FIRST = ("Input.eventId", "Input.summaryId", "Input.qIdList", "Input.summary_text")
LAST = ("WorkerId", "AssignmentId", "WorkTimeInSeconds", "SubmitTime", UNITS)


def amt_row(record: AssignmentRecord, *, with_units: bool) -> dict[str, str]:
    """An assignment by column, without what is not told. `with_units`: its texts alone do not tell its units."""
    row = dict(record.details)
    for place, one in enumerate(record.asked, start=1):
        row[f"Input.statement_{place}"] = one.text
        row[f"Answer.S{place}Answer"] = LETTERS[one.answer]
    if with_units:
        row[UNITS] = json.dumps([one.unit or FILLER for one in record.asked], ensure_ascii=False)
    if record.seconds is not None:
        row["WorkTimeInSeconds"] = str(int(record.seconds) if record.seconds.is_integer() else record.seconds)
    if record.submitted_at is not None:
        row["SubmitTime"] = record.submitted_at.isoformat()
    return row | {
        "Input.eventId": record.example,
        "Input.summaryId": record.system,
        "Input.qIdList": write_questions([one.question for one in record.asked]),
        "Input.summary_text": record.summary or "",
        "WorkerId": record.worker,
        "AssignmentId": record.name.removeprefix("amt-"),
    }


def amt_columns(columns: Iterable[str], statements: int) -> list[str]:
    """The columns of a file in the order of Mechanical Turk, which sorts answers by their letters: S10 before S1."""
    places = range(1, statements + 1)
    asked = [f"Input.statement_{place}" for place in places]
    answers = sorted(f"Answer.S{place}Answer" for place in places)
    known = {*FIRST, *asked, *answers, *LAST}
    present = set(columns)
    last = [column for column in LAST if column in present]
    return [*FIRST, *asked, *answers, *last, *sorted(present - known)]


class AmtTable:
    """The file of one system."""

    def __init__(self, file: TextIO, columns: list[str]) -> None:
        self.table = table_of(file)
        self.table.writerow([neutralise(column) for column in columns])
        self.columns = columns
        self.rows = 0

    def write(self, row: dict[str, str]) -> None:
        self.table.writerow([neutralise(row.get(column, "")) for column in self.columns])
        self.rows += 1
