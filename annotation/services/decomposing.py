"""SPLIT and DECOMPOSE: sentences and STUs for the references of a project, a batch at a time.

Nothing that exists is changed: another split makes sentences of a new revision, and other units supersede those of
before, which stay as they were for whatever refers to them. A reference whose split and units would be the same is left
alone, so a job that was cut off goes on where it stopped. STUs that people wrote, edited or accepted are never put
aside, and one that somebody has put into the trash does not come back.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from operator import itemgetter

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from annotation.batching import batched_by_size
from annotation.decomposing.texts import DecomposedSentence, SplitText, decompose_split
from annotation.decomposing.units import FLAGS, VERSION
from annotation.models import Contributor, Example, Project, Provenance, Reference, Sentence, Unit, UnitKind
from annotation.parses import Parser
from annotation.splitting import split_sentences

logger = logging.getLogger(__name__)

REFERENCES_PER_BATCH = 50
CHARACTERS_PER_BATCH = 300_000
MAX_LOOK_AT = 100
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
    look_at: list[str] = field(default_factory=list)  # keys of the first flagged examples

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "look_at"}


def references_without_units(project: Project) -> QuerySet[Reference]:
    """References with text that have no current STU."""
    stus = Unit.objects.current().filter(kind=UnitKind.STU)
    merged = Contributor.objects.filter(unit__in=stus, reference=OuterRef("pk"))
    own = stus.filter(reference=OuterRef("pk"))
    return _references(project).filter(~Exists(own), ~Exists(merged), text__regex=r"\S")


def _references(project: Project) -> QuerySet[Reference]:
    return Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)


def decompose_project(
    project: Project, parser: Parser, *, now: dt.datetime, progress: Progress, missing_only: bool = False
) -> DecomposeReport:
    """Split and decompose the references of the live examples of a project, or those that have no STU yet."""
    report = DecomposeReport()
    wanted = references_without_units(project) if missing_only else _references(project)
    ids = sorted(wanted.values_list("pk", Length("text")))
    start = 0
    batches = batched_by_size(ids, itemgetter(1), most=REFERENCES_PER_BATCH, characters=CHARACTERS_PER_BATCH)
    for batch in batches:
        rows = Reference.objects.filter(pk__in=[key for key, _ in batch]).order_by("pk")
        references = list(rows.select_related("example").defer("example__document"))
        # Parsed outside of the transaction: it takes seconds, in which others may write.
        found = list(_decompose(references, parser, report))
        with transaction.atomic():
            # Two passes at once wait for each other, and a worker that lost its run stops here.
            examples = {reference.example_id for reference, _ in found}
            list(Example.objects.select_for_update(no_key=True).filter(pk__in=examples).order_by("pk"))
            progress("decomposing", start, len(ids))
            for reference, sentences in found:
                if not _came_too_late(reference, sentences, missing_only=missing_only):
                    _store(reference, sentences, report, now)
        start += len(batch)
    progress("decomposing", len(ids), len(ids))
    return report


def _came_too_late(reference: Reference, found: Sequence[DecomposedSentence], *, missing_only: bool) -> bool:
    """Whether an import brought units or sentences while this reference was parsed. A later run sees them."""
    if missing_only and Unit.objects.current().filter(reference=reference, kind=UnitKind.STU).exists():
        return True
    return list(_split(reference)[1]) != [(sentence.start, sentence.end) for sentence in found]


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
    stored = newest_sentences([reference.pk]).get(reference.pk, [])
    spans = [(sentence.start, sentence.end) for sentence in stored]
    whole = len(reference.text.strip())
    if not spans or (len(spans) == 1 and spans[0][1] - spans[0][0] >= whole):
        spans = [(sentence.start, sentence.end) for sentence in split_sentences(reference.text)]
    return reference.text, spans


def newest_sentences(references: Sequence[int]) -> dict[int, list[Sentence]]:
    """The sentences of the newest split of each reference, in order."""
    newer = Sentence.objects.filter(reference=OuterRef("reference"), revision__gt=OuterRef("revision"))
    found: dict[int, list[Sentence]] = {}
    rows = Sentence.objects.filter(~Exists(newer), reference__in=references)
    for sentence in rows.order_by("reference", "position"):
        found.setdefault(sentence.reference_id, []).append(sentence)
    return found


def _store(
    reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport, now: dt.datetime
) -> None:
    report.references += 1
    if reference.text.strip() and is_flagged(found):
        report.flagged += 1
        report.look_at += [reference.example.key] if len(report.look_at) < MAX_LOOK_AT else []
    sentences = _store_split(reference, found, report)
    units = Unit.objects.filter(reference=reference, kind=UnitKind.STU, superseded_at__isnull=True)
    settled = _settled_texts(reference)
    wanted: list[Wanted] = [
        (unit.text, unit.rule, [list(span) for span in unit.spans], sentence.pk)
        for sentence, decomposed in zip(sentences, found, strict=True)
        for unit in decomposed.units
        if unit.text not in settled
    ]
    # A unit that would come out the same stays, with its labels; only the others make room.
    old: list[int] = []
    for unit in units.filter(trashed_at__isnull=True, provenance__in=BY_MACHINE).order_by("position"):
        same = (unit.text, unit.rule, unit.spans, unit.sentence_id)
        if unit.provenance == Provenance.DERIVED and same in wanted:
            wanted.remove(same)
        else:
            old.append(unit.pk)
    if not old and not wanted:
        return
    report.changed += 1
    report.superseded += units.filter(pk__in=old).update(superseded_at=now)
    report.units += len(wanted)
    _add_units(reference, wanted, now)


def _settled_texts(reference: Reference) -> set[str]:
    """Texts that people have decided about: put into the trash, written themselves, accepted, or edited away."""
    units = Unit.objects.filter(reference=reference, kind=UnitKind.STU)
    trashed = units.filter(superseded_at__isnull=True, trashed_at__isnull=False)
    taken = units.exclude(provenance__in=BY_MACHINE).values("key")
    return set(units.filter(Q(pk__in=trashed) | Q(key__in=taken)).values_list("text", flat=True))


def is_flagged(found: Sequence[DecomposedSentence]) -> bool:
    """Whether a person should look at a reference: a sentence in another language, or no unit at all."""
    rules = {unit.rule for sentence in found for unit in sentence.units}
    return not rules or bool(rules & FLAGS)


def _add_units(reference: Reference, wanted: Sequence[Wanted], now: dt.datetime) -> None:
    """New units under keys that were never used: a new unit is another unit, not an edit of an old one."""
    stored = Unit.objects.filter(example=reference.example_id, kind=UnitKind.STU)
    used = set(stored.filter(key__startswith="auto-").values_list("key", flat=True))
    free = (number for number in count(len(used) + 1) if f"auto-{number}" not in used)
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
        for number, (text, rule, spans, sentence) in zip(free, wanted, strict=False)
    )


def _store_split(reference: Reference, found: Sequence[DecomposedSentence], report: DecomposeReport) -> list[Sentence]:
    """The sentences of the newest revision, or of a new one where the rule splits otherwise."""
    current = newest_sentences([reference.pk]).get(reference.pk, [])
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
