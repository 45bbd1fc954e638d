"""How sure a ranking is: intervals and groups from a paired bootstrap over examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import Any

DRAWS = 10_000
SEED = 13
LEVEL = 0.05
CELLS = 5_000_000  # numbers in memory at once
MIN_EXAMPLES = 6  # with fewer, chance decides: no two systems are told apart
FEW_EXAMPLES = 20  # below this, draws repeat themselves and have hardly any spread: Student's t tells pairs apart
MAX_LETTERED = 60  # systems; letters of more would be a wall that nobody reads
MAX_DRAWN = 5_000  # examples; with more, the normal distribution tells the same as draws, at once
NORMAL = 1.959964
# By which a standard error is multiplied for a 95 % interval of a mean of two, three or four (Student's t).
STUDENT = {2: 12.706205, 3: 4.302653, 4: 3.182446}


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems in the order given: their intervals, and the letters of the groups each belongs to, if there are any."""

    intervals: list[Interval | None]
    letters: list[str]


def draws_for(systems: int, examples: int) -> int:
    """How many draws a comparison takes: enough for the smallest p that Holm's rule may ask for; 0 without draws."""
    if not MIN_EXAMPLES <= examples <= MAX_DRAWN or systems > MAX_LETTERED:
        return 0
    return max(DRAWS, math.ceil(systems * (systems - 1) / 2 / LEVEL))


def compare_systems(
    scores: Sequence[Sequence[float]],
    *,
    seed: int = SEED,
    tick: Callable[[], None] = lambda: None,
) -> Comparison:
    """Compare systems by their scores on the same examples, one row per system.

    Every draw takes as many examples as there are, with replacement, the same for all systems. The interval is the
    middle 95 % of the means. Two systems differ if their difference is large beside its own spread: p is the share of
    draws in which the studentised difference strays as far from the observed one as that lies from zero; with fewer
    than 20 examples, where a draw may have no spread at all, it is that of Student's paired t. Holm's rule keeps the
    chance of one wrong claim among all pairs at about 5 %. Systems that share a letter cannot be told apart.
    """
    if not scores or len(scores[0]) < MIN_EXAMPLES:
        return Comparison([plain_interval(row) for row in scores], ["a"] * len(scores))
    if len(scores) > MAX_LETTERED:
        return Comparison([plain_interval(row) for row in scores], [""] * len(scores))
    intervals: list[Interval | None] = [plain_interval(row) for row in scores]
    draws = draws_for(len(scores), len(scores[0]))
    if draws:
        means, p_values = _resample(scores, draws, seed, tick)
        intervals = [Interval(float(one), float(other)) for one, other in zip(*_quantiles(means), strict=True)]
    else:
        p_values = {
            (one, other): _normal_p(scores[one], scores[other]) for one, other in combinations(range(len(scores)), 2)
        }
    total = [sum(row) for row in scores]
    order = sorted(range(len(scores)), key=lambda number: -total[number])
    place = {system: number for number, system in enumerate(order)}
    different = holm(p_values)
    ordered = frozenset((one, other) if place[one] < place[other] else (other, one) for one, other in different)
    groups = letter_groups(order, ordered)
    return Comparison(intervals, [groups[number] for number in range(len(scores))])


def plain_interval(scores: Sequence[float]) -> Interval | None:
    """The interval of a mean by its standard error: for few examples, for very many, for a system that stands alone.

    One example says nothing of others, so its interval is the whole scale. None without any.
    """
    count = len(scores)
    if count < 2:
        return Interval(0.0, 1.0) if count else None
    mean = math.fsum(scores) / count
    error = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (count - 1) / count)
    reach = STUDENT.get(count, NORMAL) * error
    return Interval(max(0.0, mean - reach), min(1.0, mean + reach))


def _normal_p(one: Sequence[float], other: Sequence[float]) -> float:
    """The chance of so large a mean difference, by the normal distribution."""
    gaps = [first - second for first, second in zip(one, other, strict=True)]
    mean = math.fsum(gaps) / len(gaps)
    error = math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1) / len(gaps))
    if not error:
        return 0.0 if mean else 1.0
    return math.erfc(abs(mean) / error / math.sqrt(2))


