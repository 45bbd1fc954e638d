"""The paper's own way from a text to units and easiness, by AllenNLP's models: clusters, frames, trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.aligning import align_units
from annotation.allennlp.client import AllenNlp, words_of
from annotation.cleaning import clean
from annotation.decomposing.seed import resolve_clusters, units_of_frames
from annotation.parses import Parse, Parser
from annotation.ranking.constituency import tree_features
from annotation.ranking.published import PublishedRegressor
from annotation.splitting import split_sentences


@dataclass(slots=True)
class SeedSentence:
    """A sentence with the STUs of the seed rule, and its easiness if a regressor was given."""

    text: str
    units: list[str] = field(default_factory=list)
    easiness: float | None = None


def decompose_by_seed_rule(
    text: str, models: AllenNlp, parser: Parser, regressor: PublishedRegressor | None = None
) -> list[SeedSentence]:
    """The sentences of a text. Coreference is resolved first where a model for it is named, as in the paper."""
    parses = _parsed(text, parser)
    statements: Sequence[str] = ()
    if models.models.get("coref") and parses:
        words = [words_of(parse) for parse in parses]
        resolved = resolve_clusters([word for sentence in words for word in sentence], models.clusters(words))
        parses, statements = _parsed(resolved.text, parser), resolved.statements
    found = [
        SeedSentence(parse.text, units_of_frames(words_of(parse), frames))
        for parse, frames in zip(parses, models.frames(parses) if parses else [], strict=True)
    ]
    for statement, place in zip(statements, align_units(statements, [item.text for item in found]), strict=True):
        found[place].units.insert(0, statement)
    if regressor is not None and found:
        for item, parse, tree in zip(found, parses, models.trees(parses), strict=True):
            item.easiness = regressor.predict(tree_features(words_of(parse), tree))
    return found


def _parsed(text: str, parser: Parser) -> list[Parse]:
    return parser.parse([clean(text[found.start : found.end]).text for found in split_sentences(text)])
