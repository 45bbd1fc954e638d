"""The seed rule: STUs from semantic role frames and coreference clusters, to the letter of Zhang and Bansal 2021.

Their code makes some odd statements ("He not win the race"). They are kept: with AllenNLP's frames as input the units
must be those of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PRONOUNS = frozenset({
    "it", "he", "she", "they", "this", "i", "you", "her", "him", "their", "them", "his", "its", "my", "your",
})  # fmt: skip
BE_FORMS = frozenset({"am", "are", "is", "was", "were", "been"})
SKIPPED_VERBS = frozenset({"'", "will", "could", "can", "might", "should", "would"})


@dataclass(frozen=True, slots=True)
class Coreference:
    """A document with its clusters resolved, and the statements "name is other name" that follow."""

    text: str
    statements: tuple[str, ...]


def units_of_frames(words: Sequence[str], frames: Sequence[Sequence[str]]) -> list[str]:
    """The STUs of a sentence. Each frame has one BIO tag per word; a sentence without any is its own unit."""
    units: list[str] = []
    for tags in frames:
        units += [unit for unit in _units_of_frame(words, tags) if unit not in units]
    return list(dict.fromkeys(units)) or [" ".join(words)]


def _units_of_frame(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    roles = [tag.partition("-")[2] for tag in tags]  # "" outside
    places = [number for number, role in enumerate(roles) if role == "V"]
    if not places:
        return []
    first, last = places[0], places[-1]
    subject = [word for word, role in zip(words[:first], roles[:first], strict=True) if role]
    verb = [words[place] for place in places]
    before = words[first - 1] if first else ""
    if not subject or before == "to" or " ".join(verb) in SKIPPED_VERBS:
        return []
    if before in BE_FORMS:
        verb = [before, *verb]
    groups = _groups(words[last + 1 :], roles[last + 1 :])
    if groups and groups[0][0] == "ARGM-NEG":
        verb += groups.pop(0)[1]
    return [" ".join([*subject, *verb, *argument]) for _, argument in groups]


def _groups(words: Sequence[str], roles: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Words by role; neighbours of the same role are one argument, words without a role are passed over."""
    groups: list[tuple[str, list[str]]] = []
    for word, role in zip(words, roles, strict=True):
        if not role:
            continue
        if groups and groups[-1][0] == role:
            groups[-1][1].append(word)
        else:
            groups.append((role, [word]))
    return groups


def resolve_clusters(words: Sequence[str], clusters: Sequence[Sequence[tuple[int, int]]]) -> Coreference:
    """Replace every pronoun and every later name by the first name of its cluster. Spans include both ends."""
    replaced: dict[int, tuple[int, str]] = {}  # start → (end, words instead)
    statements: list[str] = []
    for cluster in clusters:
        texts = [(start, end, _without_s(words[start : end + 1])) for start, end in cluster]
        names = [item for item in texts if item[2].lower() not in PRONOUNS]
        if not names:
            continue
        name = names[0][2]
        for start, end, text in texts:
            if (start, end) == names[0][:2]:
                continue
            if start not in replaced or end > replaced[start][0]:
                replaced[start] = (end, name)
            statement = f"{name} is {text}"
            if text.lower() not in PRONOUNS and statement not in statements and _adds(name, text):
                statements.append(statement)
    return Coreference(_rewritten(words, replaced), tuple(statements))


def _adds(name: str, other: str) -> bool:
    """Whether another name says more than the first: it does not contain it, nor share half of its words with it."""
    own = other.split()
    shared = sum(word in name.split() for word in own)
    return other != name and name not in other and shared < 0.5 * len(own)


def _without_s(words: Sequence[str]) -> str:
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in ("'s", "’s") else words)


def _rewritten(words: Sequence[str], replaced: dict[int, tuple[int, str]]) -> str:
    text, place = [], 0
    while place < len(words):
        if place in replaced:
            end, instead = replaced[place]
            text.append(instead)
            place = end + 1
        else:
            text.append(words[place])
            place += 1
    return " ".join(text)
