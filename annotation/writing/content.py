"""What a writing page holds: the units of a sentence as somebody is writing them. Checked before anything is stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.writing.checks import ERROR, Finding, check_unit, tokens

MOST_UNITS, MOST_LETTERS = 100, 2000
NAME = re.compile(r"[a-z:-]{1,40}")
MOST_SECONDS = 24 * 3600.0
REASONS = ("fragment", "duplicate", "wrong", "other")
"""Why a draft of the machine was turned down."""
Origin = tuple[int, int]
"""A text that somebody has handed in: the submission, and the place of the text in it, from 1 on."""


class BadContent(ValueError):
    """Something that no page of ours sends. The message says what."""


class NotReady(ValueError):
    """A sentence that cannot be handed in yet. `findings` holds for each unit what keeps it."""

    def __init__(self, message: str, findings: Mapping[int, list[Finding]] | None = None) -> None:
        super().__init__(message)
        self.findings = dict(findings or {})


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A unit under work. `draft` is the STU it was made from, `extends` the place of another unit of the list.

    `origins` are the texts of writers that a second look made it of, each as (submission, place); `shown` are badges
    of a model that stood beside it.
    """

    text: str
    draft: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    extends: int | None = None
    overrides: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Content:
    """All of a page. `rejected` are drafts of the machine with the reason why not.

    A second look also has texts of the writers that were `dropped`, and a comment for them.
    """

    units: tuple[WrittenText, ...] = ()
    no_fact: bool = False
    rejected: tuple[tuple[int, str], ...] = ()
    dropped: tuple[Origin, ...] = ()
    comment: str = ""
    seconds: float = 0.0
    written: tuple[WrittenText, ...] = field(init=False, default=())
    """The units that are not empty; `extends` counts these."""

    def __post_init__(self) -> None:
        places = [place for place, unit in enumerate(self.units) if unit.text.strip()]
        moved: dict[int | None, int] = {old: new for new, old in enumerate(places)}
        written = tuple(replace(self.units[place], extends=moved.get(self.units[place].extends)) for place in places)
        object.__setattr__(self, "written", written)


def read_content(given: Any) -> Content:
    """Content from JSON; refuses what cannot be."""
    if not isinstance(given, Mapping):
        raise BadContent("The content must be an object.")
    units = given.get("units", [])
    if not isinstance(units, Sequence) or isinstance(units, str) or len(units) > MOST_UNITS:
        raise BadContent(f"units must be a list of at most {MOST_UNITS}.")
    rejected = given.get("rejected", [])
    if not isinstance(rejected, Sequence) or isinstance(rejected, str) or len(rejected) > MOST_UNITS:
        raise BadContent("rejected must be a list.")
    return Content(
        units=tuple(_unit(unit, len(units)) for unit in units),
        no_fact=given.get("no_fact") is True,
        rejected=tuple(_rejected(one) for one in rejected),
        dropped=_origins(given.get("dropped", [])),
        comment=_comment(given.get("comment", "")),
        seconds=_seconds(given.get("seconds", 0)),
    )


def _unit(given: Any, number: int) -> WrittenText:
    if not isinstance(given, Mapping) or not isinstance(given.get("text"), str):
        raise BadContent("Each unit must be an object with a text.")
    if len(given["text"]) > MOST_LETTERS:
        raise BadContent(f"A unit has at most {MOST_LETTERS:,} letters.")
    extends = _whole(given.get("extends"))
    if extends is not None and not 0 <= extends < number:
        raise BadContent("extends must name a unit of the list.")
    spans = given.get("spans", [])
    return WrittenText(
        text=plain(given["text"]),
        draft=_whole(given.get("draft")),
        spans=tuple(_span(span) for span in spans) if isinstance(spans, Sequence) else (),
        extends=extends,
        overrides=_names(given.get("overrides", []), "overrides"),
        shown=_names(given.get("shown", []), "shown"),
        origins=_origins(given.get("origins", [])),
        seconds=_seconds(given.get("seconds", 0)),
    )


def _names(given: Any, what: str) -> tuple[str, ...]:
    is_list = isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= MOST_UNITS
    if not (is_list and all(isinstance(name, str) and NAME.fullmatch(name) for name in given)):
        raise BadContent(f"{what} must be names of checks.")
    return tuple(given)


