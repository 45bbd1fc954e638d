"""RANK: the easiness of the sentences of a project, by a trained regressor.

Nothing that exists is changed: other units or another ranker make rankings of a new revision. A reference whose units
and ranker are those of its newest ranking is left alone, so a job that was cut off goes on where it stopped.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q

from annotation.aligning import align_units
from annotation.models import Example, Project, Ranking, Reference, Sentence, Unit, UnitKind
from annotation.parses import Parser
from annotation.ranking.measuring import SentenceUnits, measure_texts
from annotation.ranking.regressor import SHIPPED, Ranker, load_ranker
from annotation.ranking.rows import TrainingRow, sentence_digest, training_rows

REFERENCES_PER_BATCH = 50
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A reference as it is ranked: the sentences of its newest split, and the STUs of each."""

    reference: Reference
    sentences: list[Sentence]
    units: list[SentenceUnits]
    basis: str


def current_ranker() -> Ranker:
    """The ranker that the settings name, or the one that ships."""
    return load_ranker(Path(settings.RANKER) if settings.RANKER else SHIPPED)


def rank_project(project: Project, ranker: Ranker, parser: Parser, *, now: dt.datetime, progress: Progress) -> int:
    """Rank the sentences of the live examples. How many sentences got a new ranking."""
    ids = list(
        Reference.objects.filter(example__project=project, example__trashed_at__isnull=True, sentences__isnull=False)
        .order_by("pk").distinct().values_list("pk", flat=True)
    )  # fmt: skip
    ranked = 0
    for start in range(0, len(ids), REFERENCES_PER_BATCH):
        progress("ranking", start, len(ids))
        references = Reference.objects.filter(pk__in=ids[start : start + REFERENCES_PER_BATCH]).order_by("pk")
        stale = [item for item in _described(list(references), ranker) if not _is_ranked(item)]
        measured = list(measure_texts([_as_text(item) for item in stale], parser))
        with transaction.atomic():
            examples = {item.reference.example_id for item in stale}
            list(Example.objects.select_for_update(no_key=True).filter(pk__in=examples).order_by("pk"))
            for item, rows in zip(stale, measured, strict=True):
                ranked += _store(item, rows, ranker, now)
    progress("ranking", len(ids), len(ids))
    return ranked


def rows_of_project(project: Project, parser: Parser) -> Iterator[TrainingRow]:
    """What a ranker can learn from: sentences with SCUs, with the STUs that the rules make of them now."""
    references = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)
    given = []
    for reference in references.select_related("example").defer("example__document").order_by("pk"):
        own = Q(reference=reference) | Q(contributors__reference=reference)  # merged ones belong to several
        scus = Unit.objects.current().filter(own, kind=UnitKind.SCU).order_by("position").distinct()
        texts = [unit.text for unit in scus]
        spans = [(sentence.start, sentence.end) for sentence in newest_sentences(reference)]
        if texts and spans:
            given.append((reference.example.key, (reference.text, spans), texts))
    return training_rows(given, parser)


def count_seen(project: Project) -> int:
    """How many sentences of a project its ranker has learnt from: there it looks better than it is."""
    newer = Ranking.objects.filter(sentence=OuterRef("sentence"), revision__gt=OuterRef("revision"))
    rows = Ranking.objects.filter(sentence__reference__example__project=project, was_seen=True)
    return rows.filter(~Exists(newer), sentence__reference__example__trashed_at__isnull=True).count()


def newest_sentences(reference: Reference) -> list[Sentence]:
    newest = Sentence.objects.filter(reference=reference).aggregate(Max("revision"))["revision__max"]
    return list(Sentence.objects.filter(reference=reference, revision=newest).order_by("position"))


def _described(references: Sequence[Reference], ranker: Ranker) -> Iterator[Ranked]:
    for reference in references:
        sentences = newest_sentences(reference)
        units = _units_by_sentence(reference, sentences)
        basis = json.dumps([ranker.signature, [[item.start, item.end] for item in sentences], units])
        yield Ranked(reference, sentences, units, sha256(basis.encode()).hexdigest())


def _units_by_sentence(reference: Reference, sentences: Sequence[Sentence]) -> list[SentenceUnits]:
    """The STUs of each sentence. Those that name none belong to the one that shares most of their words."""
    found: list[SentenceUnits] = [[] for _ in sentences]
    place = {sentence.pk: number for number, sentence in enumerate(sentences)}
    units = list(Unit.objects.current().filter(kind=UnitKind.STU, reference=reference).order_by("position"))
    loose = [unit for unit in units if unit.sentence_id not in place]
    aligned = align_units([unit.text for unit in loose], [sentence.text for sentence in sentences])
    where = {unit.pk: number for unit, number in zip(loose, aligned, strict=True)}
    for unit in units if sentences else []:
        number = where[unit.pk] if unit.pk in where else place[unit.sentence_id or 0]
        found[number].append((unit.text, unit.rule))
    return found


def _is_ranked(item: Ranked) -> bool:
    newest = Ranking.objects.filter(sentence__in=item.sentences).order_by("sentence", "-revision")
    bases: dict[int, str] = {}
    for ranking in newest:
        bases.setdefault(ranking.sentence_id, ranking.basis)
    return all(bases.get(sentence.pk) == item.basis for sentence in item.sentences)


def _as_text(item: Ranked) -> tuple[str, list[tuple[int, int]], list[SentenceUnits]]:
    return item.reference.text, [(sentence.start, sentence.end) for sentence in item.sentences], item.units


def _store(item: Ranked, rows: Sequence[Sequence[float]], ranker: Ranker, now: dt.datetime) -> int:
    revisions = dict(
        Ranking.objects.filter(sentence__in=item.sentences).values_list("sentence").annotate(Max("revision"))
    )
    values, reasons = ranker.predict(rows), ranker.explain(rows)
    Ranking.objects.bulk_create(
        Ranking(
            sentence=sentence,
            revision=revisions.get(sentence.pk, 0) + 1,
            easiness=value,
            reasons=[reason.as_dict() for reason in own],
            ranker=ranker.signature,
            basis=item.basis,
            was_seen=sentence_digest(sentence.text) in ranker.seen,
            created_at=now,
        )
        for sentence, value, own in zip(item.sentences, values, reasons, strict=True)
    )
    return len(item.sentences)
