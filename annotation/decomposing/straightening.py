"""Parses of sentences that lead a parser astray are put straight.

"The number of children referred to the NHS has increased": a parser takes "referred" for the main verb, and leaves the
real one hanging on it without a subject. A verb with an auxiliary, no subject, and neither "and" nor a comma before it
cannot be a second statement, so it is the main verb, and the first one describes the noun before it.
"""

from __future__ import annotations

from dataclasses import replace

from annotation.parses import SUBJECTS, Parse, Token

LOOSE = frozenset({"dep", "conj", "ccomp", "xcomp", "advcl", "parataxis"})


def straighten(parse: Parse) -> Parse:
    """The parse, with the main verb in its place if a participle took it."""
    for verb in parse.tokens:
        participle = parse.head(verb)
        if verb.dep in LOOSE and _is_false_verb(parse, participle, verb):
            return _swapped(parse, participle, verb)
    return parse


def _is_false_verb(parse: Parse, participle: Token, verb: Token) -> bool:
    if participle.tag not in ("VBD", "VBN") or participle.index >= verb.index or participle.index == 0:
        return False
    has_own_form = parse.kids(participle, "aux", "auxpass", "dobj", "neg")
    if has_own_form or not parse.kids(participle, *SUBJECTS) or parse.kids(verb, *SUBJECTS):
        return False
    auxiliaries = [kid for kid in parse.kids(verb, "aux", "auxpass") if kid.tag in ("VBZ", "VBD", "VBP", "MD")]
    joins = any(word.tag in ("CC", ",", ":", "WDT", "WP") for word in parse.tokens[participle.index : verb.index])
    noun = parse.tokens[participle.index - 1]
    in_subject = any(noun in parse.subtree(subject) for subject in parse.kids(participle, *SUBJECTS))
    return bool(auxiliaries) and not joins and in_subject and noun.pos in ("NOUN", "PROPN")


def _swapped(parse: Parse, participle: Token, verb: Token) -> Parse:
    subjects = {kid.index for kid in parse.kids(participle, *SUBJECTS)}
    head = verb.index if participle.head == participle.index else participle.head
    is_passive = bool(parse.kids(verb, "auxpass"))
    tokens = []
    for token in parse.tokens:
        if token.index == verb.index:
            tokens.append(replace(token, head=head, dep=participle.dep))
        elif token.index == participle.index:
            tokens.append(replace(token, head=participle.index - 1, dep="acl", tag="VBN"))
        elif token.index in subjects:
            tokens.append(replace(token, head=verb.index, dep="nsubjpass" if is_passive else "nsubj"))
        elif token.head == participle.index and token.index > verb.index:
            tokens.append(replace(token, head=verb.index))
        else:
            tokens.append(token)
    return replace(parse, tokens=tuple(tokens))