def _origins(given: Any) -> tuple[Origin, ...]:
    """Pairs of a submission and a place in it, from 1 on."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > 2 * MOST_UNITS:
        raise BadContent("Origins are a list of [submission, place].")
    found = []
    for one in given:
        if not (isinstance(one, Sequence) and len(one) == 2 and all(type(part) is int for part in one)):
            raise BadContent("Origins are a list of [submission, place].")
        found.append((one[0], one[1]))
    return tuple(found)


def _comment(given: Any) -> str:
    if not isinstance(given, str) or len(given) > MOST_LETTERS:
        raise BadContent(f"A comment has at most {MOST_LETTERS:,} letters.")
    return plain(given)


def plain(text: str) -> str:
    """One line without control characters and without halves of letters, which no database stores."""
    kept = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") else letter for letter in text)
    return " ".join(kept.split())


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
        raise BadContent("Ids and places must be whole numbers.")
    return value


def _span(given: Any) -> tuple[int, int]:
    if not (isinstance(given, Sequence) and len(given) == 2 and all(type(end) is int for end in given)):
        raise BadContent("A span is [start, end].")
    start, end = given
    if not 0 <= start < end <= 10**7:
        raise BadContent("A span begins before it ends.")
    return start, end


def _seconds(given: Any) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given <= MOST_SECONDS:
        raise BadContent("Seconds must be a number from 0 to a day.")
    return round(float(given), 1)


def _rejected(given: Any) -> tuple[int, str]:
    if not isinstance(given, Mapping) or given.get("reason") not in REASONS:
        raise BadContent(f"A rejected draft has a reason: {', '.join(REASONS)}.")
    unit = _whole(given.get("unit"))
    if unit is None:
        raise BadContent("A rejected draft names its unit.")
    return unit, given["reason"]


def as_json(content: Content) -> dict[str, Any]:
    """As it is stored, and as the page reads it."""
    return {
        "units": [
            {
                "text": unit.text, "draft": unit.draft, "spans": [list(span) for span in unit.spans],
                "extends": unit.extends, "overrides": list(unit.overrides), "shown": list(unit.shown),
                "origins": [list(origin) for origin in unit.origins], "seconds": unit.seconds,
            }
            for unit in content.units
        ],
        "no_fact": content.no_fact,
        "rejected": [{"unit": unit, "reason": reason} for unit, reason in content.rejected],
        "dropped": [list(origin) for origin in content.dropped],
        "comment": content.comment,
        "seconds": content.seconds,
    }  # fmt: skip


def require_ready(content: Content, others: Sequence[str], reference: str) -> None:
    """Refuse what may not be handed in: nothing written, errors, warnings that nobody has overridden.

    `others` are the units of the reference's other sentences.
    """
    if content.no_fact and content.written:
        raise NotReady("There are units, so there is a fact. Take the tick away, or the units.")
    if not content.no_fact and not content.written:
        raise NotReady("Write at least one unit, or say that there is no fact in this sentence.")
    texts = [unit.text for unit in content.written]
    found: dict[int, list[Finding]] = {}
    for place, unit in enumerate(content.written):
        beside = [*texts[:place], *texts[place + 1 :], *others]
        kept = [
            finding
            for finding in check_unit(unit.text, beside, reference, kin_of(content.written, place))
            if finding.level == ERROR or finding.check not in unit.overrides
        ]
        if kept:
            found[place] = kept
    if found:
        raise NotReady("Some units need another look.", found)


def kin_of(units: Sequence[WrittenText], place: int) -> set[str]:
    """Texts of the units that belong to the same fact by extension: the fact itself and all that extends it."""
    root = _root(units, place)
    return {unit.text for other, unit in enumerate(units) if other != place and _root(units, other) == root}


def _root(units: Sequence[WrittenText], place: int) -> int:
    seen: set[int] = set()
    while (above := units[place].extends) is not None:
        if place in seen:  # a circle has no beginning: its first unit stands for it
            return min(seen)
        seen.add(place)
        place = above
    return place


def provenance_of(text: str, draft: str | None) -> str:
    """Whether a unit is somebody's own, or a draft that was taken as it was, or changed."""
    if draft is None:
        return "written"
    return "accepted" if tokens(text) == tokens(draft) else "edited"
