"""Pieces of a sentence that become parts of a unit: which words belong to a phrase, and how pieces are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotation.parses import Parse, Token

Piece = Token | str
"""A word of the sentence, or one that a rule puts in ("is", "from")."""

# What hangs on a noun and tells a fact of its own; it gets a unit of its own instead.
OWN_FACT = frozenset({"relcl", "acl", "appos", "parataxis", "advcl", "ccomp"})
COORDINATION = frozenset({"conj", "cc", "preconj"})
# Prepositions without which a noun says something else ("thousands of colonies").
KEPT_PREPOSITIONS = frozenset({"of", "per", "than", "worth", "but", "except", "besides"})
NAMES = frozenset({"PERSON", "ORG", "GPE", "FAC", "PRODUCT"})
PRE_NAME = frozenset(
    {
        "compound",
        "nmod",
        "amod",
        "nummod",
        "poss",
        "det",
        "advmod",
        "npadvmod",
        "punct",
        "case",
        "quantmod",
        "conj",
        "cc",
    }
)
HONORIFICS = frozenset({"mr", "mrs", "ms", "miss", "dr", "sir", "lord", "lady", "dame", "prof"})
AGE_NUMBER = re.compile(r"1?\d?\d")
QUOTES = frozenset("\"'“”‘’`") | {"''", "``"}
NO_SPACE_BEFORE = frozenset(
    {"'s", "’s", "n't", "n’t", "'", "’", ".", ",", "%", ")", "]", "'re", "'ve", "'ll", "'d", "'m"}
)


def noun_phrase(parse: Parse, head: Token, *, whole: bool = False, bare: frozenset[str] = frozenset()) -> list[Token]:
    """The words of a noun without what tells a fact of its own.

    `whole` keeps the nouns that are joined by "and"; `bare` names further kinds of words to leave out.
    """
    if head.entity in NAMES and head.pos == "PROPN" and not (whole and parse.kids(head, "conj")):
        name = name_ending_at(parse, head)
        if len(title_before(parse, head, name)) > 0:
            return name
    whole = whole or any(joins_one_name(parse, word) for word in parse.subtree(head, OWN_FACT))
    left_out = _kids_left_out(parse, head, bare | (frozenset() if whole else COORDINATION))
    age = age_after(parse, head)
    words = [
        word
        for word in parse.subtree(head, OWN_FACT)
        if word is not age
        and word.index not in left_out
        and not _is_in_foreign_preposition(parse, head, word)
        and not (word.dep == "punct" and not _joins(parse, word) and not (whole and _lists(parse, word)))
    ]
    return trim(words) or [head]


def _kids_left_out(parse: Parse, head: Token, kinds: frozenset[str]) -> set[int]:
    """Words below the head's own kids of some kinds. What hangs deeper stays ("corrupt and illegal practices")."""
    if head.pos != "ADJ":  # "worth £6,000" needs its number
        kinds = kinds | {"npadvmod"}
    # "The mayor, not the governor, signed": the mayor did.
    denied = {kid.index for kid in parse.kids(head, "neg") if kid.index > head.index}
    return denied | {word.index for kid in parse.kids(head) if kid.dep in kinds for word in parse.subtree(kid)}


def name_ending_at(parse: Parse, last: Token) -> list[Token]:
    """The words of the name that ends with a word."""
    start = last.index
    while start > 0 and not parse.tokens[start].begins_entity and parse.tokens[start - 1].entity == last.entity:
        start -= 1
    if start > 0 and parse.tokens[start - 1].low.rstrip(".") in HONORIFICS:
        start -= 1
    return list(parse.tokens[start : last.index + 1])


def age_after(parse: Parse, noun: Token) -> Token | None:
    """The number in "Andrea, 72, pays": an age."""
    after = parse.tokens[noun.index + 1 : noun.index + 4]
    if len(after) < 3 or after[0].text != "," or after[2].text not in (",", ".", ";"):
        return None
    is_name = noun.pos == "PROPN" and noun.entity not in ("GPE", "LOC", "DATE", "FAC")
    return after[1] if is_name and AGE_NUMBER.fullmatch(after[1].text) else None


def title_before(parse: Parse, last: Token, name: list[Token]) -> list[Token]:
    """What stands directly before a name and describes it ("Netherlands midfielder"); [] if nothing does."""
    before = [word for word in parse.subtree(last) if word.index < name[0].index and _hangs_before(parse, word, last)]
    before = [word for word in before if word.pos not in ("DET", "PUNCT")]
    if not before or before[-1].tag in ("POS", "PRP$") or before[-1].index + 1 != name[0].index:
        return []
    if before[-1].low.rstrip(".") in HONORIFICS:
        return []
    return before


def _hangs_before(parse: Parse, word: Token, last: Token) -> bool:
    current = word
    while current.index != last.index:
        if current.dep not in PRE_NAME:
            return False
        current = parse.head(current)
    return True


def _is_in_foreign_preposition(parse: Parse, head: Token, word: Token) -> bool:
    """Whether a word hangs on the head by a preposition that is a fact of its own ("students from Surrey")."""
    current = word
    while current.index != head.index:
        if current.dep == "prep" and current.low not in KEPT_PREPOSITIONS and not _in_one_name(parse, current):
            return True
        current = parse.head(current)
    return False


