"""QuestionForms for tests."""

from __future__ import annotations

from xml.sax.saxutils import escape

from tests.mturk.exchange.walking import SCHEMAS


def form(*parts: str, date: str = "2017-11-06") -> str:
    return f'<QuestionForm xmlns="{SCHEMAS}{date}/QuestionForm.xsd">{"".join(parts)}</QuestionForm>'


def overview(content: str) -> str:
    return f"<Overview>{content}</Overview>"


def ask(
    identifier: str, answer: str, *, required: bool | None = None, content: str = "<Text>What?</Text>", name: str = ""
) -> str:
    is_required = "" if required is None else f"<IsRequired>{str(required).lower()}</IsRequired>"
    display = f"<DisplayName>{escape(name)}</DisplayName>" if name else ""
    return (
        f"<Question><QuestionIdentifier>{escape(identifier)}</QuestionIdentifier>{display}{is_required}"
        f"<QuestionContent>{content}</QuestionContent><AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def text(constraints: str = "", *, default: str = "", lines: int = 0) -> str:
    held = f"<Constraints>{constraints}</Constraints>" if constraints else ""
    given = f"<DefaultText>{escape(default)}</DefaultText>" if default else ""
    high = f"<NumberOfLinesSuggestion>{lines}</NumberOfLinesSuggestion>" if lines else ""
    return f"<FreeTextAnswer>{held}{given}{high}</FreeTextAnswer>"


def choose(*identifiers: str, least: int | None = None, most: int | None = None, style: str = "", other: bool = False):
    fewest = "" if least is None else f"<MinSelectionCount>{least}</MinSelectionCount>"
    largest = "" if most is None else f"<MaxSelectionCount>{most}</MaxSelectionCount>"
    shape = f"<StyleSuggestion>{style}</StyleSuggestion>" if style else ""
    rows = "".join(
        f"<Selection><SelectionIdentifier>{escape(one)}</SelectionIdentifier><Text>The {escape(one)}</Text></Selection>"
        for one in identifiers
    )
    more = "<OtherSelection/>" if other else ""
    return f"<SelectionAnswer>{fewest}{largest}{shape}<Selections>{rows}{more}</Selections></SelectionAnswer>"


SMALL = form(ask("sky", choose("blue", "green"), required=True, content="<Text>Which colour is the sky?</Text>"))
WHOLE = form(
    overview("<Title>Two facts</Title><Text>Read and answer.</Text><List><ListItem>Be brief</ListItem></List>"),
    ask("sky", choose("blue", "green", "grey"), required=True, content="<Text>Which colour is the sky?</Text>"),
    ask("seen", choose("sun", "moon", "rain", least=1, most=3, style="checkbox", other=True), name="Seen today"),
    ask("place", choose("DE", "FR", style="dropdown"), required=True),
    ask("why", text('<Length minLength="3" maxLength="20"/>', lines=4), required=True),
    ask("age", text('<IsNumeric minValue="18" maxValue="99"/>')),
)
