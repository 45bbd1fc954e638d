"""What a score run is asked for, as it is stored with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.mixing import ORDERS, RULES
from scoring.comparability import Source
from scoring.metric_names import Metric, parse_metric

HUMAN, EMBEDDED = "human", "embedded"
READINGS = ("p", "p3c", "l3c", "p2c", "l2c")
MAX_SEED = 2**31 - 1


class BadOptions(ValueError):
    """Options that cannot be. The message says which can."""


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """The choices behind a number.

    `judge` is "human", the name of a judge, or both joined by "+": labels where people judged, the judge for the rest.
    `systems` are ids; None stands for all.
    """

    metric: str
    judge: str
    reading: str = "p"
    order: str = "easiest"
    rule: str = "exact"
    seed: int = 0
    label_rule: str = "imported"
    systems: tuple[int, ...] | None = None

    @property
    def parsed_metric(self) -> Metric:
        return parse_metric(self.metric)

    @property
    def source(self) -> Source:
        if self.judge == HUMAN:
            return Source.PEOPLE
        return Source.BOTH if self.judge.startswith(f"{HUMAN}+") else Source.JUDGE

    @property
    def judge_name(self) -> str:
        """The judge without the people; "" if people alone decide."""
        return "" if self.judge == HUMAN else self.judge.removeprefix(f"{HUMAN}+")

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "systems": None if self.systems is None else list(self.systems)}


def checked_options(given: Mapping[str, Any]) -> ScoreOptions:
    """Options from a form, a request or a stored run; refuses what cannot be."""
    systems = given.get("systems")
    options = ScoreOptions(
        metric=parse_metric(str(given.get("metric") or "lite2")).name,
        judge=str(given.get("judge") or "").strip(),
        reading=given.get("reading") or "p",
        order=given.get("order") or "easiest",
        rule=given.get("rule") or "exact",
        seed=int(given.get("seed") or 0),
        label_rule=given.get("label_rule") or "imported",
        systems=None if systems is None else tuple(sorted({int(system) for system in systems})),
    )
    _one_of("reading", options.reading, READINGS)
    _one_of("order", options.order, ORDERS)
    _one_of("rule", options.rule, RULES)
    if options.rule == "seed" and options.order != "easiest":
        raise BadOptions("The rule of the seed's code knows one order: easiest.")
    if not options.judge or (options.source != Source.PEOPLE and not options.judge_name):
        raise BadOptions('Name a judge: "human", "embedded", "human+embedded", or an NLI model.')
    if options.judge_name.startswith(HUMAN):
        raise BadOptions('"human" comes once, before the judge: human+embedded.')
    if options.reading != "p" and options.judge_name in ("", EMBEDDED):
        raise BadOptions("People and the embedded judge give p only. Other readings are for NLI models.")
    if not 0 <= options.seed <= MAX_SEED:
        raise BadOptions(f"The seed must be a whole number from 0 to {MAX_SEED}.")
    if options.systems == ():
        raise BadOptions("Choose at least one system.")
    return options


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise BadOptions(f"{value!r} is no {what}. Known are {', '.join(known)}.")
