"""The benchmark of the embedded judge: which figures it promises, and ROUGE as others have computed it."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy
import pytest

from annotation.benchmarks import write_lookalike
from scoring import presence_benchmark
from scoring.presence.corpora import read_corpus
from scoring.presence.mixing import Mix
from scoring.presence_benchmark import benchmark_presence, rouge_figures

LEVELS = {
    "summary_pearson", "summary_pearson_low", "summary_pearson_high", "summary_spearman", "summary_pearson_skip",
    "constant_documents", "system_pearson", "system_pearson_low", "system_pearson_high", "system_spearman",
}  # fmt: skip
PAIRS = {"accuracy", "accuracy_low", "accuracy_high", "mcc", "ece"}
BOUNDS = ("_low", "_high")


def suffixed(names: set[str], suffix: str) -> set[str]:
    """The suffix stands before "_low" and "_high"."""
    found = set()
    for name in names:
        end = next((bound for bound in BOUNDS if name.endswith(bound)), "")
        found.add(f"{name.removesuffix(end)}{suffix}{end}")
    return found


def promised(key: str) -> set[str]:
    names = {"accuracy_always_no", "accuracy_paper", "summary_pearson_paper", "summary_pearson_zero_shot_paper"}
    names |= {"summary_pearson_lite3_paper", "summary_pearson_lite25_paper"}
    for suffix in ("", "_nested", "_detokenised", "_transfer"):
        names |= suffixed(LEVELS | PAIRS, suffix)
    for suffix in ("_lite3", "_lite3_allennlp", "_lite25", "_rouge1", "_rouge2", "_rougeL"):
        names |= suffixed(LEVELS, suffix)
    if key == "realsumm":  # folds of systems are published for it alone
        names |= suffixed(LEVELS, "_by_systems") | {"summary_pearson_by_systems_paper"}
    return {f"{key}.{name}" for name in names}


class GuessingHead:
    def predict(self, rows):
        return numpy.random.default_rng(len(rows)).random(len(rows))


def test_the_benchmark_gives_the_figures_that_it_promises(tmp_path, monkeypatch):
    """Features, parses and training stand still; how corpora are read, figures made and named is real."""
    for name in ("REALSumm", "PyrXSum"):
        folder = write_lookalike(tmp_path / "lite2-3pyramid" / name)
        for path in [*folder.glob("*.txt"), *folder.glob("*/*")]:
            path.write_text("\n".join(path.read_text().split("\n")[:10]))
        for path in [*folder.glob("summaries/*")][10:]:
            path.unlink()
    folds = tmp_path / "lite2-3pyramid" / "REALSumm" / "by_systems"
    systems = read_corpus(folds.parent).systems
    folds.mkdir()
    for number in range(5):
        (folds / f"fold{number + 1}.sys").write_text("\n".join(systems[2 * number : 2 * number + 2]))

    def mix(folder, corpus, parser) -> Mix:
        return Mix(corpus.stus, [[0] for _ in corpus.ids], [[1] for _ in corpus.ids])

    def other_rows(corpus, mix, rows, parser):
        units = {"_lite3_allennlp": corpus.stus, "_lite3": mix.stus, "_detokenised": corpus.scus}
        return {suffix: numpy.zeros((len(corpus.pairs(own)), 1)) for suffix, own in units.items()}

    def rows(corpus, parser):
        return numpy.zeros((len(corpus.pairs(corpus.scus)), 1)), 42.0

    monkeypatch.setattr("annotation.spacy_parser.load_parser", lambda: None)
    monkeypatch.setattr(presence_benchmark, "mix_units", mix)
    monkeypatch.setattr(presence_benchmark, "measure_scus", rows)
    monkeypatch.setattr(presence_benchmark, "_other_rows", other_rows)
    monkeypatch.setattr(presence_benchmark, "_learn", lambda *given: SimpleNamespace())
    for name in ("_nested", "_head", "train_head"):
        monkeypatch.setattr(presence_benchmark, name, lambda *given, **options: GuessingHead())
    found = list(benchmark_presence(tmp_path))
    keys = [key for key, _, _ in found]
    assert len(keys) == len(set(keys))
    assert set(keys) == {"pairs_per_s"} | promised("realsumm") | promised("pyrxsum")
    assert all(math.isfinite(value) and meaning for _, value, meaning in found)


def test_it_needs_the_published_corpora():
    with pytest.raises(FileNotFoundError, match="--data DIR"):
        next(benchmark_presence(None))


# (Pearson, Spearman) over systems, then the means over documents. Computed once from the published data by other code:
# rouge-score 0.1.2 with stemming, scipy 1.17.1. Tolerance .001.
ROUGE_RECALL = {
    ("realsumm", "rouge1"): [0.91113, 0.91538, 0.52928, 0.50193],
    ("realsumm", "rouge2"): [0.96419, 0.94692, 0.45578, 0.42927],
    ("realsumm", "rougeL"): [0.94075, 0.94538, 0.46213, 0.42554],
    ("pyrxsum", "rouge1"): [0.98091, 0.96364, 0.52865, 0.51039],
    ("pyrxsum", "rouge2"): [0.98693, 0.95152, 0.54625, 0.52462],
    ("pyrxsum", "rougeL"): [0.98832, 0.95152, 0.52827, 0.50859],
}


@pytest.mark.parametrize(("key", "name"), [("realsumm", "REALSumm"), ("pyrxsum", "PyrXSum")])
def test_rouge_recall_is_what_others_have_computed(data, key, name):
    found = {figure: value for figure, value, _ in rouge_figures(key, read_corpus(data / "lite2-3pyramid" / name))}
    for rouge in ("rouge1", "rouge2", "rougeL"):
        own = [
            found[f"{key}.{level}_{how}_{rouge}"] for level in ("system", "summary") for how in ("pearson", "spearman")
        ]
        assert own == pytest.approx(ROUGE_RECALL[key, rouge], abs=0.001), rouge
