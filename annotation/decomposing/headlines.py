"""Sentences that leave out their subject, as summaries in newspapers do ("Won the lottery last year").

A parser that was trained on whole sentences takes "Won" for a name. With a pronoun before it the same sentence is
parsed well; the pronoun stands for whoever the sentence before was about.
"""

from __future__ import annotations

from dataclasses import replace

from annotation.parses import SUBJECTS, Parse, Parser, Token

PLURAL_STARTS = frozenset({"are", "were", "have", "do"})


def parse_sentences(sentences: list[str], parser: Parser) -> list[Parse]:
    """Parse sentences; those without a subject once more with a pronoun, if that makes one of them."""
    parses = parser.parse(sentences)
    doubtful = [number for number, parse in enumerate(parses) if lacks_subject(parse)]
    leads = [_pronoun(parses[number]) for number in doubtful]
    again = parser.parse([lead + _small(sentences[number]) for number, lead in zip(doubtful, leads, strict=True)])
    for number, lead, parse in zip(doubtful, leads, again, strict=True):
        if _has_gained(parse):
            parses[number] = replace(parse, lead=len(lead))
    return parses


def lacks_subject(parse: Parse) -> bool:
    """Whether the main word of a sentence has no subject, and the sentence does not begin with a name or an article."""
    words = [token for token in parse.tokens if token.pos not in ("PUNCT", "SPACE")]
    if len(words) < 3:
        return False
    root = next((token for token in words if token.head == token.index), words[0])
    has_subject = any(kid.dep in SUBJECTS for kid in parse.kids(root))
    first = words[0]
    may_be_verb = first.tag not in ("DT", "PRP", "PRP$", "IN", "CD", "CC", "WRB", "WP", "EX") and not first.entity
    return not has_subject and may_be_verb and not first.text.isupper()


def _has_gained(parse: Parse) -> bool:
    """Whether the pronoun became the subject of a finite verb that follows it."""
    first = parse.tokens[0]
    verb = parse.head(first)
    return first.dep in SUBJECTS and verb.index <= 3 and _is_finite(parse, verb)


def _is_finite(parse: Parse, verb: Token) -> bool:
    words = [verb, *parse.kids(verb, "aux", "auxpass")]
    return any(word.tag in ("VBD", "VBZ", "MD") or word.low in PLURAL_STARTS for word in words)


def _pronoun(parse: Parse) -> str:
    return "They " if parse.tokens[0].low in PLURAL_STARTS else "He "


def _small(sentence: str) -> str:
    first = sentence[:1].lower()
    return (first if len(first) == 1 else sentence[:1]) + sentence[1:]  # "İ" would become two letters
