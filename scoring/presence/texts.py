"""A text made ready for judging: its words with their parts of speech, weights, vectors, and who depends on whom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from annotation.overlap import stems
from annotation.parses import Parse, Parser, Token
from annotation.splitting import split_sentences
from scoring.presence.normalising import normalise
from scoring.presence.numbers import SCALES, numbers_of

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
LIGHT = frozenset(
    {"be", "have", "do", "get", "go", "make", "say", "take", "there", "also", "then", "now", "so", "very"}
)
NEGATIONS = frozenset({
    "no", "not", "n't", "never", "none", "nobody", "nothing", "neither", "nor", "without", "deny", "fail", "refuse",
    "unable", "cannot", "hardly",
})  # fmt: skip
FIRST_WORD, LAST_WORD = 1996, 30522  # the vocabulary of MiniLM lists words from common to rare
LAYERS = (0, 3, 6)


class Encoding(Protocol):
    """What judging needs of an encoded text."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def ids(self) -> tuple[int, ...]: ...
    @property
    def layers(self) -> Any: ...


class Encoder(Protocol):
    name: str

    def encode(self, text: str) -> Encoding: ...


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text. `head` is the place of the word it depends on, or -1."""

    low: str
    lemma: str
    stem: str
    pos: str
    dep: str
    head: int
    sentence: int
    is_content: bool
    is_name: bool
    weight: float
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text made ready; one without words has no vectors. Vectors have unit length."""

    words: tuple[Word, ...]
    sentences: int
    vectors: Any  # layers x words x numbers
    wholes: Any  # sentences x numbers: the means of the last layer
    whole: Any  # the same for the text
    negated: tuple[bool, ...]  # for each sentence


def make_ready(text: str, parser: Parser, encoder: Encoder) -> Text:
    """Normalise, parse and encode one text. Nothing is shared with other texts, so nothing of them can leak in."""
    import numpy

    view = normalise(text)
    spans = [(found.start, found.end) for found in split_sentences(view)]
    parses = parser.parse([view[start:end] for start, end in spans])
    encoded = encoder.encode(view)
    words: list[Word] = []
    rows = []
    negated = []
    for number, ((start, _), parse) in enumerate(zip(spans, parses, strict=True)):
        pieces = _pieces_of(parse, start, encoded)
        places = _places(parse, pieces, len(words))
        for token in parse.tokens:
            if token.index in places:
                ids = [encoded.ids[piece] for piece in pieces[token.index]]
                words.append(_word(parse, token, number, places, ids))
                rows.append(encoded.layers[:, pieces[token.index]].mean(1))
        negated.append(any(token.lemma.lower() in NEGATIONS or token.dep == "neg" for token in parse.tokens))
    if not words:
        return Text((), 0, None, None, None, ())
    vectors, last = numpy.stack(rows, axis=1), encoded.layers[-1]
    wholes = [_mean(last, [n for n, (s, e) in enumerate(encoded.spans) if start <= s < end]) for start, end in spans]
    return Text(
        tuple(words), len(spans), _unit(vectors), _unit(numpy.array(wholes)), _unit(last.mean(0)), tuple(negated),
    )  # fmt: skip


def _pieces_of(parse: Parse, offset: int, encoded: Encoding) -> dict[int, list[int]]:
    """The wordpieces of each word."""
    found: dict[int, list[int]] = {}
    owner = {place: token.index for token in parse.tokens for place in range(offset + token.start, offset + token.end)}
    for piece, (start, end) in enumerate(encoded.spans):
        if start < end and (token := owner.get(start)) is not None:
            found.setdefault(token, []).append(piece)
    return found


def _places(parse: Parse, pieces: dict[int, list[int]], first: int) -> dict[int, int]:
    """Where each word of a sentence will stand among those of the text. Punctuation is none."""
    kept = [
        token.index
        for token in parse.tokens
        if token.index in pieces and any(letter.isalnum() for letter in token.text)
    ]
    return {index: first + place for place, index in enumerate(kept)}


def _word(parse: Parse, token: Token, sentence: int, places: dict[int, int], ids: list[int]) -> Word:
    lemma = token.lemma.lower()
    following = parse.tokens[token.index + 1].low if token.index + 1 < len(parse.tokens) else ""
    is_scale = token.low in SCALES and token.index > 0 and parse.tokens[token.index - 1].pos == "NUM"
    return Word(
        low=token.low,
        lemma=lemma,
        stem=_stem(token.low),
        pos=token.pos,
        dep=token.dep,
        head=places.get(token.head, -1) if token.head != token.index else -1,
        sentence=sentence,
        is_content=token.pos in CONTENT and lemma not in LIGHT,
        is_name=token.pos == "PROPN" or (token.text[:1].isupper() and token.index > 0 and token.pos in CONTENT),
        weight=_weight(ids),
        numbers=() if is_scale else numbers_of(token.text, following),
    )


@lru_cache(maxsize=50_000)
def _stem(low: str) -> str:
    return "".join(stems(low)) or low


def _weight(ids: list[int]) -> float:
    """How much a word tells, 0 to 1: rare words tell most. The vocabulary's order stands for how common a word is."""
    if len(ids) > 1:
        return 1.0
    rank = max(ids[0] - FIRST_WORD, 0) + 1
    return math.log(rank) / math.log(LAST_WORD - FIRST_WORD)


def _mean(rows: Any, places: list[int]) -> Any:
    import numpy

    return rows[places].mean(0) if places else numpy.zeros(rows.shape[-1])


def _unit(rows: Any) -> Any:
    import numpy

    return (rows / (numpy.linalg.norm(rows, axis=-1, keepdims=True) + 1e-9)).astype(numpy.float32)
