"""Which units of which examples a metric is over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotation.batching import batched
from annotation.cleaning import clean
from annotation.mixing import RatedSentence, SentenceUnits, Weighted, choose_easy, mix_units
from annotation.models import (
    Example,
    Label,
    Plan,
    Project,
    Reference,
    Summary,
    Unit,
    UnitKind,
)
from annotation.services.placing import (
    current_units,
    drop_rewritten,
    half_written,
    live_references,
    newest_easiness,
    owners_of,
    place_units,
    sentences_of,
)
from annotation.services.plans import plan_units
from scoring.metric_names import Metric
from scoring.metrics import count_tokens, sample_units
from scoring.options import ScoreOptions
from scoring.signatures import text_digest, units_digest

EXAMPLES_PER_BATCH = 100
"""Examples that are held in memory at once, with all their summaries."""
UNITS_PER_QUERY = 500


class NothingToScore(Exception):
    """The project lacks what the metric needs. The message says what to do."""


@dataclass(frozen=True, slots=True)
class ChosenExample:
    """An example and the units that count in it; units and tokens of a reference are means over its references."""

    pk: int
    key: str
    units: tuple[Weighted, ...]
    reference_tokens: float
    mean_units: float


@dataclass(slots=True)
class Selection:
    """All that a score is over, but for the summaries."""

    examples: list[ChosenExample] = field(default_factory=list)
    left_out: int = 0  # examples without units, or with sentences that are still to be written
    texts: dict[int, str] = field(default_factory=dict)  # digests of the units' texts
    digest: str = ""
    plan: str = ""  # its number and digest, if the units are those of a frozen plan

    @property
    def units(self) -> int:
        return sum(len(example.units) for example in self.examples)


def select_units(project: Project, options: ScoreOptions) -> Selection:
    """The units of all live examples of a project, by the metric."""
    metric = options.parsed_metric
    kinds = [UnitKind.SCU] * metric.uses_scus + [UnitKind.STU] * metric.uses_stus
    units = drop_rewritten(project, current_units(project, kinds))
    examples = Example.objects.live().filter(project=project).order_by("position")
    keys = dict(examples.values_list("pk", "key"))
    selection = Selection()
    if metric.plan is not None:
        plan = _frozen(project, metric.plan)
        chosen: Any = plan_units(plan, units)
        selection.plan = f"{plan.number}@{plan.digest[:12]}"
    else:
        chosen = _mixed(project, options, units) if metric.is_mixed else _whole(metric, options.seed, units, keys)
        if metric.uses_scus and not metric.is_mixed:
            for example in half_written(project, units):
                chosen.pop(example, None)
    lengths, references = _reference_lengths(project)
    described = []
    for example, key in keys.items():
        own = chosen.get(example) or []
        if not own:
            selection.left_out += 1
            continue
        mean_units = sum(item.weight for item in own) / references.get(example, 1)
        selection.examples.append(ChosenExample(example, key, tuple(own), lengths.get(example, 0.0), mean_units))
        for item in own:
            unit = units[item.unit]
            selection.texts[unit.pk] = text_digest(unit.text)
            described.append((key, unit.text, item.weight))
    if not selection.examples:
        raise NothingToScore(_lacking(metric))
    selection.digest = units_digest(described)
    return selection


def find_plan(project: Project, number: int) -> Plan | None:
    """A frozen plan by its number, or the newest for 0."""
    plans = Plan.objects.filter(project=project).order_by("-number")
    return (plans.filter(number=number) if number else plans).first()


def with_plan(project: Project, options: ScoreOptions) -> ScoreOptions:
    """Options that name their plan by its number, if there is one."""
    number = options.parsed_metric.plan
    plan = None if number is None else find_plan(project, number)
    return replace(options, metric=f"plan-{plan.number}") if plan else options


def no_plan() -> str:
    return _("There is no such plan. Freeze one on the page Plan, or choose lite2.5.")


def _frozen(project: Project, number: int) -> Plan:
    plan = find_plan(project, number)
    if plan is None:
        raise NothingToScore(no_plan())
    return plan


def _lacking(metric: Metric) -> str:
    if metric.uses_stus and not metric.uses_scus:
        return _("No example has STUs. Run Split and decompose first: there is a button on the page of the project.")
    return _("No example has SCUs that this metric could use. Import or write some first, or choose lite3.")


def _whole(
    metric: Metric, seed: int, units: dict[int, Unit], keys: dict[int, str]
) -> dict[int, list[Weighted]] | dict[int, list[Weighted] | None]:
    """All units of one kind, or a sample of them."""
    found: defaultdict[int, list[Weighted]] = defaultdict(list)
    for unit in units.values():
        found[unit.example_id].append(Weighted(unit.pk, unit.weight if metric.uses_scus else 1))
    if not metric.sampled:
        return found
    return {example: _sampled(own, metric.sampled, seed, keys[example], units) for example, own in found.items()}


def _sampled(
    weighted: Sequence[Weighted], number: int, seed: int, example: str, units: dict[int, Unit]
) -> list[Weighted]:
    """LitePyramid knows no weights: a sampled unit counts as one."""
    by_key = {units[item.unit].key: item.unit for item in weighted}
    return [Weighted(by_key[key], 1) for key in sample_units(list(by_key), number, seed=seed, example=example)]


# --- Lite2.x -------------------------------------------------------------------------------------------------------


def _mixed(project: Project, options: ScoreOptions, units: dict[int, Unit]) -> dict[int, list[Weighted] | None]:
    """STUs for the easiest share of all sentences of the project, SCUs for the rest."""
    references = live_references(project)
    owners = owners_of(project)
    sentences = sentences_of(owners)
    easiness = newest_easiness(project)
    rated = []
    with_text = set(references.exclude(text="").values_list("pk", flat=True))
    for reference in owners:
        own = sentences.get(reference, [])
        if (not own and reference in with_text) or any(sentence.pk not in easiness for sentence in own):
            raise NothingToScore(
                _("Some sentences are not ranked, so nobody can tell the easy ones. Run Split and decompose first.")
            )
        rated += [RatedSentence(sentence.pk, easiness[sentence.pk]) for sentence in own]
    share = options.parsed_metric.share
    easy = choose_easy(rated, share, order=options.order, rule=options.rule, seed=options.seed)
    placed = place_units(project, units, owners, sentences)
    weights = {unit.pk: unit.weight for unit in units.values()}
    by_example: defaultdict[int, list[SentenceUnits]] = defaultdict(list)
    for reference, example in owners.items():
        by_example[example] += placed[reference]
    return {example: mix_units(own, easy, weights) for example, own in by_example.items()}


# --- summaries and labels ------------------------------------------------------------------------------------------


def _reference_lengths(project: Project) -> tuple[dict[int, float], dict[int, int]]:
    """Mean tokens of the references of each example, and their number."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    rows = Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)
    for example, text in rows.values_list("example_id", "text").iterator(chunk_size=2000):
        found[example].append(count_tokens(clean(text).text))
    return {example: fmean(own) for example, own in found.items()}, {key: len(own) for key, own in found.items()}


