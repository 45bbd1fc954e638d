"""Features of sentences whose units are given, many texts at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from annotation.cleaning import clean
from annotation.decomposing.headlines import parse_sentences
from annotation.decomposing.straightening import straighten
from annotation.parses import Parser
from annotation.ranking.features import describe_reference, measure_features

TEXTS_PER_BATCH = 64
SentenceUnits = list[tuple[str, str]]
"""The units of a sentence, as (text, rule)."""
GivenText = tuple[str, list[tuple[int, int]], list[SentenceUnits]]
"""A text, the spans of its sentences, and the units of each."""


def measure_texts(texts: Iterable[GivenText], parser: Parser) -> Iterator[list[list[float]]]:
    """The features of the sentences of each text, in order, with bounded memory."""
    return chain.from_iterable(parser.spread(_measure_batch, _batches(texts)))


def _batches(texts: Iterable[GivenText]) -> Iterator[list[GivenText]]:
    waiting = iter(texts)
    while batch := list(islice(waiting, TEXTS_PER_BATCH)):
        yield batch


def _measure_batch(parser: Parser, texts: list[GivenText]) -> list[list[list[float]]]:
    sentences = [clean(text[start:end]).text for text, spans, _ in texts for start, end in spans]
    parses = iter(parse_sentences(sentences, parser))
    found = []
    for _, spans, units in texts:
        own = [straighten(parse) for parse in islice(parses, len(spans))]
        found.append([measure_features(described) for described in describe_reference(own, units)])
    return found
