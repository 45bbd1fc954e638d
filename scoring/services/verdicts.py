"""Verdicts by content: what a judge has said of these very texts, in whatever run or project."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotation.batching import batched
from scoring.judging import Judge, Verdict
from scoring.models import JudgeVersion, Presence

DIGESTS_PER_QUERY = 400


@dataclass(frozen=True, slots=True)
class Stored:
    """A verdict as a score reads it."""

    value: float | None  # of the reading that was asked for; None if the judge does not give it
    was_truncated: bool


def version_of(judge: Judge, *, now: dt.datetime) -> JudgeVersion:
    """The row of a judge at its revision."""
    found, _ = JudgeVersion.objects.get_or_create(
        name=judge.name, revision=judge.revision, defaults={"created_at": now}
    )
    return found


def stored_verdicts(
    version: JudgeVersion, summaries: Collection[str], units: Collection[str], reading: str = "p"
) -> dict[tuple[str, str], Stored]:
    """What is known of these summaries and units, all by digest, as (summary, unit) → verdict."""
    wanted = set(units)
    found = {}
    for batch in batched(sorted(set(summaries)), DIGESTS_PER_QUERY):
        rows = Presence.objects.filter(judge=version, summary_digest__in=batch)
        for summary, unit, value, truncated in rows.values_list(
            "summary_digest", "unit_digest", reading, "was_truncated"
        ).iterator(chunk_size=5000):
            if unit in wanted:
                found[summary, unit] = Stored(None if value is None else float(value), truncated)
    return found


def store_verdicts(version: JudgeVersion, verdicts: Iterable[tuple[str, str, Verdict]]) -> None:
    """Keep verdicts as (summary, unit, verdict). What is known already stays as it is."""
    Presence.objects.bulk_create(
        (
            Presence(
                judge=version,
                summary_digest=summary,
                unit_digest=unit,
                p=verdict.p,
                p3c=verdict.p3c,
                l3c=verdict.l3c,
                p2c=verdict.p2c,
                l2c=verdict.l2c,
                was_truncated=verdict.was_truncated,
            )
            for summary, unit, verdict in verdicts
        ),
        ignore_conflicts=True,
        batch_size=1000,
    )
