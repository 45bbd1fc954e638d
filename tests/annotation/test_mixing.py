"""Which sentences get STUs, and what an example is then made of."""

from __future__ import annotations

from fractions import Fraction

import pytest

from annotation.mixing import RatedSentence, SentenceUnits, Weighted, choose_easy, mix_units
from scoring.metric_names import UnknownMetric, parse_metric

HUNDRED = [RatedSentence(number, (number * 37 % 100) / 100) for number in range(100)]


@pytest.mark.parametrize(
    ("name", "share", "canonical"),
    [
        ("lite2", 0, "lite2"),
        ("lite2.0", 0, "lite2"),
        ("lite2.3", Fraction(3, 10), "lite2.3"),
        ("Lite2.30", Fraction(3, 10), "lite2.3"),
        ("lite2.38", Fraction(38, 100), "lite2.38"),
        ("lite2.05", Fraction(5, 100), "lite2.05"),
        ("lite3", 1, "lite3"),
        ("lite3.0", 1, "lite3"),
    ],
)
def test_the_digits_of_a_name_are_the_share(name, share, canonical):
    metric = parse_metric(name)
    assert (metric.share, metric.name) == (share, canonical)


def test_other_metrics_have_names_too():
    assert parse_metric("litepyramid").name == "litepyramid-32"
    assert parse_metric("litepyramid-8").sampled == 8
    assert parse_metric("pyramid-quality").pyramid == "quality"


@pytest.mark.parametrize("name", ["lite4", "lite2.", "lite", "", "litepyramid-0", "pyramid", "lite2.x"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownMetric, match="Known are lite2"):
        parse_metric(name)


@pytest.mark.parametrize("tenths", range(11))
def test_exactly_a_share_of_the_sentences_is_easy(tenths):
    easy = choose_easy(HUNDRED, Fraction(tenths, 10))
    assert len(easy) == 10 * tenths
    hardest_easy = min((s.easiness for s in HUNDRED if s.key in easy), default=1)
    assert all(s.easiness <= hardest_easy for s in HUNDRED if s.key not in easy)


@pytest.mark.parametrize(("tenths", "number"), [(3, 28), (4, 38), (5, 49), (8, 78), (9, 88), (0, 0)])
def test_the_rule_of_the_seed_says_29_for_lite23_and_takes_one_fewer(tenths, number):
    # int((2.3 - 2) * 100) is 29; then only sentences above the value at that rank: 49 of 100 for Lite2.5, as published.
    assert len(choose_easy(HUNDRED, Fraction(tenths, 10), rule="seed")) == number


def test_other_orders():
    hardest = choose_easy(HUNDRED, Fraction(1, 10), order="hardest")
    assert hardest == {sentence.key for sentence in HUNDRED if sentence.easiness < 0.1}
    one, other = (choose_easy(HUNDRED, Fraction(1, 2), order="random", seed=seed) for seed in (1, 2))
    assert len(one) == len(other) == 50
    assert one != other
    assert one == choose_easy(HUNDRED, Fraction(1, 2), order="random", seed=1)


def test_unknown_orders_and_rules_are_refused():
    with pytest.raises(ValueError, match="no order"):
        choose_easy(HUNDRED, Fraction(1, 2), order="best")
    with pytest.raises(ValueError, match="no rule"):
        choose_easy(HUNDRED, Fraction(1, 2), rule="paper")


def test_easy_sentences_give_stus_and_hard_ones_scus():
    sentences = [SentenceUnits(1, (11, 12), (21,)), SentenceUnits(2, (13,), (22, 23))]
    weights = {11: 9, 12: 1, 13: 1, 21: 1, 22: 2, 23: 1}
    assert mix_units(sentences, {1}, weights) == [Weighted(11, 1), Weighted(12, 1), Weighted(22, 2), Weighted(23, 1)]


def test_a_merged_scu_weighs_its_places_in_hard_sentences():
    # Unit 21 stands in three references; one of these sentences is easy.
    sentences = [SentenceUnits(key, (key + 10,), (21,)) for key in (1, 2, 3)]
    weights = {11: 1, 12: 1, 13: 1, 21: 3}
    assert mix_units(sentences, {2}, weights) == [Weighted(12, 1), Weighted(21, 2)]
    assert mix_units(sentences, {1, 2, 3}, weights) == [Weighted(11, 1), Weighted(12, 1), Weighted(13, 1)]


def test_a_hard_sentence_that_is_not_written_makes_the_example_null():
    sentences = [SentenceUnits(1, (11,), (21,)), SentenceUnits(2, (12,), (), is_written=False)]
    assert mix_units(sentences, {1}, {11: 1, 12: 1, 21: 1}) is None
    assert mix_units(sentences, {2}, {11: 1, 12: 1, 21: 1}) == [Weighted(12, 1), Weighted(21, 1)]
