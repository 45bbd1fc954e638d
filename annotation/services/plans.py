"""Reading frozen plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Q, Sum

from annotation.mixing import SentenceUnits, Weighted, mix_units
from annotation.models import (
    Destination,
    Plan,
    PlannedSentence,
    Project,
    Sentence,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
)
from annotation.planning.prices import THOUSAND, half_up
from annotation.services.placing import current_units, owners_of, place_units, sentences_of

PAGE = 50


def planned_sentences(plan: Plan, units: dict[int, Unit]) -> tuple[dict[int, list[SentenceUnits]], set[int]]:
    """The sentences of a plan by reference, in the order of the corpus, and those that STUs cover.

    STUs are those of the plan, even if others have taken their place since; SCUs are those that count now. `units` gets
    the units that the plan names and that are not current any more.
    """
    rows = {row.sentence_id: row for row in PlannedSentence.objects.filter(plan=plan)}
    easy = {key for key, row in rows.items() if row.route == Destination.STUS}
    old = {unit for row in rows.values() for unit in row.stus} - set(units)
    units |= {unit.pk: unit for unit in Unit.objects.filter(pk__in=old)} if old else {}
    owners = owners_of(plan.project)
    scus = {key: unit for key, unit in units.items() if unit.kind == UnitKind.SCU}
    found: dict[int, list[SentenceUnits]] = {}
    newest = sentences_of(owners)
    placed = place_units(plan.project, scus, owners, _as_planned(rows, newest))
    for reference, own in placed.items():
        found[reference] = [
            SentenceUnits(one.key, tuple(rows[one.key].stus) if one.key in rows else (), one.scus, one.is_written)
            for one in own
        ]
    return found, easy


def _as_planned(rows: dict[int, PlannedSentence], newest: dict[int, list[Sentence]]) -> dict[int, list[Sentence]]:
    """The sentences that a plan was made of: a reference that was split anew since keeps the split of the plan."""
    known = {sentence.pk for own in newest.values() for sentence in own}
    older = Sentence.objects.filter(pk__in=set(rows) - known).order_by("reference", "position")
    by_reference: defaultdict[int, list[Sentence]] = defaultdict(list)
    for sentence in older:
        by_reference[sentence.reference_id].append(sentence)
    return {reference: by_reference.get(reference) or own for reference, own in newest.items()}


def list_planned(plan: Plan, *, after: int = 0, is_pinned: bool = False) -> list[PlannedSentence]:
    """The sentences of a plan in its order, hardest first: a page of them, and one more if there are more."""
    rows = plan.sentences.filter(rank__gt=after).select_related("sentence__reference__example").order_by("rank")
    return list((rows.filter(is_pinned=True) if is_pinned else rows)[: PAGE + 1])


def writing_money(project: Project) -> tuple[int, int]:
    """Cents for the writing that is finished, and for all that is or was asked for, at the prices of its plans."""
    asked = Task.objects.filter(project=project, kind=TaskKind.WRITE).exclude(state=TaskState.WITHDRAWN)
    sums = asked.aggregate(done=Sum("mills", filter=Q(state=TaskState.DONE)), all=Sum("mills"))
    return half_up(sums["done"] or 0, THOUSAND), half_up(sums["all"] or 0, THOUSAND)


def unwritten(plan: Plan) -> int:
    """Hard sentences of a plan that nobody has written yet."""
    found, easy = planned_sentences(plan, current_units(plan.project, UnitKind.values))
    return sum(one.key not in easy and not one.is_written for own in found.values() for one in own)


def plan_units(plan: Plan, units: dict[int, Unit]) -> dict[int, list[Weighted] | None]:
    """The weighted units of every example by a plan; None where a hard sentence is not written yet."""
    found, easy = planned_sentences(plan, units)
    owners = owners_of(plan.project)
    weights = {unit.pk: unit.weight for unit in units.values()}
    by_example: defaultdict[int, list[SentenceUnits]] = defaultdict(list)
    for reference, example in owners.items():
        by_example[example] += found.get(reference, [])
    return {example: mix_units(own, easy, weights) for example, own in by_example.items()}


def plan_lines(plan: Plan) -> Iterator[list[str]]:
    """The units of each reference in the order of its sentences: STUs of easy ones, SCUs of hard ones."""
    units = current_units(plan.project, UnitKind.values)
    found, easy = planned_sentences(plan, units)
    for own in found.values():
        keys = [key for one in own for key in (one.stus if one.key in easy else one.scus)]
        yield [" ".join(units[key].text.split()) for key in keys]
