"""From texts to units: split, clean, parse and decompose, many texts at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from annotation.batching import batched_by_size
from annotation.cleaning import Cleaned, clean
from annotation.decomposing.frames import load_forms
from annotation.decomposing.headlines import parse_sentences
from annotation.decomposing.straightening import straighten
from annotation.decomposing.units import DraftUnit, decompose_reference
from annotation.languages import load_languages
from annotation.parses import Parse, Parser
from annotation.ranking.constituency import tree_features
from annotation.ranking.features import describe_reference, measure_features
from annotation.ranking.projecting import project_tree
from annotation.splitting import split_sentences

# A parse takes some 200 bytes for each character.
TEXTS_PER_BATCH, CHARACTERS_PER_BATCH = 64, 100_000

SplitText = tuple[str, Sequence[tuple[int, int]]]
"""A text and the spans of its sentences."""


@dataclass(frozen=True, slots=True)
class DecomposedSentence:
    """A sentence as a span of its text, with its units. Spans of units are of the text as well."""

    start: int
    end: int
    units: tuple[DraftUnit, ...]
    features: tuple[float, ...] = ()  # of ranking/features.py, if they were asked for
    projected: tuple[float, ...] = ()  # the paper's 69


def decompose_texts(
    texts: Iterable[str], parser: Parser, *, measured: bool = False
) -> Iterator[list[DecomposedSentence]]:
    """The sentences of each text with their units, in order, with bounded memory. `measured` adds their features."""
    split = ((text, [(found.start, found.end) for found in split_sentences(text)]) for text in texts)
    return decompose_split(split, parser, measured=measured)


def decompose_split(
    texts: Iterable[SplitText], parser: Parser, *, measured: bool = False
) -> Iterator[list[DecomposedSentence]]:
    """The same for texts whose sentences are known, as spans."""
    warm_up()  # before the work is spread, so that its processes inherit the tables
    work = _measure_batch if measured else _decompose_batch
    return chain.from_iterable(parser.spread(work, _batches(texts)))


def warm_up() -> None:
    load_forms()
    load_languages()


def _batches(texts: Iterable[SplitText]) -> Iterator[list[SplitText]]:
    return batched_by_size(texts, lambda text: len(text[0]), most=TEXTS_PER_BATCH, characters=CHARACTERS_PER_BATCH)


def _measure_batch(parser: Parser, texts: list[SplitText]) -> list[list[DecomposedSentence]]:
    return _decompose_batch(parser, texts, measured=True)


def _decompose_batch(
    parser: Parser, texts: list[SplitText], *, measured: bool = False
) -> list[list[DecomposedSentence]]:
    views = [[clean(text[start:end], start) for start, end in spans] for text, spans in texts]
    parses = iter(parse_sentences([view.text for sentences in views for view in sentences], parser))
    found = []
    for sentences, (_, spans) in zip(views, texts, strict=True):
        own = [straighten(parse) for parse in islice(parses, len(sentences))]
        units = decompose_reference(own)
        decomposed = [
            DecomposedSentence(start, end, tuple(_placed(unit, view) for unit in drafts))
            for (start, end), view, drafts in zip(spans, sentences, units, strict=True)
        ]
        found.append(measure_reference(own, decomposed) if measured else decomposed)
    return found


def measure_reference(parses: Sequence[Parse], sentences: list[DecomposedSentence]) -> list[DecomposedSentence]:
    """The sentences of one reference with the features that tell how easy they are."""
    described = describe_reference(
        parses, [[(unit.text, unit.rule) for unit in sentence.units] for sentence in sentences]
    )
    return [
        replace(
            sentence,
            features=tuple(measure_features(one)),
            projected=tuple(tree_features([word.text for word in one.parse.tokens], project_tree(one.parse))),
        )
        for sentence, one in zip(sentences, described, strict=True)
    ]


def _placed(unit: DraftUnit, view: Cleaned) -> DraftUnit:
    """A unit with its spans in the text instead of the cleaned sentence."""
    return DraftUnit(unit.text, tuple(view.span(start, end) for start, end in unit.spans), unit.rule)
