"""Any text is safe inside a question, and a question that a market would refuse is refused before it is sent."""

from __future__ import annotations

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from mturk import questions

NASTY = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(["]]>", "]]", "]", ">", "<![CDATA[", "</HTMLContent>", "</script>", "&", "&amp;", "<", '"', "'", "\x00", "\x0b", "\r", "\r\n", "\ud800", "\ufffe", "😀", "é", "a", " "]),
        max_size=30,
    ).map("".join),
)  # fmt: skip


@given(NASTY)
def test_any_page_comes_back_from_its_question(html):
    root = fromstring(questions.html_question(html, 450))
    assert [child.tag for child in root] == [
        f"{{{questions.HTML_QUESTION}}}{name}" for name in ("HTMLContent", "FrameHeight")
    ]
    assert (root[0].text or "") == questions.legal_text(html)
    assert root[1].text == "450"


@given(NASTY)
def test_any_address_comes_back_from_its_question(text):
    url = f"https://example.org/task/x?q={text}"
    try:
        root = fromstring(questions.external_question(url))
    except questions.BadQuestionUrl:
        return
    assert root.tag == f"{{{questions.EXTERNAL_QUESTION}}}ExternalQuestion"
    assert root[0].text == questions.legal_text(url)
    assert root[1].text == "0"


def test_ordinary_text_is_not_touched():
    assert questions.legal_text("Καλημέρα 😀\n\tx\ufffd") == "Καλημέρα 😀\n\tx\ufffd"
    assert questions.legal_text("a\x00b\x0bc\x1fd\ud800e\ufffff\uffff") == "abcdef"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/task/x",
        "http://127.0.0.1:9/x",
        "http://[::1]:8000/x",
        "http://127.8.8.8/",
        "https://a.example/?x=1",
    ],
)
def test_https_or_this_machine(url):
    assert questions.external_question(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.org/task", "not https"),
        ("http://127.0.0.1.example.org/", "not https"),
        ("http://10.0.0.1/", "not https"),
        ("ftp://example.org/", "not a web address"),
        ("javascript:alert(1)", "not a web address"),
        ("/task/x", "not a web address"),
        ("", "not a web address"),
        ("https://example.org/?hitId=1", "hitId"),
        ("https://example.org/?a=1&assignmentId", "assignmentId"),
    ],
)
def test_other_addresses_are_refused(url, why):
    with pytest.raises(questions.BadQuestionUrl, match=why):
        questions.external_question(url)


def test_the_limit_is_in_bytes_and_after_wrapping():
    room = questions.MOST_BYTES - len(questions.html_question("").encode())
    assert len(questions.html_question("a" * room).encode()) == questions.MOST_BYTES
    with pytest.raises(questions.QuestionTooLarge, match=r"1 more than the 65,535"):
        questions.html_question("a" * (room + 1))
    with pytest.raises(questions.QuestionTooLarge):
        questions.html_question("é" * (room // 2 + 1))
    with pytest.raises(questions.QuestionTooLarge):
        questions.html_question("]]>" * (room // 4))
