"""Before a score run: which judges there are, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.models import Destination, Project, Unit, UnitKind
from scoring.judges import EMBEDDED
from scoring.metric_names import Metric
from scoring.models import JudgeVersion
from scoring.options import HUMAN, ScoreOptions
from scoring.services.scoping import systems_of
from scoring.services.selecting import find_plan

# Pairs per second before anything was measured here: two processor cores, and a model of RoBERTa-large's size.
GUESSED_SPEED = {EMBEDDED: 150.0}
GUESSED_NLI_SPEED = 2.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """So many pairs, at most or about; `seconds` by a speed that was measured here, or guessed."""

    pairs: int
    seconds: float
    is_measured: bool
    is_most: bool = True

    @property
    def minutes(self) -> int:
        return max(1, round(self.seconds / 60))


def judge_choices() -> list[str]:
    """Judges that the pages offer: the embedded one, the NLI models that the settings name, people, and both."""
    machines = [EMBEDDED, *settings.JUDGES]
    return [*machines, *(f"{HUMAN}+{name}" for name in machines), HUMAN]


def describe_judge(name: str) -> str:
    """A judge for people who choose one."""
    if name == HUMAN:
        return _("human: people’s labels alone")
    machine = name.removeprefix(f"{HUMAN}+")
    if machine != name:
        return _("human+%(judge)s: people’s labels, the judge for the rest") % {"judge": machine}
    return _("embedded: needs no download") if name == EMBEDDED else _("NLI model %(name)s") % {"name": name}


def estimate(project: Project, options: ScoreOptions) -> Estimate:
    """How long the judge may need: what was judged before, or by people, is not judged again."""
    if not options.judge_name:
        return Estimate(0, 0, True)
    units = _count_units(project, options.parsed_metric)
    pairs = units * len(systems_of(project, options))
    version = JudgeVersion.objects.filter(name=options.judge_name, pairs_per_s__isnull=False).order_by("-pk").first()
    guess = GUESSED_SPEED.get(options.judge_name, GUESSED_NLI_SPEED)
    speed = version.pairs_per_s if version and version.pairs_per_s else guess
    # Nobody has counted which units the easiest sentences have, so a share of all units is no bound.
    return Estimate(pairs, pairs / speed, version is not None, is_most=not options.parsed_metric.is_ordered)


def _count_units(project: Project, metric: Metric) -> int:
    live = Unit.objects.current().filter(example__project=project, example__trashed_at__isnull=True)
    scus, stus = (live.filter(kind=kind) for kind in (UnitKind.SCU, UnitKind.STU))
    if metric.plan is not None:
        return _count_planned(project, metric.plan, scus)
    by_hand = scus.count() if metric.uses_scus else 0
    by_machine = stus.count() if metric.uses_stus else 0
    return round(float(1 - metric.share) * by_hand + float(metric.share) * by_machine)


def _count_planned(project: Project, number: int, scus: QuerySet[Unit]) -> int:
    """The STUs that a plan names, and all SCUs if it leaves any sentence to people."""
    plan = find_plan(project, number)
    if plan is None:
        return 0
    to_stus = plan.sentences.filter(sentence__reference__example__trashed_at__isnull=True, route=Destination.STUS)
    named = sum(len(own) for own in to_stus.values_list("stus", flat=True).iterator(chunk_size=5000))
    return named + (scus.count() if plan.sentences.filter(route=Destination.PEOPLE).exists() else 0)
