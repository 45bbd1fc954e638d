"""MEASURE a quality curve on a project with SCUs and labels. It reads rows and writes none."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from statistics import fmean
from typing import Any

from annotation.decomposing.units import VERSION as UNITS
from annotation.mixing import SentenceUnits
from annotation.models import (
    Example,
    Fold,
    FoldAxis,
    FoldMember,
    Label,
    Project,
    Sentence,
    Summary,
    System,
    Unit,
    UnitKind,
)
from annotation.parses import Parser
from annotation.planning.power import typical_sigma
from annotation.ranking.measuring import MEASURE, measure_texts
from annotation.ranking.regressor import train_ranker
from annotation.ranking.rows import gold_easiness
from annotation.services.placing import current_units, live_references, owners_of, place_units, sentences_of
from scoring.judging import Pair
from scoring.presence.features import VERSION as FEATURES
from scoring.presence.head import train_head
from scoring.ratio_curve import DRAWS, LEVELS, RANDOM_ORDERS, SEED, VERSION, CurveSentence, measure_levels

FOLDS = 5
MIN_EXAMPLES, MIN_SYSTEMS = 10, 3
Progress = Callable[[str, int, int], None]
Labels = dict[tuple[int, int], bool]


class TooLittle(ValueError):
    """The project is too small for the experiment. The message says what is missing."""


@dataclass(frozen=True, slots=True)
class CurveCorpus:
    """Examples whose SCUs have a label for every system, with their sentences and folds."""

    name: str
    examples: list[int]
    systems: list[int]
    folds: list[int]  # of each example
    summaries: dict[tuple[int, int], tuple[int, str]]  # (example, system) → its id and text
    sentences: dict[int, list[SentenceUnits]]  # of each example
    texts: dict[int, tuple[str, list[Sentence], int]]  # references: text, sentences, example
    units: dict[int, Unit]
    labels: Labels  # (unit, summary) → present
    rule: str  # of these labels

    @property
    def weights(self) -> dict[int, int]:
        """A unit in one place has its own weight; one that was merged weighs one in each of its places."""
        places = Counter(unit for own in self.sentences.values() for one in own for unit in one.scus)
        return {unit: self.units[unit].weight if number == 1 else 1 for unit, number in places.items()}


def read_project(project: Project, *, rule: str) -> CurveCorpus:
    """The part of a project that the experiment can use."""
    owners = owners_of(project)
    sentences = sentences_of(owners)
    units = current_units(project, UnitKind.values)
    placed = place_units(project, units, owners, sentences)
    by_example: defaultdict[int, list[SentenceUnits]] = defaultdict(list)
    for reference, example in owners.items():
        by_example[example] += placed[reference]
    labels = _labels(project, rule)
    labelled = {summary for _, summary in labels}
    rows = Summary.objects.filter(pk__in=labelled) if len(labelled) < 500 else Summary.objects.all()
    live = rows.filter(example__project=project, system__trashed_at__isnull=True).order_by("example", "system__name")
    summaries = {
        (example, system): (pk, text)
        for pk, example, system, text in live.values_list("pk", "example_id", "system_id", "text")
        if pk in labelled
    }
    names = System.objects.live().filter(project=project).order_by("name").values_list("pk", flat=True)
    judged: dict[int, set[int]] = {}  # for each example the systems of which every SCU has a label
    for example in Example.objects.live().filter(project=project).order_by("position").values_list("pk", flat=True):
        scus = {unit for one in by_example[example] for unit in one.scus}
        if scus and any(one.stus for one in by_example[example]):
            judged[example] = {
                system
                for system in names
                if (example, system) in summaries
                and all((unit, summaries[example, system][0]) in labels for unit in scus)
            }
    systems = _best_systems(judged, list(names))
    examples = [example for example, own in judged.items() if own >= set(systems)] if systems else []
    _check(project, rule, examples, systems)
    inside = set(examples)
    return CurveCorpus(
        name=project.name,
        examples=examples,
        systems=systems,
        folds=_folds(project, examples),
        summaries=summaries,
        sentences={example: by_example[example] for example in examples},
        texts={
            pk: (text, sentences.get(pk, []), owners[pk])
            for pk, text in live_references(project).values_list("pk", "text")
            if owners[pk] in inside
        },
        units=units,
        labels=labels,
        rule=rule,
    )


def _labels(project: Project, rule: str) -> Labels:
    rows = Label.objects.filter(
        unit__example__project=project, unit__kind=UnitKind.SCU, unit__superseded_at__isnull=True, rule=rule,
        unit__trashed_at__isnull=True, summary__system__trashed_at__isnull=True,
    ).values_list("unit_id", "summary_id", "present")  # fmt: skip
    return {(unit, summary): present for unit, summary, present in rows.iterator(chunk_size=5000)}


def _best_systems(judged: dict[int, set[int]], systems: list[int]) -> list[int]:
    """Systems with the most examples in common: those that people judged most, as many as give the largest table."""
    often = Counter(system for own in judged.values() for system in own)
    ordered = sorted((system for system in systems if often[system]), key=lambda system: -often[system])
    best: list[int] = []
    most = 0
    for number in range(MIN_SYSTEMS, len(ordered) + 1):
        chosen = set(ordered[:number])
        size = number * sum(own >= chosen for own in judged.values())
        if size >= most:
            best, most = ordered[:number], size
    return [system for system in systems if system in set(best)]


def _check(project: Project, rule: str, examples: list[int], systems: list[int]) -> None:
    if len(examples) < MIN_EXAMPLES or len(systems) < MIN_SYSTEMS:
        raise TooLittle(
            f"{project.name!r} has {len(examples):,} examples whose SCUs all have a label (rule {rule!r}) for each of "
            f"{len(systems):,} systems, and STUs. A curve needs at least {MIN_EXAMPLES} examples and {MIN_SYSTEMS} "
            "systems. Import or collect more labels, and run Split and decompose."
        )


def _folds(project: Project, examples: list[int]) -> list[int]:
    """The published folds if they hold every example, else blocks of consecutive ones."""
    names = Fold.objects.filter(project=project, axis=FoldAxis.EXAMPLES).order_by("name").values_list("pk", flat=True)
    number = {pk: place for place, pk in enumerate(names)}
    members = FoldMember.objects.filter(fold__in=number, example__isnull=False)
    known = {example: number[fold] for example, fold in members.values_list("example_id", "fold_id")}
    if all(example in known for example in examples) and len({known[example] for example in examples}) > 1:
        return [known[example] for example in examples]
    return [place * FOLDS // len(examples) for place in range(len(examples))]


# --- the experiment ------------------------------------------------------------------------------------------------


def measure_curve(corpus: CurveCorpus, parser: Parser, *, progress: Progress) -> dict[str, Any]:
    """The curve of a corpus, with a judge and easiness that have not seen the example they are asked about."""
    progress("reading", 0, 3)
    easiness = _easiness(corpus, parser)
    progress("judging", 1, 3)
    found = _found(corpus, parser)
    progress("mixing", 2, 3)
    weights = corpus.weights
    sentences, human = [], []
    for place, example in enumerate(corpus.examples):
        summaries = [corpus.summaries[example, system][0] for system in corpus.systems]
        for one in corpus.sentences[example]:
            sentences.append(
                CurveSentence(
                    example=place,
                    easiness=easiness[one.key],
                    stu_sums=[sum(found[unit, summary] for unit in one.stus) for summary in summaries],
                    stus=len(one.stus),
                    scu_sums=[sum(weights[unit] * found[unit, summary] for unit in one.scus) for summary in summaries],
                    scu_weight=sum(weights[unit] for unit in one.scus),
                )
            )
        scus = [unit for one in corpus.sentences[example] for unit in one.scus]
        total = sum(weights[unit] for unit in scus)
        human.append(
            [sum(weights[unit] * corpus.labels[unit, summary] for unit in scus) / total for summary in summaries]
        )
    levels = list(measure_levels(human, sentences))
    progress("mixing", 3, 3)
    return {
        "corpus": corpus.name,
        "examples": len(corpus.examples),
        "systems": len(corpus.systems),
        "sentences": len(sentences),
        "human": _human_power(human),
        "levels": levels,
        "signature": _signature(corpus, len(sentences)),
    }


def _human_power(human: list[list[float]]) -> dict[str, Any]:
    """How far people's scores of two systems differ from example to example, and the mean score of each system."""
    by_system = list(zip(*human, strict=True))
    return {
        "sigma": round(typical_sigma(by_system) or 0.0, 4),
        "means": [round(fmean(own), 4) for own in by_system],
    }


