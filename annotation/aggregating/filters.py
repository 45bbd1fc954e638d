"""Filters of noisy judges, as published, each by its name. None is applied unless somebody chooses it.

A task here is what all its judges were asked alike: one summary with its units (a HIT). Fillers take part where the
published rule counted them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import combinations

from annotation.aggregating.votes import Tally, Vote, by_task, count_votes

LEAST_AGREEMENT = 0.5
MOST_AGAINST = 0.5
LEAST_TASKS = 20
LEAST_JUDGES = 4


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter takes out: all votes of some judges, or of one judge in one task. `notes` say what it met."""

    judges: frozenset[str] = frozenset()
    in_task: frozenset[tuple[Hashable, str]] = frozenset()
    notes: tuple[str, ...] = ()

    def keep(self, votes: Iterable[Vote]) -> list[Vote]:
        return [vote for vote in votes if vote.judge not in self.judges and (vote.task, vote.judge) not in self.in_task]


class NeedsLinkedJudges(ValueError):
    """A rule over all of a judge's work, where rows cannot be told to be of the same judge."""


def no_filter(votes: Sequence[Vote]) -> Filtered:
    return Filtered()


def worst_of_task(votes: Sequence[Vote], *, seed: int = 0) -> Filtered:
    """REALSumm: of the four judges of a task, the one who is most often alone against the other three is left out.

    A tie of two against two counts for nobody; where nobody was ever alone, all stay. Of several who were equally often
    alone exactly one is left out: which one, a seeded hash says. A task with fewer judges is left as it is: of three,
    one is alone on every unit that is disputed at all.
    """
    taken: set[tuple[Hashable, str]] = set()
    notes = []
    for task, judges in by_task(votes).items():
        if len(judges) < LEAST_JUDGES:
            continue
        lone = _lone_dissents(judges)
        if not lone:
            continue
        most = max(lone.values())
        worst = sorted(judge for judge, number in lone.items() if number == most)
        chosen = min(worst, key=lambda judge: sha256(f"{seed}/{task}/{judge}".encode()).hexdigest())
        if len(worst) > 1:
            notes.append(f"{task}: {len(worst)} judges were alone {most} times; {chosen} was drawn")
        taken.add((task, chosen))
    return Filtered(in_task=frozenset(taken), notes=tuple(notes))


def _lone_dissents(judges: dict[str, list[Vote]]) -> Counter[str]:
    """How often each judge stood alone against all others, with at least three of them."""
    answers: defaultdict[Hashable, dict[str, bool]] = defaultdict(dict)
    for judge, own in judges.items():
        for vote in own:
            if vote.present is not None:
                answers[vote.item][judge] = vote.present
    found: Counter[str] = Counter()
    for given in answers.values():
        for side in (True, False):
            alone = [judge for judge, present in given.items() if present is side]
            if len(alone) == 1 and len(given) >= LEAST_JUDGES:
                found[alone[0]] += 1
    return found


def pairwise(votes: Sequence[Vote], agreement: Callable[[list[int], list[int]], float]) -> Filtered:
    """LitePyramid: judges whose mean agreement with the others of their tasks is below one half are left out.

    Two lists are compared in the order of the first, and only where both are sure: "unsure" is no vote.
    """
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for judges in by_task(votes).values():
        answers = {judge: {vote.item: vote.present for vote in own} for judge, own in judges.items()}
        for one, other in combinations(answers, 2):
            if answers[one].keys() != answers[other].keys():
                continue
            both = [(given, answers[other][item]) for item, given in answers[one].items()]
            sure = [(int(mine), int(theirs)) for mine, theirs in both if mine is not None and theirs is not None]
            if sure:
                ratio = agreement([mine for mine, _ in sure], [theirs for _, theirs in sure])
                scores[one].append(ratio)
                scores[other].append(ratio)
    means = {judge: round(sum(own) / len(own), 3) for judge, own in scores.items()}
    return Filtered(judges=frozenset(judge for judge, mean in means.items() if mean < LEAST_AGREEMENT))


def difflib_agreement(one: list[int], other: list[int]) -> float:
    """As LitePyramid's code has it: how alike two lists are as sequences, which is not how often they agree."""
    return SequenceMatcher(None, one, other).ratio()


def positional_agreement(one: list[int], other: list[int]) -> float:
    """The share of items on which two judges agree."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one) if one else 1.0


def against_the_others(votes: Sequence[Vote]) -> Filtered:
    """PyrXSum: judges of at least 20 tasks more than half of whose votes are against the majority of the others."""
    tallies = count_votes(votes)
    against, counted = Counter[str](), Counter[str]()
    tasks: defaultdict[str, set[Hashable]] = defaultdict(set)
    for vote in votes:
        tasks[vote.judge].add(vote.task)
        if vote.present is None:
            continue
        others = tallies[vote.item].without(vote.present)
        if others.votes and not others.is_tie:
            counted[vote.judge] += 1
            against[vote.judge] += others.label is not vote.present
    noisy = {
        judge
        for judge, number in counted.items()
        if against[judge] / number > MOST_AGAINST and len(tasks[judge]) >= LEAST_TASKS
    }
    return Filtered(judges=frozenset(noisy))


@dataclass(frozen=True, slots=True)
class Rule:
    """A filter by name. `is_linked`: it looks at all of a judge's work, so that rows must tell who made them.

    `with_fillers`: whether answers to fillers take part, as they did where the rule was published.
    """

    name: str
    work: Callable[[Sequence[Vote]], Filtered] = field(repr=False)
    is_linked: bool = False
    with_fillers: bool = True

    def apply(self, votes: Sequence[Vote], *, are_linked: bool = True) -> Filtered:
        if self.is_linked and not are_linked:
            raise NeedsLinkedJudges(
                f"{self.name} judges a person by all of their work, and these votes do not tell whose they are."
            )
        return self.work(votes if self.with_fillers else [vote for vote in votes if not vote.is_filler])


FILTERS = {
    rule.name: rule
    for rule in (
        Rule("none", no_filter),
        Rule("realsumm-worst-of-task", worst_of_task),
        Rule("litepyramid-difflib", lambda votes: pairwise(votes, difflib_agreement), is_linked=True),
        Rule("litepyramid-positional", lambda votes: pairwise(votes, positional_agreement), is_linked=True),
        Rule("pyrxsum-against-others", against_the_others, is_linked=True, with_fillers=False),
    )
}

__all__ = ["FILTERS", "Filtered", "NeedsLinkedJudges", "Rule", "Tally"]
