"""Facts that have no verb: what stands beside a noun says what it is, where it is from, how old it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.decomposing.facts import Fact
from annotation.decomposing.naming import PERSON_NOUNS, Naming
from annotation.decomposing.phrases import (
    QUOTES,
    Piece,
    age_after,
    name_ending_at,
    noun_phrase,
    renamed,
    title_before,
    trim,
)
from annotation.parses import Parse, Token

OFFICES = frozenset({
    "ambassador", "archbishop", "bishop", "chancellor", "congressman", "congresswoman", "councillor", "detective",
    "governor", "inspector", "md", "mp", "msp", "mep", "secretary", "sergeant", "sheriff", "superintendent",
})  # fmt: skip
QUANTITIES = frozenset({"thousands", "hundreds", "dozens", "millions", "tens", "scores"})
PLACES = frozenset({"GPE", "LOC", "NORP"})
GROUPS = frozenset({"ORG", "GPE", "LOC", "NORP", "FAC"})
# Marks that set an apposition apart from its noun.
BREAKS = frozenset({",", "(", "-", "–", "—", "--"})
AGE = re.compile(r"(\d{1,3}|[a-z]+)-years?-old", re.IGNORECASE)
LOOSE = frozenset(
    {"from", "in", "at", "on", "for", "with", "near", "between", "behind", "against", "about", "inside", "outside"}
)


class NounReader:
    """Reads what the nouns of one sentence say without a verb."""

    def __init__(self, parse: Parse, naming: Naming) -> None:
        self.parse, self.naming = parse, naming

    def facts(self) -> Iterator[Fact]:
        for token in self.parse.tokens:
            is_aged_one = token.dep in ("nsubj", "nsubjpass", "dobj") and AGE.fullmatch(token.text)  # "the 43-year-old"
            if (token.pos in ("NOUN", "PROPN") and token.dep != "compound") or is_aged_one:
                yield from self.before_name(token)
                yield from self.appositions(token)
                yield from self.adjectives(token)
                yield from self.prepositions(token)
                yield from self.possessions(token)
                yield from self.employers(token)
                yield from self.quantities(token)

    # --- names ---------------------------------------------------------------------------------------------------

    def before_name(self, last: Token) -> Iterator[Fact]:
        """ "Netherlands midfielder Wesley Sneijder": he is a midfielder, and from the Netherlands."""
        if last.pos != "PROPN" or not last.entity:
            return
        name = name_ending_at(self.parse, last)
        before = title_before(self.parse, last, name)
        # The first word of a sentence has a capital, and passes for a name ("Candidate Lynne Abraham").
        nouns = [word for word in before[-1:] if word.pos == "NOUN" or self.is_title(word)]
        nouns = [word for word in nouns if word.tag in ("NN", "NNS", "NNP")]
        subject = self.naming.spell_out(name)
        origins = [word for word in before if word.entity in GROUPS]
        described = [word for word in before if not self.is_age(word)]
        described = [word for word in described if word.tag not in ("POS", "PRP$")]
        if nouns and described:
            yield Fact((*subject, be(described[-1]), article(described), *described), "title before a name")
        if last.entity == "PERSON" or nouns:
            for owner in self.parse.kids(last, "poss"):
                if owner.entity in GROUPS and last.entity == "PERSON":
                    yield Fact((*subject, "is from", *name_ending_at(self.parse, owner)), "origin before a name")
            for group in neighbours(origins):
                is_people = group[0].entity == "NORP"
                if not is_people or group[-1].pos == "ADJ":
                    yield Fact((*subject, "is" if is_people else "is from", *group), "origin before a name")

    # --- appositions ---------------------------------------------------------------------------------------------

    def appositions(self, noun: Token) -> Iterator[Fact]:
        number = age_after(self.parse, noun)
        if number:
            yield Fact((*self.subject(noun), "is", number, "years old"), "age")
        for kid in self.parse.kids(noun, "appos"):
            subject = self.subject(noun)
            between = {word.text for word in self.parse.tokens[noun.index + 1 : kid.index]}
            is_part_of_name = noun.pos == kid.pos == "PROPN" and not between & BREAKS
            if kid.pos == "NUM" or is_part_of_name or between & {":", "not"}:
                continue
            if self.is_place(noun) and self.is_place(kid):
                yield Fact((*subject, "is in", *noun_phrase(self.parse, kid)), "place in a place")
            elif noun.pos == "NOUN" and kid.entity == "PERSON":
                several = self.parse.kids(kid, "conj")
                name = self.naming.spell_out(name_ending_at(self.parse, kid))
                names = noun_phrase(self.parse, kid, whole=True) if several else name
                if bool(several) == is_several(noun):
                    yield Fact((*names, be(noun), *noun_phrase(self.parse, noun)), "apposition")
            elif kid.pos in ("NOUN", "PROPN") and not noun.entity == kid.entity == "PERSON":
                words = noun_phrase(self.parse, kid, whole=is_several(noun))
                yield Fact((*subject, be(noun), *words), "apposition")

    def is_title(self, word: Token) -> bool:
        """A title with a capital: the first word of a sentence, or an office ("Finance Secretary")."""
        return word.tag == "NNP" and (word.index == 0 or word.low in PERSON_NOUNS | OFFICES) and not word.entity

    def is_place(self, noun: Token) -> bool:
        """A place, or a name that the parser has no kind for, as is common with small towns."""
        return noun.entity in PLACES or (noun.pos == "PROPN" and not noun.entity)

    def subject(self, noun: Token) -> list[Piece]:
        """A noun with its determiner, without what is told apart."""
        leave_out = frozenset({"prep", "amod", "nummod"}) if noun.pos == "PROPN" else frozenset({"prep"})
        words = noun_phrase(self.parse, noun, bare=leave_out)
        if noun.pos == "PROPN" and noun.entity:
            name = {word.index for word in name_ending_at(self.parse, noun)}
            words = [word for word in words if word.index in name] or words
        return self.naming.subject(self.parse, words)

    # --- adjectives ----------------------------------------------------------------------------------------------

    def adjectives(self, noun: Token) -> Iterator[Fact]:
        own = AGE.fullmatch(noun.text)
        person = self.naming.person("") if own else ""
        if own and person:
            yield Fact((person, "is", renamed(noun, own.group(1)), "years old"), "age")
        age = self.age_of(noun) if not self.has_aged_owner(noun) else None
        if age:
            yield Fact((*self.plain(noun), be(noun), age, "years old"), "age")
        for kid in self.parse.kids(noun, "amod"):
            if self.is_age(kid):
                continue
            if kid.entity == "NORP":
                yield Fact((*self.plain(noun), be(noun), kid), "nationality")

    def plain(self, noun: Token) -> list[Piece]:
        """A noun on its own: "the hedge", "Maren Sanchez"."""
        if noun.pos == "PROPN":
            return self.subject(noun)
        bare = frozenset({"amod", "det", "prep", "poss", "nummod", "advmod", "predet"})
        return ["the", *[word for word in noun_phrase(self.parse, noun, bare=bare) if word.text not in QUOTES]]

    def age_of(self, noun: Token) -> Token | None:
        """The age that a noun's adjective tells, as the number alone."""
        ages = [(kid, AGE.fullmatch(kid.text)) for kid in self.parse.kids(noun) if kid.index < noun.index]
        return next((renamed(kid, age.group(1)) for kid, age in ages if age), None)

    def has_aged_owner(self, noun: Token) -> bool:
        return any(AGE.fullmatch(kid.text) for kid in self.parse.kids(noun, "poss"))

    def is_age(self, word: Token) -> bool:
        return bool(AGE.fullmatch(word.text))

    # --- prepositions --------------------------------------------------------------------------------------------

    def prepositions(self, noun: Token) -> Iterator[Fact]:
        """ "Students from Surrey discovered …": they were from Surrey."""
        is_subject = noun.dep in ("nsubj", "nsubjpass", "conj", "ROOT")
        for kid in self.parse.kids(noun, "prep"):
            objects = self.parse.kids(kid, "pobj")
            is_place = (
                bool(objects) and objects[0].entity in ("GPE", "LOC", "FAC") and kid.low in ("in", "at", "from", "near")
            )
            if objects and ((is_subject and kid.low in LOOSE) or (is_place and noun.pos == "NOUN")):
                words = noun_phrase(self.parse, objects[0], whole=True)
                subject = self.subject(noun) if is_subject else self.plain(noun)
                yield Fact((*subject, be(noun, past=True), kid, *words), "preposition")

    # --- owners, employers, quantities ---------------------------------------------------------------------------

    def possessions(self, noun: Token) -> Iterator[Fact]:
        """ "Mayweather's unbeaten record": he has an unbeaten record. Only with an adjective, which makes it news."""
        for owner in self.parse.kids(noun, "poss"):
            adjectives = [kid for kid in self.parse.kids(noun, "amod") if kid.tag == "JJ"]
            if owner.entity == "PERSON" and adjectives and noun.pos == "NOUN":
                bare = frozenset({"poss", "case", "prep"})
                words = noun_phrase(self.parse, noun, bare=bare)
                name = self.naming.spell_out(name_ending_at(self.parse, owner))
                yield Fact((*name, "has", article(words), *words), "possession")

    def employers(self, noun: Token) -> Iterator[Fact]:
        """ "A State Department official": the official is from the State Department."""
        if noun.pos != "NOUN" or noun.lemma.lower() not in PERSON_NOUNS:
            return
        for kid in self.parse.kids(noun, "compound", "nmod"):
            after, name = self.parse.tokens[kid.index + 1], name_ending_at(self.parse, kid)
            is_whole = after.begins_entity or not after.entity
            is_cut = name[0].index > 0 and self.parse.tokens[name[0].index - 1].low == "of"  # "Game of Thrones"
            if kid.entity in ("ORG", "GPE") and is_whole and not is_cut:
                yield Fact((*self.plain_without(noun, name), be(noun), "from", *name), "employer")

    def plain_without(self, noun: Token, words: list[Token]) -> list[Piece]:
        left_out = {word.index for word in words}
        return [piece for piece in self.plain(noun) if isinstance(piece, str) or piece.index not in left_out]

    def quantities(self, noun: Token) -> Iterator[Fact]:
        """ "Thousands of colonies": there were thousands of colonies."""
        if noun.low in QUANTITIES and self.parse.kids(noun, "prep"):
            yield Fact(("there were", *noun_phrase(self.parse, noun)), "quantity")


def be(noun: Token, *, past: bool = False) -> str:
    plural = is_several(noun)
    if past:
        return "were" if plural else "was"
    return "are" if plural else "is"


def is_several(noun: Token) -> bool:
    """A plural; the parser takes foreign words for one ("fiancée")."""
    if noun.low in ("police", "people"):
        return True
    return noun.tag in ("NNS", "NNPS") and noun.low.endswith(("s", "men", "people", "children", "ae", "i", "a"))


def article(words: list[Token]) -> str:
    if is_several(words[-1]) or words[0].tag in ("POS", "PRP$"):
        return ""
    first = words[0]
    sounds_like_you = first.text in ("US", "UK", "EU", "UN") or first.low.startswith(("uni", "use", "euro", "one"))
    return "an" if first.low[:1] in "aeiou" and not sounds_like_you else "a"


def neighbours(words: list[Token]) -> list[list[Token]]:
    """Words in runs without gaps."""
    runs: list[list[Token]] = []
    for word in words:
        if runs and runs[-1][-1].index + 1 == word.index and runs[-1][-1].entity == word.entity:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [list(trim(run)) for run in runs if trim(run)]
