"""From the parsed sentences of a reference to its units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.decomposing.clauses import ClauseReader
from annotation.decomposing.facts import Fact
from annotation.decomposing.naming import Naming, subject_words
from annotation.decomposing.nominals import NounReader
from annotation.decomposing.phrases import spans, trim, write
from annotation.parses import Parse

VERSION = "embedded-1"
# Words that two statements may differ by and still say the same.
FUNCTION_TAGS = frozenset({"DT", "POS", "PRP$"})
MIN_WORDS = 2
MAX_TOKENS = 300
MAX_WORDS = 40
MAX_WHOLE = 100  # of a "sentence" that is none


Content = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DraftUnit:
    """A unit as a machine proposes it: its text, where its words stand in the sentence, and the rule that made it."""

    text: str
    spans: tuple[tuple[int, int], ...]
    rule: str


def decompose_reference(parses: Sequence[Parse]) -> list[list[DraftUnit]]:
    """The units of each sentence of a reference, in order. Names are carried from sentence to sentence."""
    naming = Naming()
    naming.read_names(list(parses))
    told: set[Content] = set()
    return [_decompose_sentence(parse, naming, told) for parse in parses]


def _decompose_sentence(parse: Parse, naming: Naming, told: set[Content]) -> list[DraftUnit]:
    # A question states nothing, and what is longer than any sentence is none: both stand for themselves.
    if parse.text.rstrip("'\"”’) ").endswith("?") or len(parse.tokens) > MAX_TOKENS:
        return _whole(parse)
    same = list(naming.same_person(parse))
    for token in parse.tokens:
        if token.dep in ("nsubj", "nsubjpass") and token.start >= parse.lead:
            naming.note(parse, token, subject_words(parse, token))
    facts = [*ClauseReader(parse, naming).facts(), *same, *NounReader(parse, naming).facts()]
    return _written(parse, facts, told) if facts else _whole(parse)


def _written(parse: Parse, facts: Iterable[Fact], told: set[Content]) -> list[DraftUnit]:
    """Facts as units: readable ones, each once in a reference, however often it is told."""
    units: list[DraftUnit] = []
    for fact in facts:
        text = write(parse, fact.pieces)
        if not MIN_WORDS <= len(text.split()) <= MAX_WORDS:
            continue
        key = _content(fact)
        if key in told:
            continue
        told.add(key)
        units.append(DraftUnit(text, spans(parse, fact.pieces), fact.rule))
    return units


def _content(fact: Fact) -> Content:
    """What a fact says, word by word, without articles: "to Paris" and "from Paris" are two facts."""
    words: list[str] = []
    for piece in fact.pieces:
        if isinstance(piece, str):
            words += piece.lower().split()
        elif piece.tag not in FUNCTION_TAGS:
            words.append(piece.lemma.lower())
    return tuple(words)


def _whole(parse: Parse) -> list[DraftUnit]:
    """A sentence in which no rule finds a fact stands for itself; without a verb, "there is" makes it one."""
    words = trim([token for token in parse.tokens if token.start >= parse.lead][:MAX_WHOLE])
    if not words:
        return []
    has_verb = any(word.tag in ("VBD", "VBZ", "VBP", "MD") for word in words)
    if has_verb:
        return [DraftUnit(write(parse, words), spans(parse, words), "whole sentence")]
    root = next((word for word in parse.tokens if word.head == word.index), words[0])
    start = "There are" if root.tag in ("NNS", "NNPS") else "There is"
    return [DraftUnit(write(parse, [start, *words]), spans(parse, words), "no verb")]
