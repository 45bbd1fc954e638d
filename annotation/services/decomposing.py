"""SPLIT and DECOMPOSE: sentences and STUs for the references of a project, a batch at a time.

Nothing that exists is changed: another split makes sentences of a new revision, and other units supersede those of
before, which stay as they were for whatever refers to them. A reference whose split and units would be the same is left
alone, so a job that was cut off goes on where it stopped.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from annotation.decomposing.texts import DecomposedSentence, decompose_texts
from annotation.decomposing.units import VERSION
from annotation.models import Example, Project, Provenance, Reference, Sentence, Unit, UnitKind
from annotation.parses import Parser

EXAMPLES_PER_BATCH = 50

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class DecomposeReport:
    """What a pass over a project has done."""

    references: int = 0
    new_splits: int = 0
    changed: int = 0  # references that got other units than before
    units: int = 0  # STUs made
    superseded: int = 0
    flagged: int = 0  # references with text in which no unit was found

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


def decompose_project(project: Project, parser: Parser, *, now: dt.datetime, progress: Progress) -> DecomposeReport:
    """Split and decompose every reference of the live examples of a project."""
    report = DecomposeReport()
    total = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True).count()
    last = 0
    while True:
        examples = Example.objects.live().filter(project=project, position__gt=last).order_by("position")
        batch = list(examples.values_list("pk", "position")[:EXAMPLES_PER_BATCH])
        if not batch:
            return report
        last = batch[-1][1]
        references = list(Reference.objects.filter(example__in=[pk for pk, _ in batch]).order_by("example", "position"))
        # Parsed outside of the transaction: it takes seconds, in which others may write.
        found = list(decompose_texts([reference.text for reference in references], parser))
        with transaction.atomic():
            for reference, sentences in zip(references, found, strict=True):
                _store(reference, sentences, report, now)
        progress("decomposing", report.references, total)


def _store(
    reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport, now: dt.datetime
) -> None:
    report.references += 1
    report.flagged += bool(reference.text.strip()) and not any(sentence.units for sentence in found)
    sentences = _store_split(reference, found, report)
    wanted = [
        (unit.text, unit.rule, [list(span) for span in unit.spans], sentence.pk)
        for sentence, decomposed in zip(sentences, found, strict=True)
        for unit in decomposed.units
    ]
    current = Unit.objects.current().filter(reference=reference, kind=UnitKind.STU).order_by("position")
    have = [(unit.text, unit.rule, unit.spans, unit.sentence_id) for unit in current]
    if have == wanted and all(unit.provenance == Provenance.DERIVED for unit in current):
        return
    report.changed += 1
    report.superseded += current.update(superseded_at=now)
    report.units += len(wanted)
    # Keys are never used again: a new unit is another unit, not an edit of an old one.
    number = Unit.objects.filter(example=reference.example_id, kind=UnitKind.STU).aggregate(Max("position"))
    first = (number["position__max"] or 0) + 1
    Unit.objects.bulk_create(
        Unit(
            example_id=reference.example_id,
            kind=UnitKind.STU,
            key=f"auto-{position}",
            position=position,
            text=text,
            reference=reference,
            sentence_id=sentence,
            provenance=Provenance.DERIVED,
            guideline_version=VERSION,
            rule=rule,
            spans=spans,
            created_at=now,
        )
        for position, (text, rule, spans, sentence) in enumerate(wanted, start=first)
    )


def _store_split(reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport) -> list[Sentence]:
    """The sentences of the newest revision, or of a new one where the rule splits otherwise."""
    stored = list(Sentence.objects.filter(reference=reference).order_by("revision", "position"))
    newest = max((sentence.revision for sentence in stored), default=0)
    current = [sentence for sentence in stored if sentence.revision == newest]
    if [(sentence.start, sentence.end) for sentence in current] == [(item.start, item.end) for item in found]:
        return current
    report.new_splits += 1
    return Sentence.objects.bulk_create(
        Sentence(
            reference=reference,
            revision=newest + 1,
            position=position,
            start=item.start,
            end=item.end,
            text=reference.text[item.start : item.end],
        )
        for position, item in enumerate(found, start=1)
    )