def _resample(
    scores: Sequence[Sequence[float]], draws: int, seed: int, tick: Callable[[], None]
) -> tuple[Any, dict[tuple[int, int], float]]:
    """The mean of every system in every draw, and the p of every pair."""
    import numpy

    values = numpy.array(scores, dtype=float).T
    examples, systems = values.shape
    pairs = list(combinations(range(systems), 2))
    gaps = numpy.array([values[:, one] - values[:, other] for one, other in pairs]).reshape(len(pairs), examples).T
    observed, error = gaps.mean(0), _error(gaps.mean(0), (gaps**2).mean(0), examples)
    strays = numpy.zeros(len(pairs), dtype=int)
    chance = numpy.random.default_rng(seed)
    step = max(1, CELLS // max(examples, len(pairs), 1))
    parts = []
    for begin in range(0, draws, step):
        tick()
        # How often each example is drawn; the means of a draw are then one product.
        counts = chance.multinomial(examples, [1 / examples] * examples, size=min(step, draws - begin)) / examples
        parts.append(counts @ values)
        if pairs:
            drawn = counts @ gaps
            # Where a draw has no spread at all it says nothing against chance, so it counts as a stray.
            spread = _error(drawn, counts @ gaps**2, examples)
            strays += (numpy.abs(drawn - observed) * error >= numpy.abs(observed) * spread - 1e-15).sum(0)
    p_values = (strays + 1) / (draws + 1)
    found = {}
    for number, pair in enumerate(pairs):
        # Without any spread only the signs tell something: so many alike come by chance once in 2^(n−1).
        constant = max(2.0 ** (1 - examples), 1 / (draws + 1)) if observed[number] else 1.0
        p_value = float(p_values[number])
        if examples < FEW_EXAMPLES and error[number] >= 1e-12:
            p_value = student_p(float(abs(observed[number]) / error[number]), examples - 1)
        found[pair] = constant if error[number] < 1e-12 else p_value
    return numpy.concatenate(parts), found


def student_p(t: float, freedom: int) -> float:
    """The chance of so large a t on either side, by the finite series for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    if freedom == 1:
        return 1 - 2 * angle / math.pi
    term = cosine if freedom % 2 else 1.0
    total = term
    for number in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= cosine**2 * (number - 1) / number
        total += term
    total *= math.sin(angle)
    return max(1 - (2 * (angle + total) / math.pi if freedom % 2 else total), 0.0)


def _error(mean: Any, square: Any, examples: int) -> Any:
    """The standard error of a mean, from the means of the values and of their squares."""
    import numpy

    return numpy.sqrt(numpy.maximum(square - mean**2, 0) / (examples - 1))


def _quantiles(means: Any) -> tuple[Any, Any]:
    import numpy

    low, high = numpy.quantile(means, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
    return low, high


def holm(p_values: dict[tuple[int, int], float], level: float = LEVEL) -> frozenset[tuple[int, int]]:
    """Pairs that differ: the smallest p must be at most level/m, the next level/(m−1), and so on until one is not."""
    found = set()
    for place, (pair, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p_value > level / (len(p_values) - place):
            break
        found.add(pair)
    return frozenset(found)


def letter_groups(order: Sequence[int], different: frozenset[tuple[int, int]]) -> dict[int, str]:
    """A letter for every largest group without two that differ, in the order of its best member.

    Begins with all in one group; each pair that differs parts the groups that hold both, and groups within others are
    dropped (Piepho 2004, "insert and absorb").
    """
    groups: list[frozenset[int]] = [frozenset(order)]
    for one, other in sorted(different):
        parted: list[frozenset[int]] = []
        for group in groups:
            parted += [group - {one}, group - {other}] if {one, other} <= group else [group]
        unique = list(dict.fromkeys(parted))
        groups = [group for group in unique if not any(group < larger for larger in unique)]
    place = {system: number for number, system in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[system] for system in group))
    return {system: " ".join(letter_of(n) for n, group in enumerate(groups) if system in group) for system in order}


def letter_of(number: int) -> str:
    """a … z, aa, ab …"""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = ascii_lowercase[rest] + letters
    return letters
