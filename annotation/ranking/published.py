"""The regressors that Zhang and Bansal published, for those who parse with AllenNLP: boosted trees over 69 features.

They are files of XGBoost 1.4, which newer versions will stop reading, so they are walked by hand: in single precision,
a value below the threshold goes left, and the leaves add up on the base score. It equals XGBoost bit for bit.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.ranking.constituency import NAMES


class UnknownRegressor(ValueError):
    """A file that is no regressor of the kind that was published."""


@dataclass(frozen=True, slots=True)
class Tree:
    left: tuple[int, ...]
    right: tuple[int, ...]
    feature: tuple[int, ...]
    value: tuple[float, ...]  # the threshold of a branch, the score of a leaf

    def score(self, features: Sequence[float]) -> float:
        node = 0
        while self.left[node] != -1:
            below = _single(features[self.feature[node]]) < self.value[node]
            node = self.left[node] if below else self.right[node]
        return self.value[node]


@dataclass(frozen=True, slots=True)
class PublishedRegressor:
    base: float
    trees: tuple[Tree, ...]

    def predict(self, features: Sequence[float]) -> float:
        """The easiness of a sentence with these 69 features."""
        if len(features) != len(NAMES):
            raise UnknownRegressor(f"{len(NAMES)} features are needed, {len(features)} were given.")
        total = self.base
        for tree in self.trees:
            total = _single(total + tree.score(features))
        return total


def load_published(path: Path) -> PublishedRegressor:
    """Read a file such as REALSumm/fold0_xgb.json of the authors' repository."""
    try:
        learner = json.loads(path.read_text(encoding="utf-8"))["learner"]
        parameters = learner["learner_model_param"]
        trees = learner["gradient_booster"]["model"]["trees"]
        if learner["objective"]["name"] != "reg:squarederror" or int(parameters["num_feature"]) != len(NAMES):
            raise UnknownRegressor(f"{path} is no regressor over {len(NAMES)} features.")
        return PublishedRegressor(_single(float(parameters["base_score"])), tuple(map(_tree, trees)))
    except OSError as error:
        raise UnknownRegressor(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UnknownRegressor(f"{path} is no regressor as Zhang and Bansal published them: {error}") from error


def _tree(fields: dict[str, Any]) -> Tree:
    return Tree(
        tuple(map(int, fields["left_children"])),
        tuple(map(int, fields["right_children"])),
        tuple(map(int, fields["split_indices"])),
        tuple(_single(float(value)) for value in fields["split_conditions"]),
    )


def _single(number: float) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0])
