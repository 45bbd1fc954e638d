"""The embedded ranker: features, training, explanations, and what ships."""

from __future__ import annotations

import json
import random

import pytest

from annotation.decomposing.texts import decompose_texts
from annotation.easiness_benchmark import (
    interval,
    mean_error,
    out_of_fold,
    predict_mean,
    predict_ranker,
    published_split,
    rank_correlation,
    read_references,
    seeded_split,
)  # fmt: skip
from annotation.ranking.features import EITHER, FEATURES, NAMES
from annotation.ranking.regressor import SHIPPED, UnknownRanker, load_ranker, reason_words, train_ranker
from annotation.ranking.rows import TrainingRow, gold_easiness, sentence_digest, training_rows
from annotation.spacy_parser import load_parser

PROBE = [(row["features"], row["easiness"]) for row in json.loads((SHIPPED.parent / "probe.json").read_text())]


def features_of(text: str) -> list[dict[str, float]]:
    (found,) = decompose_texts([text], load_parser(), measured=True)
    return [dict(zip(NAMES, sentence.features, strict=True)) for sentence in found]


def invented_rows(count: int = 80) -> list[TrainingRow]:
    chance = random.Random(1)
    rows = []
    for number in range(count):
        features = [chance.random() for _ in FEATURES]
        easiness = 0.3 + 0.4 * features[0]  # entity coverage
        rows.append(TrainingRow(f"e{number // 2}", f"s{number}", tuple(features), (0.0,) * 69, easiness))
    return rows


def test_every_feature_has_a_name_a_direction_and_words():
    assert len(set(NAMES)) == len(FEATURES)
    assert all(feature.direction in (-1, 0, 1) and feature.much and feature.little for feature in FEATURES)


def test_features_of_a_sentence_that_units_tell_whole():
    (features,) = features_of("Nora Fisk won the race in Oslo on Friday.")
    assert (features["words"], features["units"], features["entity coverage"]) == (9, 5, 1.0)
    assert (features["content left"], features["names left"], features["has a subject"]) == (0, 0, 1)
    assert features["named subjects"] == pytest.approx(0.8)  # "The race was in Oslo" names nobody
    assert (features["first sentence"], features["shared words"], features["told elsewhere"]) == (1, 0, 0)


def test_features_of_a_sentence_that_units_miss():
    first, second = features_of("Nora Fisk won the race. Cheaper than Italy, Spain and Turkey.")
    assert second["entity coverage"] == pytest.approx(1.0)
    assert second["units"] == 1
    assert (second["has a subject"], second["first sentence"]) == (0, 0)
    assert first["bare nouns"] == 0


@pytest.mark.parametrize("text", ["", "!!!", "🙂", "Word", "Der Hund ist heute sehr müde und schläft."])
def test_odd_text_has_features_or_no_sentence(text):
    for features in features_of(text):
        assert all(value == value and abs(value) < 1e6 for value in features.values())


def test_gold_easiness_is_the_mean_of_the_best():
    assert gold_easiness(["a b", "c d"], ["a b", "c x"]) == pytest.approx((1 + 0.5) / 2)
    assert gold_easiness(["a"], []) == 0


def test_rows_leave_out_sentences_without_scus():
    text = "Nora Fisk won the race. The mill closed on Friday."
    split = (text, [(0, 23), (24, len(text))])
    (row,) = training_rows([("a", split, ["The mill closed."])], load_parser())
    assert (row.group, row.text, row.easiness) == ("a", "The mill closed on Friday.", pytest.approx(0.75))
    assert len(row.projected) == 69
    assert row.digest == sentence_digest("the mill closed  on Friday .")


def test_a_ranker_learns_and_names_what_moved_it(tmp_path):
    rows = invented_rows()
    ranker = train_ranker(
        [row.features for row in rows],
        [row.easiness for row in rows],
        seen=[row.digest for row in rows],
        trained_on="X",
    )
    easy, hard = [1.0] + [0.5] * (len(FEATURES) - 1), [0.0] + [0.5] * (len(FEATURES) - 1)
    easiness = ranker.predict([easy, hard])
    assert easiness[0] > easiness[1] + 0.2
    (first, *_), (second, *_) = ranker.explain([easy, hard])
    assert (first.feature, first.effect > 0, second.feature, second.effect < 0) == (NAMES[0], True, NAMES[0], True)
    assert reason_words(first.as_dict()) == ("the units tell its names, dates and numbers", True)
    assert reason_words(second.as_dict()) == ("names, dates or numbers are in no unit", False)
    assert reason_words({"feature": "bare nouns", "effect": 0.1, "value": 0}) == ("few nouns without an article", True)
    assert reason_words({"feature": "of old", "effect": 0.1, "value": 0}) == ("of old", True)
    ranker.write_to(tmp_path / "r.json")
    again = load_ranker(tmp_path / "r.json")
    assert again.predict([easy, hard]) == pytest.approx(easiness)
    assert (again.signature, again.trained_on, rows[0].digest in again.seen) == (ranker.signature, "X", True)
    assert ranker.predict([]) == ranker.explain([]) == []


