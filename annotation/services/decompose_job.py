"""Split and decompose as a job: what a worker does with a run of stage "decompose"."""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotation.decomposing.units import VERSION
from annotation.models import Project, Queue, Run, RunState, Stage, User
from annotation.ranking.regressor import UnknownRanker
from annotation.services.auditing import record_audit
from annotation.services.decomposing import decompose_project, references_without_units
from annotation.services.jobs import JobRefused, Ticket, register_job, request_job
from annotation.services.ranking import current_ranker, rank_project
from annotation.services.routes import refresh_routes


@transaction.atomic
def request_decompose(
    project: Project, *, now: dt.datetime, actor: User | None = None, after: Run | None = None
) -> Run:
    """Note the job, or find the one that waits. The caller sends its id once this is committed.

    After an import only references without STUs are treated, and the worker sends the run itself. A person who asks has
    all of them treated, those with imported STUs as well.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    waiting = Run.objects.filter(project=project, stage=Stage.DECOMPOSE, state=RunState.QUEUED)
    found = waiting.filter(parameters__missing_only=after is not None).first()
    if found:
        return found
    parameters = {"missing_only": after is not None, **({"after": after.pk} if after else {})}
    return request_job(Stage.DECOMPOSE, parameters, now=now, project=project, actor=actor, sent=after is None)


def lacks_units(project: Project) -> bool:
    """Whether some reference with text has no STU."""
    return references_without_units(project).exists()


def run_after(run: Run) -> Run | None:
    """The job that an import has started by itself, or found waiting; or the newest try of it."""
    own = Q(parameters__after=run.pk) | Q(pk=run.counts.get("follow"))
    return Run.objects.filter(own, project=run.project, stage=Stage.DECOMPOSE).order_by("-pk").first()


def unsent_after(run_id: int) -> Run | None:
    """The same, if nobody has sent it yet. The caller sends it."""
    runs = Run.objects.filter(stage=Stage.DECOMPOSE, state=RunState.QUEUED, parameters__after=run_id)
    run = runs.filter(sent_at__isnull=True).first()
    return run if run and runs.filter(pk=run.pk, sent_at__isnull=True).update(sent_at=Now()) else None


def do_decompose(run: Run, ticket: Ticket) -> None:
    """Make STUs for every reference. Batches are kept as they are done; a second try goes on behind them."""
    from annotation.spacy_parser import WrongWeights, load_parser

    project, now = run.project, run.started_at
    assert project is not None, "a decomposition has a project"
    assert now is not None, "a claimed run has begun"
    try:
        parser, ranker = load_parser(), current_ranker()
    except (WrongWeights, UnknownRanker) as error:
        raise JobRefused(str(error)) from error
    missing_only = bool(run.parameters.get("missing_only"))
    report = decompose_project(project, parser, now=now, progress=ticket.report, missing_only=missing_only)
    ranked = rank_project(project, ranker, parser, now=now, progress=ticket.report)
    with transaction.atomic():
        refresh_routes(project, now=now)  # or the next page would have to
        detail = {**report.as_dict(), **ranked.as_dict()}
        record_audit(
            "decompose",
            project,
            target=f"{parser.name} {ranker.signature}",
            actor=run.started_by,
            now=now,
            detail=detail,
        )
        ticket.finish(
            project=project,
            counts={**detail, "look_at": report.look_at},
            signature=f"decompose {VERSION} {parser.name} {ranker.signature}",
        )


register_job(Stage.DECOMPOSE, queue=Queue.NLP, work=do_decompose)
