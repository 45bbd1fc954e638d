"""RANK: the easiness of the sentences of a project, by a trained regressor.

Nothing that exists is changed: other units or another ranker make rankings of a new revision. A reference whose units
and ranker are those of its newest ranking is left alone, so a job that was cut off goes on where it stopped.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.db.models.functions import Length

from annotation.aligning import align_units
from annotation.batching import batched_by_size
from annotation.models import Contributor, Example, Project, Ranking, Reference, Sentence, Unit, UnitKind
from annotation.parses import Parser
from annotation.ranking.measuring import MEASURE, GivenText, measure_texts
from annotation.ranking.regressor import SHIPPED, Ranker, Reason, load_ranker, rate
from annotation.ranking.rows import TrainingRow, sentence_digest, training_rows
from annotation.services.decomposing import newest_sentences

logger = logging.getLogger(__name__)

REFERENCES_PER_BATCH, CHARACTERS_PER_BATCH = 50, 300_000
Progress = Callable[[str, int, int], None]
Rated = list[tuple[float, list[Reason]]]


@dataclass(slots=True)
class RankReport:
    """What a pass over a project has done."""

    ranked: int = 0  # sentences that got a new ranking
    unranked: int = 0  # references that could not be measured; they are in the log

    def as_dict(self) -> dict[str, int]:
        return {"ranked": self.ranked, "unranked": self.unranked}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A reference as it is ranked: the sentences of its newest split, and the STUs of each.

    `basis` names all that its ranking depends on; `is_current` tells whether the newest ranking has the same.
    """

    reference: Reference
    sentences: list[Sentence]
    units: list[list[tuple[str, str]]]
    basis: str
    is_current: bool

    @property
    def given(self) -> GivenText:
        return self.reference.text, [(sentence.start, sentence.end) for sentence in self.sentences], self.units


def current_ranker() -> Ranker:
    """The ranker that the settings name, or the one that ships."""
    return load_ranker(Path(settings.RANKER) if settings.RANKER else SHIPPED)


def rank_project(
    project: Project, ranker: Ranker, parser: Parser, *, now: dt.datetime, progress: Progress
) -> RankReport:
    """Rank the sentences of the live examples."""
    report = RankReport()
    references = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)
    ids = sorted(references.values_list("pk", Length("text")))
    done = 0
    for batch in batched_by_size(ids, itemgetter(1), most=REFERENCES_PER_BATCH, characters=CHARACTERS_PER_BATCH):
        progress("ranking", done, len(ids))
        done += len(batch)
        stale = [item for item in _described([key for key, _ in batch], ranker, parser) if not item.is_current]
        # Measured outside of the transaction: it takes seconds, in which others may write.
        rated = list(_rate(stale, ranker, parser, report))
        if rated:
            with transaction.atomic():
                examples = {item.reference.example_id for item, _ in rated}
                list(Example.objects.select_for_update(no_key=True).filter(pk__in=examples).order_by("pk"))
                progress("ranking", done, len(ids))  # a worker that lost its run stops here
                keys = [item.reference.pk for item, _ in rated]
                now_there = {item.reference.pk: item for item in _described(keys, ranker, parser)}
                for item, values in rated:
                    there = now_there[item.reference.pk]
                    # What changed meanwhile is left to the pass that comes after the change.
                    if there.basis == item.basis and not there.is_current:
                        report.ranked += _store(item, values, ranker, now)
    progress("ranking", len(ids), len(ids))
    return report


def rows_of_project(project: Project, parser: Parser) -> Iterator[TrainingRow]:
    """What a ranker can learn from: sentences with SCUs, with the STUs that the rules make of them now."""
    references = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)
    given = []
    for reference in references.select_related("example").defer("example__document").order_by("pk"):
        own = Q(reference=reference) | Q(contributors__reference=reference)  # merged ones belong to several
        scus = Unit.objects.current().filter(own, kind=UnitKind.SCU).order_by("position").distinct()
        texts = [unit.text for unit in scus]
        spans = [(sentence.start, sentence.end) for sentence in newest_sentences([reference.pk]).get(reference.pk, [])]
        if texts and spans:
            given.append((reference.example.key, (reference.text, spans), texts))
    return training_rows(given, parser)


