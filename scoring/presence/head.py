"""The head of the embedded judge: boosted trees over the features of a pair, and a calibration. It knows XGBoost."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from annotation.encoder import MiniLmEncoder
from annotation.model_files import read_booster, refusing, write_model
from annotation.spacy_parser import SpacyParser
from scoring.judging import Pair
from scoring.presence.features import NAMES, VERSION
from scoring.presence.normalising import normalise

SHIPPED = Path(__file__).parent / "shipped" / "head.json"
FORMAT = 1
ROUNDS = 300
SETTINGS: dict[str, Any] = {
    "objective": "binary:logistic", "eta": 0.03, "max_depth": 4, "min_child_weight": 20, "subsample": 0.5,
    "colsample_bytree": 0.15, "lambda": 5, "tree_method": "hist", "max_bin": 64, "seed": 0,
}  # fmt: skip
ROWS_PER_LEAF = 500
THREADS = 2
INNER_FOLDS = 3
MOST = 30.0  # log-odds beyond this are as good as certain
STEPS = 50  # of Newton's method; a handful is enough
Rows = Any
"""An array with a row for each pair and a column for each feature."""
Labels = Any
"""Numbers from 0 to 1, in a list or an array."""


class UnknownHead(ValueError):
    """A file that is no head of this version. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A straight line through the trees' log-odds: probabilities that mean what they say."""

    slope: float = 1.0
    offset: float = 0.0

    def apply(self, margins: Any) -> Any:
        import numpy

        return 1 / (1 + numpy.exp(-numpy.clip(self.slope * margins + self.offset, -MOST, MOST)))


@dataclass(frozen=True, slots=True)
class Head:
    """A trained head. `seen` holds the digests of the units that it learnt from."""

    booster: Any
    calibration: Calibration
    signature: str
    trained_on: str
    seen: frozenset[str]

    def predict(self, rows: Rows) -> list[float]:
        """The probability of presence for pairs with these features; 0 where none applies, as a side has no words."""
        import numpy

        if not len(rows):
            return []
        found = numpy.where(numpy.isnan(rows).all(1), 0.0, self.calibration.apply(self.margins(rows)))
        return [float(value) for value in found]

    def margins(self, rows: Rows) -> Any:
        """The log-odds of the trees, before they are calibrated."""
        return self.booster.predict(matrix(rows), output_margin=True).astype(float)

    def has_seen(self, unit: str) -> bool:
        return unit_digest(unit) in self.seen

    def digest(self) -> str:
        basis = [self.signature, self.calibration.slope, self.calibration.offset]
        content = json.dumps(basis).encode() + bytes(self.booster.save_raw("json"))
        return sha256(content).hexdigest()[:12]

    def write_to(self, path: Path) -> None:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "signature": self.signature,
            "trained_on": self.trained_on,
            "features": list(NAMES),
            "calibration": [self.calibration.slope, self.calibration.offset],
            "seen": sorted(self.seen),
        }
        write_model(path, content, self.booster)


def unit_digest(unit: str) -> str:
    """Names a unit without showing it, however it is spaced, cased or stopped."""
    return sha256("".join(filter(str.isalnum, unit.lower())).encode()).hexdigest()[:16]


def train_head(
    rows: Rows,
    labels: Labels,
    groups: Sequence[str],
    *,
    shares: Labels | None = None,
    pairs: Sequence[Pair] = (),
    trained_on: str = "",
) -> Head:
    """Train on judged pairs, and calibrate on predictions for examples that the trees have not seen.

    `groups` names the example of each pair. `shares` are the shares of people who said present, where votes are known:
    the trees learn from them, the calibration from the labels. The signature tells all that decides the head: texts,
    labels, votes, the models that read the texts, features and settings. (Not the features' values: their last digits
    differ from one processor to the next.)
    """
    import numpy

    learnt = learn(rows, labels, groups, shares=shares)
    target = numpy.array(labels, dtype=float)
    votes = target if shares is None else numpy.array(shares, dtype=float)
    signature = f"presence {_basis(target, votes, groups, pairs)} n={len(target)}"
    seen = frozenset(unit_digest(pair.unit) for pair in pairs)
    return Head(learnt.booster, learnt.calibration, signature, trained_on, seen)


@dataclass(frozen=True, slots=True)
class Learnt:
    """Trees with their calibration, and the log-odds that trees which had not seen its example gave each pair."""

    booster: Any
    calibration: Calibration
    margins: Any


