"""The embedded judge's parts: one spelling, numbers by value, features, and a head that learns from them."""

from __future__ import annotations

import math
import random

import numpy
import pytest

from annotation.encoder import load_encoder
from annotation.spacy_parser import load_parser
from scoring.judging import Pair
from scoring.presence.features import NAMES, measure_pair
from scoring.presence.head import (
    Calibration,
    UnknownHead,
    calibrate,
    fit,
    load_head,
    matrix,
    train_head,
    unit_digest,
)
from scoring.presence.measuring_pairs import PAIRS_PER_CHUNK, chunks_of
from scoring.presence.normalising import normalise
from scoring.presence.numbers import are_near, numbers_of
from scoring.presence.sides import summary_side, unit_side
from scoring.presence.texts import LAYERS, Text, make_ready
from scoring.presence.wording import longest_sequence


def ready(text: str) -> Text:
    return make_ready(text, load_parser(), load_encoder(LAYERS))


def features(summary: str, unit: str) -> dict[str, float]:
    return measure_pair(summary_side(ready(summary)), unit_side(ready(unit)))


def words_of(text: str) -> dict[str, object]:
    return {word.low: word for word in ready(text).words}


# --- one spelling --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokenised", "written"),
    [
        ("They won 6 - 1 , he said .", "They won 6-1, he said."),
        ("It wo n't close .", "It won't close."),
        ("The town 's mayor has £ 3 million .", "The town's mayor has £3 million."),
        ("He said `` no '' .", 'He said "no".'),
        ("The players ' wives said : ' We won . '", "The players' wives said: 'We won.'"),
        ("<t> Snow fell . </t>", "Snow fell."),
        ("Snow – and ice – fell…", "Snow – and ice – fell…"),
        ("A 16 - year - old boy", "A 16-year-old boy"),
    ],
)
def test_tokenised_and_written_text_have_one_spelling(tokenised, written):
    assert normalise(tokenised) == normalise(written)
    assert normalise(normalise(written)) == normalise(written)


def test_unknown_words_and_odd_quotes_go():
    assert normalise("the ☐ won [UNK] “gold”") == "The won gold"
    assert normalise("O'Neill isn't here, 'he' said") == "O'Neill isn't here, he said"
    assert normalise("") == normalise(" \n ") == ""


def test_text_in_lower_case_gets_its_sentences_back():
    assert normalise("the mill closed . it was old .") == "The mill closed. It was old."
    assert normalise("The mill closed. it was old.") == "The mill closed. it was old."  # somebody's own spelling


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "following", "values"),
    [
        ("six", "", (6,)), ("6", "", (6,)), ("3,400", "", (3400,)), ("£3.4m", "", (3.4e6,)), ("3.4", "million", (3.4e6,)),
        ("16-year-old", "", (16,)), ("third", "", (3,)), ("6-1", "", (6, 1)), ("two", "hundred", (200,)),
        ("seventy", "", (70,)), ("snow", "", ()), ("", "", ()), ("twice", "", (2,)), ("5th", "", (5,)),
    ],
)  # fmt: skip
def test_numbers_have_values(text, following, values):
    assert numbers_of(text, following) == pytest.approx(values)


def test_numbers_may_be_rounded_but_small_ones_not():
    assert are_near(9400, 9000)
    assert not are_near(9400, 8000)
    assert not are_near(6, 7)
    assert are_near(6, 6)


# --- features ------------------------------------------------------------------------------------------------------


