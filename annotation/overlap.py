"""How much two short texts share: ROUGE-1 F1 with stemming, as the papers count it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any


@cache
def _tokenizer() -> Any:
    from rouge_score import tokenizers

    return tokenizers.DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=50_000)
def stems(text: str) -> Counter[str]:
    """The stems of a text with their counts, by Google's rouge-score: letters and digits only, Porter stemmer."""
    return Counter(_tokenizer().tokenize(text))


def overlap(one: str, other: str) -> float:
    """ROUGE-1 F1 of two texts, 0 to 1."""
    first, second = stems(one), stems(other)
    shared = sum((first & second).values())
    return 2 * shared / (sum(first.values()) + sum(second.values())) if shared else 0.0


def best_overlap(text: str, others: Sequence[str]) -> float:
    """The best overlap of a text with some others; 0 if there are none."""
    return max((overlap(text, other) for other in others), default=0.0)
