"""COLLECT, for writing: what the crowd wrote waits for a person, who takes of it what shall be SCUs."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Reference, User
from annotation.services.crowd import store_crowd_units
from mturk.models import CrowdAssignment, CrowdBatch
from mturk.statements import Statement, propose


@dataclass(frozen=True, slots=True)
class Written:
    """A reference with the statements that were written about it; how many of its SCUs there are already."""

    reference: Reference
    statements: list[Statement]
    known: int


def written_of(batch: CrowdBatch) -> list[Written]:
    """All references of a batch about which somebody has written, in the order of the corpus."""
    texts: defaultdict[int, list[tuple[tuple[int, int], str]]] = defaultdict(list)
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch, answers__isnull=False).select_related("hit")
    for row in rows.order_by("hit__task", "pk").defer("raw", "whole"):
        assert row.hit.reference_id is not None, "a HIT of writing has a reference"
        for place in range(1, int(row.hit.page.get("statements", 8)) + 1):
            text = (row.answers or {}).get(f"s{place}", "").strip()
            if text:
                texts[row.hit.reference_id].append(((row.pk, place), text))
    references = Reference.objects.filter(pk__in=texts).select_related("example").order_by("example__position", "pk")
    return [
        Written(reference, propose(texts[reference.pk]), reference.units.current().filter(kind="scu").count())
        for reference in references
    ]


@transaction.atomic
def take(batch: CrowdBatch, chosen: Collection[tuple[int, int]], *, now: dt.datetime, actor: User | None) -> int:
    """Make SCUs of the chosen statements, each credited to its writer's pseudonym. What stands there is not doubled."""
    wanted: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    rows = CrowdAssignment.objects.filter(hit__crowd_batch=batch, pk__in={pk for pk, _place in chosen})
    people = {row.pk: row for row in rows.select_related("hit__reference", "worker")}
    for pk, place in sorted(set(chosen)):
        if pk in people:
            wanted[people[pk].hit.reference_id or 0].append((pk, place))
    made = 0
    for own in wanted.values():
        reference = people[own[0][0]].hit.reference
        assert reference is not None, "a HIT of writing has a reference"
        texts = [(people[pk].worker, (people[pk].answers or {}).get(f"s{place}", "")) for pk, place in own]
        made += len(store_crowd_units(reference, texts, now=now, actor=actor))
    return made
