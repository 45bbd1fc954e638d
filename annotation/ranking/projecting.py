"""Constituency trees projected from a dependency parse: each word with its dependents is one bracket.

They give the paper's 69 features something to count where no constituency parser is at hand. The figures made with them
are called "69-projected" everywhere, as such trees are flatter than those of the Penn Treebank.
"""

from __future__ import annotations

from annotation.parses import SUBJECTS, Parse, Token

# The label of a bracket by the part of speech of its head. A verb with a subject makes a clause.
PHRASES = {
    "VERB": "VP", "AUX": "VP", "NOUN": "NP", "PROPN": "NP", "PRON": "NP", "NUM": "QP", "ADJ": "ADJP", "ADV": "ADVP",
    "ADP": "PP", "SCONJ": "SBAR", "PART": "PRT", "INTJ": "UH", "DET": "NP", "CCONJ": "CONJP",
}  # fmt: skip
OTHER = "X"
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LRB-", "]": "-RRB-"}


def project_tree(parse: Parse) -> str:
    """The bracketed tree of a sentence. Words in the order of the sentence, as far as the parse has no crossings."""
    roots = [token for token in parse.tokens if token.head == token.index]
    trees = [_bracket(parse, root) for root in roots]
    return trees[0] if len(trees) == 1 else f"(X {' '.join(trees)})" if trees else ""


def _bracket(parse: Parse, root: Token) -> str:
    """Not by recursion: a broken text can hang a thousand words on each other."""
    done: dict[int, str] = {}
    order = [root]
    for token in order:
        order += parse.kids(token)
    for token in reversed(order):
        kids = parse.kids(token)
        if not kids:
            done[token.index] = _word(token)
            continue
        parts = sorted([*kids, token], key=lambda word: word.index)
        inner = " ".join(_word(token) if part is token else done[part.index] for part in parts)
        done[token.index] = f"({_label(parse, token)} {inner})"
    return done[root.index]


def _label(parse: Parse, token: Token) -> str:
    if token.pos in ("VERB", "AUX") and parse.kids(token, *SUBJECTS):
        return "S"
    return PHRASES.get(token.pos, OTHER)


def _word(token: Token) -> str:
    text = BRACKETS.get(token.text, token.text.replace("(", "-LRB-").replace(")", "-RRB-"))
    return f"({BRACKETS.get(token.text, token.tag or 'XX')} {text})"
