"""JUDGE: what every judge of presence promises. A judgement depends on the summary and the unit alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

THRESHOLD = 0.5
"""A unit counts as found from this probability on."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The question: does this summary say what the unit says? Summary is the premise, unit the hypothesis."""

    summary: str
    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: `p` is the probability of presence. NLI models tell their four readings of it as well."""

    p: float
    p3c: float | None = None
    l3c: int | None = None
    p2c: float | None = None
    l2c: int | None = None
    was_truncated: bool = False  # the texts were too long for the model, which has read a part of them

    def as_dict(self) -> dict[str, Any]:
        readings = {name: getattr(self, name) for name in ("p3c", "l3c", "p2c", "l2c")}
        told = {name: value for name, value in readings.items() if value is not None}
        return {"p": self.p, **told, **({"truncated": True} if self.was_truncated else {})}


class Judge(Protocol):
    """Whoever can answer. The same pair gets the same answer, whatever other pairs come with it."""

    @property
    def name(self) -> str:
        """What a person types to get it."""

    @property
    def revision(self) -> str:
        """Changes whenever an answer could."""

    @property
    def readings(self) -> tuple[str, ...]:
        """Which values of a verdict it gives."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict for each pair, in their order. Pairs with a text in common are cheaper together."""

    def has_seen(self, unit: str) -> bool:
        """Whether it has learnt from this very unit: there it looks better than it is."""


class UnknownJudge(ValueError):
    """No judge of this name can be had. The message says what to do."""


def signature_of(judge: Judge) -> str:
    """How a judge is named in every signature."""
    return f"{judge.name}@{judge.revision}"
