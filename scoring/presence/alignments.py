"""How well a unit's words find partners among a summary's: anywhere, in one sentence, in one clause, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scoring.presence.sides import SummarySide, UnitSide

Features = dict[str, float]
NOT_THERE = float("nan")
TURNED = 0.1  # what it costs that two words depend on each other the other way round
NEAR = 3  # words between two partners that still count as side by side


@dataclass(frozen=True, slots=True)
class Table:
    """The cosines of the unit's words (rows) with the summary's (columns) in one layer."""

    cells: Any
    content: Any  # the rows of content words
    best: Any  # of each row


def table_of(summary_vectors: Any, unit_vectors: Any, unit: UnitSide) -> Table:
    cells = unit_vectors @ summary_vectors.T
    return Table(cells, cells[unit.content], cells.max(1))


def align_words(table: Table, unit: UnitSide) -> Features:
    """Each word with its best partner anywhere."""
    best = table.best
    inside = best[unit.content]
    ordered = sorted(inside.tolist())
    lost = ((1 - inside) * unit.weights[unit.content]).tolist()
    return {
        "all": float(best.sum()) / len(best),
        "all weighted": float(unit.shares @ best),
        "content": sum(ordered) / len(ordered),
        "content weighted": float(unit.content_shares @ inside),
        "content least": ordered[0],
        "content second least": ordered[min(1, len(ordered) - 1)],
        "content median": ordered[len(ordered) // 2],
        "lost": sum(lost),
        "lost most": max(lost),
        "nouns": _mean_at(best, unit.nouns),
        "verbs": _mean_at(best, unit.verbs),
        "modifiers": _mean_at(best, unit.modifiers),
    }


def align_sentences(table: Table, unit: UnitSide, summary: SummarySide) -> tuple[Features, int]:
    """The sentence that finds partners for most of the unit: how well it does, and its place among those with words."""
    import numpy

    best = numpy.maximum.reduceat(table.cells, summary.starts, axis=1)
    inside = best[unit.content]
    scores = (unit.content_shares @ inside).tolist()
    chosen = scores.index(max(scores))
    score = scores[chosen]
    neighbours = (unit.content_shares @ numpy.maximum(inside[:, 1:], inside[:, :-1])).tolist()
    found = {
        "sentence": score,
        "sentence all": float(unit.shares @ best[:, chosen]),
        "sentence least": float(inside[:, chosen].min()),
        "beyond the sentence": float(unit.content_shares @ table.best[unit.content]) - score,
        "second sentence": sorted(scores)[-2] if len(scores) > 1 else NOT_THERE,
        "two sentences": max(neighbours, default=score),
    }
    return found, chosen


def align_windows(table: Table, unit: UnitSide) -> Features:
    """The stretch of words that finds partners for most of the unit, whatever sentences say; and words side by side."""
    import numpy

    cells, length = table.cells, len(table.cells)
    wide, narrow = _spread(table.content, max(3, length)), _spread(table.content, max(2, length // 2))
    pairs = numpy.minimum(cells[:-1], _spread(cells[1:], NEAR)).max(1) if length > 1 else table.best
    return {
        "window": float((unit.content_shares @ wide).max()),
        "narrow window": float((unit.content_shares @ narrow).max()),
        "side by side": float(pairs.sum()) / len(pairs),
        "side by side least": float(pairs.min()),
    }


def align_syntax(table: Table, unit: UnitSide, summary: SummarySide) -> Features:
    """Verb, subject and object; the clause that holds most; pairs of words that depend on each other."""
    import numpy

    cells, best = table.cells, table.best
    found = {
        "root": float(best[unit.root]) if unit.root is not None else NOT_THERE,
        "subject": _mean_at(best, unit.subjects),
        "object": _mean_at(best, unit.objects),
        "nouns least": _least_at(best, unit.nouns),
        "verbs least": _least_at(best, unit.verbs),
        "dependent": NOT_THERE, "dependent least": NOT_THERE,
        "clause": NOT_THERE, "clause least": NOT_THERE, "root verb": NOT_THERE, "event": NOT_THERE,
    }  # fmt: skip
    if unit.heads and len(summary.heads):
        heads, children = cells[unit.heads], cells[unit.children]
        straight = numpy.minimum(heads[:, summary.heads], children[:, summary.children]).max(1)
        turned = numpy.minimum(heads[:, summary.children], children[:, summary.heads]).max(1)
        pairs = numpy.maximum(straight, turned - TURNED)
        found |= {"dependent": float(pairs.sum()) / len(pairs), "dependent least": float(pairs.min())}
    if summary.clauses:
        clauses = numpy.stack([cells[:, inside].max(1) for inside in summary.clauses], axis=1)
        inside = clauses[unit.content]
        scores = unit.content_shares @ inside
        chosen = int(scores.argmax())
        found |= {"clause": float(scores[chosen]), "clause least": float(inside[:, chosen].min())}
        if unit.root is not None:
            verbs = cells[unit.root][summary.verbs]
            parts = [clauses[places].sum(0) / len(places) for places in (unit.subjects, unit.objects) if places]
            event = sum(parts, verbs) / (len(parts) + 1)
            found |= {"root verb": float(verbs.max()), "event": float(event.max())}
    return found


def align_back(table: Table, unit: UnitSide, summary: SummarySide, sentence: int) -> Features:
    """From the summary's side: how much else it says there, and whether partners stand together and in order."""
    best = table.cells.max(0)
    start, end = summary.starts[sentence], summary.ends[sentence]
    partners = table.content[:, start:end].argmax(1).tolist()
    steps = [after > before for before, after in pairwise(partners)]
    return {
        "back": _weighted(best, summary.weights),
        "back in the sentence": _weighted(best[start:end], summary.weights[start:end]),
        "partners apart": (max(partners) - min(partners) + 1) / len(partners),
        "partners in order": sum(steps) / len(steps) if steps else NOT_THERE,
    }


def _weighted(values: Any, weights: Any) -> float:
    return float(values @ weights / (weights.sum() + 1e-6))


def _mean_at(values: Any, places: list[int]) -> float:
    return float(values[places].sum()) / len(places) if places else NOT_THERE


def _least_at(values: Any, places: list[int]) -> float:
    return float(values[places].min()) if places else NOT_THERE


def _spread(rows: Any, reach: int) -> Any:
    """Each cell takes the best of the cells up to `reach` columns away."""
    from scipy.ndimage import maximum_filter1d

    return maximum_filter1d(rows, 2 * reach + 1, axis=1, mode="nearest")


def prefixed(found: Features, layer: int) -> Features:
    return {f"{name} {layer}": value for name, value in found.items()}
