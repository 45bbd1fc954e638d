"""Batch results of Mechanical Turk: a row is one worker's answers to the units of one summary.

Columns as REALSumm released them (Input.eventId, Input.summaryId, Input.qIdList, Input.summary_text,
Input.statement_1 …, Answer.S1Answer …) with WorkerId and times where they are; and PyrXSum's page, whose answers are
Answer.rate0 … with 1 for present and 2 for not present. An answer that was left blank stays missing. Their pages know
no "unsure"; ours does, and its letter is u. Input.units, in files of our own, names units that a text does not tell.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.readers.fields import BadRow

BLANK = "BLANK"
"""The statement that fills a task up to its size. Whoever says that it is present has not looked."""
STATEMENT = re.compile(r"Input\.(?:statement_|fact)(\d{1,3})")
PRESENT, NOT_PRESENT, UNSURE = "present", "not_present", "unsure"
ANSWERS = {"p": PRESENT, "n": NOT_PRESENT, "1": PRESENT, "2": NOT_PRESENT, "u": UNSURE, "": None}
LETTERS = {PRESENT: "p", NOT_PRESENT: "n", UNSURE: "u", None: ""}
PERSONAL = re.compile(r"worker|prolific|participant|e-?mail|\bip\b|ip.?address|user.?name", re.I)
"""Columns that may tell who somebody is. They are not kept."""
QUESTION = re.compile(r"'([^']{1,100})'|\"([^\"]{1,100})\"|([0-9]{1,18})")
UNITS = "Input.units"
# Columns that are read into a field of their own; every other is kept as it is.
READ = re.compile(
    r"Input\.(eventId|example_id|summaryId|system|qIdList|summary_text|summary|numfact|units|statement_\d{1,3}|fact\d{1,3})"
    r"|Answer\.(S\d{1,3}Answer|rate\d{1,3})|WorkerId|AssignmentId|WorkTimeInSeconds|SubmitTime"
)
# Mechanical Turk writes the zone by its letters, which no clock can tell for sure; these are the ones it uses.
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
AMT_TIME = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([A-Z]{3}) ([0-9]{4})"
)


@dataclass(frozen=True, slots=True)
class AmtAnswer:
    """One statement with the answer of one worker; None where they gave none."""

    question: str
    statement: str
    answer: str | None

    @property
    def present(self) -> bool | None:
        """None for "unsure", too: it is no vote."""
        return None if self.answer in (None, UNSURE) else self.answer == PRESENT

    @property
    def is_filler(self) -> bool:
        return self.statement.strip() == BLANK


@dataclass(frozen=True, slots=True)
class AmtRow:
    """One worker's work on one summary. `worker` is "" where the file does not tell.

    `details` are the columns that mean nothing here, without blank cells; `units` is the cell of Input.units.
    """

    example: str
    system: str
    summary: str
    worker: str
    assignment: str
    seconds: float | None
    answers: tuple[AmtAnswer, ...]
    submitted_at: dt.datetime | None = None
    units: str = ""
    details: dict[str, str] = field(default_factory=dict)


def read_amt_rows(rows: Iterator[Mapping[str, str]]) -> Iterator[AmtRow]:
    """Rows of a results file. Raises BadRow for one that is none."""
    for row in rows:
        yield read_amt_row(row)


def read_amt_row(row: Mapping[str, str]) -> AmtRow:
    example = row.get("Input.eventId") or row.get("Input.example_id") or ""
    system = row.get("Input.summaryId") or row.get("Input.system") or ""
    if not example:
        raise BadRow("A row needs Input.eventId or Input.example_id.")
    statements = _statements(row)
    if not statements:
        raise BadRow("A row needs statements: Input.statement_1 … or Input.fact1 …")
    questions = _questions(row.get("Input.qIdList", ""), len(statements))
    answers = tuple(
        AmtAnswer(question, statement, _answer(row, number))
        for question, (number, statement) in zip(questions, statements, strict=True)
    )
    return AmtRow(
        example=example,
        system=system,
        summary=row.get("Input.summary_text") or row.get("Input.summary") or "",
        worker=row.get("WorkerId", ""),
        assignment=row.get("AssignmentId", ""),
        seconds=_seconds(row.get("WorkTimeInSeconds", "")),
        answers=answers,
        submitted_at=read_time(row.get("SubmitTime", "")),
        units=row.get(UNITS, ""),
        details=_details(row),
    )


def _details(row: Mapping[str, str]) -> dict[str, str]:
    """What is not read here. A time or a number of seconds that cannot be read is kept as it stands."""
    found = {
        column: cell
        for column, cell in row.items()
        if cell and not READ.fullmatch(column) and not PERSONAL.search(column)
    }
    for column, value in (
        ("SubmitTime", read_time(row.get("SubmitTime", ""))),
        ("WorkTimeInSeconds", _seconds(row.get("WorkTimeInSeconds", ""))),
    ):
        if value is None and row.get(column):
            found[column] = row[column]
    return found


def read_time(cell: str) -> dt.datetime | None:
    """A time with a zone, as ISO 8601 or as Mechanical Turk writes it ("Tue Nov 17 10:00:00 PST 2026"); else None."""
    text = cell.strip()
    try:
        if match := AMT_TIME.fullmatch(text):
            month, day, hour, minute, second, zone, year = match.groups()
            here = dt.timezone(dt.timedelta(hours=ZONES[zone]))
            place = MONTHS.index(month) + 1
            moment = dt.datetime(int(year), place, int(day), int(hour), int(minute), int(second), tzinfo=here)
        else:
            moment = dt.datetime.fromisoformat(text)
        return moment.astimezone(dt.UTC) if moment.tzinfo else None
    except (KeyError, ValueError, OverflowError):
        return None


def write_questions(names: Sequence[str]) -> str:
    """Ids as a list that Python prints, which is the form of Input.qIdList. None may hold quotes of both kinds."""
    # Not repr(): it would write some characters as escapes, which nobody reads back.
    return "[" + ", ".join(f'"{name}"' if "'" in name else f"'{name}'" for name in names) + "]"


def _statements(row: Mapping[str, str]) -> list[tuple[int, str]]:
    """Numbered statements that are there, in their order; PyrXSum's rows tell how many count."""
    found = [(int(match[1]), text) for column, text in row.items() if (match := STATEMENT.fullmatch(column)) and text]
    most = row.get("Input.numfact", "")
    ordered = sorted(found)
    return ordered[: int(most)] if re.fullmatch(r"[0-9]{1,3}", most) else ordered


def _questions(cell: str, number: int) -> list[str]:
    """Ids from a list as Python prints it; without one, their places."""
    if not cell.strip():
        return [str(place) for place in range(1, number + 1)]
    found = ["".join(match) for match in QUESTION.findall(cell)]
    if len(found) != number:
        raise BadRow(f"Input.qIdList names {len(found)} questions for {number} statements.")
    return found


def _answer(row: Mapping[str, str], number: int) -> str | None:
    cell = row.get(f"Answer.S{number}Answer")
    if cell is None:
        cell = row.get(f"Answer.rate{number - 1}", "")
    if cell.strip() not in ANSWERS:
        raise BadRow(f"The answer to statement {number} must be p, n, u, 1, 2 or blank, not {cell!r:.40}.")
    return ANSWERS[cell.strip()]


def _seconds(cell: str) -> float | None:
    return float(cell) if re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,17})?", cell.strip()) else None