def test_every_pair_has_every_feature_under_its_name():
    found = features("Nora Fisk won the race in Oslo. It snowed.", "Nora Fisk won a race.")
    assert set(found) == set(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_a_unit_that_is_told_has_partners_everywhere():
    told = features("It snowed. Nora Fisk won the race in Oslo on Friday.", "Nora Fisk won the race.")
    other = features("It snowed. The mill was closed by its owners.", "Nora Fisk won the race.")
    for name in ("content 0", "sentence 3", "window 6", "clause 6", "event 6", "dependent 6", "words shared", "a name"):
        assert told[name] > other[name] + 0.1, name
    assert told["content 0"] == pytest.approx(1, abs=0.1)
    assert (told["names missed"], other["names missed"]) == (0, 2)
    assert told["words missed"] == 0


def test_words_in_one_sentence_count_for_more_than_words_apart():
    together = features("Nora Fisk won the race. Anna Berg closed the mill.", "Nora Fisk won the race.")
    apart = features("Nora Fisk closed the mill. Anna Berg won the race.", "Nora Fisk won the race.")
    assert apart["weight shared"] == together["weight shared"]
    assert apart["weight shared in a sentence"] < together["weight shared in a sentence"]
    assert apart["event 3"] < together["event 3"]


def test_numbers_are_compared_by_value():
    assert features("Six people died.", "6 people died.")["numbers shared"] == 1
    assert features("Seven people died.", "6 people died.")["numbers near"] == 0
    assert features("About 9,400 came.", "9,000 people came.")["numbers near"] == 1
    assert math.isnan(features("Many came.", "People came.")["numbers near"])


def test_a_no_on_one_side_is_noticed():
    assert features("The mill did not close.", "The mill closed.")["negated on one side"] == 1
    assert features("The mill did not close.", "The mill didn't close.")["negated on one side"] == 0
    assert features("The mill closed.", "The mill never closed.")["negated"] == 1


def test_tokenised_text_has_the_same_features():
    one = features("They lost 6 - 1 . It 's over , he said .", "They lost 6 - 1 .")
    other = features("They lost 6-1. It's over, he said.", "They lost 6-1.")
    assert one == pytest.approx(other, nan_ok=True, abs=1e-6)


def test_rare_words_weigh_more():
    words = words_of("The Lenn Rivers Trust said the otters swam.")
    assert words["the"].weight < words["said"].weight < words["otters"].weight <= 1


@pytest.mark.parametrize(
    "text", ["!", "🙂 ok", "word", "a " * 700, "Ünïcödé naïve café", "(((((", "1 2 3", "https://a.b/c?d=e"]
)
def test_odd_text_has_features_or_no_words(text):
    side = ready(text)
    if not side.words:
        return
    for found in (features(text, "Snow fell."), features("Snow fell.", text)):
        assert all(math.isnan(value) or abs(value) < 1e5 for value in found.values())


def test_the_longest_common_sequence():
    assert longest_sequence(["a", "b", "c", "d"], ["x", "b", "d", "a"]) == 2
    assert longest_sequence([], ["a"]) == 0


def test_pairs_with_texts_in_common_stay_together():
    pairs = [Pair(f"s{number % 7}", f"u{number % 50}") for number in range(350)]
    chunks = list(chunks_of(pairs))
    assert sorted(place for chunk in chunks for place, _ in chunk) == list(range(350))
    assert all(len(chunk) <= PAIRS_PER_CHUNK for chunk in chunks)
    for summary in {pair.summary for pair in pairs}:
        assert sum(any(pair.summary == summary for _, pair in chunk) for chunk in chunks) == 1
    assert list(chunks_of([])) == []


# --- the head ------------------------------------------------------------------------------------------------------


def invented(count: int = 600) -> tuple[numpy.ndarray, list[int], list[str]]:
    chance = random.Random(1)
    rows = numpy.array([[round(chance.random(), 3) for _ in NAMES] for _ in range(count)], dtype=numpy.float32)
    labels = [int(row[0] + 0.2 * chance.random() > 0.6) for row in rows]
    return rows, labels, [f"e{number // 20}" for number in range(count)]


def test_a_head_learns_is_written_and_read(tmp_path):
    rows, labels, groups = invented()
    head = train_head(rows, labels, groups, pairs=[Pair("It snowed.", "Snow fell.")], trained_on="X")
    found = head.predict(rows)
    assert numpy.mean([(value > 0.5) == bool(label) for value, label in zip(found, labels, strict=True)]) > 0.9
    assert all(0 < value < 1 for value in found)
    head.write_to(tmp_path / "h.json")
    again = load_head(tmp_path / "h.json")
    assert again.predict(rows) == found
    assert (again.signature, again.trained_on, again.digest()) == (head.signature, "X", head.digest())
    assert again.has_seen("snow FELL")
    assert not again.has_seen("Snow fell twice.")
    assert again.seen == {unit_digest("Snow fell")}
    assert head.predict(rows[:0]) == []
    assert head.predict(numpy.full((1, len(NAMES)), numpy.nan)) == [0.0]  # a side without words


def test_the_same_rows_give_the_same_signature_and_trees_and_others_others():
    rows, labels, groups = invented(200)
    first, second = train_head(rows, labels, groups), train_head(rows, labels, groups)
    assert (first.signature, first.digest()) == (second.signature, second.digest())
    assert train_head(rows, [1 - labels[0], *labels[1:]], groups).signature != first.signature
    assert train_head(rows, labels, groups, pairs=[Pair("a", "b")] * 200).signature != first.signature
    assert train_head(rows, labels, groups, shares=[0.5, *labels[1:]]).signature != first.signature
    with pytest.raises(ValueError, match="no judged pair"):
        train_head(rows[:0], [], [])


def test_one_example_alone_is_not_calibrated():
    rows, labels, _ = invented(100)
    assert train_head(rows, labels, ["a"] * 100).calibration == Calibration()


def test_the_number_of_threads_changes_nothing():
    rows, labels, _ = invented(400)
    booster = fit(rows, labels)
    values = []
    for threads in (1, 2):
        booster.set_param({"nthread": threads})
        values.append(booster.predict(matrix(rows)).tolist())
    assert values[0] == values[1]


def test_calibration_pulls_overconfident_trees_back():
    chance = numpy.random.default_rng(0)
    truth = chance.normal(size=4000)
    labels = (chance.random(4000) < 1 / (1 + numpy.exp(-truth))).astype(float)
    found = calibrate(3 * truth + 1, labels)
    assert found.slope == pytest.approx(1 / 3, abs=0.05)
    assert found.offset == pytest.approx(-1 / 3, abs=0.08)
    assert calibrate(numpy.zeros(10), numpy.ones(10)).slope > 0
    assert calibrate(-truth, labels) == Calibration()  # trees that point the wrong way are not turned round


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": 1, "version": 1, "features": []}', '{"format": 9}', "\x00"]
)
def test_a_file_that_is_no_head_is_refused(tmp_path, content):
    (tmp_path / "h.json").write_text(content)
    with pytest.raises(UnknownHead, match="train_judge"):
        load_head(tmp_path / "h.json")
    with pytest.raises(UnknownHead, match="PYRAMID_JUDGE_HEAD"):
        load_head(tmp_path / "none.json")
