"""What a score run is over: units, systems, and who decides each unit. Judging and scoring read the same scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.batching import batched
from annotation.models import Project, System
from scoring.comparability import Source, judged_systems, people_decide
from scoring.options import ScoreOptions
from scoring.services.selecting import (
    EXAMPLES_PER_BATCH,
    ChosenExample,
    GivenSummary,
    NothingToScore,
    Selection,
    count_labels,
    labels_of,
    select_units,
    summaries_of,
)

Labels = dict[tuple[int, int], bool]
"""(unit, summary) → present."""


@dataclass(frozen=True, slots=True)
class ExampleCase:
    """An example with all that is known of it but verdicts. `by_people` holds the units that people decide."""

    example: ChosenExample
    summaries: list[GivenSummary]
    labels: Labels
    by_people: frozenset[int]


@dataclass(frozen=True, slots=True)
class Scope:
    """`judged` are the chosen systems that people have judged."""

    options: ScoreOptions
    selection: Selection
    systems: tuple[int, ...]
    judged: frozenset[int]

    def batches(self) -> Iterator[list[ExampleCase]]:
        """All examples in their order, some at a time."""
        for batch in batched(self.selection.examples, EXAMPLES_PER_BATCH):
            yield self._cases(batch)

    def _cases(self, batch: Sequence[ChosenExample]) -> list[ExampleCase]:
        summaries = summaries_of(batch, self.systems)
        # Labels are read whoever decides: pages show where people and the judge differ.
        labels = labels_of(batch, self.options.label_rule)
        cases = []
        for example in batch:
            own = summaries.get(example.pk, [])
            decided = frozenset(
                weighted.unit
                for weighted in example.units
                if people_decide(self.judged, [s.system for s in own if (weighted.unit, s.pk) in labels])
            )
            cases.append(ExampleCase(example, own, labels, decided))
        return cases


def make_scope(project: Project, options: ScoreOptions) -> Scope:
    """The scope of a run; says what is missing if there is nothing to score."""
    selection = select_units(project, options)
    systems = systems_of(project, options)
    if not systems:
        raise NothingToScore(_("There is no system to score. Add one first."))
    judged: frozenset[int] = frozenset()
    if options.source != Source.JUDGE:
        judged = judged_systems(count_labels(selection, systems, options.label_rule), selection.units)
    return Scope(options, selection, tuple(systems), judged)


def systems_of(project: Project, options: ScoreOptions) -> list[int]:
    """Live systems that were asked for."""
    live = System.objects.live().filter(project=project).order_by("name").values_list("pk", flat=True)
    return [pk for pk in live if options.systems is None or pk in options.systems]
