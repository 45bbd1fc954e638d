"""A QuestionForm as fields of a web form: how each question is asked, what was given, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from mturk.exchange.answer_xml import Answer, clean
from mturk.exchange.formatted import Block
from mturk.exchange.question_form import FormQuestion, Overview, QuestionForm, SelectionAnswer, TextAnswer

_NUMBER = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})")

Given = Mapping[str, Sequence[str]]
"""What a browser sent: all values by the name of their field."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with an answer, in a word that the pages explain, and the number that it is about."""

    kind: str
    limit: str = ""


@dataclass(frozen=True)
class Field:
    """One question on the page. `name` is ours, not the requester's: theirs could be that of another field."""

    name: str
    number: int
    question: FormQuestion
    control: str  # "line", "lines", "select", "radio" or "check"
    text: str = ""  # for a choice, the one in words
    chosen: tuple[str, ...] = ()
    problem: Problem | None = None

    @property
    def label(self) -> str:
        """What the field is called: its display name, or the text that the question begins with; "" for neither."""
        return self.question.display_name or (self.question.content[0].text if self._begins_with_text else "")

    @property
    def rest(self) -> tuple[Block, ...]:
        """What is to be read besides the label."""
        return self.question.content[1 if self._begins_with_text and not self.question.display_name else 0 :]

    @property
    def _begins_with_text(self) -> bool:
        first = self.question.content[0]
        return first.kind in ("title", "lines", "text") and not any(run.href for run in first.runs)

    @property
    def wants_none(self) -> bool:
        """Whether a single choice can be left or taken back: radio buttons cannot be cleared otherwise."""
        answer = self.question.answer
        return isinstance(answer, SelectionAnswer) and (not needs(self.question) or answer.other is not None)

    @property
    def answer(self) -> Answer | None:
        """The answer; None if none was given."""
        if isinstance(self.question.answer, TextAnswer):
            return Answer(self.question.identifier, self.text) if self.text.strip() else None
        if not self.chosen and not self.text.strip():
            return None
        return Answer(self.question.identifier, None, self.chosen, self.text.strip())


def needs(question: FormQuestion) -> bool:
    """Whether there must be an answer. A choice of at least none can be required and still be of none."""
    answer = question.answer
    return question.is_required and not (isinstance(answer, SelectionAnswer) and answer.least == 0)


def lay_out(form: QuestionForm, given: Given | None = None) -> list[Overview | Field]:
    """The parts of a page in their order. Without `given` the fields are fresh; with it, they are checked."""
    shown: list[Overview | Field] = []
    for part in form.parts:
        if isinstance(part, Overview):
            shown.append(part)
        else:
            number = 1 + sum(isinstance(one, Field) for one in shown)
            shown.append(fresh_field(part, number) if given is None else filled_field(part, number, given))
    return shown


def fields_of(parts: Sequence[Overview | Field]) -> list[Field]:
    return [part for part in parts if isinstance(part, Field)]


def control_of(answer: TextAnswer | SelectionAnswer) -> str:
    """How a question is asked. Several choices are boxes to tick whatever the style: lists for it are hard to use."""
    if isinstance(answer, TextAnswer):
        return "lines" if answer.lines > 1 else "line"
    if answer.most > 1 or answer.style == "checkbox":
        return "check"
    is_plain = not any(run.href for one in answer.selections for run in one.block.runs)
    return "select" if answer.style in ("list", "dropdown", "combobox") and is_plain else "radio"


def fresh_field(question: FormQuestion, number: int) -> Field:
    # Another choice in words is not written in advance: with one of the others it would be one too many.
    default = question.answer.default if isinstance(question.answer, TextAnswer) else ""
    return Field(f"q{number}", number, question, control_of(question.answer), default)


def filled_field(question: FormQuestion, number: int, given: Given) -> Field:
    name, answer = f"q{number}", question.answer
    if isinstance(answer, TextAnswer):
        text = clean(next(iter(given.get(name, ())), ""))
        return Field(name, number, question, control_of(answer), text, (), text_problem(question, answer, text))
    chosen = tuple(dict.fromkeys(one for one in given.get(name, ()) if one))
    text = clean(next(iter(given.get(f"{name}-other", ())), "")) if answer.other else ""
    problem = choice_problem(question, answer, chosen, text)
    offered = tuple(one.identifier for one in answer.selections if one.identifier in chosen)
    return Field(name, number, question, control_of(answer), text, offered, problem)


def text_problem(question: FormQuestion, answer: TextAnswer, text: str) -> Problem | None:
    if not text.strip():
        return Problem("required") if needs(question) else None
    return limit_problem(answer, text)


def limit_problem(answer: TextAnswer, text: str) -> Problem | None:
    """What keeps a text from being what the form asks for. A line break is one character, however it was sent."""
    size = len(text.replace("\r\n", "\n"))
    if answer.shortest is not None and size < answer.shortest:
        return Problem("too_short", str(answer.shortest))
    if answer.longest is not None and size > answer.longest:
        return Problem("too_long", str(answer.longest))
    if not answer.is_numeric:
        return None
    if not _NUMBER.fullmatch(text.strip()):
        return Problem("not_numeric")
    if answer.least is not None and Decimal(text.strip()) < answer.least:
        return Problem("too_small", str(answer.least))
    if answer.most is not None and Decimal(text.strip()) > answer.most:
        return Problem("too_large", str(answer.most))
    return None


def choice_problem(
    question: FormQuestion, answer: SelectionAnswer, chosen: tuple[str, ...], text: str
) -> Problem | None:
    if not set(chosen) <= {one.identifier for one in answer.selections}:
        return Problem("not_offered")
    number = len(chosen) + bool(text.strip())
    if not number:
        return Problem("required") if needs(question) else None
    if number < answer.least:
        return Problem("too_few", str(answer.least))
    if number > answer.most:
        return Problem("too_many", str(answer.most))
    return limit_problem(answer.other, text) if answer.other and text.strip() else None
