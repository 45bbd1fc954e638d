"""The features of a pair: what the head sees of a summary and a unit. docs/algorithms/judges.md explains them."""

from __future__ import annotations

from scoring.presence.alignments import (
    Features,
    align_back,
    align_sentences,
    align_syntax,
    align_windows,
    align_words,
    prefixed,
    table_of,
)
from scoring.presence.sides import SummarySide, UnitSide
from scoring.presence.texts import LAYERS
from scoring.presence.wording import (
    compare_missed,
    compare_names,
    compare_negation,
    compare_numbers,
    compare_roles,
    compare_words,
    shared_words,
)

VERSION = 1  # raise it whenever a feature of some pair changes: heads and scores of old then no longer fit
DIGITS = 2  # features are rounded, so that the last digits of another machine move nothing


def measure_pair(summary: SummarySide, unit: UnitSide) -> Features:
    """All features of a pair of texts that both have words. A feature that does not apply is not a number."""
    found: Features = {}
    shared = shared_words(unit, summary)
    tables = [table_of(*vectors, unit) for vectors in zip(summary.text.vectors, unit.text.vectors, strict=True)]
    sentence = 0
    for layer, table in zip(LAYERS, tables, strict=True):
        of_sentences, sentence = align_sentences(table, unit, summary)
        found |= prefixed(align_words(table, unit) | of_sentences, layer)
        if layer:  # the lowest layer knows nothing of the words around
            of_order = align_windows(table, unit) | align_syntax(table, unit, summary)
            found |= prefixed(of_order | compare_missed(unit, shared, table.best), layer)
    found |= align_back(tables[-1], unit, summary, sentence)
    found |= compare_words(unit, summary, shared) | compare_names(unit, shared, tables[len(tables) // 2].best)
    found |= compare_roles(unit, summary, shared, sentence)
    found |= compare_numbers(unit, summary) | compare_negation(unit, summary, sentence)
    return found | _wholes(summary, unit, sentence) | _lengths(summary, unit, sentence)


def _wholes(summary: SummarySide, unit: UnitSide, sentence: int) -> Features:
    """The unit as a whole against the summary and its sentences."""
    sentences = summary.text.wholes @ unit.text.whole
    return {
        "whole": float(summary.text.whole @ unit.text.whole),
        "whole of a sentence": float(sentences.max()),
        "whole of the sentence": float(sentences[summary.filled[sentence]]),
    }


def _lengths(summary: SummarySide, unit: UnitSide, sentence: int) -> Features:
    return {
        "unit words": float(len(unit.stems)),
        "unit content": float(len(unit.content)),
        "unit weight": sum(unit.content_weights) / len(unit.content),
        "summary words": float(len(summary.stems)),
        "summary sentences": float(len(summary.filled)),
        "sentence words": float(summary.ends[sentence] - summary.starts[sentence]),
    }


def measure_row(summary: SummarySide, unit: UnitSide) -> list[float]:
    """The features in the order of NAMES, rounded."""
    found = measure_pair(summary, unit)
    return [round(found[name], DIGITS) for name in NAMES]


_OF_WORDS = (
    "all", "all weighted", "content", "content weighted", "content least", "content second least", "content median",
    "lost", "lost most", "nouns", "verbs", "modifiers", "sentence", "sentence all", "sentence least",
    "beyond the sentence", "second sentence", "two sentences",
)  # fmt: skip
_OF_ORDER = (
    "window", "narrow window", "side by side", "side by side least", "root", "subject", "object", "nouns least",
    "verbs least", "dependent", "dependent least", "clause", "clause least", "root verb", "event", "missed nearest",
    "missed least",
)  # fmt: skip
_OF_PAIR = (
    "back", "back in the sentence", "partners apart", "partners in order", "words shared", "content shared",
    "weight shared", "words missed", "weight missed", "heaviest missed", "pairs shared",
    "content shared in a sentence", "weight shared in a sentence", "longest sequence", "names", "names missed",
    "names shared", "a name", "name least", "numbers", "numbers shared", "numbers near", "negated",
    "negated on one side", "root shared", "subject shared", "object shared", "root in the sentence",
    "subject in the sentence", "object in the sentence", "names in the sentence", "alike", "pronouns in the sentence",
    "whole", "whole of a sentence", "whole of the sentence", "unit words", "unit content",
    "unit weight", "summary words", "summary sentences", "sentence words",
)  # fmt: skip
NAMES: tuple[str, ...] = (
    *(f"{name} {layer}" for layer in LAYERS for name in _OF_WORDS),
    *(f"{name} {layer}" for layer in LAYERS if layer for name in _OF_ORDER),
    *_OF_PAIR,
)
