"""From the parsed sentences of a reference to its units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from annotation.decomposing.clauses import ClauseReader
from annotation.decomposing.facts import Fact
from annotation.decomposing.naming import Naming, subject_words
from annotation.decomposing.nominals import NounReader
from annotation.decomposing.phrases import spans, trim, write
from annotation.decomposing.straightening import straighten
from annotation.languages import is_foreign, tell_language
from annotation.parses import Parse


def rules_digest() -> str:
    """Names the rules: other rules, another name, so that no signature stands for two sets of units."""
    here = Path(__file__).parent
    files = [path for path in sorted(here.glob("*.py")) if path.name not in ("seed.py", "texts.py")]
    files += [here.parent / name for name in ("cleaning.py", "languages.py", "parses.py", "splitting.py")]
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


VERSION = f"embedded-{rules_digest()}"
# Words that two statements may differ by and still say the same.
FUNCTION_TAGS = frozenset({"DT", "POS", "PRP$"})
# Rules that say: no fact was looked for here, a person should.
FOREIGN, TOO_LONG = "another language", "too long"
FLAGS = frozenset({FOREIGN, TOO_LONG})
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
    parses = [straighten(parse) for parse in parses]
    naming = Naming()
    naming.read_names(list(parses))
    told: set[Content] = set()
    is_foreign_text = is_foreign(" ".join(parse.text for parse in parses))  # few words alone do not tell
    return [_decompose_sentence(parse, naming, told, is_foreign_text=is_foreign_text) for parse in parses]


def _decompose_sentence(parse: Parse, naming: Naming, told: set[Content], *, is_foreign_text: bool) -> list[DraftUnit]:
    # A question states nothing, what is longer than any sentence is none, and the rules know no other language.
    if len(parse.tokens) > MAX_TOKENS:
        return _whole(parse, TOO_LONG)
    text = parse.text[parse.lead :]
    language = tell_language(text)
    if language == "foreign" or (language == "unsure" and is_foreign_text):
        return _whole(parse, FOREIGN)
    if parse.lead and naming.main is None:
        return _whole(parse)  # nobody was named who could have done it
    if is_question(parse):
        return _whole(parse)
    same = list(naming.same_person(parse))
    for token in parse.tokens:
        if token.dep in ("nsubj", "nsubjpass") and token.start >= parse.lead:
            naming.note(parse, token, subject_words(parse, token))
    facts = [*ClauseReader(parse, naming).facts(), *same, *NounReader(parse, naming).facts()]
    return _written(parse, facts, told) if facts else _whole(parse)


def is_question(parse: Parse) -> bool:
    return parse.text.rstrip("'\"”’) ").endswith("?")


def _written(parse: Parse, facts: Iterable[Fact], told: set[Content]) -> list[DraftUnit]:
    """Facts as units: readable ones, each once in a reference, however often it is told."""
    units: list[DraftUnit] = []
    for fact in facts:
        text = _without_full_stop(write(parse, fact.pieces))
        if not MIN_WORDS <= len(text.split()) <= MAX_WORDS or _is_cut(fact):
            continue
        key = _content(fact)
        if key in told:
            continue
        told.add(key)
        units.append(DraftUnit(text, spans(parse, fact.pieces), fact.rule))
    return units


def _without_full_stop(text: str) -> str:
    """Without a full stop that the parser took for part of the last word ("£310m."); "U.S." keeps its own."""
    last = text.rsplit(" ", 1)[-1]
    return text[:-1] if last.endswith(".") and last.count(".") == 1 and any(map(str.isdigit, last)) else text


def _is_cut(fact: Fact) -> bool:
    """Whether the last word of a fact waits for another ("There were no")."""
    last = fact.pieces[-1]
    if isinstance(last, str):
        return False
    is_stranded = last.tag == "IN" and last.dep == "prep"
    return is_stranded or last.tag in ("PRP$", "CC", "TO") or last.low in ("a", "an", "the", "no", "than")


def _content(fact: Fact) -> Content:
    """What a fact says, word by word, without articles: "to Paris" and "from Paris" are two facts."""
    words: list[str] = []
    for piece in fact.pieces:
        if isinstance(piece, str):
            words += piece.lower().split()
        elif piece.tag not in FUNCTION_TAGS:
            words.append(piece.lemma.lower())
    return tuple(words)


def _whole(parse: Parse, flag: str = "") -> list[DraftUnit]:
    """A sentence in which no rule finds a fact stands for itself; without a verb, "there is" makes it one."""
    words = trim([token for token in parse.tokens if token.start >= parse.lead][:MAX_WHOLE])
    if not any(letter.isalnum() for word in words for letter in word.text):
        return []
    if flag:
        return [DraftUnit(write(parse, words), spans(parse, words), flag)]
    if is_question(parse):
        words += [token for token in parse.tokens[-2:] if token.text == "?"][:1]
    has_verb = any(word.tag in ("VBD", "VBZ", "VBP", "VB", "MD") for word in words) or words[0].tag == "PRP"
    if has_verb:
        return [DraftUnit(write(parse, words), spans(parse, words), "whole sentence")]
    root = next((word for word in parse.tokens if word.head == word.index), words[0])
    start = "There are" if root.tag in ("NNS", "NNPS") else "There is"
    return [DraftUnit(write(parse, [start, *words]), spans(parse, words), "no verb")]
