"""Who is meant: pronouns, short names and missing subjects stand for what the reference named before.

A light rule that can be explained, not a model: a wrong name is worse than a pronoun, so where it is not sure it keeps
the word as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from annotation.decomposing.facts import Fact
from annotation.decomposing.phrases import HONORIFICS, Piece, age_after, conjuncts, noun_phrase, renamed, write
from annotation.parses import Parse, Token

PERSON_PRONOUNS = frozenset({"he", "she"})
THEIR = {"his", "her"}
NAME_WORDS = 4
MALE = frozenset({
    "mr", "sir", "king", "prince", "lord", "duke", "father", "son", "husband", "brother", "boy", "man", "actor",
    "lad", "uncle", "grandfather", "dad", "boyfriend",
})  # fmt: skip
FEMALE = frozenset({
    "mrs", "ms", "miss", "lady", "queen", "princess", "duchess", "mother", "daughter", "wife", "sister", "girl",
    "woman", "actress", "aunt", "grandmother", "mum", "mom", "girlfriend", "dominatrix",
})  # fmt: skip


PERSON_NOUNS = (
    MALE
    | FEMALE
    | frozenset(
        [
            "ace",
            "athlete",
            "attacker",
            "attorney",
            "author",
            "billionaire",
            "boss",
            "candidate",
            "captain",
            "celebrity",
            "champion",
            "chef",
            "chief",
            "child",
            "coach",
            "comedian",
            "convict",
            "critic",
            "defendant",
            "director",
            "doctor",
            "driver",
            "expert",
            "fan",
            "father",
            "favourite",
            "fighter",
            "friend",
            "golfer",
            "graduate",
            "guest",
            "guitarist",
            "hero",
            "host",
            "immigrant",
            "inmate",
            "journalist",
            "judge",
            "killer",
            "lawyer",
            "leader",
            "legend",
            "lover",
            "manager",
            "mayor",
            "midfielder",
            "migrant",
            "millionaire",
            "minister",
            "model",
            "motorist",
            "murderer",
            "musician",
            "neighbour",
            "nurse",
            "officer",
            "official",
            "owner",
            "parent",
            "passenger",
            "patient",
            "pensioner",
            "performer",
            "pilot",
            "player",
            "politician",
            "presenter",
            "president",
            "prisoner",
            "professor",
            "pupil",
            "racer",
            "rapper",
            "reporter",
            "resident",
            "rider",
            "rival",
            "sailor",
            "scientist",
            "senator",
            "singer",
            "skipper",
            "soldier",
            "sportsman",
            "star",
            "striker",
            "student",
            "suspect",
            "swimmer",
            "teacher",
            "teen",
            "teenager",
            "thief",
            "toddler",
            "traveller",
            "tycoon",
            "veteran",
            "victim",
            "victor",
            "visitor",
            "volunteer",
            "winger",
            "winner",
            "witness",
            "worker",
            "writer",
            "youngster",
            "youth",
        ]
    )
)
TWO = frozenset({"pair", "couple", "duo"})
PERSON_ENDINGS = ("man", "woman", "ologist", "keeper", "fighter", "maker")


@dataclass(slots=True)
class Mention:
    """Somebody or something that was the subject of a sentence."""

    text: str
    is_person: bool
    is_plural: bool
    is_named: bool = False
    is_body: bool = False  # an organisation, a place, a product: what "it" can stand for
    gender: str = ""  # "he", "she" or not known
    place: tuple[int, int] = (0, 0)  # of its sentence and in it
    rivals: int = 0  # other people in the same clause whom a pronoun might mean


@dataclass(slots=True)
class Naming:
    """What a reference has named so far, from its first sentence on."""

    full_names: dict[str, str] = field(default_factory=dict)  # last or first name → full name
    mentions: list[Mention] = field(default_factory=list)
    described: dict[int, set[int]] = field(
        default_factory=dict
    )  # by parse: last words of descriptions of the one person
    couple: str = ""  # two people who were named together: "the pair"
    topic: Mention | None = None  # the newest of them that was a person
    main: Mention | None = None  # the subject of the newest sentence that had one of its own

    def read_names(self, parses: list[Parse]) -> None:
        """Full names of people anywhere in the reference, by each of their outer words."""
        for parse in parses:
            for words in people_in(parse):
                name = write(parse, words)
                if 2 <= len(words) <= NAME_WORDS:
                    for word in (words[-1], words[0]):
                        known = self.full_names.setdefault(word.text, name)
                        is_other = known.split()[:1] != name.split()[:1]
                        if word is words[-1] and is_other:
                            self.full_names[word.text] = ""  # two people of one name

    def subject(self, parse: Parse, words: list[Token]) -> list[Piece]:
        """The words of a subject with pronouns and short names resolved."""
        first = words[0]
        if first.start < parse.lead:  # the sentence left its subject out
            return [self.main.text if self.main else "Someone"]
        if words[-1].lemma.lower() in TWO and len(words) <= 2 and self.couple:
            return [self.couple]
        if words[-1].index in self.described.get(id(parse), set()):
            return [self.person("") or write(parse, words)]
        if len(words) == 1 and first.low in PERSON_PRONOUNS:
            name = self.person(first.low)
            return [renamed(first, name) if name else first]
        if len(words) == 1 and first.low == "it" and self.main and self.main.is_body and not self.main.is_plural:
            return [renamed(first, self.main.text)]
        is_later = self.main and self.main.place[0] == id(parse) and self.main.place[1] > first.index
        several = self.couple or (self.main.text if self.main and self.main.is_plural and not is_later else "")
        if len(words) == 1 and first.low == "they" and several:
            return [renamed(first, several)]
        aged = next((number for number, word in enumerate(words) if word.low.endswith("-year-old")), None)
        if aged is not None and not any(word.pos == "PROPN" for word in words) and self.person(""):
            rest = words[aged + 1 :]
            if not rest:
                return [self.person("")]
            if rest[0].tag == "POS":
                return [possessive(self.person("")), *rest[1:]]
        if first.tag == "PRP$" and first.low in THEIR and len(words) > 1:
            owner = self.person("he" if first.low == "his" else "she")
            return [renamed(first, possessive(owner)), *words[1:]] if owner else list(words)
        return self.spell_out(words)

    def object(self, parse: Parse, words: list[Token], subject: str) -> list[Piece]:
        """The words of an object with "him" and "her" resolved, unless that would be the subject itself."""
        if len(words) == 1 and words[0].low in ("him", "her") and words[0].tag == "PRP":
            name = self.person("he" if words[0].low == "him" else "she")
            return [renamed(words[0], name)] if name and name != subject else list(words)
        if words[-1].index in self.described.get(id(parse), set()) and self.person("") != subject:
            return [self.person("") or write(parse, words)]
        return self.spell_out(words)

    def same_person(self, parse: Parse) -> Iterator[Fact]:
        """ "The German boss has enjoyed success", after one person was named and nobody else: he is the German boss."""
        named = {mention.text for mention in self.mentions if mention.is_named}
        if len(named) != 1 or people_in(parse):
            return
        for token in parse.tokens:
            is_object = token.dep == "dobj" and any(kid.low == "the" for kid in parse.kids(token, "det"))
            if (token.dep in ("nsubj", "nsubjpass") or is_object) and describes_person(parse, token):
                words = noun_phrase(parse, token)
                self.described.setdefault(id(parse), set()).add(words[-1].index)
                article = (
                    []
                    if words[0].pos == "DET" or words[0].tag in ("PRP$",) or any(w.tag == "POS" for w in words)
                    else ["the"]
                )
                yield Fact((next(iter(named)), "is", *article, *words), "same person")

    def spell_out(self, words: list[Token]) -> list[Piece]:
        """A lone last or first name becomes the full one, also behind "Mr" or "Dr"."""
        is_titled = len(words) > 1 and words[0].low.rstrip(".") in HONORIFICS and self.full_names.get(words[1].text)
        if is_titled and (len(words) == 2 or words[2].pos != "PROPN"):
            words = words[1:]
        first = words[0]
        alone = len(words) == 1 or words[1].pos != "PROPN"
        if first.pos == "PROPN" and alone and self.full_names.get(first.text):
            return [renamed(first, self.full_names[first.text]), *words[1:]]
        return list(words)

    def person(self, pronoun: str) -> str:
        """The person that "he" or "she" stands for; "" where that is not sure."""
        people = [mention for mention in self.mentions if mention.is_person and not mention.is_plural]
        fitting = [mention for mention in people if not pronoun or mention.gender in ("", pronoun)]
        named = list(dict.fromkeys(mention.text for mention in fitting if mention.is_named))
        sure = [mention for mention in fitting if mention.gender and mention.gender == pronoun]
        topic = self.topic
        if pronoun and topic in fitting:  # who the sentence before was about
            if topic.rivals:
                return ""  # "Smith sued Jones. He lost.": either
            topic.gender = pronoun
            return topic.text
        chosen = next(iter(sure or [mention for mention in fitting if mention.is_named] or fitting), None)
        if chosen is None or (len(named) > 1 and not sure):
            return ""
        chosen.gender = chosen.gender or pronoun
        return chosen.text

    def note(self, parse: Parse, subject: Token, words: list[Token]) -> None:
        """Remember the subject of a clause."""
        if subject.pos not in ("PROPN", "NOUN") or words[-1].index in self.described.get(id(parse), set()):
            return
        text = write(parse, self.spell_out(words))
        if subject.lemma.lower() in TWO and self.couple:
            text = self.couple
        is_named = subject.entity == "PERSON" or age_after(parse, subject) is not None
        is_person = is_named or subject.lemma.lower() in MALE | FEMALE
        is_plural = subject.tag in ("NNS", "NNPS") or bool(parse.kids(subject, "conj"))
        is_body = subject.entity in ("ORG", "GPE", "PRODUCT")
        names = [word for word in conjuncts(parse, subject) if word.entity == "PERSON"]
        if len(names) == 2 and not self.couple:
            self.couple = text
        place = (id(parse), subject.index)
        mention = Mention(text, is_person, is_plural, is_named, is_body and not is_named, _gender(words), place)
        self.mentions.append(mention)
        if subject.dep in ("nsubj", "nsubjpass") and parse.head(subject).dep == "ROOT":
            self.main = mention
            if is_person and not is_plural:
                mention.rivals = sum(word.entity == "PERSON" for word in _objects(parse, parse.head(subject)))
                self.topic = mention


def describes_person(parse: Parse, noun: Token) -> bool:
    """A singular noun for a person, with "the" or without an article: "the midfielder", "Polish immigrant"."""
    is_people_name = noun.tag == "NNP" and noun.low.endswith(PERSON_ENDINGS) and noun.entity != "PERSON"  # "Welshman"
    if not (is_people_name or (noun.tag == "NN" and not noun.entity)) or parse.kids(noun, "conj", "appos", "relcl"):
        return False
    if any(kid.low not in ("the", "this") for kid in parse.kids(noun, "det")) or parse.kids(noun, "poss", "nummod"):
        return False
    low = noun.lemma.lower().split("-")[0]  # "father-of-four"
    return low in PERSON_NOUNS or noun.low.endswith(PERSON_ENDINGS) or noun.text.endswith("-year-old")


def people_in(parse: Parse) -> list[list[Token]]:
    """The names of people in a sentence, as their words."""
    found: list[list[Token]] = []
    for token in parse.tokens:
        if token.entity != "PERSON" or token.tag in ("POS", "HYPH") or token.pos == "PUNCT":
            continue
        if token.begins_entity or not found or found[-1][-1].index + 1 != token.index:
            found.append([])
        found[-1].append(token)
    return [[word for word in words if word.pos in ("PROPN", "NOUN", "X", "ADJ")] for words in found if words]


def _objects(parse: Parse, verb: Token) -> list[Token]:
    return [
        *parse.kids(verb, "dobj", "dative"),
        *[noun for kid in parse.kids(verb, "prep", "agent") for noun in parse.kids(kid, "pobj")],
    ]


def possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _gender(words: list[Token]) -> str:
    low = {word.low.rstrip(".") for word in words}
    return "he" if low & MALE else "she" if low & FEMALE else ""


def subject_words(parse: Parse, subject: Token) -> list[Token]:
    return noun_phrase(parse, subject, whole=True)
