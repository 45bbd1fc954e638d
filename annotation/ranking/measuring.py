"""Features of sentences whose units are given, many texts at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path

from annotation.batching import batched_by_size
from annotation.cleaning import clean
from annotation.decomposing.headlines import parse_sentences
from annotation.decomposing.straightening import straighten
from annotation.decomposing.texts import CHARACTERS_PER_BATCH, TEXTS_PER_BATCH
from annotation.parses import Parser
from annotation.ranking import features
from annotation.ranking.features import SentenceUnits, describe_reference, measure_features

MEASURE = sha256(Path(features.__file__).read_bytes()).hexdigest()[:8]
"""Names the way features are measured: another way, other rankings."""
GivenText = tuple[str, list[tuple[int, int]], Sequence[SentenceUnits]]
"""A text, the spans of its sentences, and the units of each."""


def measure_texts(texts: Iterable[GivenText], parser: Parser) -> Iterator[list[list[float]]]:
    """The features of the sentences of each text, in order, with bounded memory."""
    return chain.from_iterable(parser.spread(_measure_batch, _batches(texts)))


def _batches(texts: Iterable[GivenText]) -> Iterator[list[GivenText]]:
    return batched_by_size(texts, lambda text: len(text[0]), most=TEXTS_PER_BATCH, characters=CHARACTERS_PER_BATCH)


def _measure_batch(parser: Parser, texts: list[GivenText]) -> list[list[list[float]]]:
    sentences = [clean(text[start:end]).text for text, spans, _ in texts for start, end in spans]
    parses = iter(parse_sentences(sentences, parser))
    found = []
    for _, spans, units in texts:
        own = [straighten(parse) for parse in islice(parses, len(spans))]
        found.append([measure_features(described) for described in describe_reference(own, units)])
    return found
