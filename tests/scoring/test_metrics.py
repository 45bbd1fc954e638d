"""Scores from presence."""

import pytest

from scoring.metrics import score_example, score_system


@pytest.mark.parametrize(
    ("presences", "weights", "score"),
    [
        ([], [], None),
        ([1, 0], [1, 1], 0.5),
        ([1, 0, 1], [3, 2, 1], 4 / 6),
        ([0.25], [4], 0.25),
        ([True, False], [1, 3], 0.25),
        ([0, 0], [1, 1], 0.0),
    ],
)
def test_weight_found_over_weight_of_all(presences, weights, score):
    assert score_example(presences, weights) == score


def test_unequal_lengths_are_an_error():
    with pytest.raises(ValueError, match="zip"):
        score_example([1], [1, 1])


def test_what_was_not_measured_takes_no_part():
    assert score_system([0.5, None, 1.0]) == 0.75
    assert score_system([None]) is None
    assert score_system([]) is None
