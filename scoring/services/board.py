"""The leaderboard of a run: which systems can be compared, and how they compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean, median

from django.utils.translation import gettext as _

from scoring.metrics import score_system
from scoring.models import SystemScore, Variant
from scoring.resampling import Interval, compare_systems, draws_for, plain_interval
from scoring.services.tables import Scorer

# A system is compared if it was measured on nearly as many examples as the others; then all are, on those they share.
QUORUM = 0.9


def rank_systems(scorer: Scorer, *, tick: Callable[[], None]) -> list[SystemScore]:
    """A row for every system in both variants, those that can be compared first, the best of them first."""
    return [row for variant in (Variant.PLAIN, Variant.NORMALISED) for row in _rank(scorer, variant, tick)]


def _rank(scorer: Scorer, variant: Variant, tick: Callable[[], None]) -> Iterable[SystemScore]:
    scores = {system: tally.of(variant) for system, tally in scorer.tallies.items()}
    reasons = {system: _reason(scorer, system, own, _usual(scores, system)) for system, own in scores.items()}
    ranked = [system for system, reason in reasons.items() if not reason]
    shared = sorted(set.intersection(*(set(scores[system]) for system in ranked))) if ranked else []
    if ranked and not shared:  # no example has them all
        reasons |= {system: _("the systems share no example that was measured for all") for system in ranked}
        ranked = []
    means = {system: score_system(scores[system][example] for example in shared) or 0.0 for system in ranked}
    ranked.sort(key=lambda system: -means[system])
    comparison = compare_systems([[scores[system][example] for example in shared] for system in ranked], tick=tick)
    draws = scorer.draws[variant] = draws_for(len(ranked), len(shared))
    for number, system in enumerate(ranked):
        place = 1 + sum(means[other] > means[system] for other in ranked)  # equal scores share a place
        row = _row(scorer, variant, system, means[system], comparison.intervals[number], len(shared), draws)
        row.place, row.letters = place, comparison.letters[number]
        yield row
    for system, reason in reasons.items():
        if reason:
            own = list(scores[system].values())
            row = _row(scorer, variant, system, score_system(own), plain_interval(own), len(own), 0)
            row.reason = reason
            yield row


def _usual(scores: dict[int, dict[int, float]], system: int) -> float:
    """On how many examples the other systems were measured, in the median. Those that were on none do not count."""
    return median([len(own) for other, own in scores.items() if own and other != system] or [0])


def _reason(scorer: Scorer, system: int, own: dict[int, float], usual: float) -> str:
    """Why a system cannot be compared; "" if it can."""
    tally = scorer.tallies[system]
    if not own:
        return _("not measured: no example has a judgement for every unit, or the metric is not defined")
    if len(own) < QUORUM * usual:
        return _("measured on %(n)s examples, the others on %(all)s") % {"n": len(own), "all": round(usual)}
    if tally.incomparable:
        return _("the judge decided %(n)s of %(all)s units where people decided for the others") % {
            "n": tally.incomparable,
            "all": tally.units,
        }
    return ""


def _row(
    scorer: Scorer,
    variant: Variant,
    system: int,
    value: float | None,
    interval: Interval | None,
    examples: int,
    draws: int,
) -> SystemScore:
    tally = scorer.tallies[system]
    return SystemScore(
        run=scorer.run,
        system_id=system,
        variant=variant,
        value=value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        examples=examples,
        by_people=tally.by_people / tally.units if tally.units else 0,
        length_ratio=fmean(tally.ratios) if tally.ratios else None,
        signature=scorer.signature(variant, system, examples, draws),
    )
