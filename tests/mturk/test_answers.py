"""Answers are read as text, whatever is in them; what one half writes, the other reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mturk import answers, questions
from mturk.exchange import answer_xml

NAMES = st.text(min_size=1).map(str.strip).filter(lambda name: name and name != answers.CROWD_FORM)
HEAD = '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">'
BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + HEAD + "&b;</QuestionFormAnswers>"


def document(*pairs: tuple[str, str]) -> str:
    inner = "".join(f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>{rest}</Answer>" for name, rest in pairs)
    return f'<?xml version="1.0" encoding="ASCII"?>{HEAD}{inner}</QuestionFormAnswers>'


@given(st.dictionaries(NAMES, st.text(), max_size=8))
def test_what_a_form_sends_comes_back(fields):
    sent = answer_xml.answer_fields(fields.items())
    got = answers.read_answers(answer_xml.write_answers(sent))
    assert got == {name.strip(): text for name, text in sent.items() if name.strip()}


@given(st.text())
def test_only_characters_that_xml_cannot_hold_are_lost(text):
    got = answers.read_answers(answer_xml.write_answers({"s1": text}))["s1"]
    assert got.replace("\r\n", "\n").replace("\r", "\n") == questions.legal_text(text)


def test_reserved_names_are_no_answers_and_of_two_alike_one_survives():
    pairs = [
        ("assignmentId", "3X"),
        ("amp;hitId", "3Y"),
        ("workerId", "A"),
        ("turkSubmitTo", "x"),
        ("u1", "a"),
        ("u1", "b"),
        ("", "x"),
        ("\x00", "y"),
    ]
    assert answer_xml.answer_fields(pairs) == {"u1": "b"}


def test_text_choices_and_empty_answers():
    xml = document(
        ("u1", "<FreeText>présent</FreeText>"),
        ("u2", "<FreeText/>"),
        (
            "u3",
            "<SelectionIdentifier>a</SelectionIdentifier><SelectionIdentifier>b</SelectionIdentifier><OtherSelectionText>c</OtherSelectionText>",
        ),
        ("u4", ""),
        ("u1", "<FreeText>later</FreeText>"),
    )
    assert answers.read_answers(xml) == {"u1": "présent", "u2": "", "u3": "a|b|c", "u4": ""}


def test_strange_elements_and_namespaces_are_passed_over():
    xml = "<QuestionFormAnswers><New/><Answer><QuestionIdentifier> u1 </QuestionIdentifier><New>x</New><FreeText>y</FreeText></Answer></QuestionFormAnswers>"
    assert answers.read_answers(xml) == {"u1": "y"}


@pytest.mark.parametrize("nothing", ["", " \n", HEAD + "</QuestionFormAnswers>"])
def test_no_answer_is_no_error(nothing):
    assert answers.read_answers(nothing) == {}


def test_the_one_answer_of_a_crowd_form_is_taken_apart():
    form = [{"u1": {"present": True, "not_present": False}, "s1": "a < b", "n": 3, "deep": {"x": [1]}}]
    folded = json.dumps(form).replace("<", "&lt;")
    assert answers.read_answers(document(("taskAnswers", f"<FreeText>{folded}</FreeText>"))) == {
        "u1": "present", "s1": "a < b", "n": "3", "deep": '{"x": [1]}',
    }  # fmt: skip
    for odd in ("not json", "{}", "[1]", "[" * 5000):
        assert answers.read_answers(document(("taskAnswers", f"<FreeText>{odd}</FreeText>"))) == {"taskAnswers": odd}


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        (BOMB, "document type or entities"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><QuestionFormAnswers/>', "document type or entities"),
        ("<QuestionFormAnswers>", "no XML"),
        ("hello", "no XML"),
        ("\ud800", "no XML"),
        ("<HTMLQuestion/>", "is a HTMLQuestion"),
        ("<QuestionFormAnswers><Answer><FreeText>x</FreeText></Answer></QuestionFormAnswers>", "which question"),
        ("<QuestionFormAnswers>" + " " * answers.MOST_CHARACTERS, "not read"),
    ],
)
def test_what_cannot_be_read_says_why(xml, why):
    with pytest.raises(answers.UnreadableAnswer, match=why):
        answers.read_answers(xml)
