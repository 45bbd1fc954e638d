"""SCORE as a job: judge what nobody has judged yet, then turn presence into scores."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterator

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.batching import batched
from annotation.models import Project, Run, RunState, Stage, Unit, User
from annotation.services.auditing import record_audit
from annotation.services.jobs import JobRefused, Ticket, request_job
from scoring.comparability import Source
from scoring.judges import open_judge
from scoring.judging import Judge, UnknownJudge
from scoring.models import JudgeVersion, SystemScore
from scoring.options import ScoreOptions, checked_options
from scoring.services.board import rank_systems
from scoring.services.parts import (
    PartKeepsFailing,
    Wanted,
    do_parts,
    finish_parts,
    has_open_parts,
    pairs_done,
    pairs_per_second,
    plan_parts,
)
from scoring.services.scoping import Scope, make_scope
from scoring.services.selecting import NothingToScore, Selection, with_plan
from scoring.services.tables import Scorer
from scoring.services.verdicts import stored_verdicts, version_of

logger = logging.getLogger(__name__)

UNITS_PER_QUERY = 2000
Invite = Callable[[int], None]
"""Tells another worker that a run has open parts."""


@transaction.atomic
def request_score(project: Project, options: ScoreOptions, *, now: dt.datetime, actor: User | None = None) -> Run:
    """Note the job, or find the same one waiting. The caller sends its id once this is committed.

    "plan" becomes the number of the newest one: the next plan would be another.
    """
    options = with_plan(project, options)
    Project.objects.select_for_update().get(pk=project.pk)
    waiting = Run.objects.filter(project=project, stage=Stage.SCORE, state=RunState.QUEUED)
    for run in waiting:
        if run.parameters == options.as_dict():
            return run
    return request_job(Stage.SCORE, options.as_dict(), now=now, project=project, actor=actor)


def do_score(run: Run, ticket: Ticket, *, invite: Invite) -> None:
    """Score as the run asks. Verdicts are kept as they come; a second try goes on behind them."""
    project, now = run.project, run.started_at
    assert project is not None, "a score run has a project"
    assert now is not None, "a claimed run has begun"
    options = checked_options(run.parameters)
    ticket.report("reading", 0, 0)
    try:
        scope = make_scope(project, options)
        judge = open_judge(options.judge_name) if options.judge_name else None
    except (NothingToScore, UnknownJudge) as error:
        raise JobRefused(str(error)) from error
    if judge and options.reading not in judge.readings:
        raise JobRefused(_lacks_reading(options, judge))
    version = version_of(judge, now=now) if judge else None
    new_pairs = _judge_missing(run, ticket, scope, judge, version, invite) if judge and version else 0
    scorer = Scorer(run, scope, version)
    rows = _score(scorer, ticket)
    if not any(row.value is not None for row in rows):
        raise JobRefused(_nothing_measured(options))
    counts = {**scorer.counts, "new_pairs": new_pairs, "seen_units": _seen(judge, scope.selection)}
    _note_speed(run, version)
    with transaction.atomic():
        SystemScore.objects.filter(run=run).delete()
        SystemScore.objects.bulk_create(rows)
        record_audit("score", project, target=scorer.signature(), actor=run.started_by, now=now, detail=counts)
        ticket.finish(project=project, counts=counts, signature=scorer.signature())


def help_run(run_id: int, *, invite: Invite) -> None:
    """Do parts of a run that another worker has, as long as there are open ones."""
    run = Run.objects.filter(pk=run_id, stage=Stage.SCORE, state=RunState.RUNNING).first()
    if run is None or not has_open_parts(run_id):
        return
    if has_open_parts(run_id, more_than=1):
        invite(run_id)  # before the model is loaded: the next one can load its own meanwhile
    try:
        judge = open_judge(checked_options(run.parameters).judge_name)
    except UnknownJudge as error:
        logger.warning("run %s: this worker cannot help, it has no such judge (%s)", run_id, error)
        return
    version = JudgeVersion.objects.filter(name=judge.name, revision=judge.revision).first()
    if version is not None:  # else this worker has another revision, and its verdicts would be others
        do_parts(run_id, judge, version, after_each=lambda: None)


def _score(scorer: Scorer, ticket: Ticket) -> list[SystemScore]:
    """Score every summary, then compare the systems."""
    done, total = 0, len(scorer.scope.selection.examples)
    with transaction.atomic():
        ticket.hold()
        scorer.begin()
    for batch in scorer.scope.batches():
        ticket.report("scoring", done, total)
        rows = scorer.score(batch)
        with transaction.atomic():
            ticket.hold()
            scorer.store(rows)
        done += len(batch)
    ticket.report("scoring", done, total)
    return rank_systems(scorer, tick=lambda: ticket.report("comparing", total, total))


# --- judging -------------------------------------------------------------------------------------------------------


def _judge_missing(run: Run, ticket: Ticket, scope: Scope, judge: Judge, version: JudgeVersion, invite: Invite) -> int:
    """Have every pair judged that is not known yet. Returns how many there were."""
    planned = plan_parts(run, version, _missing(scope, version))
    before = pairs_done(run.pk)  # by an earlier try of the same run
    if not planned:
        return before

    def report() -> None:
        ticket.report("judging", pairs_done(run.pk) - before, planned)

    report()
    if has_open_parts(run.pk, more_than=1):
        invite(run.pk)
    try:
        finish_parts(run.pk, judge, version, after_each=report)
    except PartKeepsFailing as error:
        message = _("Workers died over one part of it again and again. See the log of the worker, then try again.")
        raise JobRefused(message, can_retry=True) from error
    return before + planned


def _missing(scope: Scope, version: JudgeVersion) -> Iterator[Wanted]:
    """Summaries with the units that the judge has to judge in them, those of an example together."""
    texts = scope.selection.texts
    for batch in scope.batches():
        digests = [summary.digest for case in batch for summary in case.summaries]
        known = stored_verdicts(version, digests, [texts[w.unit] for case in batch for w in case.example.units])
        for case in batch:
            for summary in case.summaries:
                units = [
                    weighted.unit
                    for weighted in case.example.units
                    if not (weighted.unit in case.by_people and (weighted.unit, summary.pk) in case.labels)
                    and (summary.digest, texts[weighted.unit]) not in known
                ]
                if units and summary.digest:  # nothing is in an empty summary, whoever judges
                    yield summary.pk, units


def _seen(judge: Judge | None, selection: Selection) -> int:
    """Units that the judge has learnt from: there it looks better than it is."""
    if judge is None:
        return 0
    texts = (text for batch in batched(selection.texts, UNITS_PER_QUERY) for text in _texts(batch))
    return sum(judge.has_seen(text) for text in texts)


def _texts(units: list[int]) -> QuerySet[Unit, str]:
    return Unit.objects.filter(pk__in=units).values_list("text", flat=True)


def _note_speed(run: Run, version: JudgeVersion | None) -> None:
    speed = pairs_per_second(run)
    if version and speed:
        JudgeVersion.objects.filter(pk=version.pk).update(pairs_per_s=round(speed, 2))


def _lacks_reading(options: ScoreOptions, judge: Judge) -> str:
    return _("The judge gives no %(reading)s. It gives %(known)s: choose one of these.") % {
        "reading": options.reading,
        "known": ", ".join(judge.readings),
    }


def _nothing_measured(options: ScoreOptions) -> str:
    if options.source == Source.PEOPLE and not options.parsed_metric.pyramid:
        return _("Nothing could be scored: no system has labels for all units of an example. Choose a judge as well.")
    return _("Nothing could be scored: the metric is not defined here. Quality needs units of different weights.")
