"""The 69 features of Zhang and Bansal 2021, in their order, from a constituency tree in brackets.

Four sizes (words, letters of the bracketed tree, greatest depth, words for each level), then how often each of 65
labels of the Penn Treebank occurs, phrases and parts of speech alike. Other labels are not counted. Their code divides
the number of words by the depth; their appendix has it the other way round.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

LABELS = (
    "WRB", "RBR", "ADVP", "VBG", "$", "''", "WHADVP", "-RRB-", "JJR", "NAC", "PRP", "NNS", "WP", "VBZ", "MD", "WDT",
    "NP", "ADJP", "PDT", "EX", "UH", "NN", "NFP", "SYM", "PRP$", "RBS", "FRAG", "NX", "CONJP", "RP", "WHPP", "CC",
    "VBD", "LS", ".", "SBAR", "TO", "JJ", "IN", "VP", "-LRB-", "S", "QP", "SQ", "CD", "``", "X", "POS", "XX", "PP",
    "PRT", "JJS", "HYPH", ",", "RB", "VBN", ":", "VBP", "DT", "VB", "SINV", "UCP", "WHNP", "NNPS", "NNP",
)  # fmt: skip
NAMES = ("words", "tree length", "depth", "words per level", *LABELS)
OPENED = re.compile(r"\((\S+)")


def tree_features(words: Sequence[str], tree: str) -> list[float]:
    """The features of a sentence, given its words and its tree ("(S (NP (NNP Ann)) …)")."""
    depth = deepest = 0
    for letter in tree:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    labels = Counter(OPENED.findall(tree))
    sizes = [len(words), len(tree), deepest, len(words) / deepest if deepest else 0.0]
    return [float(size) for size in sizes] + [float(labels[label]) for label in LABELS]
