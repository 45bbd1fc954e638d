"""The two sides of a pair, with all that can be said of each before it meets the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scoring.presence.texts import Text, Word

# Words that only tie others together: who depends on them depends on the word above.
LINKS = frozenset({"ADP", "AUX", "PART", "SCONJ"})
NO_CHILD = LINKS | {"DET", "CCONJ", "PUNCT"}
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
OBJECTS = frozenset({"dobj", "attr", "pobj", "oprd", "acomp", "dative"})
# Clauses whose subject stands in the clause above.
SHARING = frozenset({"relcl", "acl", "advcl", "xcomp", "conj"})
SHARED = frozenset({"nsubj", "nsubjpass", "compound", "poss"})
PREFIX = 4  # letters by which words of one family are known ("adopt", "adoption")
BASE_WEIGHT = 0.05  # even the most common word tells something
Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class UnitSide:
    """A unit. Arrays have one entry for each word; lists hold the places of some words."""

    text: Text
    stems: tuple[str, ...]
    weights: Any
    shares: Any  # the weights, so that they add up to 1
    content: list[int]
    content_shares: Any
    content_weights: list[float]
    names: list[int]
    nouns: list[int]
    verbs: list[int]
    modifiers: list[int]
    heads: list[int]
    children: list[int]
    root: int | None
    subjects: list[int]
    objects: list[int]
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SummarySide:
    """A summary. `starts` and `ends` tell where its sentences with words begin and end, `filled` which they are."""

    text: Text
    stems: tuple[str, ...]
    stem_set: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    prefixes: frozenset[str]
    sentence_stems: tuple[frozenset[str], ...]
    pronouns: tuple[int, ...]  # in each sentence with words
    starts: list[int]
    ends: list[int]
    filled: list[int]  # the sentences that have words
    weights: Any  # 0 for words that only tie others together
    heads: Any
    children: Any
    verbs: Any
    clauses: list[list[int]]  # for each verb the words of its clause
    numbers: frozenset[float]


def unit_side(text: Text) -> UnitSide:
    words = text.words
    weights = _weights(words)
    content = [place for place, word in enumerate(words) if word.is_content] or list(range(len(words)))
    root = next((place for place, word in enumerate(words) if word.dep == "ROOT"), None)
    subjects = [place for place, word in enumerate(words) if word.dep in SUBJECTS]
    edges = list(edges_of(words))
    return UnitSide(
        text=text,
        stems=tuple(word.stem for word in words),
        weights=weights,
        shares=weights / weights.sum(),
        content=content,
        content_shares=weights[content] / weights[content].sum(),
        content_weights=weights[content].tolist(),
        names=[place for place, word in enumerate(words) if word.is_name],
        nouns=_places(words, "NOUN", "PROPN"),
        verbs=_places(words, "VERB"),
        modifiers=_places(words, "ADJ", "ADV", "NUM"),
        heads=[head for head, _ in edges],
        children=[child for _, child in edges],
        root=root,
        subjects=[place for place in subjects if words[place].head == root] or subjects,
        objects=[place for place, word in enumerate(words) if word.dep in OBJECTS],
        numbers=tuple(number for word in words for number in word.numbers),
    )


def summary_side(text: Text) -> SummarySide:
    import numpy

    words = text.words
    stems = tuple(word.stem for word in words)
    filled = sorted({word.sentence for word in words})
    sentences = [word.sentence for word in words]
    starts = [sentences.index(number) for number in filled]
    edges = list(edges_of(words))
    verbs = [place for place, word in enumerate(words) if word.pos in ("VERB", "AUX") or word.dep == "ROOT"]
    return SummarySide(
        text=text,
        stems=stems,
        stem_set=frozenset(stems),
        bigrams=frozenset(pairwise(stems)),
        prefixes=frozenset(stem[:PREFIX] for stem in stems if len(stem) >= PREFIX),
        pronouns=tuple(sum(word.pos == "PRON" for word in words if word.sentence == number) for number in filled),
        sentence_stems=tuple(frozenset(word.stem for word in words if word.sentence == number) for number in filled),
        starts=starts,
        ends=[*starts[1:], len(words)],
        filled=filled,
        weights=_weights(words) * numpy.array([word.is_content for word in words]),
        heads=numpy.array([head for head, _ in edges], dtype=int),
        children=numpy.array([child for _, child in edges], dtype=int),
        verbs=numpy.array(verbs, dtype=int),
        clauses=clauses_of(words, verbs),
        numbers=frozenset(number for word in words for number in word.numbers),
    )


def edges_of(words: Sequence[Word]) -> Iterator[Edge]:
    """Pairs of words where one depends on the other, directly or through words that only tie ("lives in Oslo")."""
    for place, word in enumerate(words):
        head = word.head
        for _ in range(4):
            if head < 0 or words[head].pos not in LINKS:
                break
            head = words[head].head
        if head >= 0 and word.pos not in NO_CHILD:
            yield head, place


def clauses_of(words: Sequence[Word], verbs: Sequence[int]) -> list[list[int]]:
    """For each verb the words below it, with the subject that it shares with the clause above."""
    below: list[list[int]] = [[] for _ in words]
    for place, word in enumerate(words):
        if word.head >= 0:
            below[word.head].append(place)
    found = []
    for verb in verbs:
        inside = [verb]
        for place in inside:
            inside += below[place]
        above = words[verb].head
        if words[verb].dep in SHARING and above >= 0:
            inside += [above, *(place for place in below[above] if words[place].dep in SHARED)]
        found.append(sorted(set(inside)))
    return found


def _weights(words: Sequence[Word]) -> Any:
    import numpy

    return numpy.array([word.weight for word in words], dtype=numpy.float32) + BASE_WEIGHT


def _places(words: Sequence[Word], *kinds: str) -> list[int]:
    return [place for place, word in enumerate(words) if word.pos in kinds]
