"""The view of tokenised text: gaps closed, nothing added, every character's place known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.cleaning import clean


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("He did n't go .", "He didn't go."),
        ("Rose 's total , six times , rose .", "Rose's total, six times, rose."),
        ("for £ 23million ( about $ 30 m )", "for £23million (about $30m)"),
        ("a ' hot , deep kiss ' with him", "a 'hot, deep kiss' with him"),
        ('she said " no " .', 'she said "no".'),
        ("`` no '' , she said", "``no'', she said"),
        ("a 43-year - old man", "a 43-year-old man"),
        ("an hour - and - a - half later", "an hour-and-a-half later"),
        ("seen on Saturday - a day later", "seen on Saturday - a day later"),
        ("coins and\u00a0notes \u00a0 .", "coins and notes."),
        ("plain text stays.", "plain text stays."),
        ("", ""),
    ],
)
def test_gaps_are_closed(text, view):
    assert clean(text).text == view


@given(st.text(alphabet="ab'\" .,-£()\u00a0n't", max_size=50), st.integers(0, 1000))
def test_nothing_is_added_and_every_place_is_right(text, offset):
    view = clean(text, offset)
    assert len(view.text) == len(view.places)
    for letter, place in zip(view.text, view.places, strict=True):
        original = text[place[0] - offset]
        assert letter == original or (letter == " " and original.isspace())
    assert list(view.places) == sorted(set(view.places))
    assert "".join(view.text.split()) == "".join(text.split())


def test_a_span_of_the_view_is_a_span_of_the_text():
    text = "He did n't go ."
    start, end = clean(text, 100).span(3, 9)
    assert text[start - 100 : end - 100] == "did n't"


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("The <b>mayor</b> spoke.", "The mayor spoke."),
        ("Smith &amp; Sons", "Smith & Sons"),
        ("one<br/>two", "one two"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("AT&T; left", "AT&T; left"),
        ("a&nbsp;b &#8212; c &nosuchx; d", "a b — c &nosuchx; d"),
    ],
)
def test_markup_is_read_as_what_it_means(text, view):
    assert clean(text).text == view


def test_an_entity_keeps_its_whole_span():
    text = "Smith &amp; Sons"
    view = clean(text, 10)
    assert view.span(6, 7) == (16, 21)
    assert text[16 - 10 : 21 - 10] == "&amp;"
