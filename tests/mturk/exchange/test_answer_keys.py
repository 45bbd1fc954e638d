"""AnswerKeys: what is refused, and what a test earns."""

from __future__ import annotations

import pytest

from mturk.exchange.answer_keys import LARGEST, check_key, parse_key, score
from mturk.exchange.answer_xml import Answer
from mturk.exchange.errors import Refused
from mturk.exchange.question_form import parse_form
from tests.mturk.exchange.key_xml import KEY, TEST, key, percentage, ranges, right, scale

BLUE, GREEN = Answer("sky", None, ("blue",)), Answer("sky", None, ("green",))
MOON, BOTH = Answer("seen", None, ("moon",)), Answer("seen", None, ("rain", "moon"))


@pytest.mark.parametrize(
    ("answers", "value"),
    [
        ([BLUE, MOON], 100), ([BLUE, BOTH], 75), ([BLUE], 55), ([GREEN, MOON], 50), ([GREEN], 5), ([], 5),
        ([BLUE, Answer("seen", None, ("moon",), "stars")], 55), ([BLUE, Answer("seen", None, ("moon", "sun"))], 55),
    ],
)  # fmt: skip
def test_choices_must_be_exactly_those_of_an_option(answers, value):
    assert score(parse_key(KEY), answers) == value


SCORED = right("sky", (("blue",), 7), (("green",), -3))


@pytest.mark.parametrize(
    ("mapping", "blue", "green", "none"),
    [
        ("", 7, -3, 0),
        (percentage(9), 77, -34, 0),
        (scale(3), 21, -9, 0),
        (scale("0.5"), 3, -2, 0),
        (ranges((5, 10, 90), (-5, -1, 2), outside=50), 90, 2, 50),
    ],
)
def test_ways_from_a_score_to_a_value(mapping, blue, green, none):
    made = parse_key(key(SCORED, mapping=mapping))
    assert [score(made, [BLUE]), score(made, [GREEN]), score(made, [])] == [blue, green, none]


def test_a_value_fits_into_its_column():
    made = parse_key(key(right("sky", (("blue",), 999_999_999)), mapping=scale(999_999_999)))
    assert score(made, [BLUE]) == LARGEST


@pytest.mark.parametrize(
    "xml",
    [
        "", "<AnswerKey/>", KEY.replace("2005-10-01", "2017-11-06"), key(), key(mapping=percentage(1)),
        key(right("")), key(right("a", ((), 1)).replace("<AnswerScore>1</AnswerScore>", "")),
        key(right("a", (("x",), "one"))), key(right("a", (("x",), 10**9))), key(right("a", (("",), 1))),
        key(SCORED, mapping=percentage(0)), key(SCORED, mapping=percentage(1) + scale(1)), key(SCORED, mapping="<Other/>"),
        key(SCORED, mapping=scale("NaN")), key(SCORED, mapping=ranges()), key(SCORED, mapping=ranges((5, 1, 1))),
        key(SCORED, mapping=ranges((0, 5, 1), (5, 9, 2))), key(SCORED, mapping="words"),
        '<!DOCTYPE x [<!ENTITY a "b">]>' + KEY.replace(">10<", ">&a;<"),
    ],
)  # fmt: skip
def test_a_key_that_cannot_be_read_is_refused(xml):
    with pytest.raises(Refused) as caught:
        parse_key(xml)
    assert caught.value.kind.code.endswith("XMLParseError")


@pytest.mark.parametrize(
    "questions",
    [
        [right("moon", (("blue",), 1))], [right("sky", (("red",), 1))], [right("why", (("x",), 1))], [right("why")],
        [SCORED, SCORED],
    ],
)  # fmt: skip
def test_a_key_is_for_choices_of_its_test(questions):
    with pytest.raises(Refused) as caught:
        check_key(parse_key(key(*questions)), parse_form(TEST))
    assert caught.value.kind.code.endswith("InvalidParameterValue")
    check_key(parse_key(KEY), parse_form(TEST))
