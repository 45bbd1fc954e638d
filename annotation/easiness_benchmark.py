"""Measures the ranker on the published corpora: how well it tells easy sentences from hard ones it has never seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from annotation.decomposing_benchmark import SETS, Figure, read_lines, read_units
from annotation.ranking.features import NAMES
from annotation.ranking.regressor import SEED_SETTINGS, SETTINGS, fit, load_ranker, train_ranker
from annotation.ranking.rows import TrainingRow, training_rows
from annotation.splitting import marked_sentences

FOLDS = 5
REPEATS = 20
RESAMPLES = 1_000
RIDGE = 100.0
SHIPPED_ON = "realsumm"
Predict = Callable[[Sequence[TrainingRow], Sequence[TrainingRow]], list[float]]
"""Learns from some rows, predicts others."""


def benchmark_easiness(data: Path | None) -> Iterator[Figure]:
    """Figures as (key, value, what it means)."""
    if data is None:
        raise FileNotFoundError("The ranker is measured on the published corpora. Name their folder: --data DIR")
    from annotation.spacy_parser import load_parser

    parser = load_parser()
    for key, name in SETS.items():
        folder = data / "lite2-3pyramid" / name
        rows = list(training_rows(read_references(folder), parser))
        splits = [published_split(folder, rows), *(seeded_split(rows, seed) for seed in range(REPEATS))]
        for suffix, (who, predict) in PREDICTORS.items():
            yield from _figures(key, suffix, who, rows, predict, splits)
        if key != SHIPPED_ON:
            found = load_ranker().predict([row.features for row in rows])
            gold = [row.easiness for row in rows]
            yield f"{key}.spearman_shipped", rank_correlation(found, gold), "the ranker that ships, on another corpus"
            yield f"{key}.mae_shipped", mean_error(found, gold), "the ranker that ships: mean absolute error"


def read_references(folder: Path) -> Iterator[tuple[str, tuple[str, list[tuple[int, int]]], list[str]]]:
    """The references of a folder of the paper: its example, the text with its sentences, its SCUs."""
    files = [read_lines(folder / name) for name in ("ids.txt", "references.txt", "SCUs.txt")]
    for key, text, line in zip(*files, strict=True):
        yield key, (text, [(found.start, found.end) for found in marked_sentences(text)]), read_units(line)


def published_split(folder: Path, rows: Sequence[TrainingRow]) -> list[int]:
    """The fold of each row: the published ones, or else blocks of consecutive examples."""
    names = folder / "by_examples"
    if names.is_dir():
        folds = {key: number for number in range(FOLDS) for key in read_lines(names / f"fold{number + 1}.id")}
    else:
        keys = read_lines(folder / "ids.txt")
        folds = {key: place * FOLDS // len(keys) for place, key in enumerate(keys)}
    return [folds[row.group] for row in rows]


def seeded_split(rows: Sequence[TrainingRow], seed: int) -> list[int]:
    """Folds by example, in another order for each seed."""
    groups = sorted({row.group for row in rows})
    random.Random(seed).shuffle(groups)  # noqa: S311
    folds = {group: place % FOLDS for place, group in enumerate(groups)}
    return [folds[row.group] for row in rows]


def out_of_fold(rows: Sequence[TrainingRow], split: Sequence[int], predict: Predict) -> list[float]:
    """A prediction for each row by a model that has seen no sentence of its fold."""
    found = [0.0] * len(rows)
    for fold in range(FOLDS):
        inside = [row for row, own in zip(rows, split, strict=True) if own != fold]
        places = [place for place, own in enumerate(split) if own == fold]
        for place, value in zip(places, predict(inside, [rows[place] for place in places]), strict=True):
            found[place] = value
    return found


def _figures(
    key: str, suffix: str, who: str, rows: Sequence[TrainingRow], predict: Predict, splits: Sequence[Sequence[int]]
) -> Iterator[Figure]:
    gold = [row.easiness for row in rows]
    means = out_of_fold(rows, splits[0], predict_mean)
    first = out_of_fold(rows, splits[0], predict)
    repeats = [out_of_fold(rows, split, predict) for split in splits[1:]]
    ratios = [
        mean_error(found, gold) / mean_error(out_of_fold(rows, split, predict_mean), gold)
        for found, split in zip(repeats, splits[1:], strict=True)
    ]
    if suffix == "_length":  # needs no training, and lines of several folds cannot be pooled
        first_order, orders = minus_length(rows), [minus_length(rows)] * REPEATS
    else:
        first_order, orders = first, repeats
    if suffix != "_mean":  # one value for all ranks nothing
        yield (
            f"{key}.spearman{suffix}",
            rank_correlation(first_order, gold),
            f"{who}: rank correlation",
        )
        bounds = interval(rows, lambda drawn: rank_correlation(_of(first_order, drawn), _of(gold, drawn)))
        for name, value in zip(("low", "high"), bounds, strict=True):
            yield f"{key}.spearman_{name}{suffix}", value, f"{who}: 95 % interval over examples"
        repeated = fmean(rank_correlation(found, gold) for found in orders)
        yield f"{key}.spearman_repeat{suffix}", repeated, f"{who}: mean over {REPEATS} other splits"
    yield f"{key}.mae{suffix}", mean_error(first, gold), f"{who}: mean absolute error"
    yield f"{key}.mae_ratio{suffix}", mean_error(first, gold) / mean_error(means, gold), f"{who}: over that of the mean"
    bounds = interval(
        rows,
        lambda drawn: mean_error(_of(first, drawn), _of(gold, drawn)) / mean_error(_of(means, drawn), _of(gold, drawn)),
    )
    for name, value in zip(("low", "high"), bounds, strict=True):
        yield f"{key}.mae_ratio_{name}{suffix}", value, f"{who}: 95 % interval over examples"
    yield f"{key}.mae_ratio_repeat{suffix}", fmean(ratios), f"{who}: the same over {REPEATS} other splits"


# --- predictors -------------------------------------------------------------------------------------------------------


def predict_ranker(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    ranker = train_ranker([row.features for row in inside], [row.easiness for row in inside])
    return ranker.predict([row.features for row in outside])


def predict_free(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    booster = fit([row.features for row in inside], [row.easiness for row in inside], SETTINGS)
    return _predicted(booster, [row.features for row in outside])


def predict_projected(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    booster = fit([row.projected for row in inside], [row.easiness for row in inside], SEED_SETTINGS)
    return _predicted(booster, [row.projected for row in outside])


def _predicted(booster: Any, rows: Sequence[Sequence[float]]) -> list[float]:
    import numpy
    import xgboost

    return [float(value) for value in booster.predict(xgboost.DMatrix(numpy.array(rows, dtype=numpy.float32)))]


def predict_line(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    """Ridge regression over the same features: what a straight line makes of them."""
    import numpy

    rows = numpy.array([row.features for row in inside])
    gold = numpy.array([row.easiness for row in inside])
    centre, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = (rows - centre) / spread
    weights = numpy.linalg.solve(scaled.T @ scaled + RIDGE * numpy.eye(rows.shape[1]), scaled.T @ (gold - gold.mean()))
    asked = (numpy.array([row.features for row in outside]) - centre) / spread
    return [float(value) for value in asked @ weights + gold.mean()]


def predict_length(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    """A straight line that falls with the length of the sentence, however the data look."""
    lengths, gold = [-length for length in minus_length(inside)], [row.easiness for row in inside]
    centre, mean = fmean(lengths), fmean(gold)
    spread = sum((length - centre) ** 2 for length in lengths) or 1.0
    slope = sum((length - centre) * (own - mean) for length, own in zip(lengths, gold, strict=True)) / spread
    slope = min(slope, -1e-6)
    return [mean + slope * (-length - centre) for length in minus_length(outside)]


def minus_length(rows: Sequence[TrainingRow]) -> list[float]:
    place = NAMES.index("words")
    return [-row.features[place] for row in rows]


def predict_mean(inside: Sequence[TrainingRow], outside: Sequence[TrainingRow]) -> list[float]:
    return [fmean(row.easiness for row in inside)] * len(outside)


PREDICTORS: dict[str, tuple[str, Predict]] = {
    "": ("ranker", predict_ranker),
    "_free": ("without directions", predict_free),
    "_line": ("ridge regression", predict_line),
    "_69projected": ("69-projected", predict_projected),
    "_length": ("minus the length", predict_length),
    "_mean": ("the mean", predict_mean),
}


# --- measures ---------------------------------------------------------------------------------------------------------


def rank_correlation(found: Sequence[float], gold: Sequence[float]) -> float:
    """Spearman's rank correlation; 0 where one side does not vary."""
    from scipy.stats import spearmanr

    if len(set(found)) < 2 or len(set(gold)) < 2:
        return 0.0
    result: Any = spearmanr(found, gold)
    return float(result.statistic)


def mean_error(found: Sequence[float], gold: Sequence[float]) -> float:
    return fmean(abs(one - other) for one, other in zip(found, gold, strict=True))


def interval(rows: Sequence[TrainingRow], measure: Callable[[list[int]], float]) -> tuple[float, float]:
    """The middle 95 % of a measure of some rows, given by their places, over resampled examples."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.group, []).append(place)
    groups, chance = list(places), random.Random(0)  # noqa: S311
    values = []
    for _ in range(RESAMPLES):
        drawn = [place for group in chance.choices(groups, k=len(groups)) for place in places[group]]
        values.append(measure(drawn))
    values.sort()
    return values[round(0.025 * RESAMPLES)], values[round(0.975 * RESAMPLES) - 1]


def _of(values: Sequence[float], places: Sequence[int]) -> list[float]:
    return [values[place] for place in places]
