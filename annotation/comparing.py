"""What an incoming example adds to the stored one, and where the two contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from annotation.records import ExampleRecord, LabelRecord, ReferenceRecord, UnitRecord

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Difference:
    """`new` has only what is not stored yet; `conflicts` are sentences for the person who imports."""

    new: ExampleRecord
    conflicts: tuple[str, ...]


def compare_example(stored: ExampleRecord, incoming: ExampleRecord) -> Difference:
    """Match parts by natural key. Same key and same content: nothing to do. Other content: a conflict, never a change.

    A unit that is stored already appears in `new` if it has new labels, with those labels alone; the caller knows
    its key. In the same way a reference appears with sentences of a new revision.
    """
    conflicts: list[str] = []
    if stored.trashed_at and not incoming.trashed_at:
        conflicts.append("is in the trash. Restore it first")
    if incoming.document is not None and incoming.document != stored.document:
        conflicts.append("has another document here")
    new = replace(
        incoming,
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
    for unit in incoming.units:
        twin = known.get(unit.identity)
        if twin is None:
            yield unit
        elif _content(twin) != _content(unit):
            conflicts.append(f"has another unit {unit.key!r} ({unit.kind}) here: {twin.text!r:.60}")
        else:
            labels = _new_labels(twin, unit, conflicts)
            if labels:
                yield replace(unit, labels=labels)


def _content(unit: UnitRecord) -> tuple[object, ...]:
    """What makes a unit another unit. When it was stored, superseded or trashed is not part of that."""
    return (
        unit.text, unit.weight, unit.position, unit.reference, unit.sentence, unit.provenance, unit.guideline_version,
        unit.author, unit.contributors,
    )  # fmt: skip


def _new_labels(twin: UnitRecord, unit: UnitRecord, conflicts: list[str]) -> tuple[LabelRecord, ...]:
    return _new_parts(
        twin.labels, unit.labels, lambda label: (label.rule, label.system), f"label of unit {unit.key!r} by", conflicts
    )
