"""What a worker answered, from the XML that MTurk's protocol carries. Whatever is in it, it is read as text."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

MOST_CHARACTERS = 2_000_000
CROWD_FORM = "taskAnswers"  # one answer that holds all of them, as JSON
BETWEEN = "|"  # between the choices of one question, as in MTurk's result files


class UnreadableAnswer(ValueError):
    """An answer that is no QuestionFormAnswers document, or one that means harm."""


def read_answers(xml: str) -> dict[str, str]:
    """Answers by the name of their question. No document at all is no answers.

    Several choices of one question are joined by "|". Of two answers with one name the first counts. Elements that we
    do not know are passed over, whatever their namespace.
    """
    if not xml.strip():
        return {}
    if len(xml) > MOST_CHARACTERS:
        raise UnreadableAnswer(f"The answer has {len(xml):,} characters. More than {MOST_CHARACTERS:,} are not read.")
    try:
        # The str, not its bytes: some documents declare ASCII and hold more.
        root = fromstring(xml.lstrip(), forbid_dtd=True)
    except DefusedXmlException as error:
        raise UnreadableAnswer("The answer declares a document type or entities, and is not read.") from error
    except (ParseError, UnicodeEncodeError) as error:
        raise UnreadableAnswer(f"The answer is no XML: {error}.") from error
    if _name(root) != "QuestionFormAnswers":
        raise UnreadableAnswer(f"The answer is a {_name(root)}, not QuestionFormAnswers.")
    answers: dict[str, str] = {}
    for element in root:
        if _name(element) == "Answer":
            question, text = _read_answer(element)
            for name, value in _unfold(question, text).items():
                answers.setdefault(name, value)
    return answers


def _name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _read_answer(answer: Element) -> tuple[str, str]:
    question, texts = "", []
    for element in answer:
        name, text = _name(element), element.text or ""
        if name == "QuestionIdentifier":
            question = text.strip()
        elif name in {"FreeText", "SelectionIdentifier", "OtherSelectionText", "UploadedFileKey"}:
            texts.append(text)
    if not question:
        raise UnreadableAnswer("An answer does not say which question it is for.")
    return question, BETWEEN.join(texts)


def _unfold(question: str, text: str) -> dict[str, str]:
    """The answers of a crowd-form, which come as one; any other answer as it is."""
    if question != CROWD_FORM:
        return {question: text}
    try:
        forms = json.loads(text)
    except (ValueError, RecursionError):
        return {question: text}
    if not isinstance(forms, list) or not all(isinstance(form, dict) for form in forms):
        return {question: text}
    return {str(name): _as_text(value) for form in forms for name, value in form.items()}


def _as_text(value: Any) -> str:
    """One value of a crowd-form. Radio buttons come as an object with one true member."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value and all(isinstance(one, bool) for one in value.values()):
        return BETWEEN.join(name for name, is_chosen in value.items() if is_chosen)
    return json.dumps(value, ensure_ascii=False)
