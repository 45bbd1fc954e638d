"""Plain values (from a JSON line or a CSV row) to records. Anything odd is a BadRow that says what is expected."""

from __future__ import annotations

import datetime as dt
import difflib
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from annotation.records import (
    IMPORTED,
    ContributorRecord,
    ExampleRecord,
    FoldRecord,
    LabelRecord,
    MixRecord,
    ReferenceRecord,
    SentenceRecord,
    SummaryRecord,
    SystemRecord,
    UnitRecord,
)
from annotation.splitting import UnbalancedTags, marked_sentences

MAX_KEY = 200
MAX_TEXT = 10_000_000
MAX_INTEGER = 2_000_000_000
UNIT_KINDS = ("scu", "stu")
PROVENANCES = ("imported", "written", "accepted", "edited", "merged", "derived")
FOLD_AXES = ("examples", "systems")

EXAMPLE_FIELDS = {
    "type", "id", "document", "reference", "references", "summaries", "units", "mixes", "trashed_at",
}  # fmt: skip
UNIT_FIELDS = {
    "id", "kind", "text", "weight", "revision", "position", "reference", "sentence", "provenance",
    "guideline_version", "rule", "spans", "author", "created_at", "superseded_at", "trashed_at", "contributors",
    "labels",
}  # fmt: skip


class BadRow(ValueError):
    """A row that cannot be imported. The message has the fact and the way out."""


# --- single values -----------------------------------------------------------------------------------------------


def check_fields(data: Mapping[str, Any], known: Collection[str], what: str) -> None:
    """Refuse a field nobody reads: it is a typing mistake or data that would be lost in silence."""
    for name in data:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}."
            raise BadRow(f"{what} has the unknown field {name!r}; {hint}")


def text_of(value: Any, what: str, *, blank: bool = True) -> str:
    if not isinstance(value, str):
        raise BadRow(f"{what} must be text, not {_name_type(value)}.")
    if "\x00" in value:
        raise BadRow(f"{what} holds a NUL character, which is no text.")
    if len(value) > MAX_TEXT:
        raise BadRow(f"{what} has {len(value):,} characters; the limit is {MAX_TEXT:,}.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRow(f"{what} holds half of a surrogate pair (\\ud800 … \\udfff), which is no character.") from None
    if not blank and not value.strip():
        raise BadRow(f"{what} is empty.")
    return value


def key_of(value: Any, what: str) -> str:
    """A name or id: short, on one line, not blank. Whole numbers are taken as their digits."""
    if isinstance(value, float):
        raise BadRow(f"{what} must be text or a whole number.")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    key = text_of(value, what, blank=False)
    if len(key) > MAX_KEY:
        raise BadRow(f"{what} has {len(key)} characters; the limit is {MAX_KEY}.")
    if key != key.strip() or has_invisible(key):
        raise BadRow(
            f"{what} {key!r} has white space at its edges, or a line break or other invisible character in it."
        )
    return key


def has_invisible(text: str) -> bool:
    """Whether a name holds a control or format character (tab, line break, right-to-left override …).

    Two names that look alike must be alike, so none of these may stand in one.
    """
    return any(unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} for character in text)


