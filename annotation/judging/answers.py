"""What a judging page holds: an answer for each unit, as far as it is given. Checked before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.writing.content import BadContent, NotReady

PRESENT, NOT_PRESENT, UNSURE = ANSWERS = ("present", "not_present", "unsure")
MOST_ROWS = 100
MOST_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Given:
    """The answer to a row of the page (from 1 on), and the active seconds that it took; None if nobody measured.

    A page knows its rows by their places alone: ids would tell a filler from the others.
    """

    row: int
    answer: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """All of a page."""

    given: tuple[Given, ...] = ()
    seconds: float = 0.0

    def by_row(self) -> dict[int, Given]:
        return {one.row: one for one in self.given}


def read_answers(content: Any) -> Answers:
    """Answers from JSON; refuses what no page of ours sends."""
    if not isinstance(content, Mapping):
        raise BadContent("The content must be an object.")
    rows = content.get("answers", [])
    if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) > MOST_ROWS:
        raise BadContent(f"answers must be a list of at most {MOST_ROWS}.")
    given = tuple(_given(row) for row in rows)
    if len({one.row for one in given}) < len(given):
        raise BadContent("A row has one answer.")
    return Answers(given, _seconds(content.get("seconds", 0)))


def _given(row: Any) -> Given:
    if not isinstance(row, Mapping) or not isinstance(row.get("row"), int) or isinstance(row["row"], bool):
        raise BadContent("Each answer must name its row by number.")
    if row.get("answer") not in ANSWERS:
        raise BadContent("An answer is present, not_present or unsure.")
    seconds = row.get("seconds")
    return Given(row["row"], row["answer"], None if seconds is None else _seconds(seconds))


def _seconds(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= MOST_SECONDS:
        raise BadContent("seconds must be a number from 0 to a day.")
    return float(given)


def answers_json(answers: Answers) -> dict[str, Any]:
    rows = [{"row": one.row, "answer": one.answer, "seconds": one.seconds} for one in answers.given]
    return {"answers": rows, "seconds": answers.seconds}


def require_answers(answers: Answers, rows: int) -> None:
    """Raises if a row has no answer, or if one is answered that is not there."""
    known = {one.row for one in answers.given}
    if known - set(range(1, rows + 1)):
        raise BadContent("There is an answer to a row that this sheet does not have.")
    missing = rows - len(known)
    if missing:
        raise NotReady(f"Not handed in: {missing} of {rows} statements have no answer yet. “Unsure” is one, too.")
