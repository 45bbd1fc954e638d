"""TRAIN: a head for the embedded judge from the labels of a project. It reads rows and writes none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from django.db.models import Q

from annotation.batching import batched_by_size
from annotation.models import Label, Project, UnitKind
from annotation.parses import Parser
from annotation.services.labels import label_rules
from scoring.judging import Pair
from scoring.presence.head import Head, folds_of, train_head
from scoring.presence.measuring import accuracy, calibration_error, pearson, summary_level

FOLDS = 5
MIN_LABELS, MIN_EXAMPLES = 200, 5
PAIRS_PER_BATCH, CHARACTERS_PER_BATCH = 5_000, 5_000_000


class TooFewLabels(ValueError):
    """Not enough to learn from. The message says what is missing."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A label with its texts. `example` and `system` name where it comes from."""

    example: str
    system: str
    pair: Pair
    present: bool


@dataclass(frozen=True, slots=True)
class TrainedJudge:
    """A head, and how well heads do that were trained in the same way without the example they are asked about."""

    head: Head
    labels: int
    examples: int
    accuracy: float
    calibration_error: float
    summary_pearson: float | None  # None where no example has summaries of two systems


def labelled_pairs(project: Project, rule: str) -> Iterator[LabelledPair]:
    """The labels of a rule for SCUs that are in use, example by example."""
    live = Q(unit__example__project=project, unit__example__trashed_at__isnull=True)
    current = Q(unit__kind=UnitKind.SCU, unit__superseded_at__isnull=True, unit__trashed_at__isnull=True)
    labels = (
        Label.objects.filter(live, current, rule=rule, summary__system__trashed_at__isnull=True)
        .order_by("unit__example__position", "unit__example_id", "summary__system__name", "unit__position", "pk")
        .values_list("unit__example__key", "summary__system__name", "summary__text", "unit__text", "present")
    )
    for example, system, summary, unit, present in labels.iterator(chunk_size=2_000):
        yield LabelledPair(example, system, Pair(summary, unit), present)


def train_on_project(project: Project, parser: Parser, *, rule: str) -> TrainedJudge:
    """Train on all labels of a rule, and measure out of fold, five folds by examples."""
    import numpy

    from scoring.presence.measuring_pairs import measure_pairs

    labelled = list(labelled_pairs(project, rule))
    _check(project, rule, labelled)
    batches = batched_by_size(
        labelled,
        lambda own: len(own.pair.summary) + len(own.pair.unit),
        most=PAIRS_PER_BATCH,
        characters=CHARACTERS_PER_BATCH,
    )
    rows = numpy.concatenate([measure_pairs([own.pair for own in batch], parser) for batch in batches])
    labels, groups = [int(own.present) for own in labelled], [own.example for own in labelled]
    folds = numpy.array(folds_of(groups, FOLDS))
    found = numpy.zeros(len(labels))
    for fold in range(FOLDS):
        inside = folds != fold
        if inside.all():
            continue
        kept = [group for group, own in zip(groups, inside, strict=True) if own]
        found[~inside] = train_head(rows[inside], numpy.array(labels)[inside], kept).predict(rows[~inside])
    head = train_head(rows, labels, groups, pairs=[own.pair for own in labelled], trained_on=project.name)
    values = found.tolist()
    return TrainedJudge(
        head, len(labels), len(set(groups)), accuracy(values, labels), calibration_error(values, labels),
        _summary_pearson(labelled, values),
    )  # fmt: skip


def _check(project: Project, rule: str, labelled: list[LabelledPair]) -> None:
    examples, present = len({own.example for own in labelled}), sum(own.present for own in labelled)
    if len(labelled) < MIN_LABELS or examples < MIN_EXAMPLES:
        others = ", ".join(f"{name!r} ({number:,})" for name, number in label_rules(project).items() if name != rule)
        raise TooFewLabels(
            f"{project.name!r} has {len(labelled):,} labels of SCUs by the rule {rule!r} in {examples:,} examples, and "
            f"a judge needs at least {MIN_LABELS} in {MIN_EXAMPLES}. "
            + (f"Labels by other rules: {others}; name one by --rule." if others else "Import or collect more labels.")
        )
    if present in (0, len(labelled)):
        raise TooFewLabels(f"All labels of {project.name!r} say the same. A judge needs units that are there and not.")


def _summary_pearson(labelled: list[LabelledPair], values: list[float]) -> float | None:
    """The mean over examples with at least two systems."""
    found = []
    both = list(zip(labelled, values, strict=True))
    for _, own in groupby(both, key=lambda item: item[0].example):
        human, metric = [], []
        for _, pairs in groupby(own, key=lambda item: item[0].system):
            judged = list(pairs)
            human.append(fmean(label.present for label, _ in judged))
            metric.append(fmean(value for _, value in judged))
        if len(human) > 1:
            found.append(summary_level([human], [metric], pearson).mean)
    return fmean(found) if found else None
