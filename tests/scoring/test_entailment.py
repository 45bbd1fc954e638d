"""Readings of logits, and label maps."""

from __future__ import annotations

import pytest

from scoring.entailment import Labels, read_labels, read_logits
from scoring.judging import UnknownJudge

ORDERED = Labels(entailment=0, neutral=1, contradiction=2)
# Computed by hand from the formulas of Zhang and Bansal's code: logits of two classes are added.
VECTORS = [
    ((2.0, -1.0, -0.5), 0.8834920740271945, 1, 0.9706877692486436, 1),
    ((0.5, 0.2, 0.2), 0.4029599111828766, 1, 0.5249791874789399, 1),
    ((0.3, -1.0, 0.6), 0.3813314461115678, 0, 0.6681877721681662, 1),
    ((-2.0, 1.5, 0.1), 0.02365093758808076, 0, 0.02659699357686585, 0),
    ((0.0, 0.0, 0.0), 0.3333333333333333, 1, 0.5, 1),
    ((1.0, 3.0, -4.0), 0.11910725710152431, 0, 0.8807970779778823, 1),
]


@pytest.mark.parametrize(("logits", "p3c", "l3c", "p2c", "l2c"), VECTORS)
def test_readings(logits, p3c, l3c, p2c, l2c):
    verdict = read_logits(logits, ORDERED)
    assert (verdict.p3c, verdict.p2c) == (pytest.approx(p3c, abs=1e-7), pytest.approx(p2c, abs=1e-7))
    assert (verdict.l3c, verdict.l2c) == (l3c, l2c)
    assert verdict.p == verdict.p3c


def test_the_place_of_entailment_comes_from_the_labels():
    assert read_logits((-4.0, 3.0, 1.0), Labels(2, 1, 0)) == read_logits((1.0, 3.0, -4.0), ORDERED)


def test_huge_logits_do_not_overflow():
    assert read_logits((1e4, -1e4, 0), ORDERED).p3c == 1.0
    assert read_logits((-1e4, 1e4, 0), ORDERED).p2c == 0.0


def test_two_outputs_have_two_readings():
    verdict = read_logits((1.0, 0.0), Labels(0, 1))
    assert (verdict.p3c, verdict.l3c, verdict.l2c) == (None, None, 1)
    assert verdict.p == verdict.p2c == pytest.approx(0.7310586, abs=1e-7)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ({0: "entailment", 1: "neutral", 2: "contradiction"}, Labels(0, 1, 2)),
        ({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, Labels(2, 1, 0)),
        ({0: "not_entailment", 1: "entailment"}, Labels(1, 0)),
    ],
)
def test_label_maps(names, labels):
    assert read_labels(names, "m") == labels


@pytest.mark.parametrize(
    "names",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "neutral"},
        {0: "entailment", 1: "entailment", 2: "contradiction"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
        {0: "positive", 1: "negative"},
        {},
    ],
)
def test_an_unclear_map_is_refused_with_the_way_out(names):
    with pytest.raises(UnknownJudge, match=r"m#entailment\.neutral\.contradiction"):
        read_labels(names, "m")
