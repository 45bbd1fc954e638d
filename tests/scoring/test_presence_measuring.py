"""How judges are measured: correlations by the seed's rule, calibration, intervals, and how corpora are read."""

from __future__ import annotations

import csv
import random
import shutil

import pytest
from scipy.stats import pearsonr, spearmanr

from scoring.presence.corpora import detokenised, read_corpus, read_shares, without_tags
from scoring.presence.figures import Judged, figures_of, level_figures
from scoring.presence.head import folds_of
from scoring.presence.measuring import (
    accuracy,
    calibration_error,
    interval,
    matthews,
    pearson,
    spearman,
    summary_level,
    system_level,
)


def test_correlations_are_those_of_scipy():
    chance = random.Random(3)
    for _ in range(20):
        one = [chance.choice([0, 0.25, 0.5, 1]) for _ in range(12)]
        other = [value + chance.random() for value in one]
        assert pearson(one, other) == pytest.approx(pearsonr(one, other).statistic)
        assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert pearson([1, 1, 1], [1, 2, 3]) == spearman([1, 2, 3], [2, 2, 2]) == 0


def test_a_document_that_does_not_vary_gets_a_nudge_on_its_first_system_is_counted_and_can_be_skipped():
    human, metric = [[0.5, 0.5, 0.5], [0.0, 0.5, 1.0]], [[0.9, 0.1, 0.1], [0.1, 0.2, 0.3]]
    found = summary_level(human, metric, pearson)
    assert found.values == (pytest.approx(1.0, abs=1e-4), pytest.approx(1.0))
    assert found.constant == {0}
    turned = summary_level([[0.5, 0.5, 0.5], human[1]], [[0.1, 0.9, 0.9], metric[1]], pearson)
    assert turned.mean == pytest.approx(0.0, abs=1e-4)
    assert turned.mean_skipping == pytest.approx(1.0)
    both = summary_level([[0.5, 0.5]], [[0.1, 0.1]], pearson)
    assert (both.constant, both.mean_skipping) == ({0}, 0.0)


def test_system_level_is_over_the_means_of_all_documents():
    human, metric = [[0.0, 1.0, 0.2], [0.4, 0.0, 0.2]], [[0.0, 3.0, 1.0], [1.0, 0.0, 1.0]]
    assert system_level(human, metric, pearson) == pytest.approx(pearson([0.2, 0.5, 0.2], [0.5, 1.5, 1.0]))


def test_accuracy_takes_the_threshold_as_present():
    assert accuracy([0.5, 0.4999, 0.9, 0.1], [1, 0, 0, 0]) == 0.75
    assert matthews([0.9, 0.9, 0.1], [1, 1, 0]) == pytest.approx(1)
    assert matthews([0.1, 0.1], [1, 0]) == 0


def test_calibration_error():
    assert calibration_error([0.75] * 4, [1, 1, 1, 0]) == pytest.approx(0)
    assert calibration_error([1.0, 1.0, 0.0, 0.0], [0, 0, 0, 0]) == pytest.approx(0.5)
    assert calibration_error([], []) == 0


def test_an_interval_holds_the_middle_of_resampled_documents():
    values = [number / 100 for number in range(100)]
    low, high = interval(100, lambda drawn: sum(values[place] for place in drawn) / len(drawn))
    assert 0.40 < low < 0.495 < high < 0.59


def test_pairs_of_one_example_are_never_parted():
    groups = [f"e{number // 4}" for number in range(40)]
    folds = folds_of(groups, 5)
    assert sorted(set(folds)) == [0, 1, 2, 3, 4]
    assert all(len({folds[4 * number + step] for step in range(4)}) == 1 for number in range(10))
    assert folds_of(groups[::-1], 5) == folds[::-1]


def test_a_corpus_is_read_with_its_systems_in_the_order_of_their_names(mini):
    for name in ("by_examples", "by_systems"):  # of fewer folds than five
        shutil.rmtree(mini / name, ignore_errors=True)
    corpus = read_corpus(mini)
    assert (corpus.folds, corpus.system_folds) == ([0, 1, 3], None)
    assert corpus.systems == sorted(corpus.systems)
    pairs = corpus.pairs(corpus.scus)
    assert len(pairs) == len(corpus.flat_labels) == len(corpus.documents_of(corpus.scus))
    place = len(corpus.scus[0])  # the first pair of the second system
    assert (pairs[place].summary, pairs[place].unit) == (corpus.summaries[0][1], corpus.scus[0][0])
    assert corpus.human[0][1] == pytest.approx(sum(corpus.labels[0][1]) / place)
    judged = Judged(corpus, corpus.scus, [float(label) for label in corpus.flat_labels])
    assert judged.scores == corpus.human
    figures = {key: value for key, value, _ in figures_of("x", "", "who", judged)}
    assert figures["x.accuracy"] == figures["x.accuracy_low"] == 1
    assert figures["x.ece"] == 0


def test_shares_of_votes_are_found_by_their_texts(mini, tmp_path):
    for name in ("by_examples", "by_systems"):
        shutil.rmtree(mini / name, ignore_errors=True)
    corpus = read_corpus(mini)
    assert read_shares(tmp_path / "none", corpus) is None
    (tmp_path / "SCU_rating_results_abs_systems").mkdir()
    names = [f"Input.statement_{number}" for number in range(1, 17)] + [
        f"Answer.S{number}Answer" for number in range(1, 17)
    ]
    with (tmp_path / "SCU_rating_results_abs_systems" / "a.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, ["Input.summary_text", *names])
        rows.writeheader()
        for answer in ("p", "n", "p"):
            row = dict.fromkeys(names, "BLANK") | {"Input.summary_text": f"{corpus.summaries[0][0]} "}
            rows.writerow(row | {"Input.statement_1": corpus.scus[0][0], "Answer.S1Answer": answer})
    found = read_shares(tmp_path, corpus)
    assert found[0] == pytest.approx(2 / 3)
    assert found[1:] == corpus.flat_labels[1:]


def test_a_folder_without_summaries_is_told(tmp_path):
    for name in ("ids.txt", "references.txt", "SCUs.txt", "STUs.txt"):
        (tmp_path / name).write_text("a\n")
    with pytest.raises(FileNotFoundError, match="no summaries"):
        read_corpus(tmp_path)


def test_levels_of_several_sets_of_systems_are_their_mean():
    one, other = ([[0.0, 1.0]], [[0.0, 1.0]]), ([[0.0, 1.0]], [[1.0, 0.0]])
    figures = {key: value for key, value, _ in level_figures("x", "_s", "who", [one, other])}
    assert figures["x.summary_pearson_s"] == figures["x.system_pearson_s"] == pytest.approx(0)
    assert figures["x.constant_documents_s"] == 0


def test_tags_go_and_tokens_close_up():
    assert without_tags("<t> It snowed . </t> <t> A lot . </t>") == "It snowed . A lot ."
    assert detokenised("It wo n't end 6 - 1 , he said .") == "It won't end 6-1, he said."
