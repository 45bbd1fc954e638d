"""Split and decompose as a job: what a worker does with a run of stage "decompose"."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from annotation.decomposing.units import VERSION
from annotation.models import Example, Project, Queue, Run, Stage, Unit, UnitKind, User
from annotation.services.auditing import record_audit
from annotation.services.decomposing import decompose_project
from annotation.services.jobs import JobRefused, Ticket, register_job, request_job


def request_decompose(
    project: Project, *, now: dt.datetime, actor: User | None = None, after: Run | None = None
) -> Run:
    """Note the job. The caller sends its id to a worker once this is committed; after an import the worker does."""
    parameters = {"after": after.pk} if after else {}
    return request_job(Stage.DECOMPOSE, parameters, now=now, project=project, actor=actor, sent=after is None)


def lacks_units(project: Project) -> bool:
    """Whether some live example has no STU yet."""
    with_units = Unit.objects.current().filter(example__project=project, kind=UnitKind.STU).values("example")
    return Example.objects.live().filter(project=project).exclude(pk__in=with_units).exists()


def run_after(run: Run) -> Run | None:
    """The job that an import has started by itself."""
    return Run.objects.filter(project=run.project, stage=Stage.DECOMPOSE, parameters__after=run.pk).first()


def do_decompose(run: Run, ticket: Ticket) -> None:
    """Make STUs for every reference. Batches are kept as they are done; a second try goes on behind them."""
    from annotation.spacy_parser import WrongWeights, load_parser

    project, now = run.project, run.started_at
    assert project is not None, "a decomposition has a project"
    assert now is not None, "a claimed run has begun"
    try:
        parser = load_parser()
    except WrongWeights as error:
        raise JobRefused(str(error)) from error
    report = decompose_project(project, parser, now=now, progress=ticket.report)
    with transaction.atomic():
        detail = report.as_dict()
        record_audit("decompose", project, target=parser.name, actor=run.started_by, now=now, detail=detail)
        ticket.finish(project=project, counts=detail, signature=f"decompose {VERSION} {parser.name}")


register_job(Stage.DECOMPOSE, queue=Queue.NLP, work=do_decompose)