def _signature(corpus: CurveCorpus, sentences: int) -> str:
    return (
        f"curve {corpus.name}|data:{data_digest(corpus)}|labels:{corpus.rule}|units:{UNITS}"
        f"|judge:embedded features {FEATURES}, {max(corpus.folds) + 1} folds"
        f"|easiness:{MEASURE}, same folds|orders:easiest, {RANDOM_ORDERS} random, hardest|levels:{len(LEVELS)}"
        f"|boot:{DRAWS},seed={SEED}|n={len(corpus.examples)}|systems={len(corpus.systems)}|sentences={sentences}|v{VERSION}"
    )


def data_digest(corpus: CurveCorpus) -> str:
    """Names what a curve was measured on by its content: references, summaries, units, labels and folds.

    A name and some counts would be the same for other texts. Rows are not named by their ids, so that a corpus that is
    imported again has the same digest.
    """
    weights, basis = corpus.weights, sha256()
    references: defaultdict[int, list[Any]] = defaultdict(list)
    for text, sentences, example in corpus.texts.values():
        references[example].append([text, [(one.start, one.end) for one in sentences]])
    for example, fold in zip(corpus.examples, corpus.folds, strict=True):
        own = corpus.sentences[example]
        summaries = [corpus.summaries[example, system] for system in corpus.systems]
        scus = [[(corpus.units[unit].text, weights[unit]) for unit in one.scus] for one in own]
        stus = [[corpus.units[unit].text for unit in one.stus] for one in own]
        labels = [[corpus.labels[unit, pk] for one in own for unit in one.scus] for pk, _ in summaries]
        content = [fold, references[example], [text for _, text in summaries], scus, stus, labels]
        basis.update(json.dumps(content).encode())
    return basis.hexdigest()[:12]


