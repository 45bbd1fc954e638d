"""What the logits of an NLI model say: four readings, and which of its outputs means what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.judging import UnknownJudge, Verdict

DIGITS = 7  # what two runs of the same model on other batches agree on, and a little more


@dataclass(frozen=True, slots=True)
class Labels:
    """The places of the outputs. A model with two of them has no contradiction of its own: "not entailment" is both."""

    entailment: int
    neutral: int
    contradiction: int | None = None


def read_labels(names: Mapping[int, str], model: str) -> Labels:
    """The places of the outputs by the model's own label map, never by position. An unclear map is refused."""
    known = {place: name.strip().lower().replace("-", "_").replace(" ", "_") for place, name in names.items()}
    places = {meaning: [place for place, name in known.items() if name in words] for meaning, words in MEANINGS.items()}
    is_clear = all(len(found) <= 1 for found in places.values()) and sum(map(len, places.values())) == len(known)
    entailment, neutral, contradiction, rest = (next(iter(places[meaning]), None) for meaning in MEANINGS)
    if is_clear and entailment is not None:
        if neutral is not None and contradiction is not None and rest is None:
            return Labels(entailment, neutral, contradiction)
        if rest is not None and neutral is None and contradiction is None:
            return Labels(entailment, rest)
    shown = ", ".join(f"{place}: {name}" for place, name in sorted(names.items()))
    raise UnknownJudge(
        f"{model} does not tell which of its outputs means entailment (its label map is {shown}). If you know, name "
        f"them in their order: {model}#entailment.neutral.contradiction"
    )


MEANINGS = {
    "entailment": ("entailment", "entail", "entails", "entailed"),
    "neutral": ("neutral",),
    "contradiction": ("contradiction", "contradict", "contradicts", "contradictory"),
    "rest": ("not_entailment", "not_entailed", "non_entailment", "no_entailment"),
}


def read_logits(logits: Sequence[float], labels: Labels, *, was_truncated: bool = False) -> Verdict:
    """p3c = softmax(e, n, c)[e]; l3c = 1 iff e ≥ n and e ≥ c; p2c = softmax(e, n + c)[e]; l2c = 1 iff e ≥ n + c.

    For two classes the code of Zhang and Bansal adds the logits of neutral and contradiction, not their probabilities;
    so do we, since their figures come from it. A model with two outputs has the readings of two classes only.
    """
    entailment, neutral = logits[labels.entailment], logits[labels.neutral]
    if labels.contradiction is None:
        p2c = _softmax(entailment, neutral)
        return Verdict(p=p2c, p2c=p2c, l2c=int(entailment >= neutral), was_truncated=was_truncated)
    contradiction = logits[labels.contradiction]
    p3c = _softmax(entailment, neutral, contradiction)
    return Verdict(
        p=p3c,
        p3c=p3c,
        l3c=int(entailment >= neutral and entailment >= contradiction),
        p2c=_softmax(entailment, neutral + contradiction),
        l2c=int(entailment >= neutral + contradiction),
        was_truncated=was_truncated,
    )


def _softmax(first: float, *others: float) -> float:
    """The share of the first."""
    top = max(first, *others)
    own = math.exp(first - top)
    return round(own / (own + math.fsum(math.exp(other - top) for other in others)), DIGITS)
