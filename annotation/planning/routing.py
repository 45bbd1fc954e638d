"""Which sentence goes where: the easiest to STUs, the rest to people, and pins against the order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from fractions import Fraction

from annotation.mixing import seed_rank

STEPS = 1000
"""The ratio moves in thousandths: Lite2.385 has STUs for 38.5 % of the sentences."""
PEOPLE, STUS = "people", "stus"


def cuts(easiness: Sequence[float], rule: str) -> list[int]:
    """For every share in thousandths how many free sentences STUs cover, given easiest first, by a rule of mixing."""
    free = len(easiness)
    if rule == "exact":
        return [share * free // STEPS for share in range(STEPS + 1)]
    if rule != "seed":
        raise ValueError(f"{rule!r} is no rule of mixing")
    # As choose_easy does it, for all shares at once: those above the easiness at the rank, found by halving.
    harder = [-value for value in easiness]
    found = []
    for share in range(STEPS + 1):
        rank = seed_rank(free, Fraction(share, STEPS))
        found.append(bisect_left(harder, harder[rank - 1]) if rank else 0)
    return found


def cut_rank(sentences: int, pinned: Collection[int], cut: int) -> int:
    """The rank from which on free sentences go to STUs, so that `cut` of them do. Rank 1 is the hardest.

    `pinned` are the ranks of sentences with a pin. One more than the number of sentences if none goes to STUs.
    """
    left, below = cut, sentences + 1
    for rank in (*sorted(pinned, reverse=True), 0):
        free = below - 1 - rank
        if left <= free:
            return below - left
        left, below = left - free, rank
    raise ValueError(f"{cut} of {sentences} sentences, with {len(pinned)} pins, cannot be free")


def route(rank: int, pin: str, cut: int) -> str:
    """Where a sentence goes."""
    return pin or (STUS if rank >= cut else PEOPLE)


def ratio_words(share: int) -> str:
    """Lite2.x as people write it: 2.0, 2.38, 2.385, 3.0."""
    text = f"{2 + share // STEPS}.{share % STEPS:03d}".rstrip("0")
    return text + "0" if text.endswith(".") else text
