"""QuestionForms: what is read, what is refused, and what becomes of markup and of answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mturk.answers import read_answers
from mturk.exchange.answer_xml import Answer, write_form_answers
from mturk.exchange.errors import Refused
from mturk.exchange.form_answers import Problem, fields_of, lay_out
from mturk.exchange.formatted import Run, read_formatted
from mturk.exchange.question_checks import check_question
from mturk.exchange.question_form import Overview, SelectionAnswer, TextAnswer, parse_form
from tests.mturk.exchange.form_xml import SMALL, WHOLE, ask, choose, form, overview, text
from tests.mturk.exchange.walking import SCHEMAS

IMAGE = (
    "<Binary><MimeType><Type>image</Type><SubType>gif</SubType></MimeType>"
    "<DataURL>https://pictures.example/a.gif?b=1&amp;c=2</DataURL><AltText>A cat</AltText></Binary>"
)
FILM = (
    "<EmbeddedBinary><EmbeddedMimeType><Type>video</Type><Subtype>mp4</Subtype></EmbeddedMimeType>"
    "<DataURL>https://pictures.example/a.mp4</DataURL><AltText>A film</AltText><Width>100</Width>"
    "<ApplicationParameter><Name>loop</Name><Value>1</Value></ApplicationParameter></EmbeddedBinary>"
)


@pytest.mark.parametrize("date", ["2017-11-06", "2005-10-01"])
def test_a_form_is_read_in_its_order(date):
    read = parse_form(WHOLE.replace("2017-11-06", date))
    assert isinstance(read.parts[0], Overview)
    assert [block.kind for block in read.parts[0].content] == ["title", "lines", "item"]
    assert [question.identifier for question in read.questions] == ["sky", "seen", "place", "why", "age"]
    assert [question.is_required for question in read.questions] == [True, False, True, True, False]
    sky, seen, _place, why, age = (question.answer for question in read.questions)
    assert isinstance(sky, SelectionAnswer)
    assert (sky.least, sky.most, sky.other) == (1, 1, None)
    assert isinstance(seen, SelectionAnswer)
    assert (seen.least, seen.most, seen.other) == (1, 3, TextAnswer())
    assert isinstance(why, TextAnswer)
    assert (why.shortest, why.longest, why.lines) == (3, 20, 4)
    assert isinstance(age, TextAnswer)
    assert (age.is_numeric, age.least, age.most) == (True, 18, 99)


def test_a_form_is_a_good_question():
    check_question(WHOLE)
    check_question(SMALL)


def test_pictures_and_films_are_links():
    question = parse_form(form(ask("a", text(), content=IMAGE + FILM))).questions[0]
    assert [block.runs[0] for block in question.content] == [
        Run("A cat", href="https://pictures.example/a.gif?b=1&c=2"),
        Run("A film", href="https://pictures.example/a.mp4"),
    ]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
REGEX = '<AnswerFormatRegex regex="(a+)+$" errorText="Letters only"/>'
BAD = [
    (form(), "XMLParseError"),
    (form(overview("<Text>x</Text>")), "XMLParseError"),
    (form(overview(""), ask("a", text())), "XMLParseError"),
    (form("<Answer/>", ask("a", text())), "XMLParseError"),
    (form("words", ask("a", text())), "XMLParseError"),
    (form(ask("", text())), "XMLParseError"),
    (form(ask("a", text()), ask("a", text())), "InvalidParameterValue"),
    (form(ask("a", text(), content="")), "XMLParseError"),
    (form(ask("a", text(), content="<Table/>")), "XMLParseError"),
    (form(ask("a", text(), content='<Text xmlns="urn:x">x</Text>')), "XMLParseError"),
    (form(ask("a", text(), content="<Title></Title>")), "XMLParseError"),
    (form(ask("a", text(), content="<Text><b>x</b></Text>")), "XMLParseError"),
    (form(ask("a", text(), content="<List><Item>x</Item></List>")), "XMLParseError"),
    (form(ask("a", text(), content="<Application><Flash/></Application>")), "InvalidParameterValue"),
    (form(ask("a", text(), content=IMAGE.replace("https:", "http:"))), "InvalidParameterValue"),
    (form(ask("a", text(), content=IMAGE.replace("https:", "javascript:"))), "InvalidParameterValue"),
    (form(ask("a", text(), content=IMAGE.replace("https://pictures.example", "https://[::1"))), "InvalidParameterValue"),
    (form(ask("a", "")), "XMLParseError"),
    (form(ask("a", text() + text())), "XMLParseError"),
    (form(ask("a", "<FileUploadAnswer><MaxFileSizeInBytes>9</MaxFileSizeInBytes></FileUploadAnswer>")), "InvalidParameterValue"),
    (form(ask("a", "<VoiceAnswer/>")), "XMLParseError"),
    (form(ask("a", text(), required=True)).replace(">true<", ">perhaps<"), "XMLParseError"),
    (form(ask("a", text("<IsNumeric minValue='9' maxValue='1'/>"))), "XMLParseError"),
    (form(ask("a", text("<IsNumeric minValue='NaN'/>"))), "XMLParseError"),
    (form(ask("a", text("<IsNumeric minValue='1e999999'/>"))), "XMLParseError"),
    (form(ask("a", text("<Length minLength='9' maxLength='1'/>"))), "XMLParseError"),
    (form(ask("a", text("<Length maxLength='-1'/>"))), "XMLParseError"),
    (form(ask("a", text("<Length maxLength='99999999999999999999'/>"))), "XMLParseError"),
    (form(ask("a", text("<AnswerFormatRegex errorText='x'/>"))), "XMLParseError"),
    (form(ask("a", text(lines=-1))), "XMLParseError"),
    (form(ask("a", choose())), "XMLParseError"),
    (form(ask("a", choose("x", "x"))), "InvalidParameterValue"),
    (form(ask("a", choose("x", ""))), "XMLParseError"),
    (form(ask("a", choose("x", least=2))), "InvalidParameterValue"),
    (form(ask("a", choose("x", "y", least=2, most=1))), "InvalidParameterValue"),
    (form(ask("a", choose("x", most=0))), "XMLParseError"),
    (form(ask("a", choose("x", style="wheel"))), "XMLParseError"),
    (form(ask("a", choose("x").replace("<Text>The x</Text>", ""))), "XMLParseError"),
    (form(ask("a", choose("x").replace("<Text>The x</Text>", "<List/>"))), "XMLParseError"),
    (SMALL.replace("</QuestionForm>", ""), "XMLParseError"),
    (SMALL.replace("2017-11-06", "2018-01-01"), "XMLParseError"),
    (BOMB + SMALL.replace("The blue", "&b;"), "XMLParseError"),
    (OUTSIDE + SMALL.replace("The blue", "&a;"), "XMLParseError"),
    (form(ask("a", text(), content="<FormattedContent><![CDATA[<script>1</script>]]></FormattedContent>")), "XHTMLParseError"),
]  # fmt: skip


@pytest.mark.parametrize(("xml", "code"), BAD)
def test_a_form_that_cannot_be_asked_is_refused(xml, code):
    with pytest.raises(Refused) as caught:
        check_question(xml)
    assert caught.value.kind.code.endswith(code)


def test_a_refusal_says_what_is_not_taken():
    with pytest.raises(Refused, match="This exchange takes no files"):
        check_question(form(ask("a", "<FileUploadAnswer/>")))
    with pytest.raises(Refused, match="it may have QuestionIdentifier DisplayName"):
        check_question(form(ask("a", text()).replace("<QuestionContent><Text>What?</Text></QuestionContent>", "")))


def test_a_strangers_regular_expression_is_shown_in_words_and_never_run():
    parts = lay_out(parse_form(form(ask("a", text(REGEX)))), {"q1": ["a" * 5000 + "!"]})
    (field,) = fields_of(parts)
    assert field.problem is None, "the expression would need longer than the world lasts"
    assert field.question.answer.hint == "Letters only"


# --- markup


def test_markup_becomes_blocks_of_text():
    blocks = read_formatted(
        "<h2>Rules</h2><p>Read <b>all</b> of <i>it</i> &amp; <code>x&lt;y</code>.</p><ul><li>one</li><li>two</li></ul>"
        '<p>See <a href="https://a.example/?b=1&amp;c=2" class="x">there</a><br/>or <img src="https://a.example/p.png" '
        'alt="a map"/></p><table><tr><th>k</th><td>v</td></tr></table><pre>a\n  b</pre>tail'
    )
    assert [(block.kind, block.text.strip()) for block in blocks] == [
        ("title", "Rules"), ("text", "Read all of it & x<y."), ("item", "one"), ("item", "two"), ("text", "See there"),
        ("text", "or a map"), ("text", "k\tv"), ("lines", "a\n  b"), ("text", "tail"),
    ]  # fmt: skip
    assert blocks[1].runs == (
        Run("Read "), Run("all", "strong"), Run(" of "), Run("it", "em"), Run(" & "), Run("x<y", "code"), Run("."),
    )  # fmt: skip
    assert blocks[4].runs[1] == Run("there", href="https://a.example/?b=1&c=2")
    assert blocks[5].runs[1] == Run("a map", href="https://a.example/p.png")


@pytest.mark.parametrize(
    "markup",
    [
        "", "   ", "<p></p>", "<script>alert(1)</script>", "<style>x</style>", "<iframe src='https://x'></iframe>",
        "<p onclick='x()'>a</p>", "<form><input name='a'></form>", "<a href='javascript:alert(1)'>x</a>",
        "<a href=' java\tscript:alert(1)'>x</a>", "<a href='data:text/html,x'>x</a>", "<a href='//x.example'>x</a>",
        "<img src='x'/>", "<svg onload='x'/>", "<p>a", "a</p>", "<b><i>a</b></i>", "<object/>", "<!DOCTYPE html>a",
        "<a href='https://[::1'>x</a>", "<![x[y]]>", "<a " * 20_000, "<b>" * 41 + "x" + "</b>" * 41, "<br>x</br>",
        "</x><x>", "&unknown;", "<a href='https://evil.example\\@www.good.org/'>x</a>",
        "<a href='https://good.org@evil.example/'>x</a>",
    ],
)  # fmt: skip
def test_markup_that_mturk_would_not_take_is_refused(markup):
    with pytest.raises(Refused) as caught:
        read_formatted(markup)
    assert caught.value.kind.code.endswith("XHTMLParseError")


def test_names_of_characters_and_parts_that_are_only_text_are_text():
    (block,) = read_formatted("<p>a&nbsp;b &eacute; &amp;lt; <![CDATA[<script>]]><!-- unseen --></p>")
    assert block.text == "a b é &lt; <script>"


@given(st.text(alphabet="<>/ab p=\"'&;!-[]ons:", max_size=60))
def test_any_markup_is_read_or_refused(markup):
    try:
        blocks = read_formatted(markup)
    except Refused:
        return
    assert blocks
    assert all(
        run.href == "" or run.href.startswith(("https://", "http://", "mailto:")) for b in blocks for run in b.runs
    )


# --- answers

GOOD = {"q1": ["blue"], "q2": ["sun", "rain"], "q2-other": ["hail"], "q3": ["DE"], "q4": ["clear air"], "q5": ["41"]}


def problems(**changes):
    fields = fields_of(lay_out(parse_form(WHOLE), {**GOOD, **{k.replace("_", "-"): v for k, v in changes.items()}}))
    return {field.question.identifier: field.problem for field in fields if field.problem}


def test_good_answers_have_no_problem():
    fields = fields_of(lay_out(parse_form(WHOLE), GOOD))
    assert [field.answer for field in fields] == [
        Answer("sky", None, ("blue",)), Answer("seen", None, ("sun", "rain"), "hail"), Answer("place", None, ("DE",)),
        Answer("why", "clear air"), Answer("age", "41"),
    ]  # fmt: skip
    assert problems() == {}
    assert problems(q2=[], q2_other=[], q5=[]) == {}, "what is not required may be left"


@pytest.mark.parametrize(
    ("changes", "identifier", "kind"),
    [
        ({"q1": []}, "sky", "required"), ({"q1": [""]}, "sky", "required"), ({"q1": ["red"]}, "sky", "not_offered"),
        ({"q1": ["blue", "green"]}, "sky", "too_many"), ({"q3": [""]}, "place", "required"),
        ({"q2": ["sun", "moon", "rain"]}, "seen", "too_many"), ({"q4": [" \n "]}, "why", "required"),
        ({"q4": ["ab"]}, "why", "too_short"), ({"q4": ["a" * 21]}, "why", "too_long"), ({"q5": ["many"]}, "age", "not_numeric"),
        ({"q5": ["17.9"]}, "age", "too_small"), ({"q5": ["100"]}, "age", "too_large"), ({"q5": ["٤١"]}, "age", "not_numeric"),
        ({"q5": ["1e3"]}, "age", "not_numeric"), ({"q5": ["9" * 5000]}, "age", "not_numeric"), ({"q5": ["nan"]}, "age", "not_numeric"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer(changes, identifier, kind):
    found = problems(**changes)
    assert list(found) == [identifier]
    assert found[identifier].kind == kind


def test_a_line_break_is_one_character():
    assert problems(q4=["a\r\n" * 10]) == {}


def test_several_choices_have_a_least_number_once_there_is_one():
    xml = form(ask("a", choose("x", "y", "z", least=2, most=3)))
    kinds = [
        fields_of(lay_out(parse_form(xml), {"q1": chosen}))[0].problem for chosen in ([], ["x"], ["x", "y"], ["x", "x"])
    ]
    assert kinds == [None, Problem("too_few", "2"), None, Problem("too_few", "2")]


def test_a_choice_of_none_can_be_required():
    xml = form(ask("a", choose("x", "y", least=0, most=2), required=True))
    assert fields_of(lay_out(parse_form(xml), {}))[0].problem is None


def test_fields_have_names_of_ours():
    xml = form(ask("csrfmiddlewaretoken", text(default="as it was")), ask("assignmentId", text()))
    fields = fields_of(lay_out(parse_form(xml)))
    assert [(field.name, field.text) for field in fields] == [("q1", "as it was"), ("q2", "")]


@pytest.mark.parametrize(
    ("answer", "control"),
    [
        (text(), "line"), (text(lines=2), "lines"), (choose("x", "y"), "radio"), (choose("x", style="dropdown"), "select"),
        (choose("x", style="list"), "select"), (choose("x", style="combobox", other=True), "select"),
        (choose("x", style="checkbox"), "check"), (choose("x", "y", most=2, style="dropdown"), "check"),
        (choose("x", style="multichooser"), "radio"),
        (choose("x", style="dropdown").replace("<Text>The x</Text>", IMAGE), "radio"),
    ],
)  # fmt: skip
def test_how_a_question_is_asked(answer, control):
    assert fields_of(lay_out(parse_form(form(ask("a", answer)))))[0].control == control


EVIL = ["</script>", "]]>", "<![CDATA[", "\"'&amp;<b>", "a\r\nb\x00\ud800", "</FreeText><FreeText>", "𝄞"]


@pytest.mark.parametrize("evil", EVIL)
def test_what_people_write_comes_back_as_it_was(evil):
    xml = write_form_answers([Answer("q", evil), Answer("c", None, ("x", "y"), evil), Answer(evil + "k", None, ("z",))])
    assert xml.startswith('<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<QuestionFormAnswers xmlns="')
    assert f"{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd" in xml
    kept = evil.replace("\x00", "").replace("\ud800", "")
    assert read_answers(xml) == {"q": kept, "c": f"x|y|{kept}", f"{kept}k": "z"}


def test_choices_are_written_as_the_protocol_says():
    xml = write_form_answers([Answer("c", None, ("x", "y"), "z"), Answer("t", "w")])
    assert (
        "<Answer><QuestionIdentifier>c</QuestionIdentifier><SelectionIdentifier>x</SelectionIdentifier>"
        "<SelectionIdentifier>y</SelectionIdentifier><OtherSelectionText>z</OtherSelectionText></Answer>"
        "<Answer><QuestionIdentifier>t</QuestionIdentifier><FreeText>w</FreeText></Answer>"
    ) in xml
