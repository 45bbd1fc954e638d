"""AnswerKey: how a qualification test is scored, and which value a score becomes. Pure.

A question's choices must be exactly those of one of its options; otherwise, or without an answer, its default counts.
Values are rounded down; Amazon does not say how it rounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from xml.etree.ElementTree import Element

from mturk.exchange.answer_xml import Answer
from mturk.exchange.errors import Refused
from mturk.exchange.question_form import QuestionForm, SelectionAnswer, check_once
from mturk.exchange.reading_xml import (
    SCHEMAS,
    check_bare,
    decimal,
    fail,
    members,
    name_of,
    needed,
    plain,
    read_xml,
    whole,
)

SPACE = f"{{{SCHEMAS}2005-10-01/AnswerKey.xsd}}"
MAPPINGS = "PercentageMapping? ScaleMapping? RangeMapping?"
LARGEST = 2**31 - 1  # of a qualification's value


@dataclass(frozen=True)
class Option:
    """What a set of choices scores."""

    chosen: frozenset[str]
    score: int


@dataclass(frozen=True)
class KeyQuestion:
    identifier: str
    options: tuple[Option, ...]
    default: int = 0


@dataclass(frozen=True)
class Range:
    """Sums from `least` to `most`, both included, become `value`."""

    least: int
    most: int
    value: int


@dataclass(frozen=True)
class AnswerKey:
    """At most one of the three ways from a sum to a value; with none of them, the sum is the value."""

    questions: tuple[KeyQuestion, ...]
    maximum: int | None = None
    multiplier: Decimal | None = None
    ranges: tuple[Range, ...] = ()
    out_of_range: int | None = None


def parse_key(xml: str) -> AnswerKey:
    root = read_xml(xml)
    if root.tag != f"{SPACE}AnswerKey":
        raise fail("It is not an AnswerKey of a known schema.")
    found = members(root, "Question+ QualificationValueMapping?")
    questions = tuple(read_question(one) for one in found["Question"])
    check_once([one.identifier for one in questions], "QuestionIdentifier", "AnswerKey")
    mapping = found["QualificationValueMapping"]
    return read_mapping(questions, mapping[0]) if mapping else AnswerKey(questions)


def read_question(element: Element) -> KeyQuestion:
    found = members(element, "QuestionIdentifier AnswerOption* DefaultScore?")
    default = found["DefaultScore"]
    return KeyQuestion(
        needed(found["QuestionIdentifier"][0]),
        tuple(read_option(one) for one in found["AnswerOption"]),
        whole(plain(default[0]), "DefaultScore") if default else 0,
    )


def read_option(element: Element) -> Option:
    found = members(element, "SelectionIdentifier* AnswerScore")
    chosen = frozenset(needed(one) for one in found["SelectionIdentifier"])
    return Option(chosen, whole(plain(found["AnswerScore"][0]), "AnswerScore"))


def read_mapping(questions: tuple[KeyQuestion, ...], element: Element) -> AnswerKey:
    check_bare(element)
    if len(element) != 1:
        raise fail("QualificationValueMapping must have one mapping.")
    members(element, MAPPINGS)
    kind = name_of(element[0])
    if kind == "PercentageMapping":
        highest = members(element[0], "MaximumSummedScore")["MaximumSummedScore"][0]
        return AnswerKey(questions, maximum=whole(plain(highest), "MaximumSummedScore", least=1))
    if kind == "ScaleMapping":
        times = members(element[0], "SummedScoreMultiplier")["SummedScoreMultiplier"][0]
        return AnswerKey(questions, multiplier=decimal(plain(times), "SummedScoreMultiplier"))
    found = members(element[0], "SummedScoreRange+ OutOfRangeQualificationValue")
    outside = whole(plain(found["OutOfRangeQualificationValue"][0]), "OutOfRangeQualificationValue")
    return AnswerKey(questions, ranges=read_ranges(found["SummedScoreRange"]), out_of_range=outside)


def read_ranges(elements: Iterable[Element]) -> tuple[Range, ...]:
    ranges = []
    for element in elements:
        names = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
        found = members(element, " ".join(names))
        ranges.append(Range(*(whole(plain(found[name][0]), name) for name in names)))
    in_order = sorted(ranges, key=lambda one: one.least)
    if any(one.least > one.most for one in ranges):
        raise fail("A SummedScoreRange begins above its end.")
    if any(first.most >= second.least for first, second in itertools.pairwise(in_order)):
        raise fail("Two SummedScoreRanges have scores in common.")
    return tuple(ranges)


def check_key(key: AnswerKey, form: QuestionForm) -> None:
    """Refuse a key for questions or choices that the test does not have, or that have no choices."""
    asked = {question.identifier: question.answer for question in form.questions}
    for question in key.questions:
        answer = asked.get(question.identifier)
        if not isinstance(answer, SelectionAnswer):
            why = "The test has no such question with choices; texts cannot be scored."
            raise Refused("InvalidParameterValue", value=question.identifier[:200], name="AnswerKey", why=why)
        offered = {one.identifier for one in answer.selections}
        for unknown in sorted(identifier for option in question.options for identifier in option.chosen - offered):
            why = f"Question {question.identifier[:200]} offers no such choice."
            raise Refused("InvalidParameterValue", value=unknown[:200], name="AnswerKey", why=why)


def score(key: AnswerKey, answers: Iterable[Answer]) -> int:
    """The value that a test earns."""
    given = {answer.identifier: answer for answer in answers}
    return value_of(key, sum(score_question(question, given.get(question.identifier)) for question in key.questions))


def score_question(question: KeyQuestion, answer: Answer | None) -> int:
    if answer is None or answer.other:
        return question.default
    chosen = frozenset(answer.chosen)
    return next((option.score for option in question.options if option.chosen == chosen), question.default)


def value_of(key: AnswerKey, total: int) -> int:
    """What a sum of scores becomes, within what a qualification's value can be."""
    if key.maximum is not None:
        value = total * 100 // key.maximum
    elif key.multiplier is not None:
        value = math.floor(total * key.multiplier)
    elif key.out_of_range is not None:
        value = next((one.value for one in key.ranges if one.least <= total <= one.most), key.out_of_range)
    else:
        value = total
    return max(-LARGEST, min(value, LARGEST))
