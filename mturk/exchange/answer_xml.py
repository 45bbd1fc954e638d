"""Answers of a form as the XML that requesters collect. Every text that a person can type comes back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
# What the market itself sends along; never an answer.
RESERVED = frozenset({"assignmentId", "hitId", "turkSubmitTo", "workerId"})
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return _ILLEGAL.sub("", text)


def answer_fields(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The fields of a form that are answers: no reserved name, no name without a letter, of two alike the last.

    Some tools send the four parameters with "amp;" before their names; these are not answers either.
    """
    fields: dict[str, str] = {}
    for name, text in pairs:
        key = clean(name).strip()
        if key and key.removeprefix("amp;") not in RESERVED:
            fields[key] = clean(text)
    return fields


@dataclass(frozen=True)
class Answer:
    """What somebody answered to one question of a QuestionForm: a text, or choices and perhaps another in words."""

    identifier: str
    text: str | None = None
    chosen: tuple[str, ...] = ()
    other: str = ""


def write_answers(fields: dict[str, str]) -> str:
    """The document that GetAssignment gives out, one Answer for each field in its order."""
    return write_form_answers(Answer(name, text) for name, text in fields.items())


def write_form_answers(given: Iterable[Answer]) -> str:
    """The same document, of answers to the questions of a form."""
    answers = "".join(
        f"<Answer>{_element('QuestionIdentifier', one.identifier)}{_given(one)}</Answer>" for one in given
    )
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{answers}</QuestionFormAnswers>'
    )


def _given(answer: Answer) -> str:
    if answer.text is not None:
        return _element("FreeText", answer.text)
    chosen = "".join(_element("SelectionIdentifier", identifier) for identifier in answer.chosen)
    return chosen + (_element("OtherSelectionText", answer.other) if answer.other else "")


def _element(name: str, text: str) -> str:
    return f"<{name}>{_text(text)}</{name}>"


def _text(text: str) -> str:
    # A bare carriage return would come back as a line feed.
    return escape(clean(text), {"\r": "&#13;"})