def integer_of(value: Any, what: str, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_INTEGER:
        raise BadRow(f"{what} must be a whole number from {least} to {MAX_INTEGER:,}, not {value!r:.40}.")
    return value


def choice_of(value: Any, choices: tuple[str, ...], what: str) -> str:
    if value not in choices:
        raise BadRow(f"{what} must be one of {', '.join(choices)}, not {value!r:.40}.")
    return str(value)


def present_of(value: Any, what: str) -> bool:
    if isinstance(value, bool) or value not in (0, 1):
        raise BadRow(f"{what} must be 0 or 1, not {value!r:.40}.")
    return bool(value)


def time_of(value: Any, what: str) -> str | None:
    if value is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            return moment.astimezone(dt.UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        raise BadRow(f"{what} must be a time such as 2026-01-31T09:30:00+00:00, not {value!r:.40}.") from None
    raise BadRow(f"{what} {value!r} has no time zone. Add one, e.g. +00:00.")


def list_of(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRow(f"{what} must be a list, not {_name_type(value)}.")
    return value


def object_of(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRow(f"{what} must be an object, not {_name_type(value)}.")
    return value


def span_of(value: Any, what: str) -> tuple[int, int]:
    pair = list_of(value, what)
    if len(pair) != 2:
        raise BadRow(f"{what} must be [start, end].")
    start, end = (integer_of(number, what, least=0) for number in pair)
    if start >= end:
        raise BadRow(f"{what} starts at {start}, not before its end {end}.")
    return start, end


def _name_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def refuse_twice(keys: Iterable[Any], what: str) -> None:
    seen = set()
    for key in keys:
        if key in seen:
            raise BadRow(f"{what} {key!r} stands here twice.")
        seen.add(key)


# --- records -----------------------------------------------------------------------------------------------------


def parse_reference(data: dict[str, Any], *, position: int) -> ReferenceRecord:
    check_fields(data, {"id", "text", "sentences"}, "the reference")
    key = key_of(data.get("id", str(position)), "the id of the reference")
    text = text_of(data.get("text"), f"the text of reference {key!r}")
    if not data.get("sentences"):  # a reference is what it shows by itself until it is split
        try:
            return ReferenceRecord(key, text, marked_sentences(text))
        except UnbalancedTags as error:
            raise BadRow(f"reference {key!r}: {error}.") from None
    sentences = [
        parse_sentence(item, text, f"sentence of reference {key!r}") for item in list_of(data["sentences"], "sentences")
    ]
    return ReferenceRecord(key, text, number_sentences(sentences, key))


def parse_sentence(data: Any, text: str, what: str) -> tuple[int, int, int]:
    """[start, end] or [start, end, revision] → (revision, start, end)."""
    numbers = list_of(data, what)
    revision = integer_of(numbers[2], f"the revision of a {what}", least=1) if len(numbers) == 3 else 1
    start, end = span_of(numbers[:2], what)
    if end > len(text):
        raise BadRow(f"a {what} ends at {end}, behind the end of the text at {len(text)}.")
    return revision, start, end


def number_sentences(spans: list[tuple[int, int, int]], reference: str) -> tuple[SentenceRecord, ...]:
    """Sentences in the order of the text, numbered from 1 within their revision. They must not overlap."""
    records: list[SentenceRecord] = []
    for revision, start, end in sorted(spans):
        before = records[-1] if records and records[-1].revision == revision else None
        if before and start < before.end:
            raise BadRow(f"sentences of reference {reference!r} overlap at character {start}.")
        records.append(SentenceRecord(before.position + 1 if before else 1, start, end, revision))
    return tuple(records)


def parse_contributor(data: Any) -> ContributorRecord:
    fields = object_of(data, "a contributor")
    check_fields(fields, {"reference", "text", "span", "sentence"}, "a contributor")
    start, end = span_of(fields["span"], "the span of a contributor") if fields.get("span") else (None, None)
    return ContributorRecord(
        reference=key_of(fields.get("reference"), "the reference of a contributor"),
        text=text_of(fields.get("text", ""), "the text of a contributor"),
        start=start,
        end=end,
        sentence=sentence_of(fields.get("sentence")),
    )


def sentence_of(value: Any) -> tuple[int, int] | None:
    """A sentence by its number, or by [revision, number]."""
    if value is None:
        return None
    revision, position = value if isinstance(value, list) and len(value) == 2 else (1, value)
    return (integer_of(revision, "the revision of a sentence", least=1), integer_of(position, "the sentence", least=1))


def spans_of(value: Any, what: str) -> tuple[tuple[int, int], ...]:
    """[[start, end], …] in characters of the reference."""
    found = []
    for span in list_of(value, f"spans of {what}"):
        if not (isinstance(span, list) and len(span) == 2):
            raise BadRow(f"a span of {what} must be [start, end].")
        start = integer_of(span[0], f"the start of a span of {what}", least=0)
        found.append((start, integer_of(span[1], f"the end of a span of {what}", least=start + 1)))
    return tuple(found)


def parse_labels(data: Any, what: str) -> tuple[LabelRecord, ...]:
    """{rule: {system: 0 or 1}} → labels."""
    return tuple(
        LabelRecord(
            key_of(system, f"a system in the labels of {what}"),
            present_of(value, f"the label of {what} for system {system!r}"),
            key_of(rule, f"a rule in the labels of {what}"),
        )
        for rule, by_system in object_of(data, f"labels of {what}").items()
        for system, value in object_of(by_system, f"labels of {what} by rule {rule!r}").items()
    )


def parse_unit(data: Any, *, position: int) -> UnitRecord:
    fields = object_of(data, "a unit")
    check_fields(fields, UNIT_FIELDS, "the unit")
    kind = choice_of(fields.get("kind", "scu"), UNIT_KINDS, "the kind of a unit")
    key = key_of(fields.get("id", f"{kind}-{position}"), "the id of a unit")
    what = f"unit {key!r}"
    contributors = tuple(map(parse_contributor, list_of(fields.get("contributors", []), f"contributors of {what}")))
    reference = None if fields.get("reference") is None else key_of(fields["reference"], f"the reference of {what}")
    if contributors and reference is not None:
        raise BadRow(f"{what} has both a reference and contributors. Keep the one that fits.")
    sentence = sentence_of(fields.get("sentence"))
    if sentence and reference is None:
        raise BadRow(f"{what} names a sentence but no reference.")
    return UnitRecord(
        kind=kind,
        key=key,
        position=integer_of(fields.get("position", position), f"the position of {what}", least=1),
        text=text_of(fields.get("text"), f"the text of {what}", blank=False),
        # A merged unit weighs as many contributors as it has, unless the corpus says otherwise.
        weight=integer_of(fields.get("weight", len(contributors) or 1), f"the weight of {what}", least=1),
        revision=integer_of(fields.get("revision", 1), f"the revision of {what}", least=1),
        reference=reference,
        sentence=sentence,
        provenance=choice_of(fields.get("provenance", IMPORTED), PROVENANCES, f"the provenance of {what}"),
        guideline_version=_optional_key(fields, "guideline_version", what),
        rule=_optional_key(fields, "rule", what),
        spans=spans_of(fields.get("spans", []), what),
        author=_optional_key(fields, "author", what),
        created_at=time_of(fields.get("created_at"), f"created_at of {what}"),
        superseded_at=time_of(fields.get("superseded_at"), f"superseded_at of {what}"),
        trashed_at=time_of(fields.get("trashed_at"), f"trashed_at of {what}"),
        contributors=contributors,
        labels=parse_labels(fields.get("labels", {}), what),
    )


def _optional_key(fields: dict[str, Any], name: str, what: str) -> str:
    return key_of(fields[name], f"the {name} of {what}") if fields.get(name) else ""


def parse_mixes(data: Any) -> tuple[MixRecord, ...]:
    """{name: {reference: [texts]}} → mixes."""
    return tuple(
        MixRecord(
            key_of(name, "the name of a mix"),
            key_of(reference, f"a reference of mix {name!r}"),
            tuple(text_of(text, f"a unit of mix {name!r}") for text in list_of(texts, f"mix {name!r}")),
        )
        for name, by_reference in object_of(data, "mixes").items()
        for reference, texts in object_of(by_reference, f"mix {name!r}").items()
    )


def parse_example(data: dict[str, Any], *, file: str, line: int) -> ExampleRecord:
    check_fields(data, EXAMPLE_FIELDS, "the example")
    key = key_of(data.get("id"), "the id of the example")
    references = list_of(data.get("references", []), "references")
    if "reference" in data:
        if "references" in data:
            raise BadRow("the example has both 'reference' and 'references'. Keep one.")
        references = [{"text": data["reference"]}]
    units = list_of(data.get("units", []), "units")
    if len(references) == 1:
        only = object_of(references[0], "a reference").get("id", "1")
        units = [_with_reference(unit, only) for unit in units]
    record = ExampleRecord(
        key=key,
        document=None if data.get("document") is None else text_of(data["document"], "the document"),
        references=tuple(
            parse_reference(object_of(item, "a reference"), position=number)
            for number, item in enumerate(references, start=1)
        ),
        summaries=tuple(
            SummaryRecord(key_of(system, "the name of a system"), text_of(text, f"the summary by {system!r}"))
            for system, text in object_of(data.get("summaries", {}), "summaries").items()
        ),
        units=tuple(parse_unit(item, position=number) for number, item in enumerate(units, start=1)),
        mixes=parse_mixes(data.get("mixes", {})),
        trashed_at=time_of(data.get("trashed_at"), "trashed_at of the example"),
        file=file,
        line=line,
    )
    check_example(record)
    return record


def _with_reference(unit: Any, only: Any) -> Any:
    """Where an example has one reference, a unit that names none can only be of that one."""
    names_a_place = not isinstance(unit, dict) or unit.get("reference") is not None or unit.get("contributors")
    return unit if names_a_place else {**unit, "reference": only}


def check_example(record: ExampleRecord) -> None:
    """What must hold between the parts of one example."""
    refuse_twice((reference.key for reference in record.references), "reference")
    refuse_twice((summary.system for summary in record.summaries), "the summary of system")
    refuse_twice((f"{unit.key} ({unit.kind}, revision {unit.revision})" for unit in record.units), "the unit")
    current = (f"{unit.key} ({unit.kind})" for unit in record.units if unit.superseded_at is None)
    refuse_twice(current, "a current revision of the unit")


def parse_fold(data: dict[str, Any], *, file: str, line: int) -> FoldRecord:
    check_fields(data, {"type", "axis", "name", "members"}, "the fold")
    name = key_of(data.get("name"), "the name of the fold")
    members = tuple(key_of(item, f"a member of fold {name!r}") for item in list_of(data.get("members"), "members"))
    refuse_twice(members, f"in fold {name!r}, member")
    return FoldRecord(choice_of(data.get("axis"), FOLD_AXES, "the axis of a fold"), name, members, file, line)


def parse_system(data: dict[str, Any], *, file: str, line: int) -> SystemRecord:
    check_fields(data, {"type", "name", "trashed_at", "partial"}, "the system")
    partial = data.get("partial", False)
    if not isinstance(partial, bool):
        raise BadRow(f"partial must be true or false, not {_name_type(partial)}.")
    name = key_of(data.get("name"), "the name of the system")
    return SystemRecord(name, time_of(data.get("trashed_at"), "trashed_at"), partial, file, line)
