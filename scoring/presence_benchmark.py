"""Measures the embedded judge on the published corpora, out of fold: docs/algorithms/judges.md tells the protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotation.decomposing_benchmark import SETS, Figure
from annotation.easiness_benchmark import FOLDS
from annotation.encoder import load_encoder
from annotation.parses import Parser
from scoring.judging import Pair
from scoring.presence.corpora import Corpus, Units, detokenised, read_corpus, read_shares, without_tags
from scoring.presence.figures import Judged, figures_of, level_figures, paper_figures
from scoring.presence.head import Head, Learnt, learn, load_head, train_head
from scoring.presence.measuring import Scores, pearson, summary_level
from scoring.presence.measuring_pairs import measure_pairs
from scoring.presence.mixing import Mix, mix_units
from scoring.presence.normalising import normalise
from scoring.presence.texts import LAYERS

SPEED_ON = "realsumm"
VOTES = {"realsumm": "realsumm-amt"}  # folders with the answers of single workers
# What a fold may learn from: (shares of votes instead of labels, the whole other corpus as well).
CHOICES = ((False, False), (True, False), (False, True), (True, True))
# What inner folds say, pooled over the outer ones. `_nested` shows what comes of choosing anew in every fold.
CHOSEN = {"realsumm": (True, False), "pyrxsum": (True, True)}
ROUGES = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True)
class Measured:
    """A corpus with the features of its pairs: SCUs, AllenNLP's STUs, our own, and SCUs of detokenised text."""

    corpus: Corpus
    mix: Mix
    rows: dict[str, Any]
    shares: Sequence[float]  # of people who said present, where votes are known; else the labels

    @property
    def units(self) -> dict[str, Units]:
        return {"": self.corpus.scus, "_lite3_allennlp": self.corpus.stus, "_lite3": self.mix.stus}

    @property
    def groups(self) -> list[str]:
        return [self.corpus.ids[place] for place in self.corpus.documents_of(self.corpus.scus)]


def benchmark_presence(data: Path | None) -> Iterator[Figure]:
    """Figures as (key, value, what it means)."""
    if data is None:
        raise FileNotFoundError("The judge is measured on the published corpora. Name their folder: --data DIR")
    from annotation.spacy_parser import load_parser

    parser = load_parser()
    folders = {key: data / "lite2-3pyramid" / name for key, name in SETS.items()}
    corpora = {key: read_corpus(folder) for key, folder in folders.items()}
    measured = {}
    for key, corpus in corpora.items():
        mix = mix_units(folders[key], corpus, parser)
        rows, speed = measure_scus(corpus, parser)
        if key == SPEED_ON:
            yield "pairs_per_s", speed, "pairs of REALSumm judged per second: encoding, parsing, features and head"
        shares = read_shares(data / VOTES[key], corpus) if key in VOTES else None
        others = _other_rows(corpus, mix, rows, parser)
        measured[key] = Measured(corpus, mix, {"": rows, **others}, shares or corpus.flat_labels)
    for key, own in measured.items():
        (other,) = (found for name, found in measured.items() if name != key)
        yield from _by_examples(key, own, other)
        yield from _transfer(key, own, other)
        yield from _by_systems(key, own, other)
        yield from rouge_figures(key, own.corpus)
        yield from paper_figures(key)
        labels = own.corpus.flat_labels
        yield f"{key}.accuracy_always_no", 1 - sum(labels) / len(labels), "always no: share of labels told right"


def measure_scus(corpus: Corpus, parser: Parser) -> tuple[Any, float]:
    """The features of every pair with an SCU, and how many pairs a second were judged once all was loaded."""
    head = load_head()
    load_encoder(LAYERS)
    pairs = corpus.pairs(corpus.scus)
    started = time.perf_counter()
    rows = measure_pairs(pairs, parser)
    head.predict(rows)
    return rows, len(pairs) / (time.perf_counter() - started)


def _other_rows(corpus: Corpus, mix: Mix, rows: Any, parser: Parser) -> dict[str, Any]:
    """The features of the other pairs. A pair that reads the same once it is normalised has the same features."""
    import numpy

    asked = {
        "_lite3_allennlp": corpus.pairs(corpus.stus),
        "_lite3": corpus.pairs(mix.stus),
        "_detokenised": [Pair(detokenised(pair.summary), detokenised(pair.unit)) for pair in corpus.pairs(corpus.scus)],
    }
    known = {_normal(pair): row for pair, row in zip(corpus.pairs(corpus.scus), rows, strict=True)}
    new = list(dict.fromkeys(_normal(pair) for pairs in asked.values() for pair in pairs if _normal(pair) not in known))
    known |= dict(zip(new, measure_pairs(new, parser), strict=True))
    return {suffix: numpy.stack([known[_normal(pair)] for pair in pairs]) for suffix, pairs in asked.items()}


def _normal(pair: Pair) -> Pair:
    return Pair(_normal_text(pair.summary), _normal_text(pair.unit))


@lru_cache(maxsize=20_000)
def _normal_text(text: str) -> str:
    return normalise(text)


# --- what is trained on what ------------------------------------------------------------------------------------------


