"""AGGREGATE: labels from votes, by a named rule that is stored with each of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Count

from annotation.aggregating.effects import Effect, Pair, compare_labels
from annotation.aggregating.filters import FILTERS
from annotation.aggregating.votes import MAJORITY, Tally, count_votes
from annotation.models import Label, Project, User
from annotation.services.auditing import record_audit
from annotation.services.votes import are_linked, excluded_people, read_places, read_tallies, read_votes

CHUNK = 5000
NO_FILTER = "none"


@dataclass(frozen=True, slots=True)
class MadeLabels:
    """What a run of the rule did."""

    rule: str
    labels: int
    added: int
    turned: int
    removed: int
    ties: int
    notes: tuple[str, ...] = ()


def rule_name(filter_name: str) -> str:
    """The rule as it is stored: the majority, after a filter if there is one."""
    return MAJORITY if filter_name == NO_FILTER else f"{MAJORITY}/{filter_name}"


def filter_of(rule: str) -> str | None:
    """The filter of a stored rule; None if the rule is not one of ours."""
    if rule == MAJORITY:
        return NO_FILTER
    name = rule.removeprefix(f"{MAJORITY}/")
    return name if name != rule and name in FILTERS else None


def tallies_by(
    project: Project, filter_name: str, *, without: Collection[int]
) -> tuple[dict[Pair, Tally], tuple[str, ...]]:
    """Tallies after a filter, and what the filter has to tell. Raises NeedsLinkedJudges."""
    if filter_name == NO_FILTER:
        return read_tallies(project, without=without), ()
    votes = list(read_votes(project, without=without))
    found = FILTERS[filter_name].apply(votes, are_linked=are_linked(project))
    kept = (vote for vote in found.keep(votes) if not vote.is_filler)
    tallies = {item: tally for item, tally in count_votes(kept).items() if isinstance(item, tuple)}
    told = tuple(f"{judge} is left out" for judge in sorted(found.judges))
    dropped = (f"{len(found.in_task):,} judges are left out of one sheet each",) if found.in_task else ()
    return tallies, told + dropped + found.notes


def labels_of(tallies: dict[Pair, Tally]) -> dict[Pair, bool]:
    """Labels of all that has a vote; a tie is not present."""
    return {pair: tally.label for pair, tally in tallies.items() if tally.votes}


@transaction.atomic
def make_labels(project: Project, filter_name: str, *, now: dt.datetime, actor: User | None) -> MadeLabels:
    """Store the labels of a rule, so that they are what the votes say now. Labels of other rules stay as they are."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    without = excluded_people(project)
    tallies, notes = tallies_by(project, filter_name, without=without)
    wanted = labels_of(tallies)
    rule = rule_name(filter_name)
    stored = {
        (unit, summary): (pk, present)
        for pk, unit, summary, present in Label.objects.filter(
            unit__example__project=project, unit__superseded_at__isnull=True, rule=rule
        )
        .values_list("pk", "unit", "summary", "present")
        .iterator(chunk_size=CHUNK)
    }
    new = [
        Label(unit_id=unit, summary_id=summary, rule=rule, present=present)
        for (unit, summary), present in wanted.items()
        if (unit, summary) not in stored
    ]
    Label.objects.bulk_create(new, batch_size=CHUNK)
    turned = [(pk, wanted[pair]) for pair, (pk, present) in stored.items() if wanted.get(pair, present) is not present]
    for present in (True, False):
        for chunk in _chunks([pk for pk, is_present in turned if is_present is present]):
            Label.objects.filter(pk__in=chunk).update(present=present)
    gone = [pk for pair, (pk, _present) in stored.items() if pair not in wanted]
    _forget(gone)
    ties = sum(tally.is_tie for tally in tallies.values())
    made = MadeLabels(rule, len(wanted), len(new), len(turned), len(gone), ties, notes)
    detail = {"labels": made.labels, "added": made.added, "turned": made.turned, "removed": made.removed,
              "excluded": len(without), "notes": list(notes)}  # fmt: skip
    record_audit("make labels", project, target=rule, actor=actor, now=now, detail=detail)
    return made


def _forget(labels: list[int]) -> None:
    """Labels of a rule that no vote supports any more: claims that nobody makes.

    The votes are what people did, and they are kept; labels of a rule are only counted from them.
    """
    table = connection.ops.quote_name(Label._meta.db_table)
    for chunk in _chunks(labels):
        marks = ", ".join(["%s"] * len(chunk))
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} WHERE id IN ({marks})", chunk)  # noqa: S608


def _chunks(rows: list[int]) -> Iterable[list[int]]:
    return (rows[start : start + 500] for start in range(0, len(rows), 500))


def own_rules(project: Project) -> list[str]:
    """Filters whose labels are stored."""
    rules = Label.objects.filter(unit__example__project=project).values_list("rule", flat=True).distinct().order_by()
    return sorted(name for rule in rules if (name := filter_of(rule)) is not None)


def label_rules(project: Project) -> dict[str, int]:
    """The rules that have labels of what is live, with their numbers: the corpus's own first, then the most."""
    labels = Label.objects.filter(unit__example__project=project, unit__example__trashed_at__isnull=True)
    counts = dict(labels.order_by().values_list("rule").annotate(number=Count("pk")))
    return dict(sorted(counts.items(), key=lambda item: (item[0] != Label.IMPORTED, -item[1], item[0])))


def main_rule(project: Project) -> str:
    """The rule that counts where nobody chose one: the labels that came with the corpus, else those with the most."""
    return next(iter(label_rules(project)), Label.IMPORTED)


def effect_of_excluding(project: Project, people: Collection[int], *, filter_name: str = NO_FILTER) -> Effect:
    """What would become of labels and scores without some more judges (or with them, if they are excluded now)."""
    now = excluded_people(project)
    before, _ = tallies_by(project, filter_name, without=now)
    after, _ = tallies_by(project, filter_name, without=now ^ set(people))
    old, new = labels_of(before), labels_of(after)
    return compare_labels(old, new, read_places(project, old.keys() | new.keys()))
