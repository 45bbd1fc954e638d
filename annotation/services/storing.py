"""Bulk inserts of imported records, a table at a time. The caller has compared them and holds the transaction."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models import Max

from annotation.models import (
    Contributor,
    Example,
    Fold,
    FoldAxis,
    FoldMember,
    Label,
    Mix,
    Person,
    Project,
    Provenance,
    Reference,
    Sentence,
    Summary,
    System,
    Unit,
    UnitKind,
)
from annotation.records import ExampleRecord, FoldRecord, UnitRecord
from annotation.services.loading import LoadedExample

ROWS_PER_INSERT = 2000


@dataclass(slots=True)
class Addition:
    """One example's new parts, and the stored example if there is one."""

    record: ExampleRecord
    loaded: LoadedExample | None

    @property
    def ids(self) -> LoadedExample:
        assert self.loaded is not None, "the example is stored before its parts"
        return self.loaded


class Store:
    """The rows of one project, growing as records come in."""

    def __init__(self, project: Project, *, now: dt.datetime) -> None:
        self.project, self.now = project, now
        self.system_ids = dict(System.objects.filter(project=project).values_list("name", "pk"))
        self.people = {person.key: person for person in Person.objects.filter(project=project)}
        self.last_position = Example.objects.filter(project=project).aggregate(last=Max("position"))["last"] or 0

    def add_system(self, name: str, trashed_at: str | None) -> None:
        system = System.objects.create(project=self.project, name=name, trashed_at=_moment(trashed_at))
        self.system_ids[name] = system.pk

    def add_fold(self, record: FoldRecord) -> None:
        by_examples = record.axis == FoldAxis.EXAMPLES
        examples = Example.objects.filter(project=self.project, key__in=record.members)
        ids = dict(examples.values_list("key", "pk")) if by_examples else self.system_ids
        fold = Fold.objects.create(project=self.project, axis=record.axis, name=record.name)
        FoldMember.objects.bulk_create(
            FoldMember(fold=fold, position=position, **{"example_id" if by_examples else "system_id": ids[member]})
            for position, member in enumerate(record.members, start=1)
        )

    def add_examples(self, additions: list[Addition]) -> None:
        self._add_documents([addition for addition in additions if addition.loaded is not None])
        self._add_new_examples([addition for addition in additions if addition.loaded is None])
        self._add_references(additions)
        self._add_sentences(additions)
        self._add_summaries(additions)
        self._add_units(additions)
        self._add_mixes(additions)
        self._add_labels(additions)

    def _add_documents(self, additions: list[Addition]) -> None:
        """Documents of known examples that came without one."""
        for addition in additions:
            if addition.record.document is not None:
                known = Example.objects.filter(pk=addition.ids.id, document__isnull=True)
                known.update(document=addition.record.document)

    def _add_new_examples(self, additions: list[Addition]) -> None:
        rows = []
        for addition in additions:
            self.last_position += 1
            rows.append(
                Example(
                    project=self.project,
                    key=addition.record.key,
                    position=self.last_position,
                    document=addition.record.document,
                    created_at=self.now,
                    trashed_at=_moment(addition.record.trashed_at),
                )
            )
        for addition, row in zip(additions, Example.objects.bulk_create(rows), strict=True):
            addition.loaded = LoadedExample(id=row.pk, record=ExampleRecord(addition.record.key))

    def _add_references(self, additions: list[Addition]) -> None:
        rows, owners = [], []
        for addition in additions:
            known = addition.ids.references
            new = [reference for reference in addition.record.references if reference.key not in known]
            for position, reference in enumerate(new, start=len(known) + 1):
                rows.append(
                    Reference(example_id=addition.ids.id, key=reference.key, position=position, text=reference.text)
                )
                owners.append(known)
        for known, row in zip(owners, Reference.objects.bulk_create(rows), strict=True):
            known[row.key] = row.pk

    def _add_sentences(self, additions: list[Addition]) -> None:
        rows, slots = [], []
        for addition in additions:
            for reference in addition.record.references:
                for item in reference.sentences:
                    rows.append(
                        Sentence(
                            reference_id=addition.ids.references[reference.key],
                            revision=item.revision,
                            position=item.position,
                            start=item.start,
                            end=item.end,
                            text=reference.text[item.start : item.end],
                        )
                    )
                    slots.append((addition.ids.sentences, (reference.key, item.revision, item.position)))
        for (known, key), row in zip(slots, Sentence.objects.bulk_create(rows), strict=True):
            known[key] = row.pk

    def _add_summaries(self, additions: list[Addition]) -> None:
        rows, slots = [], []
        for addition in additions:
            for summary in addition.record.summaries:
                system_id = self.system_ids[summary.system]
                rows.append(Summary(example_id=addition.ids.id, system_id=system_id, text=summary.text))
                slots.append((addition.ids.summaries, summary.system))
        for (known, system), row in zip(slots, Summary.objects.bulk_create(rows, ROWS_PER_INSERT), strict=True):
            known[system] = row.pk

    def _add_units(self, additions: list[Addition]) -> None:
        rows, slots = [], []
        for addition in additions:
            for unit in addition.record.units:
                if unit.identity not in addition.ids.units:
                    rows.append(self._unit_row(unit, addition.ids))
                    slots.append((addition.ids, unit))
        self._make_room(rows)
        stored = Unit.objects.bulk_create(rows)
        for (ids, unit), row in zip(slots, stored, strict=True):
            ids.units[unit.identity] = row.pk
        Contributor.objects.bulk_create(
            row for ids, unit in slots if unit.contributors for row in _contributor_rows(unit, ids)
        )

    def _make_room(self, rows: list[Unit]) -> None:
        """Where a corpus brings STUs of its own, those that a rule derived before count no more."""
        brought = {
            row.reference_id
            for row in rows
            if row.kind == UnitKind.STU and row.provenance != Provenance.DERIVED
            if row.reference_id and row.superseded_at is None and row.trashed_at is None
        }
        derived = Unit.objects.current().filter(reference__in=brought, provenance=Provenance.DERIVED)
        derived.filter(kind=UnitKind.STU).update(superseded_at=self.now)

    def _unit_row(self, unit: UnitRecord, ids: LoadedExample) -> Unit:
        sentence = unit.sentence and ids.sentences[(unit.reference or "", *unit.sentence)]
        return Unit(
            example_id=ids.id,
            kind=unit.kind,
            key=unit.key,
            revision=unit.revision,
            position=unit.position,
            text=unit.text,
            weight=unit.weight,
            reference_id=None if unit.reference is None else ids.references[unit.reference],
            sentence_id=sentence,
            provenance=unit.provenance,
            guideline_version=unit.guideline_version,
            rule=unit.rule,
            spans=[list(span) for span in unit.spans],
            author=self._person(unit.author),
            created_at=_moment(unit.created_at) or self.now,
            superseded_at=_moment(unit.superseded_at),
            trashed_at=_moment(unit.trashed_at),
        )

    def _person(self, key: str) -> Person | None:
        if key and key not in self.people:
            self.people[key] = Person.objects.create(project=self.project, key=key)
        return self.people.get(key)

    def _add_mixes(self, additions: list[Addition]) -> None:
        Mix.objects.bulk_create(
            Mix(reference_id=addition.ids.references[mix.reference], name=mix.name, texts=list(mix.texts))
            for addition in additions
            for mix in addition.record.mixes
        )

    def _add_labels(self, additions: list[Addition]) -> None:
        """Labels are ten times as many as all other rows together: plain inserts, without an instance for each."""
        rows = [
            (addition.ids.units[unit.identity], addition.ids.summaries[label.system], label.rule, label.present)
            for addition in additions
            for unit in addition.record.units
            for label in unit.labels
        ]
        columns = ("unit_id", "summary_id", "rule", "present")
        quote = connection.ops.quote_name
        table, names = quote(Label._meta.db_table), ", ".join(map(quote, columns))
        statement = f"INSERT INTO {table} ({names}) VALUES (%s, %s, %s, %s)"  # noqa: S608 (names are our own)
        with connection.cursor() as cursor:
            cursor.executemany(statement, rows)


def _contributor_rows(unit: UnitRecord, ids: LoadedExample) -> Iterator[Contributor]:
    for position, item in enumerate(unit.contributors, start=1):
        yield Contributor(
            unit_id=ids.units[unit.identity],
            position=position,
            reference_id=ids.references[item.reference],
            sentence_id=item.sentence and ids.sentences[(item.reference, *item.sentence)],
            text=item.text,
            start=item.start,
            end=item.end,
        )


def _moment(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None
