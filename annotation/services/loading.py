"""Rows back to records, a batch of examples at a time: what export writes and import compares with."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Count, Q

from annotation.models import (
    Contributor,
    Example,
    Fold,
    Label,
    Mix,
    Project,
    Reference,
    Sentence,
    Summary,
    System,
    Unit,
)
from annotation.records import (
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

Row = TypeVar("Row")


@dataclass(slots=True)
class LoadedExample:
    """A stored example as a record, and the primary keys of its parts by natural key."""

    id: int
    record: ExampleRecord
    references: dict[str, int] = field(default_factory=dict)
    sentences: dict[tuple[str, int, int], int] = field(default_factory=dict)
    summaries: dict[str, int] = field(default_factory=dict)
    units: dict[tuple[str, str, int], int] = field(default_factory=dict)


def iterate_examples(project: Project, *, batch_size: int = 50) -> Iterator[LoadedExample]:
    """All examples of a project in order, those in the trash included, with bounded memory."""
    last = 0
    while True:
        examples = Example.objects.filter(project=project, position__gt=last).order_by("position")
        batch = list(examples[:batch_size])
        if not batch:
            return
        last = batch[-1].position
        yield from load_examples(batch)


def load_examples(examples: Sequence[Example]) -> list[LoadedExample]:
    """Everything that hangs on some examples, in a fixed number of queries."""
    ids = [example.pk for example in examples]
    references = _grouped(Reference.objects.filter(example__in=ids).order_by("position"), "example_id")
    sentences = _grouped(
        Sentence.objects.filter(reference__example__in=ids).order_by("revision", "position"), "reference_id"
    )
    mixes = _grouped(Mix.objects.filter(reference__example__in=ids).order_by("name"), "reference_id")
    summaries = _grouped(Summary.objects.filter(example__in=ids).select_related("system"), "example_id")
    units = _grouped(
        Unit.objects.filter(example__in=ids)
        .select_related("author", "sentence")
        .order_by("kind", "position", "revision"),
        "example_id",
    )
    contributors = _grouped(
        Contributor.objects.filter(unit__example__in=ids).select_related("sentence").order_by("position"), "unit_id"
    )
    labels = _labels_by_unit(ids)
    loaded = []
    for example in examples:
        reference_rows = references[example.pk]
        summary_rows = sorted(summaries[example.pk], key=lambda summary: summary.system.name)
        reference_keys = {reference.pk: reference.key for reference in reference_rows}
        unit_rows = units[example.pk]
        record = ExampleRecord(
            key=example.key,
            document=example.document,
            references=tuple(_reference_record(row, sentences[row.pk]) for row in reference_rows),
            summaries=tuple(SummaryRecord(row.system.name, row.text) for row in summary_rows),
            units=tuple(
                _unit_record(row, reference_keys, contributors[row.pk], labels.get(row.pk, ())) for row in unit_rows
            ),
            mixes=tuple(
                MixRecord(mix.name, row.key, tuple(mix.texts)) for row in reference_rows for mix in mixes[row.pk]
            ),
            trashed_at=_time(example.trashed_at),
        )
        loaded.append(
            LoadedExample(
                id=example.pk,
                record=record,
                references={row.key: row.pk for row in reference_rows},
                sentences={
                    (row.key, sentence.revision, sentence.position): sentence.pk
                    for row in reference_rows
                    for sentence in sentences[row.pk]
                },
                summaries={row.system.name: row.pk for row in summary_rows},
                units={(row.kind, row.key, row.revision): row.pk for row in unit_rows},
            )
        )
    return loaded


def load_systems(project: Project) -> list[SystemRecord]:
    """The systems by name (in the order of Python's sorted); those that lack summaries of live examples are partial."""
    examples = Example.objects.live().filter(project=project).count()
    live = Count("summaries", filter=Q(summaries__example__trashed_at__isnull=True))
    systems = System.objects.filter(project=project).annotate(live_summaries=live)
    return [
        SystemRecord(system.name, _time(system.trashed_at), partial=system.live_summaries < examples)
        for system in sorted(systems, key=lambda system: system.name)
    ]


def load_folds(project: Project) -> list[FoldRecord]:
    folds = Fold.objects.filter(project=project).prefetch_related("members__example", "members__system")
    records = []
    for fold in folds:
        keys = [member.example.key if member.example else member.system.name for member in fold.members.all()]  # type: ignore[union-attr]
        records.append(FoldRecord(fold.axis, fold.name, tuple(keys)))
    return sorted(records, key=lambda record: (record.axis, record.name))


def _grouped(rows: Iterable[Row], attribute: str) -> defaultdict[int, list[Row]]:
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, attribute)].append(row)
    return groups


def _labels_by_unit(example_ids: list[int]) -> dict[int, list[LabelRecord]]:
    """Labels are by far the most rows; plain tuples are several times faster than model instances."""
    groups: defaultdict[int, list[LabelRecord]] = defaultdict(list)
    rows = Label.objects.filter(unit__example__in=example_ids).values_list(
        "unit_id", "rule", "summary__system__name", "present"
    )
    for unit_id, rule, system, present in sorted(rows.iterator(chunk_size=5000)):
        groups[unit_id].append(LabelRecord(system, present, rule))
    return groups


def _reference_record(row: Reference, sentences: list[Sentence]) -> ReferenceRecord:
    return ReferenceRecord(
        row.key,
        row.text,
        tuple(SentenceRecord(item.position, item.start, item.end, item.revision) for item in sentences),
    )


def _unit_record(
    row: Unit, reference_keys: dict[int, str], contributors: list[Contributor], labels: Iterable[LabelRecord]
) -> UnitRecord:
    return UnitRecord(
        kind=row.kind,
        key=row.key,
        position=row.position,
        text=row.text,
        weight=row.weight,
        revision=row.revision,
        reference=None if row.reference_id is None else reference_keys[row.reference_id],
        sentence=_sentence_key(row.sentence),
        provenance=row.provenance,
        guideline_version=row.guideline_version,
        rule=row.rule,
        spans=tuple((start, end) for start, end in row.spans),
        author=row.author.key if row.author else "",
        created_at=_time(row.created_at),
        superseded_at=_time(row.superseded_at),
        trashed_at=_time(row.trashed_at),
        contributors=tuple(
            ContributorRecord(
                reference_keys[item.reference_id], item.text, item.start, item.end, _sentence_key(item.sentence)
            )
            for item in contributors
        ),
        labels=tuple(labels),
    )


def _sentence_key(sentence: Sentence | None) -> tuple[int, int] | None:
    return (sentence.revision, sentence.position) if sentence else None


def _time(moment: dt.datetime | None) -> str | None:
    return moment.astimezone(dt.UTC).isoformat() if moment else None