def test_the_same_rows_give_the_same_signature_and_others_another():
    rows = invented_rows()
    train = [row.features for row in rows], [row.easiness for row in rows]
    assert train_ranker(*train).signature == train_ranker(*train).signature
    assert train_ranker(train[0], [0.5, *train[1][1:]]).signature != train_ranker(*train).signature
    with pytest.raises(ValueError, match="no sentence"):
        train_ranker([], [])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1, "features": []}', '{"format": 2}'])
def test_a_file_that_is_no_ranker_is_refused(tmp_path, content):
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(UnknownRanker, match="train_ranker"):
        load_ranker(tmp_path / "r.json")
    with pytest.raises(UnknownRanker):
        load_ranker(tmp_path / "none.json")


# --- what ships ----------------------------------------------------------------------------------------------------


def test_the_shipped_ranker_predicts_as_when_it_was_trained():
    ranker = load_ranker()
    assert ranker.trained_on == "REALSumm"
    found = ranker.predict([features for features, _ in PROBE])
    assert found == pytest.approx([easiness for _, easiness in PROBE], abs=0.01)
    assert max(found) - min(found) > 0.1


def test_the_shipped_ranker_keeps_to_the_directions():
    ranker = load_ranker()
    for place, feature in enumerate(FEATURES):
        if feature.direction == EITHER:
            continue
        for features, _ in PROBE:
            rows = [[*features[:place], features[place] + step, *features[place + 1 :]] for step in (0, 0.1, 0.5, 1, 3)]
            found = ranker.predict(rows)
            assert sorted(found, reverse=feature.direction < 0) == pytest.approx(found, abs=1e-6), feature.name


@pytest.mark.data
def test_the_shipped_ranker_can_be_trained_again(data):
    rows = list(training_rows(read_references(data / "lite2-3pyramid/REALSumm"), load_parser()))
    again = train_ranker([row.features for row in rows], [row.easiness for row in rows])
    shipped = load_ranker()
    assert again.signature == shipped.signature
    assert {row.digest for row in rows} == shipped.seen
    assert again.predict([features for features, _ in PROBE]) == pytest.approx([e for _, e in PROBE], abs=0.01)


# --- how it is measured --------------------------------------------------------------------------------------------


def test_sentences_of_one_example_are_never_parted(tmp_path):
    rows = invented_rows()
    split = seeded_split(rows, 3)
    assert sorted(set(split)) == [0, 1, 2, 3, 4]
    assert all(split[place] == split[place + 1] for place in range(0, len(rows), 2))
    assert seeded_split(rows, 3) == split != seeded_split(rows, 4)
    (tmp_path / "ids.txt").write_text("\n".join(f"e{number}" for number in range(40)) + "\n")
    assert published_split(tmp_path, rows) == [number // 16 for number in range(80)]


def test_a_prediction_never_comes_from_its_own_fold():
    rows = invented_rows(20)
    asked = []

    def predict(inside, outside):
        asked.append(({row.group for row in inside}, {row.group for row in outside}))
        return [0.0] * len(outside)

    out_of_fold(rows, seeded_split(rows, 0), predict)
    assert len(asked) == 5
    assert all(not inside & outside for inside, outside in asked)


def test_the_measures():
    rows = invented_rows()
    gold = [row.easiness for row in rows]
    assert rank_correlation(gold, gold) == pytest.approx(1)
    assert rank_correlation([1.0] * len(gold), gold) == 0
    assert mean_error([0.0, 1.0], [0.5, 0.5]) == 0.5
    found = out_of_fold(rows, seeded_split(rows, 0), predict_ranker)
    assert rank_correlation(found, gold) > 0.8
    assert mean_error(found, gold) < mean_error(out_of_fold(rows, seeded_split(rows, 0), predict_mean), gold)
    low, high = interval(rows, lambda drawn: mean_error([found[n] for n in drawn], [gold[n] for n in drawn]))
    assert low < mean_error(found, gold) < high