def _by_examples(key: str, own: Measured, other: Measured) -> Iterator[Figure]:
    """Trained on four folds (and perhaps the other corpus), tested on the fifth."""
    import numpy

    corpus = own.corpus
    found = {suffix: numpy.zeros(len(rows)) for suffix, rows in own.rows.items()}
    units = {**own.units, "_detokenised": corpus.scus}
    folds = {suffix: numpy.array(corpus.folds)[corpus.documents_of(own)] for suffix, own in units.items()}
    nested = numpy.zeros(len(own.rows[""]))
    for fold in range(FOLDS):
        inside = folds[""] != fold
        head = _head(_learn(own, other, inside, CHOSEN[key]))
        for suffix, rows in own.rows.items():
            held = folds[suffix] == fold
            found[suffix][held] = head.predict(rows[held])
        nested[~inside] = _nested(own, other, inside).predict(own.rows[""][~inside])
    judged = {suffix: Judged(corpus, units[suffix], found[suffix].tolist()) for suffix in found}
    yield from figures_of(key, "", "embedded judge, SCUs", judged[""])
    chosen_anew = Judged(corpus, corpus.scus, nested.tolist())
    yield from figures_of(key, "_nested", "training data chosen anew in every fold", chosen_anew)
    yield from figures_of(key, "_detokenised", "on detokenised text", judged["_detokenised"])
    for suffix, who in (("_lite3", "our STUs"), ("_lite3_allennlp", "AllenNLP's STUs")):
        yield from level_figures(key, suffix, who, [(corpus.human, judged[suffix].scores)])
    mixed = own.mix.scores(judged[""], judged["_lite3"])
    yield from level_figures(key, "_lite25", "our STUs for the easiest half, SCUs", [(corpus.human, mixed)])


def _transfer(key: str, own: Measured, other: Measured) -> Iterator[Figure]:
    """Trained on the other corpus alone."""
    head = train_head(other.rows[""], other.corpus.flat_labels, other.groups, shares=other.shares)
    found = head.predict(own.rows[""])
    yield from figures_of(
        key, "_transfer", f"trained on {other.corpus.name} only", Judged(own.corpus, own.corpus.scus, found)
    )


def _by_systems(key: str, own: Measured, other: Measured) -> Iterator[Figure]:
    """Trained on 20 systems, tested on the other five; the mean over the five folds."""
    import numpy

    corpus = own.corpus
    if corpus.system_folds is None:
        return
    folds = numpy.array(corpus.system_folds)[[system for _, system in corpus.summaries_of(corpus.scus)]]
    found = numpy.zeros(len(folds))
    for fold in range(FOLDS):
        head = _head(_learn(own, other, folds != fold, CHOSEN[key]))
        found[folds == fold] = head.predict(own.rows[""][folds == fold])
    scores = Judged(corpus, corpus.scus, found.tolist()).scores
    parts = []
    for fold in range(FOLDS):
        places = [place for place, there in enumerate(corpus.system_folds) if there == fold]
        parts.append((_of(corpus.human, places), _of(scores, places)))
    yield from level_figures(key, "_by_systems", "tested on other systems", parts)


def _of(scores: Scores, places: Sequence[int]) -> Scores:
    return [[document[place] for place in places] for document in scores]


def _nested(own: Measured, other: Measured, inside: Any) -> Head:
    """A head for which inner folds of these pairs alone have chosen what it learns from."""
    tried = []
    for by_votes, with_other in CHOICES:
        if by_votes and own.shares is own.corpus.flat_labels and not with_other:
            continue  # without votes it would be the same again
        learnt = _learn(own, other, inside, (by_votes, with_other))
        found = learnt.calibration.apply(learnt.margins[: inside.sum()])
        tried.append((_inner_pearson(own, inside, found), learnt))
    return _head(max(tried, key=lambda choice: choice[0])[1])


def _head(learnt: Learnt) -> Head:
    return Head(learnt.booster, learnt.calibration, "", "", frozenset())


def _learn(own: Measured, other: Measured, inside: Any, choice: tuple[bool, bool]) -> Learnt:
    """Trees from some pairs of a corpus, and perhaps all of the other."""
    import numpy

    by_votes, with_other = choice

    groups = [group for group, kept in zip(own.groups, inside, strict=True) if kept]
    parts = [(own.rows[""][inside], numpy.array(own.corpus.flat_labels)[inside], numpy.array(own.shares)[inside])]
    if with_other:
        parts.append((other.rows[""], numpy.array(other.corpus.flat_labels), numpy.array(other.shares)))
        groups += other.groups
    rows, labels, shares = (numpy.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return learn(rows, labels, groups, shares=shares if by_votes else None)


def _inner_pearson(own: Measured, inside: Any, found: Any) -> float:
    """Summary-level Pearson over the training documents, each judged by trees that had not seen it."""
    labels = [label for label, kept in zip(own.corpus.flat_labels, inside, strict=True) if kept]
    summaries = [place for place, kept in zip(own.corpus.summaries_of(own.corpus.scus), inside, strict=True) if kept]
    sums: dict[tuple[int, int], list[float]] = {}
    for place, value, label in zip(summaries, found, labels, strict=True):
        total = sums.setdefault(place, [0.0, 0.0, 0.0])
        for number, add in enumerate((1.0, float(label), float(value))):
            total[number] += add
    documents: dict[int, list[tuple[float, float]]] = {}
    for (document, _), (count, found_by_people, found_by_us) in sums.items():
        documents.setdefault(document, []).append((found_by_people / count, found_by_us / count))
    human, metric = ([[pair[side] for pair in own] for own in documents.values()] for side in (0, 1))
    return summary_level(human, metric, pearson).mean


def rouge_figures(key: str, corpus: Corpus) -> Iterator[Figure]:
    """ROUGE recall with stemming against the references, as a yardstick that needs no judge."""
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(list(ROUGES), use_stemmer=True)
    found: list[list[dict[str, Any]]] = [
        [scorer.score(without_tags(reference), summary) for summary in summaries]
        for reference, summaries in zip(corpus.references, corpus.summaries, strict=True)
    ]
    for name in ROUGES:
        scores = [[own[name].recall for own in document] for document in found]
        yield from level_figures(key, f"_{name}", f"{name} recall", [(corpus.human, scores)])
