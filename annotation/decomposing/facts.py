"""A fact that was found in a sentence, before it is written as a unit."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.decomposing.phrases import Piece


@dataclass(frozen=True, slots=True)
class Fact:
    """The pieces of a statement, and the rule that found it."""

    pieces: tuple[Piece, ...]
    rule: str
