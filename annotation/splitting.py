"""SPLIT: a reference becomes sentences, as spans that map back to its text."""

from __future__ import annotations

import re

from annotation.records import SentenceRecord

TAG = re.compile(r"</?t>")

# The end of a sentence: a mark, and the quotes and brackets that close behind it. Tokenised text sets them apart.
# Possessive throughout: a thousand quotes are read once.
END = re.compile(r"""(?<![.!?…])(?:…|[.!?]++)(?:\s?(?:["”’)\]»]|'++(?!\w)))*+(?=\s|$)""")
OPENING = "\"'“‘([`«"
# Abbreviations that never end a sentence: something always follows.
NEVER_LAST = frozenset({
    "adm", "capt", "cf", "cmdr", "col", "cpl", "dr", "e.g", "fr", "gen", "gov", "hon", "i.e", "lt", "maj", "messrs",
    "mr", "mrs", "ms", "mt", "mx", "pres", "prof", "rep", "reps", "rev", "sen", "sens", "sgt", "st", "supt", "univ",
    "v", "viz", "vs",
})  # fmt: skip
# Abbreviations that stand before a number.
BEFORE_NUMBER = frozenset({
    "art", "ch", "fig", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "no",
    "nos", "p", "pp", "sec", "vol",
})  # fmt: skip
# Abbreviations that may end a sentence or not: the next word decides.
MAY_BE_LAST = frozenset({
    "a.m", "approx", "ave", "b.c", "blvd", "bros", "ca", "co", "corp", "d.c", "dept", "etc", "inc", "jr", "ltd",
    "m.d", "p.m", "ph.d", "rd", "sr",
})  # fmt: skip
# Words that begin a sentence more often than they follow an abbreviation.
STARTERS = frozenset({
    "a", "after", "an", "and", "as", "at", "because", "before", "but", "by", "during", "for", "from", "he", "her",
    "here", "his", "how", "i", "if", "in", "it", "its", "many", "more", "most", "no", "not", "of", "on", "one",
    "our", "police", "she", "since", "so", "some", "that", "the", "their", "there", "these", "they", "this", "those",
    "to", "two", "we", "what", "when", "where", "while", "who", "why", "with", "you", "your",
})  # fmt: skip


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


def split_sentences(text: str) -> tuple[SentenceRecord, ...]:
    """The sentences of a text: those that it marks by `<t>`, or else those that a rule finds, tokenised or not.

    A mark ends a sentence unless it belongs to an abbreviation, an initial or a number, or the text goes on in lower
    case. Spans map back to the text and leave out white space at their edges.
    """
    if "<t>" in text or "</t>" in text:
        try:
            return marked_sentences(text)
        except UnbalancedTags:
            pass  # then they are no marks but part of the text
    spans, start = [], 0
    for mark in END.finditer(text):
        if _ends_sentence(text, mark):
            spans.append((start, mark.end()))
            start = mark.end()
    spans.append((start, len(text)))
    trimmed = [_trim(text, start, end) for start, end in spans]
    kept = [(start, end) for start, end in trimmed if start < end]
    return tuple(SentenceRecord(position, start, end) for position, (start, end) in enumerate(kept, start=1))


def _ends_sentence(text: str, mark: re.Match[str]) -> bool:
    following = _next_word(text, mark.end())
    if not following:
        return True
    if following[0].islower() or following[0] in ",;:)-–—":
        return False
    if mark.group()[0] in "!?":
        return True
    if mark.group().startswith(("..", "…")):
        return following[0].isupper() or following[0].isdigit()
    word = _word_before(text, mark.start())
    if not word:  # the mark stands alone, as in tokenised text
        return True
    return not _is_abbreviation(word, following)


def _is_abbreviation(word: str, following: str) -> bool:
    """Whether a full stop after a word belongs to the word."""
    low = word.lower()
    if low in NEVER_LAST or (len(word) == 1 and word.isalpha()):
        return True
    if low in BEFORE_NUMBER and following[0].isdigit():
        return True
    if low in MAY_BE_LAST or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word):
        return following.lower() not in STARTERS
    return False


def _next_word(text: str, start: int) -> str:
    """The next word without opening quotes and brackets; "" at the end."""
    for word in text[start : start + 200].split():
        if bare := word.lstrip(OPENING).rstrip(".,;:!?\"'”’)]"):
            return bare
        if word[0] in ",;:)-–—":
            return word
    return ""


def _word_before(text: str, end: int) -> str:
    found = re.search(r"\S+$", text[max(0, end - 60) : end])
    return found.group().lstrip(OPENING) if found else ""


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
