"""A view of tokenised text as people would write it, with every character's place in the original.

Corpora come tokenised ("do n't", "£ 23million", "' hot '") or with markup ("<b>", "&amp;"), which parsers and readers
stumble over. The view closes the gaps, a tag becomes a space and an entity its character; every character of the view
stands for a span of the text, so that every span of the view is one as well.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

# Words that begin an aside after a dash; between two hyphens they are part of a word ("hour - and - a - half").
DASHED = r"(?:a|an|the|but|and|or|who|which|after|because|as|when|while|it|he|she|they|with|for|in)\s+(?!-)"
GAPS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<=\S)(\s+)(?=[.,;:!?%)\]}…](?:\s|$))",  # before closing marks
        r"(?<=[.,;:!?)\]}])(\s+)(?=[.,;:!?)\]}…](?:\s|$))",
        r"(?<=[(\[{£$€#])(\s+)(?=\w)",  # after opening marks
        r"(?<=\w)(\s+)(?=(?:n't|n’t|'s|’s|'re|’re|'ve|’ve|'ll|’ll|'d|’d|'m|’m)\b)",  # before clitics
        rf"(?<=\w)(\s+)-(?=\s+\w)(?!\s+{DASHED})",  # around hyphens, in two steps
        rf"(?<=\w)\s+-(?!\s+{DASHED})(\s+)(?=\w)",
        r"(?<=\d)(\s+)(?=(?:m|bn|k|st|nd|rd|th)\b)",
    )
)
QUOTED = re.compile(r"""(?:^|(?<=[\s(\[]))(["'])(\s+)(\S.{0,500}?\S|\S)(\s+)\1(?=[\s.,;:!?)\]]|$)""")
MARKUP = re.compile(
    r"-[LR][RSC]B-|</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->|&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[A-Za-z]{2,8});",
    re.S | re.I,
)
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
LATEX_QUOTED = re.compile(r"``(\s+)(.{1,500}?)(\s+)''")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The view, and for each of its characters the span in the original text."""

    text: str
    places: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the view as a span of the original."""
        return self.places[start][0], self.places[end - 1][1]


def clean(text: str, offset: int = 0) -> Cleaned:
    """The view of a text that begins at `offset` of a longer one. White space becomes single spaces."""
    dropped: set[int] = set()
    for pattern in GAPS:
        for gap in pattern.finditer(text):
            dropped.update(range(*gap.span(1)))
    for pattern, groups in ((QUOTED, (2, 4)), (LATEX_QUOTED, (1, 3))):
        for quoted in pattern.finditer(text):
            for group in groups:
                dropped.update(range(*quoted.span(group)))
    marks = {mark.start(): (_meaning(mark.group()), mark.end()) for mark in MARKUP.finditer(text)}
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    reached = 0
    for place, letter in enumerate(text):
        if place in dropped or place < reached:
            continue
        reached = place + 1
        if marks.get(place, ("", 0))[0]:
            letter, reached = marks[place]
        if letter.isspace():
            if not letters or letters[-1] == " ":
                continue
            letter = " "
        letters.append(letter)
        places.append((offset + place, offset + reached))
    if letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return Cleaned("".join(letters), tuple(places))


def _meaning(mark: str) -> str:
    """The character that an entity stands for, a space for a tag; "" for what only looks like an entity."""
    if mark in BRACKETS:
        return BRACKETS[mark]
    meant = html.unescape(mark) if mark.startswith("&") else " "
    return meant if len(meant) == 1 else ""
