"""Intervals, groups and letters."""

from __future__ import annotations

import random

import pytest

from scoring.resampling import (
    Interval,
    compare_systems,
    draws_for,
    holm,
    letter_groups,
    letter_of,
    plain_interval,
    student_p,
)


def scores_around(mean: float, examples: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [mean + chance.uniform(-0.2, 0.2) for _ in range(examples)]


def test_the_interval_is_that_of_the_mean():
    scores = scores_around(0.5, 400, 1)
    (interval,) = compare_systems([scores]).intervals
    mean = sum(scores) / len(scores)
    spread = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5 / len(scores) ** 0.5
    assert interval.low == pytest.approx(mean - 1.96 * spread, abs=0.0015)
    assert interval.high == pytest.approx(mean + 1.96 * spread, abs=0.0015)


def test_the_same_seed_gives_the_same_numbers():
    rows = [scores_around(0.5, 40, seed) for seed in range(3)]
    assert compare_systems(rows) == compare_systems(rows)
    assert compare_systems(rows).intervals != compare_systems(rows, seed=14).intervals


def test_systems_far_apart_get_letters_of_their_own_and_equal_ones_share():
    good, same, bad = scores_around(0.8, 100, 1), scores_around(0.8, 100, 2), scores_around(0.3, 100, 3)
    assert compare_systems([bad, good, same]).letters == ["b", "a", "a"]


def test_pairing_sees_a_small_difference_that_is_always_there():
    base = scores_around(0.5, 100, 1)
    better = [score + 0.01 for score in base]
    assert compare_systems([better, base]).letters == ["a", "b"]
    assert compare_systems([better, random.Random(0).sample(base, len(base))]).letters == ["a", "a"]


def test_equal_systems_are_never_told_apart():
    row = scores_around(0.5, 30, 1)
    assert compare_systems([row, row]).letters == ["a", "a"]


def test_too_few_examples_tell_nothing():
    assert compare_systems([]).letters == []
    alone = compare_systems([[0.5], [0.1]])
    assert (alone.intervals, alone.letters) == ([Interval(0, 1), Interval(0, 1)], ["a", "a"])
    three = compare_systems([[0.4, 0.5, 0.6]]).intervals[0]
    assert (three.low, three.high) == (pytest.approx(0.5 - 0.2484, abs=1e-4), pytest.approx(0.5 + 0.2484, abs=1e-4))
    assert plain_interval([]) is None
    gap = compare_systems([[0.9, 0.8, 0.7, 0.6], [0.1, 0.0, 0.0, 0.1]])
    assert gap.letters == ["a", "a"]
    better = [[0.9, 0.8, 0.7, 0.6, 0.9, 0.8], [0.1, 0.2, 0.1, 0.0, 0.1, 0.3]]
    assert compare_systems(better).letters == ["a", "b"]


@pytest.mark.parametrize("examples", [5, 8, 30])
def test_equal_systems_are_seldom_told_apart(examples):
    """One wrong claim among all pairs in at most about 5 % of corpora."""
    chance = random.Random(examples)
    wrong = 0
    for _ in range(60):
        rows = [[chance.betavariate(2, 3) for _ in range(examples)] for _ in range(5)]
        wrong += len(set(compare_systems(rows).letters)) > 1
    assert wrong <= 8  # 60 at 5 % give more than 8 less than once in a hundred times


def test_many_systems_get_enough_draws_for_holm_and_then_no_letters():
    assert draws_for(25, 100) == 10_000
    assert draws_for(40, 100) == 15_600
    assert (draws_for(61, 100), draws_for(2, 4), draws_for(2, 6000)) == (0, 0, 0)
    many = compare_systems([scores_around(0.5, 20, seed) for seed in range(61)])
    assert set(many.letters) == {""}
    assert all(interval is not None for interval in many.intervals)


def test_very_many_examples_are_compared_without_draws():
    base = scores_around(0.5, 6000, 1)
    better = [score + 0.01 for score in scores_around(0.5, 6000, 2)]
    assert compare_systems([base, base, better]).letters == ["b", "b", "a"]


def test_the_draws_can_be_interrupted():
    ticks = []
    compare_systems([scores_around(0.5, 4000, seed) for seed in (1, 2)], tick=lambda: ticks.append(1))
    assert len(ticks) > 3


def test_holm_stops_at_the_first_that_is_not_small_enough():
    # Of four: .05/4 = .0125, then .0167, then .025; what comes behind one that fails does not count.
    assert holm({(0, 1): 0.012, (0, 2): 0.026, (1, 2): 0.03, (0, 3): 0.016}) == {(0, 3), (0, 1)}
    assert holm({(0, 1): 0.03, (0, 2): 0.04}) == frozenset()


def test_letters_of_groups_that_overlap():
    # 0 differs from 2 and 3, 1 from 3: a = {0, 1}, b = {1, 2}, c = {2, 3}.
    groups = letter_groups([0, 1, 2, 3], frozenset({(0, 2), (0, 3), (1, 3)}))
    assert groups == {0: "a", 1: "a b", 2: "b c", 3: "c"}


def test_two_share_a_letter_if_and_only_if_they_do_not_differ():
    chance = random.Random(5)
    for _ in range(50):
        order = list(range(7))
        different = frozenset((i, j) for i in order for j in order if i < j and chance.random() < 0.4)
        groups = letter_groups(order, different)
        for i in order:
            for j in order[i + 1 :]:
                assert bool(set(groups[i].split()) & set(groups[j].split())) == ((i, j) not in different)


def test_letters_go_on_behind_z():
    assert [letter_of(number) for number in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]


@pytest.mark.parametrize(
    ("t", "freedom", "p"),  # from tables of Student's t
    [(12.706205, 1, 0.05), (4.302653, 2, 0.05), (2.570582, 5, 0.05), (3.707428, 6, 0.01), (2.262157, 9, 0.05)],
)
def test_students_t(t, freedom, p):
    assert student_p(t, freedom) == pytest.approx(p, abs=1e-6)


def test_far_systems_are_told_apart_on_few_examples():
    """Seven examples: what is half a point apart does not share a letter because draws of seven have little spread."""
    best = [0.70, 0.72, 0.69, 0.75, 0.71, 0.74, 0.73]
    middle = [0.55, 0.60, 0.58, 0.61, 0.57, 0.62, 0.59]
    worst = [0.25, 0.10, 0.22, 0.28, 0.15, 0.30, 0.20]
    assert compare_systems([best, middle, worst]).letters == ["a", "b", "c"]