def _easiness(corpus: CurveCorpus, parser: Parser) -> dict[int, float]:
    """Easiness of every sentence by a ranker that has not seen its fold; one pooled ranking of all."""
    units = {one.key: one for own in corpus.sentences.values() for one in own}
    given, owners = [], []
    for text, sentences, example in corpus.texts.values():
        stus = [[(corpus.units[key].text, corpus.units[key].rule) for key in units[one.pk].stus] for one in sentences]
        given.append((text, [(one.start, one.end) for one in sentences], stus))
        owners.append((example, sentences))
    folds = dict(zip(corpus.examples, corpus.folds, strict=True))
    rows: list[tuple[int, int, list[float], float | None]] = []  # fold, sentence, features, gold easiness
    for (example, sentences), features in zip(owners, measure_texts(given, parser), strict=True):
        for sentence, own in zip(sentences, features, strict=True):
            one = units[sentence.pk]
            by_people, by_machine = ([corpus.units[key].text for key in keys] for keys in (one.scus, one.stus))
            gold = gold_easiness(by_people, by_machine) if by_people else None
            rows.append((folds[example], sentence.pk, own, gold))
    found = {}
    for fold in sorted(set(corpus.folds)):
        inside = [(own, gold) for there, _, own, gold in rows if there != fold and gold is not None]
        held = [(key, own) for there, key, own, _ in rows if there == fold]
        ranker = train_ranker([own for own, _ in inside], [gold for _, gold in inside if gold is not None])
        for (key, _), value in zip(held, ranker.predict([own for _, own in held]), strict=True):
            found[key] = value if units[key].stus else 0.0  # nothing can stand in
    return found


def _found(corpus: CurveCorpus, parser: Parser) -> dict[tuple[int, int], float]:
    """What a judge that has not seen the example's fold says of every unit in every summary."""
    import numpy

    from scoring.presence.measuring_pairs import measure_pairs

    asked: list[tuple[int, int, int, Pair, bool | None]] = []  # fold, unit, summary, texts, label
    for example, fold in zip(corpus.examples, corpus.folds, strict=True):
        own = dict.fromkeys(unit for one in corpus.sentences[example] for unit in (*one.scus, *one.stus))
        for system in corpus.systems:
            summary, text = corpus.summaries[example, system]
            for unit in own:
                label = corpus.labels.get((unit, summary))
                asked.append((fold, unit, summary, Pair(text, corpus.units[unit].text), label))
    rows = measure_pairs([pair for _, _, _, pair, _ in asked], parser)
    folds = numpy.array([fold for fold, *_ in asked])
    has_label = numpy.array([label is not None for *_, label in asked])
    labels = numpy.array([bool(label) for *_, label in asked], dtype=int)
    keys = [str(corpus.units[unit].example_id) for _, unit, *_ in asked]
    found = numpy.zeros(len(asked))
    for fold in sorted(set(corpus.folds)):
        inside, held = (folds != fold) & has_label, folds == fold
        groups = [key for key, kept in zip(keys, inside, strict=True) if kept]
        found[held] = train_head(rows[inside], labels[inside], groups).predict(rows[held])
    return {(unit, summary): float(value) for (_, unit, summary, _, _), value in zip(asked, found, strict=True)}
