"""What a second look has decided about each text, and the units that come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from typing import Protocol

from annotation.writing.checks import WARNINGS, similarity, tokens
from annotation.writing.content import Content, Origin, WrittenText, plain, read_content

ONE, OTHER, OWN, MERGE, DROP = "one", "other", "own", "merge", "drop"


class GivenText(Protocol):
    """A text of a writer."""

    @property
    def origin(self) -> Origin: ...
    @property
    def unit(self) -> WrittenText: ...


class GivenRow(Protocol):
    """Texts of two writers that seem to say the same, or one alone."""

    @property
    def one(self) -> GivenText | None: ...
    @property
    def other(self) -> GivenText | None: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """ "" is none yet. `text` is what stands in the box for own words."""

    do: str = ""
    text: str = ""


def are_alike(row: GivenRow) -> bool:
    """Both wrote the same words: then both are credited, whichever is taken."""
    return bool(row.one and row.other and tokens(row.one.unit.text) == tokens(row.other.unit.text))


def decisions_of(rows: Sequence[GivenRow], content: Content) -> tuple[list[Decision], list[str]]:
    """Reads a stored draft: what was decided on each row, and the texts that were added."""
    return [_decision(row, content) for row in rows], [unit.text for unit in content.units if not unit.origins]


def _decision(row: GivenRow, content: Content) -> Decision:
    own = {each.origin for each in (row.one, row.other) if each}
    unit = next((unit for unit in content.units if own & set(unit.origins)), None)
    if unit is None:
        return Decision(DROP) if own <= set(content.dropped) else Decision()
    if row.one and unit.text == row.one.unit.text:
        return Decision(ONE)
    if row.other and unit.text == row.other.unit.text:
        return Decision(OTHER)
    return Decision(MERGE if len(unit.origins) > 1 else OWN, unit.text)


def content_of(rows: Sequence[GivenRow], fields: Mapping[str, str], added: Sequence[str]) -> Content:
    """The outcome from the fields of a plain form: row-1, text-1 … The script of the page makes the same."""
    units: list[WrittenText] = []
    dropped: list[Origin] = []
    for number, row in enumerate(rows, start=1):
        unit, gone = _outcome(row, fields.get(f"row-{number}", ""), plain(fields.get(f"text-{number}", "")))
        units += [unit] if unit else []
        dropped += gone
    units = _with_extensions(units, rows)
    units += [WrittenText(plain(text), overrides=WARNINGS) for text in added if text.strip()]
    comment = read_content({"comment": fields.get("comment", "")}).comment
    return Content(tuple(units), no_fact="no_fact" in fields, dropped=tuple(dropped), comment=comment)


def closest(text: str, texts: Sequence[GivenText]) -> GivenText:
    """Which of the texts of a row somebody has edited: the one that shares most words with what came of it, and then
    the longer beginning."""

    def likeness(each: GivenText) -> tuple[float, int]:
        begin = commonprefix([text, each.unit.text])  # noqa: RUF071  (texts, not paths)
        return similarity(tokens(text), tokens(each.unit.text)), len(begin)

    return max(texts, key=likeness)  # the first of equals


def _with_extensions(units: Sequence[WrittenText], rows: Sequence[GivenRow]) -> list[WrittenText]:
    """Where a writer's unit extended another of theirs and both are there, it still does."""
    place = {origin: number for number, unit in enumerate(units) for origin in unit.origins}
    extended = {
        each.origin: (each.origin[0], each.unit.extends + 1)
        for row in rows
        for each in (row.one, row.other)
        if each and each.unit.extends is not None
    }
    found = []
    for number, unit in enumerate(units):
        there = [place[extended[key]] for key in unit.origins if key in extended and extended[key] in place]
        found.append(replace(unit, extends=there[0]) if there and there[0] != number else unit)
    return found


def _outcome(row: GivenRow, do: str, text: str) -> tuple[WrittenText | None, list[Origin]]:
    """The unit that comes of a row, and the texts that do not count any more."""
    texts = [each for each in (row.one, row.other) if each]
    origins = [each.origin for each in texts]
    taken = {ONE: row.one, OTHER: row.other}.get(do)
    if taken is not None:
        credited = origins if are_alike(row) else [taken.origin]
        unit = WrittenText(
            taken.unit.text, taken.unit.draft, taken.unit.spans, overrides=WARNINGS, origins=tuple(credited)
        )
        return unit, [origin for origin in origins if origin not in credited]
    if do == MERGE and text:
        spans = tuple(span for each in texts for span in each.unit.spans)
        return WrittenText(text, spans=spans, overrides=WARNINGS, origins=tuple(origins)), []
    if do == OWN and text:
        source = closest(text, texts)
        unit = WrittenText(text, source.unit.draft, source.unit.spans, overrides=WARNINGS, origins=(source.origin,))
        return unit, [origin for origin in origins if origin != source.origin]
    return None, origins if do == DROP else []
