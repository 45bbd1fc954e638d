"""What a parser says about a sentence: words with their part of speech, and who depends on whom.

The labels are those of spaCy's English models (Penn tags, ClearNLP dependencies). Any parser that gives them will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol, TypeVar

SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


MAX_UNIT = 4  # letters of a unit that is written onto a number ("9am", "6.2m", "60mph")


@dataclass(frozen=True, slots=True)
class Token:
    """One word. `head` is the index of the word it depends on (its own for the root); spans are of the parsed text."""

    index: int
    text: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    start: int
    end: int
    entity: str = ""
    begins_entity: bool = False

    @property
    def low(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed sentence. `lead` characters at its beginning were put there for the parser and are not in the text."""

    text: str
    tokens: tuple[Token, ...]
    lead: int = 0
    children: tuple[tuple[Token, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        below: list[list[Token]] = [[] for _ in self.tokens]
        for token in self.tokens:
            if token.head != token.index:
                below[token.head].append(token)
        object.__setattr__(self, "children", tuple(map(tuple, below)))
        reached = [token for token in self.tokens if token.head == token.index]
        for token in reached:
            reached += self.children[token.index]
        if len(reached) != len(self.tokens):
            raise ValueError("the words of this parse depend on each other in a circle")

    def head(self, token: Token) -> Token:
        return self.tokens[token.head]

    def kids(self, token: Token, *deps: str) -> list[Token]:
        """The words that depend on a word in one of some ways, in order; all if no way is named."""
        return [kid for kid in self.children[token.index] if not deps or kid.dep in deps]

    def subtree(self, token: Token, leave_out: frozenset[str] = frozenset()) -> list[Token]:
        """A word and all below it in order, without branches of some kinds."""
        return sorted(self._walk(token, leave_out), key=lambda found: found.index)

    def _walk(self, token: Token, leave_out: frozenset[str]) -> Iterator[Token]:
        # Not by recursion: a broken text can hang a thousand words on each other.
        waiting = [token]
        while waiting:
            current = waiting.pop()
            yield current
            waiting += [kid for kid in self.children[current.index] if kid.dep not in leave_out]


def join_written_together(parse: Parse) -> Parse:
    """One token for what is written without a space ("16-year-old", "£440m"): it acts as one word.

    The joined token takes the place of the one among them that the others hang on.
    """
    runs = _runs(parse)
    if not runs:
        return parse
    run_of = {token.index: run for run in runs for token in run}
    heads = {id(run): _head_of(parse, run) for run in runs}
    kept = [token for token in parse.tokens if token.index not in run_of or heads[id(run_of[token.index])] is token]
    place = {token.index: number for number, token in enumerate(kept)}

    def new_index(index: int) -> int:
        run = run_of.get(index)
        return place[heads[id(run)].index if run else index]

    tokens = []
    for number, token in enumerate(kept):
        run = run_of.get(token.index)
        first, last = (run[0], run[-1]) if run else (token, token)
        head = new_index(token.head)
        tokens.append(
            replace(
                token, index=number, head=head, start=first.start, end=last.end,
                text=parse.text[first.start : last.end],
                begins_entity=first.begins_entity if first.entity == token.entity else token.begins_entity,
            )
        )  # fmt: skip
    return Parse(parse.text, tuple(tokens), parse.lead)


def _head_of(parse: Parse, run: list[Token]) -> Token:
    """The one of joined words that is nearest to the root: none of the others lies above it, so no circle can arise."""
    return min(run, key=lambda token: _depth(parse, token))


def _depth(parse: Parse, token: Token) -> int:
    depth = 0
    while token.head != token.index:
        token, depth = parse.head(token), depth + 1
    return depth


def _runs(parse: Parse) -> list[list[Token]]:
    runs = _number_runs(parse)
    for before, hyphen, after in zip(parse.tokens, parse.tokens[1:], parse.tokens[2:], strict=False):
        tight = before.end == hyphen.start and hyphen.end == after.start
        if hyphen.text in ("-", "–") and tight and before.text[-1:].isalnum() and after.text[:1].isalnum():
            known = next((run for run in runs if run[-1] is before), None)
            if known:
                known += [hyphen, after]
            else:
                runs.append([before, hyphen, after])
    return runs


def _number_runs(parse: Parse) -> list[list[Token]]:
    """Numbers with what is written onto them: "£", "m", "am"."""
    runs: list[list[Token]] = []
    for one, other in pairwise(parse.tokens):
        if one.end != other.start:
            continue
        is_unit = one.text[-1:].isdigit() and other.text.isalpha() and len(other.text) <= MAX_UNIT
        if is_unit or (one.text in "£$€" and other.text[:1].isdigit()):
            if runs and runs[-1][-1] is one:
                runs[-1].append(other)
            else:
                runs.append([one, other])
    return runs


class Parser(Protocol):
    """Parses sentences in batches. `name` with its version goes into signatures."""

    name: str

    def parse(self, sentences: list[str]) -> list[Parse]: ...

    def spread(self, work: Callable[[Parser, Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results of work on chunks, in order, perhaps in several processes. Work is a function of a module."""
        ...
