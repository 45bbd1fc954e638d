"""The paper's 69 features and its published regressors, against figures made with the authors' own code."""

from __future__ import annotations

import hashlib
import json

import pytest

from annotation.parses import Parse
from annotation.ranking.constituency import LABELS, NAMES, tree_features
from annotation.ranking.projecting import project_tree
from annotation.ranking.published import UnknownRegressor, load_published
from annotation.spacy_parser import load_parser

TREE = "(S (NP (NNP Anuradha) (NNP Koirala)) (VP (VBZ has) (VP (VBN been) (VP (VBG sleeping) (ADVP (RB outdoors))))) (. .))"
WORDS = ["Anuradha", "Koirala", "has", "been", "sleeping", "outdoors", "."]
# Predictions for all zeros, all ones, and (20, 200, 10, 2, zeros); SHA-256 of the file.
PUBLISHED = {
    "REALSumm/fold0_xgb.json": (0.5737584233283997, 0.5475192070007324, 0.5720013976097107, "467d6471"),
    "REALSumm/fold1_xgb.json": (0.740938663482666, 0.5976014137268066, 0.5188596844673157, "d7cc1971"),
    "REALSumm/fold2_xgb.json": (0.5923354029655457, 0.6202509999275208, 0.5859201550483704, "ee70663d"),
    "REALSumm/fold3_xgb.json": (0.6198933720588684, 0.5663195848464966, 0.5973566770553589, "eb5d8c41"),
    "REALSumm/fold4_xgb.json": (0.6003662347793579, 0.6529404520988464, 0.5764212012290955, "7975a412"),
    "TAC08/all_xgb.json": (0.6956990361213684, 0.4884187579154968, 0.5157657265663147, "845623ae"),
}


def test_the_features_of_the_worked_example():
    features = dict(zip(NAMES, tree_features(WORDS, TREE), strict=True))
    assert len(NAMES) == 69
    assert len(set(LABELS)) == 65
    assert (features["words"], features["tree length"], features["depth"]) == (7, 115, 6)
    assert features["words per level"] == pytest.approx(7 / 6)
    counted = {name: number for name, number in features.items() if name in LABELS and number}
    assert counted == {"ADVP": 1, "VBG": 1, "VBZ": 1, "NP": 1, ".": 1, "VP": 3, "S": 1, "RB": 1, "VBN": 1, "NNP": 2}


def test_no_tree_has_no_depth():
    assert tree_features([], "") == [0.0] * 69


@pytest.mark.data
def test_the_published_regressors_predict_exactly(data):
    folder = data / "lite2-3pyramid/regressors"
    for name, (zeros, ones, long, digest) in PUBLISHED.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest().startswith(digest)
        regressor = load_published(folder / name)
        found = [regressor.predict(row) for row in ([0.0] * 69, [1.0] * 69, [20.0, 200.0, 10.0, 2.0] + [0.0] * 65)]
        assert found == [zeros, ones, long], name
    regressor = load_published(folder / "TAC08/all_xgb.json")
    assert regressor.predict(tree_features(WORDS, TREE)) == 0.7267184853553772


def write_regressor(path, **changes):
    tree = {
        "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [0, 0, 0],
        "split_conditions": [5.0, 0.25, -0.125],
    }  # fmt: skip
    learner = {
        "learner_model_param": {"base_score": "5E-1", "num_feature": "69"},
        "objective": {"name": "reg:squarederror"},
        "gradient_booster": {"model": {"trees": [tree, tree]}},
    }
    path.write_text(json.dumps({"learner": {**learner, **changes}}))


def test_a_regressor_is_walked_by_its_thresholds(tmp_path):
    write_regressor(tmp_path / "r.json")
    regressor = load_published(tmp_path / "r.json")
    assert regressor.predict([4.0] + [0.0] * 68) == 1.0
    assert regressor.predict([5.0] + [0.0] * 68) == 0.25  # not below the threshold
    with pytest.raises(UnknownRegressor, match="69 features"):
        regressor.predict([1.0])


@pytest.mark.parametrize(
    "changes", [{"objective": {"name": "rank:ndcg"}}, {"gradient_booster": {}}, {"learner_model_param": {}}]
)
def test_another_file_is_refused(tmp_path, changes):
    write_regressor(tmp_path / "r.json", **changes)
    with pytest.raises(UnknownRegressor):
        load_published(tmp_path / "r.json")
    (tmp_path / "r.json").write_text("[]")
    with pytest.raises(UnknownRegressor):
        load_published(tmp_path / "r.json")


def test_a_tree_is_projected_from_a_parse():
    (parse,) = load_parser().parse(["Nora Fisk won the race (again)."])
    assert project_tree(parse) == (
        "(S (NP (NNP Nora) (NNP Fisk)) (VBD won) (NP (DT the) (NN race)) (-LRB- -LRB-) (RB again) (-RRB- -RRB-) (. .))"
    )
    assert project_tree(Parse("", ())) == ""