def learn(rows: Rows, labels: Labels, groups: Sequence[str], *, shares: Labels | None = None) -> Learnt:
    """The trees of a head, and what inner folds by examples say of them."""
    import numpy

    target = numpy.array(labels, dtype=float)
    votes = target if shares is None else numpy.array(shares, dtype=float)
    inner = numpy.array(folds_of(groups, INNER_FOLDS))
    held = [inner == fold for fold in range(INNER_FOLDS) if 0 < (inner == fold).sum() < len(target)]
    with ThreadPoolExecutor(THREADS) as pool:  # one fit on each core: the trees are those of one thread
        booster, *others = pool.map(
            lambda inside: fit(rows[inside], votes[inside]), [inner >= 0, *(~outside for outside in held)]
        )
    margins = numpy.zeros(len(target))
    for outside, other in zip(held, others, strict=True):
        margins[outside] = other.predict(matrix(rows[outside]), output_margin=True)
    # One example alone leaves nothing to calibrate on.
    return Learnt(booster, calibrate(margins, target) if held else Calibration(), margins)


def _basis(labels: Any, votes: Any, groups: Sequence[str], pairs: Sequence[Pair]) -> str:
    basis = sha256(json.dumps([VERSION, NAMES, SETTINGS, ROUNDS, MiniLmEncoder.name, SpacyParser.name]).encode())
    for label, share, group in zip(labels, votes, groups, strict=True):
        basis.update(f"{label:g} {share:.3f} {group}\n".encode())
    texts = {text: normalise(text) for text in {text for pair in pairs for text in (pair.summary, pair.unit)}}
    for pair in pairs:
        basis.update(f"{texts[pair.summary]}\n{texts[pair.unit]}\n".encode())
    return basis.hexdigest()[:12]


def folds_of(groups: Sequence[str], count: int) -> list[int]:
    """A fold for each pair; pairs of one example stay together. Decided by digest, so no order or seed matters."""
    order = sorted(set(groups), key=lambda group: sha256(group.encode()).hexdigest())
    folds = {group: place % count for place, group in enumerate(order)}
    return [folds[group] for group in groups]


def fit(rows: Rows, labels: Labels) -> Any:
    """Boosted trees for labels, or shares of votes, from 0 to 1."""
    import xgboost

    if not len(rows):
        raise ValueError("There is no judged pair to learn from.")
    # A leaf of twenty is too much to ask of a few hundred labels.
    least = max(1, min(SETTINGS["min_child_weight"], len(rows) // ROWS_PER_LEAF))
    settings = {**SETTINGS, "min_child_weight": least, "nthread": 1}
    return xgboost.train(settings, matrix(rows, labels), ROUNDS)


def calibrate(margins: Any, labels: Any) -> Calibration:
    """Platt's straight line by Newton's method, with a weak pull towards leaving the trees alone."""
    import numpy

    slope, offset, pull = 1.0, 0.0, 1.0
    for _ in range(STEPS):
        found = Calibration(slope, offset).apply(margins)
        error, spread = found - labels, found * (1 - found)
        gradient = numpy.array([(error * margins).sum() + pull * (slope - 1), error.sum() + pull * offset])
        mixed = (spread * margins).sum()
        curve = numpy.array([[(spread * margins**2).sum() + pull, mixed], [mixed, spread.sum() + pull]])
        step = numpy.clip(numpy.linalg.solve(curve, gradient), -0.5, 0.5)  # a long step may overshoot
        slope, offset = slope - float(step[0]), offset - float(step[1])
        if abs(step).max() < 1e-9:
            break
    if not (math.isfinite(slope) and math.isfinite(offset)) or slope <= 0:
        return Calibration()
    return Calibration(round(slope, 6), round(offset, 6))


def load_head(path: Path = SHIPPED) -> Head:
    """Read a head that this version has trained."""
    cure = "Train one with manage.py train_judge, or mend PYRAMID_JUDGE_HEAD."
    with refusing(path, "head of a judge", cure, UnknownHead):
        content = json.loads(path.read_text(encoding="utf-8"))
        expected = (FORMAT, VERSION, list(NAMES))
        if (content["format"], content["version"], content["features"]) != expected:
            raise UnknownHead(f"{path} was trained for other features. Train it again: manage.py train_judge")
        slope, offset = map(float, content["calibration"])
        seen = frozenset(content["seen"])
        calibration = Calibration(slope, offset)
        return Head(read_booster(content), calibration, content["signature"], content["trained_on"], seen)


def matrix(rows: Rows, labels: Any = None) -> Any:
    import numpy
    import xgboost

    return xgboost.DMatrix(numpy.asarray(rows, dtype=numpy.float32), label=labels, missing=numpy.nan, nthread=1)
