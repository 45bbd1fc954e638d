"""Which sentence a unit comes from: the one that shares most of its words (Zhang and Bansal 2021, their code)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any


@cache
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def words_of(text: str) -> frozenset[str]:
    """Lower-case words by the Penn Treebank's rules; commas and full stops count as spaces."""
    return frozenset(_tokenizer().tokenize(text.lower().replace(",", " ").replace(".", " ")))


def align_units(units: Sequence[str], sentences: Sequence[str]) -> list[int]:
    """For each unit the index of its sentence. The first of several best wins; without any shared word it is 0."""
    vocabularies = [frozenset(_tokenizer().tokenize(sentence.lower())) for sentence in sentences]
    found = []
    for unit in units:
        words = words_of(unit)
        shared = [len(words & vocabulary) for vocabulary in vocabularies]
        found.append(shared.index(max(shared)) if shared else 0)
    return found
