"""SPLIT and DECOMPOSE: sentences and STUs for the references of a project, a batch at a time.

Nothing that exists is changed: another split makes sentences of a new revision, and other units supersede those of
before, which stay as they were for whatever refers to them. A reference whose split and units would be the same is left
alone, so a job that was cut off goes on where it stopped. STUs that people wrote, edited or accepted are never put
aside, and one that somebody has put into the trash does not come back.
"""

from __future__ import annotations

import datetime as dt
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from annotation.decomposing.texts import DecomposedSentence, SplitText, decompose_split
from annotation.decomposing.units import FLAGS, VERSION
from annotation.models import Example, Project, Provenance, Reference, Sentence, Unit, UnitKind
from annotation.parses import Parser
from annotation.splitting import split_sentences

logger = logging.getLogger(__name__)

REFERENCES_PER_BATCH = 50
BY_MACHINE = (Provenance.DERIVED, Provenance.IMPORTED)

Progress = Callable[[str, int, int], None]
Wanted = tuple[str, str, list[list[int]], int]


@dataclass(slots=True)
class DecomposeReport:
    """What a pass over a project has done."""

    references: int = 0
    new_splits: int = 0
    changed: int = 0  # references that got other units than before
    units: int = 0  # STUs made
    superseded: int = 0
    flagged: int = 0  # references with text in which no fact was looked for or found
    failed: int = 0  # references that the rules stumbled over; they are in the log

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


def references_without_units(project: Project) -> QuerySet[Reference]:
    """References with text that have no current STU."""
    with_units = Unit.objects.current().filter(kind=UnitKind.STU, reference__isnull=False).values("reference")
    return _references(project).exclude(text="").exclude(pk__in=with_units)


def _references(project: Project) -> QuerySet[Reference]:
    return Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)


def decompose_project(
    project: Project, parser: Parser, *, now: dt.datetime, progress: Progress, missing_only: bool = False
) -> DecomposeReport:
    """Split and decompose the references of the live examples of a project, or those that have no STU yet."""
    report = DecomposeReport()
    ids = list(
        (references_without_units(project) if missing_only else _references(project)).values_list("pk", flat=True)
    )
    ids.sort()
    for start in range(0, len(ids), REFERENCES_PER_BATCH):
        references = list(Reference.objects.filter(pk__in=ids[start : start + REFERENCES_PER_BATCH]).order_by("pk"))
        # Parsed outside of the transaction: it takes seconds, in which others may write.
        found = list(_decompose(references, parser, report))
        with transaction.atomic():
            # Two passes at once wait for each other, and a worker that lost its run stops here.
            list(Example.objects.select_for_update().filter(pk__in={reference.example_id for reference, _ in found}))
            progress("decomposing", start, len(ids))
            for reference, sentences in found:
                _store(reference, sentences, report, now)
    progress("decomposing", len(ids), len(ids))
    return report


def _decompose(
    references: Sequence[Reference], parser: Parser, report: DecomposeReport
) -> Iterator[tuple[Reference, list[DecomposedSentence]]]:
    """References with their sentences. One that the rules stumble over does not keep the others waiting."""
    texts = [_split(reference) for reference in references]
    try:
        yield from zip(references, list(decompose_split(texts, parser)), strict=True)
        return
    except Exception:
        logger.exception("a batch of references cannot be decomposed; they are tried one by one")
    for reference, text in zip(references, texts, strict=True):
        try:
            (sentences,) = decompose_split([text], parser)
            yield reference, sentences
        except Exception:
            logger.exception("reference %s cannot be decomposed", reference.pk)
            report.failed += 1


def _split(reference: Reference) -> SplitText:
    """The sentences that a corpus or an earlier split gives; the whole text as one sentence is none yet."""
    stored = _newest_sentences(reference)
    spans = [(sentence.start, sentence.end) for sentence in stored]
    whole = len(reference.text.strip())
    if not spans or (len(spans) == 1 and spans[0][1] - spans[0][0] >= whole):
        spans = [(sentence.start, sentence.end) for sentence in split_sentences(reference.text)]
    return reference.text, spans


def _newest_sentences(reference: Reference) -> list[Sentence]:
    stored = list(Sentence.objects.filter(reference=reference).order_by("revision", "position"))
    newest = max((sentence.revision for sentence in stored), default=0)
    return [sentence for sentence in stored if sentence.revision == newest]


def _store(
    reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport, now: dt.datetime
) -> None:
    report.references += 1
    report.flagged += bool(reference.text.strip()) and is_flagged(found)
    sentences = _store_split(reference, found, report)
    units = Unit.objects.filter(reference=reference, kind=UnitKind.STU, superseded_at__isnull=True)
    trashed = set(units.filter(trashed_at__isnull=False).values_list("text", flat=True))
    wanted: list[Wanted] = [
        (unit.text, unit.rule, [list(span) for span in unit.spans], sentence.pk)
        for sentence, decomposed in zip(sentences, found, strict=True)
        for unit in decomposed.units
        if unit.text not in trashed
    ]
    current = units.filter(trashed_at__isnull=True, provenance__in=BY_MACHINE).order_by("position")
    have = [(unit.text, unit.rule, unit.spans, unit.sentence_id) for unit in current]
    if have == wanted and all(unit.provenance == Provenance.DERIVED for unit in current):
        return
    report.changed += 1
    report.superseded += current.update(superseded_at=now)
    report.units += len(wanted)
    _add_units(reference, wanted, now)


def is_flagged(found: Sequence[DecomposedSentence]) -> bool:
    """Whether a person should look at a reference: a sentence in another language, or no unit at all."""
    rules = {unit.rule for sentence in found for unit in sentence.units}
    return not rules or bool(rules & FLAGS)


def _add_units(reference: Reference, wanted: Sequence[Wanted], now: dt.datetime) -> None:
    """New units under keys that were never used: a new unit is another unit, not an edit of an old one."""
    keys = Unit.objects.filter(example=reference.example_id, kind=UnitKind.STU, key__startswith="auto-")
    found = (re.fullmatch(r"auto-(\d{1,9})", key) for key in keys.values_list("key", flat=True))
    numbers = [int(match.group(1)) for match in found if match]
    first = max(numbers, default=0) + 1
    Unit.objects.bulk_create(
        Unit(
            example_id=reference.example_id,
            kind=UnitKind.STU,
            key=f"auto-{number}",
            position=number,
            text=text,
            reference=reference,
            sentence_id=sentence,
            provenance=Provenance.DERIVED,
            guideline_version=VERSION,
            rule=rule,
            spans=spans,
            created_at=now,
        )
        for number, (text, rule, spans, sentence) in enumerate(wanted, start=first)
    )


def _store_split(reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport) -> list[Sentence]:
    """The sentences of the newest revision, or of a new one where the rule splits otherwise."""
    current = _newest_sentences(reference)
    if [(sentence.start, sentence.end) for sentence in current] == [(item.start, item.end) for item in found]:
        return current
    report.new_splits += 1
    revision = current[0].revision + 1 if current else 1
    return Sentence.objects.bulk_create(
        Sentence(
            reference=reference,
            revision=revision,
            position=position,
            start=item.start,
            end=item.end,
            text=reference.text[item.start : item.end],
        )
        for position, item in enumerate(found, start=1)
    )
