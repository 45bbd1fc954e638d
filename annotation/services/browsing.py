"""Reading a corpus page by page. The cost of a page does not grow with the corpus."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Count, Q

from annotation.models import Example, Project, Ranking, Reference, Summary, System, Unit, UnitKind
from annotation.ranking.regressor import reason_words
from annotation.records import ExampleRecord, ReferenceRecord, UnitRecord
from annotation.services.loading import load_examples

PAGE = 50


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One line of the list."""

    example: Example
    beginning: str  # of the first reference
    references: int
    scus: int
    stus: int
    summaries: int


@dataclass(frozen=True, slots=True)
class ExamplePage:
    """A page of the list, with the positions that lead on; None where there is nothing."""

    rows: list[ExampleRow]
    earlier: int | None
    later: int | None


def list_examples(
    project: Project, *, search: str = "", after: int | None = None, before: int | None = None
) -> ExamplePage:
    """The examples after or before a position (keyset paging: no offset is ever counted off)."""
    found = Example.objects.live().filter(project=project).defer("document")
    if search:
        in_reference = Reference.objects.filter(example__project=project, text__icontains=search).values("example")
        found = found.filter(Q(key__icontains=search) | Q(pk__in=in_reference))
    if before is not None:
        batch = list(found.filter(position__lt=before).order_by("-position")[: PAGE + 1])
        examples = batch[:PAGE][::-1]
        has_earlier, has_later = len(batch) > PAGE, bool(batch)
    else:
        batch = list(found.filter(position__gt=after or 0).order_by("position")[: PAGE + 1])
        examples = batch[:PAGE]
        has_earlier, has_later = bool(after), len(batch) > PAGE
    return ExamplePage(
        rows=_rows(examples),
        earlier=examples[0].position if examples and has_earlier else None,
        later=examples[-1].position if examples and has_later else None,
    )


def _rows(examples: list[Example]) -> list[ExampleRow]:
    ids = [example.pk for example in examples]
    references = Reference.objects.filter(example__in=ids).order_by("-position").values_list("example_id", "text")
    counts = dict(Reference.objects.filter(example__in=ids).order_by().values_list("example").annotate(Count("pk")))
    live = Summary.objects.filter(example__in=ids, system__trashed_at__isnull=True)
    summaries = dict(live.order_by().values_list("example").annotate(Count("pk")))
    units = Unit.objects.current().filter(example__in=ids).order_by().values_list("example", "kind")
    by_kind = {(example, kind): number for example, kind, number in units.annotate(Count("pk"))}
    first = dict(references)  # the last one assigned is the first reference
    return [
        ExampleRow(
            example=example,
            beginning=first.get(example.pk, ""),
            references=counts.get(example.pk, 0),
            scus=by_kind.get((example.pk, UnitKind.SCU), 0),
            stus=by_kind.get((example.pk, UnitKind.STU), 0),
            summaries=summaries.get(example.pk, 0),
        )
        for example in examples
    ]


@dataclass(frozen=True, slots=True)
class RankingView:
    """How easy a sentence is, and why: reasons in words, each with whether it made the sentence easier."""

    easiness: float
    reasons: list[tuple[str, bool]]
    was_seen: bool
    ranker: str


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence with the units that come from it. `start` is its place in the reference."""

    start: int
    text: str
    units: list[UnitRecord]
    ranking: RankingView | None = None


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A reference as people read it: sentences of the newest split, and the units found in it."""

    key: str
    sentences: list[SentenceView]
    units: list[UnitRecord]  # that belong to no sentence alone

    @property
    def unit_count(self) -> int:
        return len(self.units) + sum(len(sentence.units) for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example with everything that hangs on it."""

    example: Example
    record: ExampleRecord
    references: list[ReferenceView]
    systems: list[str]
    label_rows: list[tuple[UnitRecord, list[bool | None]]]
    earlier: int | None
    later: int | None


def read_example(project: Project, position: int, *, rule: str, without_stus: bool = False) -> ExampleView | None:
    """An example by its position; None if there is none. Labels are those of one rule; None = not labelled.

    `without_stus` is for those who write: what a machine suggests is shown to them by the rules of the writing page.
    """
    live = Example.objects.live().filter(project=project)
    example = live.filter(position=position).first()
    if example is None:
        return None
    record = _without_trash(load_examples([example])[0].record, project)
    units = [unit for unit in record.units if unit.superseded_at is None and unit.trashed_at is None]
    if without_stus:
        units = [unit for unit in units if unit.kind != UnitKind.STU]
    systems = [summary.system for summary in record.summaries]
    rows = []
    for unit in units:
        labels = {label.system: label.present for label in unit.labels if label.rule == rule}
        if labels.keys() & set(systems):
            rows.append((unit, [labels.get(system) for system in systems]))
    positions = live.order_by("position").values_list("position", flat=True)
    rankings = newest_rankings(example)
    return ExampleView(
        example=example,
        record=record,
        references=[_reference_view(reference, units, rankings) for reference in record.references],
        systems=systems,
        label_rows=rows,
        earlier=positions.filter(position__lt=position).last(),
        later=positions.filter(position__gt=position).first(),
    )


def _without_trash(record: ExampleRecord, project: Project) -> ExampleRecord:
    """An example without the summaries of systems that are in the trash."""
    live = set(System.objects.live().filter(project=project).values_list("name", flat=True))
    return replace(record, summaries=tuple(summary for summary in record.summaries if summary.system in live))


def newest_rankings(example: Example) -> dict[tuple[str, int, int], RankingView]:
    """The newest ranking of each sentence of an example, by reference, revision and position of the sentence."""
    rows = Ranking.objects.filter(sentence__reference__example=example).order_by("revision")
    return {
        (row.sentence.reference.key, row.sentence.revision, row.sentence.position): RankingView(
            row.easiness, [reason_words(reason) for reason in row.reasons], row.was_seen, row.ranker
        )
        for row in rows.select_related("sentence__reference")
    }


def _reference_view(
    reference: ReferenceRecord, units: list[UnitRecord], rankings: dict[tuple[str, int, int], RankingView]
) -> ReferenceView:
    newest = max((sentence.revision for sentence in reference.sentences), default=1)
    own = [
        unit
        for unit in units
        if unit.reference == reference.key or any(item.reference == reference.key for item in unit.contributors)
    ]
    shown = [sentence for sentence in reference.sentences if sentence.revision == newest]
    places = {(newest, sentence.position) for sentence in shown}
    return ReferenceView(
        key=reference.key,
        sentences=[
            SentenceView(
                sentence.start,
                reference.text[sentence.start : sentence.end],
                [unit for unit in own if unit.sentence == (newest, sentence.position)],
                rankings.get((reference.key, newest, sentence.position)),
            )
            for sentence in shown
        ],
        units=[unit for unit in own if unit.sentence not in places],
    )
