"""Formulas, and what was decided where they do not apply."""

from __future__ import annotations

import math

import pytest

from scoring.metrics import (
    best_sum,
    count_tokens,
    harmonic_mean,
    length_factor,
    pyramid_coverage,
    pyramid_quality,
    sample_units,
    score_example,
    score_system,
)


def test_lite2_is_the_weight_found_over_all_weight():
    assert score_example([1, 0, 0.5], [3, 1, 2]) == pytest.approx(4 / 6)


def test_unequal_lengths_are_an_error():
    with pytest.raises(ValueError, match="zip"):
        score_example([1], [1, 1])


def test_with_weights_of_one_it_is_the_mean():
    assert score_example([0.2, 0.4, 0.9], [1, 1, 1]) == pytest.approx(0.5)


def test_an_example_without_units_is_not_measured():
    assert score_example([], []) is None


def test_a_unit_without_a_judgement_makes_the_example_not_measured():
    assert score_example([1, None], [1, 1]) is None


def test_an_empty_summary_scores_zero_and_is_measured():
    assert score_example([0, 0], [1, 2]) == 0


def test_a_system_is_the_mean_over_measured_examples():
    assert score_system([0.5, None, 1.0]) == 0.75
    assert score_system([None]) is None


@pytest.mark.parametrize(
    ("summary", "reference", "expected"),
    [(50, 100, 1.0), (100, 100, 1.0), (200, 100, math.exp(-0.5)), (300, 100, math.exp(-1)), (0, 10, 1.0)],
)
def test_length_takes_nothing_from_summaries_up_to_the_reference(summary, reference, expected):
    assert length_factor(summary, reference) == pytest.approx(expected)


def test_without_a_reference_text_length_says_nothing():
    assert length_factor(10, 0) is None


def test_tokens_are_words_and_marks():
    assert count_tokens("It's 3.5 °C, he said.") == 12


def test_quality_and_coverage_of_gao_et_al():
    # Gao et al. 2019, 4.6: a summary that found a weight of 16, of at most 23 for its size and of 53 for the mean size.
    weights = [5, 5, 5, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 1, 1]
    assert (best_sum(weights, 5), best_sum(weights, 14)) == (23, 53)
    quality, coverage = pyramid_quality(16, weights, 5), pyramid_coverage(16, weights, 14.4)
    assert quality == pytest.approx(16 / 23)
    assert coverage == pytest.approx(16 / 53)
    assert harmonic_mean(quality, coverage) == pytest.approx(0.4211, abs=5e-5)


def test_quality_is_not_defined_where_all_weights_are_equal():
    assert pyramid_quality(3, [2, 2, 2], 2) is None
    assert pyramid_quality(0, [1, 2], 0) is None
    assert harmonic_mean(None, 0.5) is None


def test_coverage_with_one_reference_is_the_share_of_its_units():
    assert pyramid_coverage(2, [1, 1, 1, 1], 4) == 0.5
    assert pyramid_coverage(0, [], 0) is None


def test_a_sample_depends_on_seed_and_example_alone():
    keys = [f"u{number}" for number in range(20)]
    drawn = sample_units(keys, 5, seed=1, example="a")
    assert drawn == sample_units(keys[::-1], 5, seed=1, example="a")
    assert len(set(drawn)) == 5
    assert set(drawn) <= set(keys)
    assert drawn != sample_units(keys, 5, seed=2, example="a")
    assert drawn != sample_units(keys, 5, seed=1, example="b")
    assert sample_units(keys[:3], 5, seed=1, example="a") == keys[:3]
