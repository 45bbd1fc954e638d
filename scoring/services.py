"""From rows to scores."""

from __future__ import annotations

from collections import defaultdict

from annotation.models import Label, Project, UnitKind
from scoring.metrics import score_example, score_system


def human_scores(project: Project, *, rule: str = Label.IMPORTED) -> dict[str, float | None]:
    """The human Pyramid score of every system with labels of a rule: mean over examples of the weight found."""
    rows = Label.objects.filter(
        rule=rule,
        unit__kind=UnitKind.SCU,
        unit__example__project=project,
        unit__example__trashed_at__isnull=True,
        unit__trashed_at__isnull=True,
        unit__superseded_at__isnull=True,
        summary__system__trashed_at__isnull=True,
    ).values_list("summary__system__name", "unit__example_id", "unit__weight", "present")
    found: defaultdict[str, defaultdict[int, list[tuple[int, bool]]]] = defaultdict(lambda: defaultdict(list))
    for system, example, weight, present in rows.iterator(chunk_size=5000):
        found[system][example].append((weight, present))
    return {
        system: score_system(
            score_example([present for _, present in units], [weight for weight, _ in units])
            for units in by_example.values()
        )
        for system, by_example in sorted(found.items())
    }
