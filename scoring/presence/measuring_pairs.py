"""From pairs of texts to rows of features: each text is made ready once, and the work is shared by two processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from annotation.encoder import load_encoder
from annotation.parses import Parser
from scoring.judging import Pair
from scoring.presence.features import NAMES, measure_row
from scoring.presence.sides import SummarySide, UnitSide, summary_side, unit_side
from scoring.presence.texts import LAYERS, Text, make_ready

PAIRS_PER_CHUNK, CHARACTERS_PER_CHUNK = 300, 200_000
Chunk = list[tuple[int, Pair]]


def measure_pairs(pairs: Sequence[Pair], parser: Parser) -> Any:
    """An array with the features of each pair, in their order. A side without words gives a row of nothing."""
    import numpy

    rows = numpy.full((len(pairs), len(NAMES)), numpy.nan, dtype=numpy.float32)
    if pairs:
        load_encoder(LAYERS)  # before the work is spread, so that its processes inherit the weights
    for places, found in parser.spread(measure_chunk, chunks_of(pairs)):
        rows[places] = found
    return rows


def chunks_of(pairs: Iterable[Pair]) -> Iterator[Chunk]:
    """Pairs with texts in common go together: the pairs of one summary, and summaries that are asked for one unit."""
    by_summary: dict[str, Chunk] = {}
    first_seen: dict[str, int] = {}
    for place, pair in enumerate(pairs):
        first_seen.setdefault(pair.unit, place)
        by_summary.setdefault(pair.summary, []).append((place, pair))
    chunk: Chunk = []
    size = 0
    for own in sorted(by_summary.values(), key=lambda found: min(first_seen[pair.unit] for _, pair in found)):
        cost = len(own[0][1].summary)
        if chunk and (len(chunk) + len(own) > PAIRS_PER_CHUNK or size + cost > CHARACTERS_PER_CHUNK):
            yield chunk
            chunk, size = [], 0
        chunk, size = chunk + own, size + cost
    if chunk:
        yield chunk


def measure_chunk(parser: Parser, chunk: Chunk) -> tuple[list[int], Any]:
    """The places of some pairs and their features."""
    import numpy

    encoder = load_encoder(LAYERS)

    def ready(text: str) -> Text | None:
        found = make_ready(text, parser, encoder)
        return found if found.words else None

    units: dict[str, UnitSide | None] = {}
    summaries: dict[str, SummarySide | None] = {}
    places, rows = [], []
    for place, pair in chunk:
        if pair.summary not in summaries:
            text = ready(pair.summary)
            summaries = {pair.summary: summary_side(text) if text else None}  # the next pairs have the same summary
        if pair.unit not in units:
            text = ready(pair.unit)
            units[pair.unit] = unit_side(text) if text else None
        summary, unit = summaries[pair.summary], units[pair.unit]
        if summary and unit:
            places.append(place)
            rows.append(measure_row(summary, unit))
    return places, numpy.array(rows, dtype=numpy.float32).reshape(-1, len(NAMES))