@dataclass(frozen=True, slots=True)
class GivenSummary:
    """A summary to be scored."""

    pk: int
    system: int
    digest: str
    tokens: int


def summaries_of(examples: Sequence[ChosenExample], systems: Sequence[int]) -> dict[int, list[GivenSummary]]:
    """Summaries of examples by some systems, by example."""
    found: defaultdict[int, list[GivenSummary]] = defaultdict(list)
    rows = Summary.objects.filter(example__in=[example.pk for example in examples], system__in=systems)
    for pk, example, system, text in rows.order_by("example", "system").values_list(
        "pk", "example_id", "system_id", "text"
    ):
        digest = text_digest(text) if text.strip() else ""
        found[example].append(GivenSummary(pk, system, digest, count_tokens(clean(text).text)))
    return found


def labels_of(examples: Sequence[ChosenExample], rule: str) -> dict[tuple[int, int], bool]:
    """Labels of a rule as (unit, summary) → present."""
    live = Q(unit__example__in=[example.pk for example in examples], rule=rule)
    rows = Label.objects.filter(live).values_list("unit_id", "summary_id", "present")
    return {(unit, summary): present for unit, summary, present in rows.iterator(chunk_size=5000)}


def count_labels(selection: Selection, systems: Sequence[int], rule: str) -> dict[int, int]:
    """How many labels of the chosen units each system has."""
    found: Counter[int] = Counter()
    for batch in batched(selection.texts, UNITS_PER_QUERY):
        rows = Label.objects.filter(unit__in=batch, rule=rule, summary__system__in=systems).order_by()
        found.update(dict(rows.values_list("summary__system_id").annotate(number=Count("pk"))))
    return found
