"""From rows to scores."""

from __future__ import annotations

from collections import Counter, defaultdict

from annotation.models import Label, Project, Unit, UnitKind
from scoring.metrics import score_example, score_system


def human_scores(project: Project, *, rule: str = Label.IMPORTED) -> dict[str, float | None]:
    """The human Pyramid score of every system with labels of a rule: mean over examples of the weight found.

    An example counts for a system only if all its SCUs are labelled; a part of them would be another measure.
    """
    units = Unit.objects.current().filter(kind=UnitKind.SCU, example__project=project, example__trashed_at__isnull=True)
    needed = Counter(units.values_list("example_id", flat=True))
    rows = Label.objects.filter(rule=rule, unit__in=units, summary__system__trashed_at__isnull=True).values_list(
        "summary__system__name", "unit__example_id", "unit__weight", "present"
    )
    found: defaultdict[str, defaultdict[int, list[tuple[int, bool]]]] = defaultdict(lambda: defaultdict(list))
    for system, example, weight, present in rows.iterator(chunk_size=5000):
        found[system][example].append((weight, present))
    return {
        system: score_system(
            score_example([present for _, present in labels], [weight for weight, _ in labels])
            for example, labels in by_example.items()
            if len(labels) == needed[example]
        )
        for system, by_example in sorted(found.items())
    }
