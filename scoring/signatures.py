"""The line that makes a number repeatable: everything that could change it, in one order."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from scoring.metrics import ALPHA
from scoring.resampling import SEED

VERSION = "1"
"""Raised whenever the same rows would give another number; the changelog says why."""


def text_digest(text: str) -> str:
    """Names a text by its content."""
    return sha256(text.encode()).hexdigest()[:32]


def units_digest(units: Iterable[tuple[str, str, int]]) -> str:
    """Names the units that a score is over: (example, text, weight), in any order."""
    lines = sorted(f"{example}\t{weight}\t{text}" for example, text, weight in units)
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


def score_signature(
    *,
    metric: str,
    mixing: str,
    units: str,
    plan: str = "",
    data: str,
    judge: str,
    reading: str,
    labels: str,
    is_normalised: bool,
    examples: int,
    seed: int,
    draws: int,
) -> str:
    """metric | units | data | plan | judge@revision | aggregation | seed | n | version.

    `data` names summaries, labels, who decided each unit, and the lengths of the references.
    """
    parts = [
        metric + (f" {mixing}" if mixing else ""),
        f"units:{units}",
        f"data:{data}",
        f"plan:{plan or 'none'}",
        f"judge:{judge or 'none'}" + (f" {reading}" if judge else ""),
        f"labels:{labels or 'none'}",
        f"length:{f'alpha={ALPHA:g}' if is_normalised else 'as is'}",
        f"seed:{seed}",
        f"boot:{f'{draws},seed={SEED}' if draws else 'none'}",
        f"n={examples}",
        f"v{VERSION}",
    ]
    return "|".join(parts)


def of_variant(run: str, row: str) -> str:
    """A run's signature for the variant of one of its rows: what is done about length, and the draws of its comparison.

    A run stores the signature of its plain scores. All else, the data of all its systems above all, is the same.
    """
    own = {part.split(":")[0]: part for part in row.split("|") if part.startswith(("length:", "boot:"))}
    return "|".join(own.get(part.split(":")[0], part) for part in run.split("|"))
