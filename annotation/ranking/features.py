"""What tells whether automatic units stand in well for human ones: features of a sentence and of its units.

Each has a name, a direction (whether more of it makes a sentence easier, harder, or either) and words for people, where
there is much of it and where there is little. The directions are what one would say before seeing any data; the
regressor is held to them, which keeps it from learning noise from a few hundred sentences. Units are looked at by their
words; two features ask for the rule that made a unit, and go by its words where it is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from annotation.overlap import best_overlap, overlap, stems
from annotation.parses import SUBJECTS, Parse, Token

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"})
FUNCTION = frozenset({"DET", "ADP", "AUX", "PRON", "CCONJ", "SCONJ", "PART"})
PRONOUNS = frozenset({"he", "she", "it", "they", "we", "i", "you", "this", "that", "these", "those"})
POSSESSIVES = frozenset({"his", "her", "their", "its", "my", "our"})
SHORT_UNIT = 8
WINDOW = 5
WHOLE = 0.9
EASIER, HARDER, EITHER = 1, -1, 0
SentenceUnits = Sequence[tuple[str, str]]
"""The units of a sentence as (text, rule); the rule is "" where a person or a corpus wrote them."""


@dataclass(frozen=True)
class Described:
    """A sentence with its units, and the other sentences of its reference with theirs."""

    parse: Parse
    units: Sequence[str]
    rules: Sequence[str]  # the rule that made each, "" where it is not known
    other_sentences: Sequence[str]
    reference_units: Sequence[str]
    is_first: bool

    @cached_property
    def words(self) -> list[Token]:
        lead = self.parse.lead
        return [word for word in self.parse.tokens if word.start >= lead and word.pos not in ("PUNCT", "SPACE")]

    @cached_property
    def count(self) -> int:
        return max(len(self.words), 1)

    @cached_property
    def content(self) -> list[Token]:
        return [word for word in self.words if word.pos in CONTENT]

    @cached_property
    def left(self) -> list[Token]:
        """Content words that no unit holds."""
        return [word for word in self.content if not self.holders(word)]

    @cached_property
    def unit_words(self) -> list[list[str]]:
        return [unit.split() or [""] for unit in self.units]

    @cached_property
    def root(self) -> Token | None:
        return next((word for word in self.parse.tokens if word.head == word.index), None)

    def holders(self, word: Token) -> list[int]:
        """The lengths of the units that hold a word, in words."""
        wanted = stems(word.text)
        return [
            len(words)
            for unit, words in zip(self.units, self.unit_words, strict=True)
            if wanted and wanted.keys() <= stems(unit).keys()
        ]

    def share_of_units(self, holds: Callable[[list[str]], bool]) -> float:
        return fmean(holds(words) for words in self.unit_words) if self.unit_words else 0.0

    def of_kind(self, words: Sequence[Token], *parts: str) -> int:
        return sum(word.pos in parts for word in words)

    def dependents(self, *kinds: str) -> int:
        return sum(word.dep in kinds for word in self.words)


@dataclass(frozen=True)
class Feature:
    name: str
    direction: int
    much: str  # in words, where there is much of it
    little: str
    measure: Callable[[Described], float]


def coverage(described: Described, words: Sequence[Token]) -> float:
    return fmean(bool(described.holders(word)) for word in words) if words else 1.0


def shortest_units(described: Described) -> list[int]:
    """For each content word the length of the shortest unit that holds it; the whole sentence if none does."""
    return [min(described.holders(word), default=described.count) for word in described.content]


def window_overlap(described: Described) -> float:
    words = [word.text for word in described.words]
    starts = range(max(1, len(words) - WINDOW + 1))
    return fmean(best_overlap(" ".join(words[start : start + WINDOW]), described.units) for start in starts)


def repetition(described: Described) -> float:
    units = described.units
    best = [
        max((overlap(one, other) for place, other in enumerate(units) if place != own), default=0.0)
        for own, one in enumerate(units)
    ]
    return fmean(best) if best else 0.0


def shared_words(described: Described) -> float:
    own = stems(" ".join(word.text for word in described.content))
    others: Counter[str] = Counter()
    for sentence in described.other_sentences:
        others |= stems(sentence)
    return sum((own & others).values()) / max(sum(own.values()), 1)


def told_elsewhere(described: Described) -> float:
    return fmean(best_overlap(unit, described.other_sentences) for unit in described.units) if described.units else 0.0


def topic_subjects(described: Described) -> float:
    starts = Counter(" ".join(unit.split()[:2]) for unit in described.reference_units)
    topic = max(starts, key=lambda start: (starts[start], start), default="")
    return described.share_of_units(lambda words: " ".join(words[:2]) == topic)


def bare_nouns(described: Described) -> float:
    nouns = [word for word in described.words if word.tag == "NN" and word.dep not in ("compound", "amod")]
    bare = [noun for noun in nouns if not described.parse.kids(noun, "det", "poss", "nummod")]
    return len(bare) / described.count


def clause_units(described: Described) -> float:
    """Units from a main clause. Where the rules are not known: units that hold a main verb."""
    if all(described.rules):
        return sum(rule == "clause" for rule in described.rules)
    verbs = [word for word in described.parse.tokens if word.pos in ("VERB", "AUX") and is_main(described.parse, word)]
    wanted = {stem for verb in verbs for stem in stems(verb.text)}
    return sum(bool(wanted & stems(unit).keys()) for unit in described.units)


def is_main(parse: Parse, word: Token) -> bool:
    """The root of a sentence, or joined to it ("won and left")."""
    while word.dep == "conj":
        word = parse.head(word)
    return word.head == word.index


def whole_units(described: Described) -> float:
    """Units that are the sentence itself. Where the rules are not known: units as long as the sentence."""
    if all(described.rules):
        return sum(rule in ("whole sentence", "no verb") for rule in described.rules)
    return sum(len(words) >= WHOLE * described.count for words in described.unit_words)


def has_subject(described: Described) -> float:
    return float(described.root is not None and bool(described.parse.kids(described.root, *SUBJECTS)))


def is_named(words: list[str]) -> bool:
    return len(words) > 1 and words[0][:1].isupper() and words[1][:1].isupper()


def has_digit(word: Token) -> bool:
    return any(letter.isdigit() for letter in word.text)


FEATURES = (
    # --- how much of the sentence the units tell
    Feature("entity coverage", EASIER, "the units tell its names, dates and numbers",
            "names, dates or numbers are in no unit",
            lambda d: coverage(d, [word for word in d.words if word.entity])),
    Feature("number coverage", EASIER, "the units tell its figures",
            "figures are in no unit",
            lambda d: coverage(d, [word for word in d.words if has_digit(word)])),
    Feature("names left", HARDER, "names are in no unit",
            "no name is left out", lambda d: d.of_kind(d.left, "PROPN")),
    Feature("nouns left", HARDER, "nouns are in no unit",
            "no noun is left out", lambda d: d.of_kind(d.left, "NOUN")),
    Feature("adjectives left", HARDER, "adjectives are in no unit",
            "no adjective is left out", lambda d: d.of_kind(d.left, "ADJ")),
    Feature("numbers left", HARDER, "number words are in no unit",
            "no number word is left out", lambda d: d.of_kind(d.left, "NUM")),
    Feature("content left", HARDER, "much of its content is in no unit",
            "little of its content is left out",
            lambda d: len(d.left) / max(len(d.content), 1)),
    Feature("window overlap", EASIER, "the units follow its wording",
            "the units match few of its phrases",
            window_overlap),
    # --- the units
    Feature("units", EASIER, "many units",
            "few units", lambda d: len(d.units)),
    Feature("clause units", EASIER, "several units about its main verb",
            "few units about its main verb", clause_units),
    Feature("whole sentence", HARDER, "no fact was found: the whole sentence is a unit",
            "facts were found in it", whole_units),
    Feature("words per unit", HARDER, "many words for each unit",
            "few words for each unit", lambda d: d.count / max(len(d.units), 1)),
    Feature("unit words", EASIER, "the units say much for its length",
            "the units say little for its length",
            lambda d: sum(map(len, d.unit_words)) / d.count),
    Feature("shortest unit", HARDER, "its words stand in long units only",
            "its words stand in short units",
            lambda d: fmean(shortest_units(d) or [d.count])),
    Feature("short coverage", EASIER, "short units hold most of its words",
            "short units hold few of its words",
            lambda d: fmean([length <= SHORT_UNIT for length in shortest_units(d)] or [False])),
    Feature("repetition", EASIER, "the units tell the same in several ways",
            "the units have little in common", repetition),
    Feature("pronoun subjects", HARDER, "units begin with a pronoun",
            "few units begin with a pronoun",
            lambda d: d.share_of_units(lambda words: words[0].lower() in PRONOUNS)),
    Feature("definite subjects", HARDER, "units begin with “the”",
            "few units begin with “the”",
            lambda d: d.share_of_units(lambda words: words[0].lower() == "the")),
    Feature("named subjects", EASIER, "units begin with a full name",
            "few units begin with a full name", lambda d: d.share_of_units(is_named)),
    Feature("possessives", HARDER, "units with “his”, “their” and the like",
            "few units with “his” or “their”",
            lambda d: d.share_of_units(lambda words: any(word.lower() in POSSESSIVES for word in words))),
    Feature("compounds per unit", HARDER, "many compound nouns for each unit",
            "few compound nouns",
            lambda d: d.dependents("compound", "nmod") / max(len(d.units), 1)),
    # --- the sentence
    Feature("words", EITHER, "its length",
            "its length", lambda d: d.count),
    Feature("has a subject", EASIER, "a main verb with its subject",
            "no main verb with a subject", has_subject),
    Feature("has a verb", EASIER, "a verb at its root",
            "no verb at its root",
            lambda d: float(d.root is not None and d.root.pos in ("VERB", "AUX"))),
    Feature("words per verb", HARDER, "many words for each verb",
            "few words for each verb",
            lambda d: len(d.words) / max(d.of_kind(d.words, "VERB", "AUX"), 1)),
    Feature("bare nouns", HARDER, "nouns without an article, as in headlines",
            "few nouns without an article", bare_nouns),
    Feature("determiners", EASIER, "many articles",
            "few articles, as in headlines", lambda d: d.dependents("det")),
    Feature("function words", EITHER, "its share of small words",
            "its share of small words", lambda d: d.of_kind(d.words, *FUNCTION) / d.count),
    Feature("adverbs", EITHER, "its adverbs",
            "its adverbs", lambda d: d.dependents("advmod")),
    Feature("names", HARDER, "many names and dates",
            "few names and dates", lambda d: sum(word.begins_entity for word in d.words)),
    # --- its place in the reference
    Feature("first sentence", HARDER, "it is the first sentence",
            "it is not the first sentence", lambda d: float(d.is_first)),
    Feature("shared words", EASIER, "its words occur elsewhere in the reference",
            "its words occur nowhere else in the reference", shared_words),
    Feature("told elsewhere", EASIER, "other sentences tell the same",
            "no other sentence tells the same", told_elsewhere),
    Feature("topic subjects", EASIER, "units about what the reference is about",
            "few units about what the reference is about", topic_subjects),
)  # fmt: skip
NAMES = tuple(feature.name for feature in FEATURES)


def measure_features(described: Described) -> list[float]:
    """The features of a sentence, in the order of FEATURES."""
    return [float(feature.measure(described)) for feature in FEATURES]


def describe_reference(parses: Sequence[Parse], units: Sequence[SentenceUnits]) -> list[Described]:
    """The sentences of a reference, each given with its units."""
    told = [text for own in units for text, _ in own]
    return [
        Described(
            parse=parse,
            units=[text for text, _ in own],
            rules=[rule for _, rule in own],
            other_sentences=[other.text[other.lead :] for other in parses if other is not parse],
            reference_units=told,
            is_first=place == 0,
        )
        for place, (parse, own) in enumerate(zip(parses, units, strict=True))
    ]
