"""Checks of a unit that need neither a parse nor a model. static/js/checks.js has the same ones; a test compares them.

An error keeps a unit from being submitted; a warning can be overridden, and the override is stored with the unit. How
often each fires on units that people wrote is measured by `manage.py check_units` (docs/algorithms/writing.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

ERROR, WARNING = "error", "warning"
FEWEST_WORDS, MOST_WORDS, FAR_TOO_MANY = 3, 15, 20
NEARLY_SAME, LEAST_SHARED = 0.8, 0.4
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Words that say nothing of their own; whether they are in the reference tells nothing.
FUNCTION_WORDS = frozenset(
    "a an the of to in on at by for with from as is are was were be been".split()  # noqa: SIM905
)
WARNINGS = ("long", "and", "pronoun", "near", "foreign")
# Words that a unit may leave out without leaving out a fact: they are never marked as missing.
QUIET = """
and or but nor so if than then it its he she they we you i his her their our your my him them us me this that these
those who whom whose which what when where while has have had do does did will would can could may might must shall
should not no there here also after before about into over under up down out off again more most some any all each
both only own same very just because until against between through during
"""
QUIET_WORDS = FUNCTION_WORDS | frozenset(QUIET.split())
PRONOUNS = frozenset(
    "i you he she it we they me him her us them his hers its their theirs this that these those who which".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. `twin` is the other unit, `words` are those it is about."""

    check: str
    level: str
    twin: str = ""
    words: tuple[str, ...] = ()


def tokens(text: str) -> list[str]:
    """Words as all checks count them: letters and digits, an apostrophe inside kept."""
    return [word.replace("’", "'") for word in TOKEN.findall(text.lower())]


def check_unit(text: str, others: Sequence[str], reference: str, kin: Collection[str] = ()) -> Iterator[Finding]:
    """What is wrong with a unit, errors first. `others` are the other units of the reference, `kin` those of them that
    it extends or that extend it: these are alike on purpose."""
    words = tokens(text)
    if len(words) < FEWEST_WORDS:
        yield Finding("short", ERROR)
        return
    for other in others:
        if tokens(other) == words:
            yield Finding("duplicate", ERROR, twin=other)
            return
    if len(words) > MOST_WORDS:
        yield Finding("long", WARNING)
    if "and" in words[1:-1]:
        yield Finding("and", WARNING)
    if words[0] in PRONOUNS:
        yield Finding("pronoun", WARNING, words=(words[0],))
    strangers = (other for other in others if other not in kin)
    twin = next((other for other in strangers if similarity(words, tokens(other)) >= NEARLY_SAME), "")
    if twin:
        yield Finding("near", WARNING, twin=twin)
    foreign = foreign_words(words, reference)
    if foreign:
        yield Finding("foreign", WARNING, words=tuple(foreign))


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of words that two units have in common (Jaccard)."""
    union = set(one) | set(other)
    return len(set(one) & set(other)) / len(union) if union else 0.0


def foreign_words(words: Sequence[str], reference: str) -> list[str]:
    """Content words that the reference lacks, if it lacks most of them; else none."""
    content = [word for word in words if word not in FUNCTION_WORDS]
    known = set(tokens(reference))
    lacking = [word for word in content if word not in known]
    return list(dict.fromkeys(lacking)) if content and 1 - len(lacking) / len(content) < LEAST_SHARED else []


def uncovered_words(sentence: str, units: Sequence[str]) -> list[str]:
    """Content words of a sentence that are in no unit, in their order."""
    told = {word for unit in units for word in tokens(unit)}
    return [word for word in dict.fromkeys(tokens(sentence)) if word not in QUIET_WORDS and word not in told]
