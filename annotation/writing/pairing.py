"""Two sets of units side by side: which of one set says what which of the other says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotation.writing.checks import similarity, tokens

SAME_FACT = 0.35
"""Words in common from which on two units stand in one row. Below it they are rarely the same fact."""


def pair_texts(one: Sequence[str], other: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Places of both sets in pairs, the most alike first found; those without a twin stand alone, where they belong.

    In the order of the first set; a text of the other that has no twin comes behind the ones before it.
    """
    twins = dict(_twins(one, other))
    taken = set(twins.values())
    rows: list[tuple[int | None, int | None]] = [(place, twins.get(place)) for place in range(len(one))]
    for place in range(len(other)):
        if place not in taken:
            before = [number for number, (_, right) in enumerate(rows) if right is not None and right < place]
            rows.insert(max(before) + 1 if before else len(rows), (None, place))
    return rows


def _twins(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int]]:
    left, right = [tokens(text) for text in one], [tokens(text) for text in other]
    scored = sorted(
        (-similarity(words, others), place, twin)
        for place, words in enumerate(left)
        for twin, others in enumerate(right)
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    for score, place, twin in scored:
        if -score >= SAME_FACT and place not in taken[0] and twin not in taken[1]:
            taken[0].add(place)
            taken[1].add(twin)
            yield place, twin
