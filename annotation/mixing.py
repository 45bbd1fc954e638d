"""Lite2.x: STUs for the easiest share of the sentences, SCUs for the rest. Mixing comes before merging."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

ORDERS = ("easiest", "hardest", "random")
RULES = ("exact", "seed")


@dataclass(frozen=True, slots=True)
class RatedSentence:
    """A sentence of a corpus and how easy it is."""

    key: int
    easiness: float


def order_sentences(sentences: Iterable[RatedSentence], order: str, *, seed: int = 0) -> list[RatedSentence]:
    """Sentences as STUs take them over. Those that are equally easy stay in the order of the corpus."""
    given = list(sentences)
    if order == "random":
        random.Random(seed).shuffle(given)  # noqa: S311
        return given
    if order not in ORDERS:
        raise ValueError(f"{order!r} is no order. Known are {', '.join(ORDERS)}.")
    return sorted(given, key=lambda sentence: sentence.easiness, reverse=order == "easiest")


def choose_easy(
    sentences: Iterable[RatedSentence], share: Fraction, *, order: str = "easiest", rule: str = "exact", seed: int = 0
) -> frozenset[int]:
    """Keys of the sentences that get STUs.

    "exact": a share of 30 % of n sentences is ⌊.3 n⌋ of them. "seed" is what the code of Zhang and Bansal does: it
    computes the percentage in floating point (29 for Lite2.3) and takes only sentences that are easier than the one
    at that rank, so one fewer; it knows one order.
    """
    ordered = order_sentences(sentences, order, seed=seed)
    if rule == "exact":
        return frozenset(sentence.key for sentence in ordered[: int(len(ordered) * share)])
    if rule != "seed" or order != "easiest":
        raise ValueError(f"{rule!r} is no rule for the order {order!r}. Known are {', '.join(RULES)}.")
    rank = seed_rank(len(ordered), share)
    if rank < 1:
        return frozenset()
    threshold = ordered[rank - 1].easiness
    return frozenset(sentence.key for sentence in ordered if sentence.easiness > threshold)


def seed_rank(number: int, share: Fraction) -> int:
    """The rank at which the seed's code cuts: a percentage in floating point, 29 for Lite2.3."""
    return int(number * int((float(2 + share) - 2) * 100) / 100)


@dataclass(frozen=True, slots=True)
class SentenceUnits:
    """The units of one sentence: STUs, and SCUs that stand there (a merged one in several sentences).

    `is_written` is False where people have yet to write its SCUs.
    """

    key: int
    stus: tuple[int, ...]
    scus: tuple[int, ...]
    is_written: bool = True


@dataclass(frozen=True, slots=True)
class Weighted:
    """A unit that counts, and its weight."""

    unit: int
    weight: int


def mix_units(
    sentences: Sequence[SentenceUnits], easy: Collection[int], weights: Mapping[int, int]
) -> list[Weighted] | None:
    """The units of an example: STUs of easy sentences with weight 1, SCUs of hard ones.

    A merged SCU weighs the number of its places in hard sentences; one that stands in a single place keeps its own
    weight. None if a hard sentence is not written yet.
    """
    if any(not sentence.is_written and sentence.key not in easy for sentence in sentences):
        return None
    places = Counter(unit for sentence in sentences for unit in sentence.scus)
    hard = Counter(unit for sentence in sentences if sentence.key not in easy for unit in sentence.scus)
    stus = {unit: 1 for sentence in sentences if sentence.key in easy for unit in sentence.stus}
    scus = {unit: number if places[unit] > 1 else weights[unit] for unit, number in hard.items()}
    return [Weighted(unit, weight) for unit, weight in {**stus, **scus}.items()]
