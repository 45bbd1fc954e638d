"""What a pair shares to the letter: words, names, numbers, and whether either side says no."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Any

from scoring.presence.alignments import NOT_THERE, Features
from scoring.presence.numbers import are_near
from scoring.presence.sides import PREFIX, SummarySide, UnitSide


def compare_words(unit: UnitSide, summary: SummarySide, shared: Sequence[bool]) -> Features:
    """Stems of the unit that the summary has, anywhere and in one sentence."""
    weights = unit.content_weights
    total = sum(weights)
    inside = [shared[place] for place in unit.content]
    missed = [weight for weight, is_shared in zip(weights, inside, strict=True) if not is_shared]
    stems = [unit.stems[place] for place in unit.content]
    by_sentence = [[stem in own for stem in stems] for own in summary.sentence_stems]
    heavy = [sum(compress(weights, own)) for own in by_sentence]
    in_row = [pair in summary.bigrams for pair in pairwise(unit.stems)] or [all(shared)]
    return {
        "words shared": sum(shared) / len(shared),
        "content shared": sum(inside) / len(inside),
        "weight shared": 1 - sum(missed) / total,
        "words missed": float(len(missed)),
        "weight missed": sum(missed),
        "heaviest missed": max(missed, default=0.0),
        "pairs shared": sum(in_row) / len(in_row),
        "content shared in a sentence": max(map(sum, by_sentence)) / len(stems),
        "weight shared in a sentence": max(heavy) / total,
        "longest sequence": longest_sequence(unit.stems, summary.stems) / len(unit.stems),
    }


def compare_missed(unit: UnitSide, shared: Sequence[bool], best: Any) -> Features:
    """The content words that the summary does not have: how near it comes to them (1 if there is none)."""
    nearest = [float(best[place]) for place in unit.content if not shared[place]] or [1.0]
    return {"missed nearest": sum(nearest) / len(nearest), "missed least": min(nearest)}


def compare_names(unit: UnitSide, shared: Sequence[bool], best: Any) -> Features:
    names = unit.names
    if not names:
        return {"names": 0.0, "names missed": 0.0, **dict.fromkeys(("names shared", "a name", "name least"), NOT_THERE)}
    found = sum(shared[place] for place in names)
    return {
        "names": float(len(names)),
        "names missed": float(len(names) - found),
        "names shared": found / len(names),
        "a name": float(found > 0),
        "name least": float(best[names].min()),
    }


def compare_roles(unit: UnitSide, summary: SummarySide, shared: Sequence[bool], sentence: int) -> Features:
    """Verb, subject, object and names: whether the summary has their stems, and whether one sentence has them."""
    there = summary.sentence_stems[sentence]
    roles = {
        "root": [] if unit.root is None else [unit.root],
        "subject": unit.subjects,
        "object": unit.objects,
        "names": unit.names,
    }
    found = {}
    for name, places in roles.items():
        inside = [unit.stems[place] in there for place in places]
        found[f"{name} in the sentence"] = sum(inside) / len(inside) if inside else NOT_THERE
        if name != "names":  # those are counted by themselves
            found[f"{name} shared"] = sum(shared[place] for place in places) / len(places) if places else NOT_THERE
    missed = [unit.stems[place] for place in unit.content if not shared[place]]
    alike = [stem[:PREFIX] in summary.prefixes for stem in missed]
    return found | {
        "alike": sum(alike) / len(alike) if alike else 1.0,
        "pronouns in the sentence": float(summary.pronouns[sentence]),
    }


def compare_numbers(unit: UnitSide, summary: SummarySide) -> Features:
    """Numbers by value; a summary may round."""
    asked = unit.numbers
    if not asked:
        return {"numbers": 0.0, "numbers shared": NOT_THERE, "numbers near": NOT_THERE}
    near = [any(are_near(number, other) for other in summary.numbers) for number in asked]
    return {
        "numbers": float(len(asked)),
        "numbers shared": sum(number in summary.numbers for number in asked) / len(asked),
        "numbers near": sum(near) / len(asked),
    }


def compare_negation(unit: UnitSide, summary: SummarySide, sentence: int) -> Features:
    asked, told = any(unit.text.negated), summary.text.negated[summary.filled[sentence]]
    return {"negated": float(asked) - float(told), "negated on one side": float(asked != told)}


def shared_words(unit: UnitSide, summary: SummarySide) -> list[bool]:
    """For each word of the unit whether the summary has its stem."""
    return [stem in summary.stem_set for stem in unit.stems]


def longest_sequence(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    known = set(one)
    kept = [word for word in other if word in known]  # no other word can be part of it
    before = [0] * (len(kept) + 1)
    for word in one:
        row = [0]
        for place, own in enumerate(kept):
            row.append(before[place] + 1 if word == own else max(before[place + 1], row[place]))
        before = row
    return before[-1]
