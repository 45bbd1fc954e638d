"""SPLIT: a reference becomes sentences, as spans that map back to its text."""

from __future__ import annotations

import re

from annotation.records import SentenceRecord

TAG = re.compile(r"</?t>")


class UnbalancedTags(ValueError):
    """The `<t>` and `</t>` of a reference do not pair up."""


def marked_sentences(text: str) -> tuple[SentenceRecord, ...]:
    """The sentences that a text shows by itself: one per `<t> … </t>`, or else the whole text as one.

    Spans leave out the tags and the white space at their edges (non-breaking spaces included). A blank text, or a
    blank pair of tags, gives no sentence.
    """
    spans = _tagged_spans(text) if "<t>" in text or "</t>" in text else [(0, len(text))]
    trimmed = [_trim(text, start, end) for start, end in spans]
    kept = [(start, end) for start, end in trimmed if start < end]
    return tuple(SentenceRecord(position, start, end) for position, (start, end) in enumerate(kept, start=1))


def _tagged_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    outside = 0
    for tag in TAG.finditer(text):
        is_opening = tag.group() == "<t>"
        if is_opening == (opened is not None):
            raise UnbalancedTags(f"{tag.group()} at character {tag.start() + 1} has no partner")
        if is_opening:
            _refuse_text_outside(text, outside, tag.start())
            opened = tag.end()
        else:
            assert opened is not None
            spans.append((opened, tag.start()))
            opened, outside = None, tag.end()
    if opened is not None:
        raise UnbalancedTags(f"<t> at character {opened - 2} has no partner")
    _refuse_text_outside(text, outside, len(text))
    return spans


def _refuse_text_outside(text: str, start: int, end: int) -> None:
    if stray := text[start:end].strip():
        raise UnbalancedTags(f"text outside <t> … </t>: {stray[:40]!r}")


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    span = text[start:end]
    return start + len(span) - len(span.lstrip()), end - len(span) + len(span.rstrip())
