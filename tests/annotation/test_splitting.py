"""Sentences that a reference shows by itself."""

import pytest

from annotation.splitting import UnbalancedTags, marked_sentences

NBSP = "\u00a0"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("   ", []),
        (f" {NBSP} ", []),
        ("One plain sentence. And another.", ["One plain sentence. And another."]),
        ("  edges  ", ["edges"]),
        ("<t> One . </t> <t> Two . </t>", ["One .", "Two ."]),
        (f"<t>{NBSP}One{NBSP}word{NBSP}. </t>", [f"One{NBSP}word{NBSP}."]),
        ("<t> </t> <t> Two . </t>", ["Two ."]),
        ("<t>a</t><t>b</t>", ["a", "b"]),
        ("a < t > b", ["a < t > b"]),
        ("emoji 🙂 stays", ["emoji 🙂 stays"]),
    ],
)
def test_spans_map_back_to_the_text(text, sentences):
    records = marked_sentences(text)
    assert [text[record.start : record.end] for record in records] == sentences
    assert [record.position for record in records] == list(range(1, len(sentences) + 1))


@pytest.mark.parametrize(
    "text", ["<t> One .", "One . </t>", "<t> <t> One . </t>", "<t> One . </t> stray", "stray <t> One . </t>", "</t><t>"]
)
def test_unbalanced_tags_are_refused(text):
    with pytest.raises(UnbalancedTags):
        marked_sentences(text)
