"""AnswerKeys for tests."""

from __future__ import annotations

from tests.mturk.exchange.form_xml import ask, choose, form, text
from tests.mturk.exchange.walking import SCHEMAS


def key(*questions: str, mapping: str = "") -> str:
    held = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>" if mapping else ""
    return f'<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd">{"".join(questions)}{held}</AnswerKey>'


def right(identifier: str, *options: tuple[tuple[str, ...], int], default: int | None = None) -> str:
    rows = "".join(
        f"<AnswerOption>{''.join(f'<SelectionIdentifier>{one}</SelectionIdentifier>' for one in chosen)}"
        f"<AnswerScore>{score}</AnswerScore></AnswerOption>"
        for chosen, score in options
    )
    last = "" if default is None else f"<DefaultScore>{default}</DefaultScore>"
    return f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{rows}{last}</Question>"


def percentage(most: object) -> str:
    return f"<PercentageMapping><MaximumSummedScore>{most}</MaximumSummedScore></PercentageMapping>"


def scale(times: object) -> str:
    return f"<ScaleMapping><SummedScoreMultiplier>{times}</SummedScoreMultiplier></ScaleMapping>"


def ranges(*rows: tuple[int, int, int], outside: int = 0) -> str:
    inside = "".join(
        f"<SummedScoreRange><InclusiveLowerBound>{least}</InclusiveLowerBound><InclusiveUpperBound>{most}"
        f"</InclusiveUpperBound><QualificationValue>{value}</QualificationValue></SummedScoreRange>"
        for least, most, value in rows
    )
    outer = f"<OutOfRangeQualificationValue>{outside}</OutOfRangeQualificationValue>"
    return f"<RangeMapping>{inside}{outer}</RangeMapping>"


TEST = form(
    ask("sky", choose("blue", "green"), required=True, content="<Text>Which colour is the sky?</Text>"),
    ask("seen", choose("sun", "moon", "rain", most=3, other=True), content="<Text>What do you see at night?</Text>"),
    ask("why", text()),
)
KEY = key(
    right("sky", (("blue",), 10)), right("seen", (("moon",), 10), (("moon", "rain"), 5), default=1), mapping=percentage(20)
)  # fmt: skip