def count_seen(project: Project) -> int:
    """How many sentences of a project its ranker has learnt from: there it looks better than it is."""
    newer = Ranking.objects.filter(sentence=OuterRef("sentence"), revision__gt=OuterRef("revision"))
    rows = Ranking.objects.filter(sentence__reference__example__project=project, was_seen=True)
    return rows.filter(~Exists(newer), sentence__reference__example__trashed_at__isnull=True).count()


def _described(references: Sequence[int], ranker: Ranker, parser: Parser) -> Iterator[Ranked]:
    """References with what their ranking depends on, in the same few queries for one and for fifty."""
    sentences = newest_sentences(references)
    units = _units(references)
    bases: dict[int, str] = {}
    mine = [sentence.pk for own in sentences.values() for sentence in own]
    newest = Ranking.objects.filter(sentence__in=mine).order_by("-revision").values_list("sentence", "basis")
    for key, basis in newest:
        bases.setdefault(key, basis)
    for reference in Reference.objects.filter(pk__in=references).order_by("pk"):
        own = sentences.get(reference.pk, [])
        by_sentence = _by_sentence(units.get(reference.pk, []), own)
        content = [ranker.signature, parser.name, MEASURE, [[item.start, item.end] for item in own], by_sentence]
        basis = sha256(json.dumps(content).encode()).hexdigest()
        is_current = all(bases.get(sentence.pk) == basis for sentence in own)
        yield Ranked(reference, own, by_sentence, basis, is_current)


def _units(references: Sequence[int]) -> dict[int, list[Unit]]:
    """The STUs of references, those merged across several as well."""
    found: dict[int, list[Unit]] = {}
    stus = Unit.objects.current().filter(kind=UnitKind.STU)
    for unit in stus.filter(reference__in=references).order_by("position", "pk"):
        found.setdefault(unit.reference_id or 0, []).append(unit)
    merged = Contributor.objects.filter(unit__in=stus, reference__in=references).select_related("unit")
    for contributor in merged.order_by("unit__position", "unit"):
        found.setdefault(contributor.reference_id, []).append(contributor.unit)
    return found


def _by_sentence(units: Sequence[Unit], sentences: Sequence[Sentence]) -> list[list[tuple[str, str]]]:
    """The STUs of each sentence. Those that name none belong to the one that shares most of their words."""
    found: list[list[tuple[str, str]]] = [[] for _ in sentences]
    place = {sentence.pk: number for number, sentence in enumerate(sentences)}
    loose = [unit for unit in units if unit.sentence_id not in place]
    aligned = align_units([unit.text for unit in loose], [sentence.text for sentence in sentences])
    where = {unit.pk: number for unit, number in zip(loose, aligned, strict=True)}
    for unit in units if sentences else []:
        if unit.text.strip():
            number = where[unit.pk] if unit.pk in where else place[unit.sentence_id or 0]
            found[number].append((unit.text, unit.rule))
    return found


def _rate(
    items: Sequence[Ranked], ranker: Ranker, parser: Parser, report: RankReport
) -> Iterator[tuple[Ranked, Rated]]:
    """References with the ratings of their sentences. One that cannot be measured does not keep the others waiting."""
    try:
        rows = list(measure_texts([item.given for item in items], parser))
        yield from [(item, rate(ranker, own, item.units)) for item, own in zip(items, rows, strict=True)]
        return
    except Exception:
        logger.exception("a batch of references cannot be measured; they are tried one by one")
    for item in items:
        try:
            (own,) = measure_texts([item.given], parser)
            yield item, rate(ranker, own, item.units)
        except Exception:
            logger.exception("reference %s cannot be measured", item.reference.pk)
            report.unranked += 1


def _store(item: Ranked, rated: Rated, ranker: Ranker, now: dt.datetime) -> int:
    revisions = dict(
        Ranking.objects.filter(sentence__in=item.sentences).order_by().values_list("sentence").annotate(Max("revision"))
    )
    Ranking.objects.bulk_create(
        Ranking(
            sentence=sentence,
            revision=revisions.get(sentence.pk, 0) + 1,
            easiness=value,
            reasons=[reason.as_dict() for reason in reasons],
            ranker=ranker.signature,
            basis=item.basis,
            was_seen=sentence_digest(sentence.text) in ranker.seen,
            created_at=now,
        )
        for sentence, (value, reasons) in zip(item.sentences, rated, strict=True)
    )
    return len(item.sentences)
