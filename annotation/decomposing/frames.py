"""A predicate with its subjects and arguments, and how its verb is written for one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from annotation.decomposing.phrases import QUOTES, Piece
from annotation.decomposing.vocabulary import PLACES_AND_TIMES, PLURAL_WORDS
from annotation.parses import Token


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a statement is about, and whether it is one or several, so that the verb agrees.

    `alone`: it was one of several that "and" joins, so that the verb of the sentence may not fit it.
    """

    pieces: tuple[Piece, ...]
    plural: bool = False
    alone: bool = False


@dataclass(slots=True)
class Frame:
    """A predicate with its arguments. Objects are alternatives: each makes a statement of its own."""

    subjects: list[Subject]
    verb: list[Piece]
    objects: list[list[Piece]] = field(default_factory=list)
    adjuncts: list[list[Piece]] = field(default_factory=list)
    stands_alone: bool = False  # "was killed" says enough, "was placed" does not
    is_limited: bool = False  # by "not" or "only": then what follows may be left out no more


def is_plural(noun: Token) -> bool:
    return noun.tag in ("NNS", "NNPS") or noun.low in PLURAL_WORDS


def apart(adjuncts: list[list[Piece]]) -> list[Piece]:
    """Adjuncts one after the other, without those that share a word with one before ("for Leeds", "for Hull")."""
    found: list[Piece] = []
    for adjunct in adjuncts:
        words = {piece.index for piece in adjunct if isinstance(piece, Token)}
        if not words & {piece.index for piece in found if isinstance(piece, Token)}:
            found += adjunct
    return found


def tells_where_or_when(pieces: list[Piece]) -> bool:
    """Of what hangs on a noun only a place or a time holds for the whole: who was met "by men with guns" has none."""
    return any(isinstance(piece, Token) and piece.entity in PLACES_AND_TIMES for piece in pieces)


def hangs_on(pieces: list[Piece], noun: Token) -> bool:
    first = pieces[0]
    return isinstance(first, Token) and first.head == noun.index


@cache
def load_forms() -> Callable[[str, str], tuple[str, ...]]:
    """The tables of verb forms. They bring spaCy, which the web process never loads."""
    from lemminflect import getInflection

    getInflection("win", "VBD")  # reads the tables
    return getInflection  # type: ignore[no-any-return]


def inflected(verb: Token, tag: str) -> str:
    """ "won" for "winning". Of two spellings the one that the sentence uses ("travelled")."""
    forms = load_forms()(verb.lemma, tag) or (verb.text,)
    return next((form for form in forms if form.startswith(verb.low.removesuffix("ing"))), forms[0])


def in_order(words: Iterable[Token]) -> list[Token]:
    return sorted(words, key=lambda word: word.index)


def is_word(token: Token) -> bool:
    return token.text not in QUOTES and any(letter.isalnum() for letter in token.text)


def disagrees(verb: list[Piece], subjects: list[Subject]) -> bool:
    """Whether a verb in the plural was given one singular subject from elsewhere: then it is not its subject."""
    first = verb[0] if verb else ""
    is_plural_form = isinstance(first, Token) and first.low in ("have", "are", "were")
    return is_plural_form and len(subjects) == 1 and not subjects[0].plural


def agree(verb: list[Piece], subject: Subject) -> list[Piece]:
    """The verb for its subject. What the sentence says stays, unless the subject was one of several."""
    if not verb:
        return verb
    first = verb[0]
    if isinstance(first, str):
        several = {"was": "were", "is": "are", "has": "have"}
        return [several.get(first, first) if subject.plural else first, *verb[1:]]
    if subject.alone and not subject.plural and first.tag in ("VBP", "VBD"):
        one = {"have": "has", "are": "is", "were": "was", "do": "does"}
        default = inflected(first, "VBZ") if first.tag == "VBP" else first
        return [one.get(first.low, default), *verb[1:]]
    return verb
