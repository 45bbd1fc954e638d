"""What an incoming example adds to the stored one, and where the two contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from annotation.records import ExampleRecord, LabelRecord, ReferenceRecord, UnitRecord

Part = TypeVar("Part")

# What makes a unit another unit.
UNIT_CONTENT = (
    "text", "weight", "position", "reference", "sentence", "provenance", "guideline_version", "rule", "spans", "author",
    "contributors",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """`new` has only what is not stored yet; `conflicts` are sentences for the person who imports."""

    new: ExampleRecord
    conflicts: tuple[str, ...]


def compare_example(stored: ExampleRecord, incoming: ExampleRecord) -> Difference:
    """Match parts by natural key. Same key and same content: nothing to do. Other content: a conflict, never a change.

    What was not told before (a document, a label, a reference …) is new. A file may be older than what is stored:
    a unit that it shows as current and that was edited or trashed here since stays as it is. A file that itself wants
    to trash, restore or supersede something stored is refused: that is an act of a person, not of an import.

    A unit that is stored already appears in `new` if it has new labels, with those labels alone; the caller knows
    its key. In the same way a reference appears with sentences of a new revision.
    """
    conflicts: list[str] = []
    if stored.trashed_at and not incoming.trashed_at:
        conflicts.append("is in the trash here. Restore it first")
    if incoming.trashed_at and not stored.trashed_at:
        conflicts.append("is in the trash in the file, but not here. Put it into the trash here first")
    if None not in (stored.document, incoming.document) and incoming.document != stored.document:
        conflicts.append("has another document here")
    new = replace(
        incoming,
        document=incoming.document if stored.document is None else None,
        references=tuple(_new_references(stored, incoming, conflicts)),
        summaries=_new_parts(
            stored.summaries, incoming.summaries, lambda summary: summary.system, "summary by", conflicts
        ),
        units=tuple(_new_units(stored, incoming, conflicts)),
        mixes=_new_parts(stored.mixes, incoming.mixes, lambda mix: (mix.name, mix.reference), "mix", conflicts),
    )
    return Difference(new, tuple(conflicts))


def _new_parts(
    stored: Iterable[Part],
    incoming: Iterable[Part],
    key_of: Callable[[Part], Hashable],
    what: str,
    conflicts: list[str],
) -> tuple[Part, ...]:
    known = {key_of(part): part for part in stored}
    new = []
    for part in incoming:
        twin = known.get(key_of(part))
        if twin is None:
            new.append(part)
        elif twin != part:
            conflicts.append(f"has another {what} {_words(key_of(part))} here")
    return tuple(new)


def _words(key: Hashable) -> str:
    return " ".join(map(str, key)) if isinstance(key, tuple) else repr(key)


def _new_references(stored: ExampleRecord, incoming: ExampleRecord, conflicts: list[str]) -> Iterable[ReferenceRecord]:
    known = {reference.key: reference for reference in stored.references}
    for reference in incoming.references:
        twin = known.get(reference.key)
        if twin is None:
            yield reference
        elif twin.text != reference.text:
            conflicts.append(f"has another text of reference {reference.key!r} here")
        else:
            stored_revisions = {sentence.revision for sentence in twin.sentences}
            for revision in sorted({sentence.revision for sentence in reference.sentences} & stored_revisions):
                if _of_revision(twin, revision) != _of_revision(reference, revision):
                    conflicts.append(f"has other sentences (revision {revision}) of reference {reference.key!r} here")
            added = tuple(item for item in reference.sentences if item.revision not in stored_revisions)
            if added:
                yield replace(reference, sentences=added)


def _of_revision(reference: ReferenceRecord, revision: int) -> list[tuple[int, int]]:
    return [(sentence.start, sentence.end) for sentence in reference.sentences if sentence.revision == revision]


def _new_units(stored: ExampleRecord, incoming: ExampleRecord, conflicts: list[str]) -> Iterable[UnitRecord]:
    known = {unit.identity: unit for unit in stored.units}
    current = {(unit.kind, unit.key): unit for unit in stored.units if unit.superseded_at is None}
    texts = {(unit.kind, unit.reference, unit.text): unit for unit in current.values() if unit.trashed_at is None}
    for unit in incoming.units:
        what = f"unit {unit.key!r} ({unit.kind})"
        twin = known.get(unit.identity)
        if twin is None:
            rival = current.get((unit.kind, unit.key))
            same = texts.get((unit.kind, unit.reference, unit.text))
            if rival and unit.superseded_at is None:
                conflicts.append(
                    f"has revision {rival.revision} of {what} here, and the file brings revision {unit.revision}"
                )
            elif same and same.key != unit.key and same.provenance != "derived":
                conflicts.append(f"has the text of {what} here already, as unit {same.key!r}: {unit.text!r:.60}")
            else:
                yield unit
            continue
        conflicts += _unit_conflicts(twin, unit, what)
        labels = _new_labels(twin, unit, conflicts)
        if labels:
            yield replace(unit, labels=labels)


def _unit_conflicts(stored: UnitRecord, incoming: UnitRecord, what: str) -> Iterable[str]:
    for name in UNIT_CONTENT:
        ours, theirs = getattr(stored, name), getattr(incoming, name)
        if ours != theirs:
            yield f"has {what} with another {name.replace('_', ' ')} here: {ours!r:.60}, not {theirs!r:.60}"
    if incoming.superseded_at and not stored.superseded_at:
        yield f"has {what} superseded in the file, but current here"
    if incoming.trashed_at and not stored.trashed_at:
        yield f"has {what} in the trash in the file, but not here"


def _new_labels(twin: UnitRecord, unit: UnitRecord, conflicts: list[str]) -> tuple[LabelRecord, ...]:
    return _new_parts(
        twin.labels, unit.labels, lambda label: (label.rule, label.system), f"label of unit {unit.key!r} by", conflicts
    )
