"""Human scores: from the labels of people alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from annotation.models import Label, Project, Unit, UnitKind
from scoring.metrics import score_example, score_system


@dataclass(frozen=True, slots=True)
class HumanScore:
    """The mean over some examples; None if there are none."""

    value: float | None
    examples: int


def human_scores(project: Project, *, rule: str = Label.IMPORTED) -> dict[str, float | None]:
    """The human Pyramid score of every system with labels of a rule."""
    return {system: score.value for system, score in measure_human_scores(project, rule=rule).items()}


def measure_human_scores(project: Project, *, rule: str = Label.IMPORTED) -> dict[str, HumanScore]:
    """The same, with the number of examples: mean over examples of the weight found.

    An example counts for a system only if all its SCUs are labelled; a part of them would be another measure.
    """
    units = Unit.objects.current().filter(kind=UnitKind.SCU, example__project=project, example__trashed_at__isnull=True)
    needed = Counter(units.values_list("example_id", flat=True))
    # Joined, not "unit in (…)": without fresh statistics PostgreSQL could take minutes for that.
    live = Q(unit__example__project=project, unit__example__trashed_at__isnull=True)
    current = Q(unit__kind=UnitKind.SCU, unit__superseded_at__isnull=True, unit__trashed_at__isnull=True)
    labels = Label.objects.filter(live, current, rule=rule, summary__system__trashed_at__isnull=True)
    # Weights are summed by the database: one row per system and example, not one per label.
    rows = (
        labels.order_by()
        .values_list("summary__system__name", "unit__example_id")
        .annotate(
            number=Count("pk"),
            weight=Sum("unit__weight"),
            weight_found=Sum("unit__weight", filter=Q(present=True), default=0),
        )
    )
    found: defaultdict[str, list[float | None]] = defaultdict(list)
    for system, example, number, weight, weight_found in rows.iterator(chunk_size=5000):
        # All units found weigh as one, all others as another: the same formula on two sums.
        score = score_example([1, 0], [weight_found, weight - weight_found])
        found[system].append(score if number == needed[example] else None)
    return {
        system: HumanScore(score_system(scores), sum(score is not None for score in scores))
        for system, scores in sorted(found.items())
    }
