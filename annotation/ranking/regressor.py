"""The regressor of easiness: the one module that knows XGBoost.

Boosted trees that may only go up with what makes a sentence easier and down with what makes it harder. Several trees a
round, each on a part of the sentences and of the features, keep a few hundred sentences from being learnt by heart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotation.decomposing.units import FLAGS
from annotation.model_files import read_booster, refusing, write_model
from annotation.ranking.features import EASIER, EITHER, FEATURES, NAMES, SentenceUnits

SHIPPED = Path(__file__).parent / "shipped" / "ranker.json"
FORMAT = 1
ROUNDS = 40
SETTINGS: dict[str, Any] = {
    "objective": "reg:squarederror", "eta": 0.1, "max_depth": 3, "min_child_weight": 5, "subsample": 0.6,
    "colsample_bynode": 0.3, "num_parallel_tree": 8, "seed": 0, "nthread": 1,
}  # fmt: skip
# The settings of Zhang and Bansal, for their 69 features.
SEED_SETTINGS: dict[str, Any] = {
    "objective": "reg:squarederror", "eta": 0.1, "max_depth": 3, "seed": 0, "nthread": 1,
}  # fmt: skip
REASONS = 3
Rows = Sequence[Sequence[float]]


class UnknownRanker(ValueError):
    """A file that is no ranker of this version. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A feature that moved a prediction: by how much, and what it was for this sentence."""

    feature: str
    value: float
    effect: float

    def as_dict(self) -> dict[str, Any]:
        return {"feature": self.feature, "value": round(self.value, 4), "effect": round(self.effect, 4)}


@dataclass(frozen=True, slots=True)
class Ranker:
    """A trained regressor. `seen` holds the digests of the sentences that it learnt from."""

    booster: Any
    signature: str
    trained_on: str
    seen: frozenset[str]

    def predict(self, rows: Rows) -> list[float]:
        """The easiness of sentences with these features, 0 to 1."""
        return [min(max(float(value), 0.0), 1.0) for value in self.booster.predict(_matrix(rows))] if rows else []

    def explain(self, rows: Rows) -> list[list[Reason]]:
        """For each sentence the features that moved its prediction most, the strongest first."""
        if not rows:
            return []
        effects = self.booster.predict(_matrix(rows), pred_contribs=True)
        return [_reasons(row, own[:-1]) for row, own in zip(rows, effects, strict=True)]

    def write_to(self, path: Path) -> None:
        content = {
            "format": FORMAT,
            "signature": self.signature,
            "trained_on": self.trained_on,
            "features": list(NAMES),
            "seen": sorted(self.seen),
        }
        write_model(path, content, self.booster)


def train_ranker(rows: Rows, easiness: Sequence[float], *, seen: Sequence[str] = (), trained_on: str = "") -> Ranker:
    """Train on sentences with known easiness. The same rows give the same signature."""
    directions = [feature.direction for feature in FEATURES]
    settings = {**SETTINGS, "monotone_constraints": f"({','.join(map(str, directions))})"}
    booster = fit(rows, easiness, settings)
    basis = json.dumps([NAMES, settings, ROUNDS, _rounded(rows), [round(value, 6) for value in easiness]])
    signature = f"easiness {sha256(basis.encode()).hexdigest()[:12]} n={len(rows)}"
    return Ranker(booster, signature, trained_on, frozenset(seen))


def fit(rows: Rows, easiness: Sequence[float], settings: dict[str, Any]) -> Any:
    """A booster over any features."""
    import xgboost

    if not rows:
        raise ValueError("There is no sentence to learn from.")
    base = sum(easiness) / len(easiness)
    return xgboost.train({**settings, "base_score": base}, _matrix(rows, easiness), ROUNDS)


def load_ranker(path: Path = SHIPPED) -> Ranker:
    """Read a ranker that this version has trained."""
    cure = "Train one with manage.py train_ranker, or mend PYRAMID_RANKER."
    with refusing(path, "ranker", cure, UnknownRanker):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT or content["features"] != list(NAMES):
            raise UnknownRanker(f"{path} was trained for other features. Train it again: manage.py train_ranker")
        return Ranker(read_booster(content), content["signature"], content["trained_on"], frozenset(content["seen"]))


def rate(ranker: Ranker, rows: Rows, units: Sequence[SentenceUnits]) -> list[tuple[float, list[Reason]]]:
    """Easiness and reasons of sentences. One without units, or where no fact was looked for, is as hard as can be."""
    values, reasons = ranker.predict(rows), ranker.explain(rows)
    return [
        (value, why) if any(rule not in FLAGS for _, rule in own) else (0.0, [Reason("units", 0.0, -value)])
        for value, why, own in zip(values, reasons, units, strict=True)
    ]


def reason_words(reason: dict[str, Any]) -> tuple[str, bool]:
    """A stored reason in words, and whether it made the sentence easier."""
    is_easier = reason["effect"] > 0
    feature = next((known for known in FEATURES if known.name == reason["feature"]), None)
    if feature is None:
        return str(reason["feature"]), is_easier
    # The regressor keeps to the directions: easier by what makes things harder means that there is little of it.
    is_much = feature.direction == EITHER or is_easier == (feature.direction == EASIER)
    return feature.much if is_much else feature.little, is_easier


def _reasons(row: Sequence[float], effects: Sequence[float]) -> list[Reason]:
    found = [Reason(name, float(v), float(e)) for name, v, e in zip(NAMES, row, effects, strict=True) if e]
    return sorted(found, key=lambda reason: -abs(reason.effect))[:REASONS]


def _matrix(rows: Rows, labels: Sequence[float] | None = None) -> Any:
    import numpy
    import xgboost

    return xgboost.DMatrix(numpy.array(rows, dtype=numpy.float32), label=labels)


def _rounded(rows: Rows) -> list[list[float]]:
    return [[round(value, 4) for value in row] for row in rows]