def _in_one_name(parse: Parse, word: Token) -> bool:
    """Whether a preposition is part of a name ("Ministry for the Environment")."""
    return bool(word.entity) and not word.begins_entity and parse.head(word).entity == word.entity


def _lists(parse: Parse, word: Token) -> bool:
    """Whether a comma parts the members of a list ("Italy, Spain and Turkey")."""
    return word.text == "," and bool(parse.kids(parse.head(word), "conj"))


def _joins(parse: Parse, word: Token) -> bool:
    """Whether a mark belongs to the words around it: a hyphen, a slash, a quote, a per cent sign."""
    return word.tag == "HYPH" or word.text in {"-", "/", "%", "&", "+", "°"} or word.text in QUOTES


def trim(words: Sequence[Token]) -> list[Token]:
    """Words without marks at their edges and without a quote whose partner is missing."""
    kept = sorted(words, key=lambda word: word.index)
    while kept and kept[0].pos == "PUNCT" and kept[0].text not in QUOTES | {"(", "["}:
        kept = kept[1:]
    while kept and kept[-1].pos == "PUNCT" and kept[-1].text not in QUOTES | {")", "]"}:
        kept = kept[:-1]
    quotes = [word for word in kept if word.text in QUOTES and word.tag != "POS"]
    if len(quotes) % 2:
        kept = [word for word in kept if word not in quotes]
    opened = sum(word.text in "([" for word in kept) - sum(word.text in ")]" for word in kept)
    return [word for word in kept if word.text not in "()[]"] if opened else kept


def conjuncts(parse: Parse, head: Token) -> list[Token]:
    """A word and those joined to it by "and" or "or"; parts of one name stay together ("Marks & Spencer")."""
    if joins_one_name(parse, head):
        return [head]
    found = [head]
    for word in found:
        found += parse.kids(word, "conj")
    return sorted(found, key=lambda word: word.index)


def joins_one_name(parse: Parse, head: Token) -> bool:
    """Whether "and" or "&" stands inside a name."""
    return any(
        kid.text == "&" or (kid.entity and not kid.begins_entity and kid.entity != "PERSON")
        for kid in parse.kids(head, "cc")
    )


def is_choice(parse: Parse, head: Token) -> bool:
    """Whether joined words are alternatives: of "Tom or Ann won" and "neither Tom nor Ann" none is told alone."""
    return any(
        kid.low in ("or", "nor", "neither", "either") for word in conjuncts(parse, head) for kid in parse.kids(word)
    )


def write(parse: Parse, pieces: Iterable[Piece]) -> str:
    """Pieces as text. Words that were neighbours keep the space between them, or its absence."""
    text, before = "", None
    for piece in pieces:
        word = piece if isinstance(piece, str) else inside(parse, piece) if text else piece.text
        if not word:
            continue
        if isinstance(piece, Token) and isinstance(before, Token) and before.index + 1 == piece.index:
            gap = parse.text[before.end : piece.start]
        elif not text or word in NO_SPACE_BEFORE or text.endswith(("(", "[", "£", "$", "-")):
            gap = ""
        else:
            gap = " "
        text += gap + word
        before = piece
    return capitalise(re.sub(r"\s+", " ", text).strip())


def inside(parse: Parse, word: Token) -> str:
    """A word that may have begun its sentence or a quotation, as it is written inside one."""
    is_short = len(word.text) == 1 and word.text != "I"
    if word.dep == "nummod" and word.tag == "CD" and word.index == 0 and word.entity not in ("", "CARDINAL", "DATE"):
        return word.text
    is_name = word.pos == "PROPN" or word.entity in NAMES | {"NORP", "LOC", "EVENT", "WORK_OF_ART"}
    before = parse.tokens[word.index - 1].text if word.index else ""
    is_first = word.index == 0 or (before in QUOTES | {":"} and word.tag != "PRP")
    if is_first and not is_name and (is_short or not word.text.isupper()):
        return word.text[:1].lower() + word.text[1:]
    if word.text.isupper() and len(word.text) > 1 and word.pos in ("VERB", "ADV", "AUX"):
        return word.low
    return word.text


def renamed(word: Token, text: str) -> Token:
    """A word that is written otherwise ("He" as "Nora Fisk", "19-year-old" as "19") and keeps its place."""
    return replace(word, text=text, lemma=text, tag="NNP", pos="PROPN")


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def spans(parse: Parse, pieces: Iterable[Piece]) -> tuple[tuple[int, int], ...]:
    """Where the words of a unit stand in the text: neighbours as one span, in order, each once."""
    own = {piece for piece in pieces if isinstance(piece, Token) and piece.start >= parse.lead}
    words = sorted(own, key=lambda word: word.index)
    found: list[tuple[int, int]] = []
    last = -2
    for word in words:
        if word.index == last + 1:
            found[-1] = (found[-1][0], word.end - parse.lead)
        else:
            found.append((word.start - parse.lead, word.end - parse.lead))
        last = word.index
    return tuple(found)
