"""PUBLISH and COLLECT as jobs: what a worker does with a run of these stages. Begun again, it goes on where it was."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.models import Project, Run, RunState, Stage, User
from annotation.services.jobs import UNFINISHED, JobRefused, Ticket, request_job
from mturk.client import connect
from mturk.environments import NoEnvironment, environment
from mturk.market import Market, MarketError, WrongAccount
from mturk.models import BatchState, CrowdBatch
from mturk.services.collecting import Collected, collect_batch, note_complete
from mturk.services.deciding import Settled, carry_out, passing, wish_approval
from mturk.services.ending import align, delete_copied
from mturk.services.publishing import Published, PublishStopped, grant_more, publish_batch, refuse_moved

Connect = Callable[[CrowdBatch], Market]
Report = Callable[[str, int, int], None]

logger = logging.getLogger(__name__)


def market_of(batch: CrowdBatch) -> Market:
    """The market of a batch, by the keys of this installation."""
    return connect(environment(batch.environment))


def request_publish(batch: CrowdBatch, *, now: dt.datetime, actor: User | None) -> Run:
    return _request(Stage.PUBLISH, batch, now=now, actor=actor)


def request_collect(
    batch: CrowdBatch, *, now: dt.datetime, actor: User | None, every: bool = False, delete: bool = False
) -> Run:
    """`every`: list all HITs, not only those with news. `delete`: then delete there what is decided and copied."""
    return _request(Stage.COLLECT, batch, now=now, actor=actor, every=every, delete=delete)


@transaction.atomic
def _request(stage: Stage, batch: CrowdBatch, *, now: dt.datetime, actor: User | None, **wanted: bool) -> Run:
    """Note the job, or find the one that waits. The caller sends its id once this is committed."""
    Project.objects.select_for_update().get(pk=batch.project_id)
    parameters = {"crowd_batch": batch.pk, "number": batch.number, **wanted}
    own = Run.objects.filter(project=batch.project, stage=stage, parameters__crowd_batch=batch.pk)
    waiting = [run for run in own.filter(state=RunState.QUEUED) if run.parameters == parameters]
    if waiting:
        return waiting[0]
    return request_job(stage, parameters, now=now, project=batch.project, actor=actor)


def runs_of(batch: CrowdBatch) -> list[Run]:
    """Jobs of a batch that have not ended."""
    own = Run.objects.filter(project=batch.project, parameters__crowd_batch=batch.pk, state__in=UNFINISHED)
    return list(own.filter(stage__in=(Stage.PUBLISH, Stage.COLLECT)).order_by("pk"))


def _open(run: Run, connect_to: Connect) -> tuple[CrowdBatch, Market]:
    batch = CrowdBatch.objects.select_related("project").filter(
        pk=run.parameters.get("crowd_batch"), project=run.project
    ).first()  # fmt: skip
    if batch is None:
        raise JobRefused("There is no such batch.")
    try:
        return batch, connect_to(batch)
    except NoEnvironment as error:
        raise JobRefused(str(error), can_retry=True) from error


def do_publish(run: Run, ticket: Ticket, *, connect_to: Connect = market_of) -> None:
    """Publish what is planned. Every HIT is a step of its own, so that a second try goes on behind the last one."""
    batch, market = _open(run, connect_to)
    try:
        done = publish_batch(batch.pk, market, clock=timezone.now, report=ticket.report, actor=run.started_by)
    except PublishStopped as error:
        raise JobRefused(str(error), can_retry=True) from error
    except MarketError as error:
        raise JobRefused(f"The market does not answer ({error}).", can_retry=True) from error
    with transaction.atomic():
        counts = {**done.as_dict(), "errors": done.errors[:20]}
        ticket.finish(project=batch.project, counts=counts, signature=f"publish {batch.environment}", can_undo=False)


@dataclass(slots=True)
class Synchronised:
    """What was told to the market, what came from it, and what it was asked for in turn."""

    told: Settled
    found: Collected
    asked: Published

    @property
    def errors(self) -> list[str]:
        return [*self.found.errors, *self.told.errors, *self.asked.errors]

    def as_dict(self) -> dict[str, int]:
        return {**self.found.as_dict(), **self.told.as_dict(), "added": self.asked.added}


def synchronise(
    batch: CrowdBatch, market: Market, *, actor: User | None = None, every: bool = False, approve: bool = False,
    report: Report | None = None,
) -> Synchronised:  # fmt: skip
    """Collect what is new, tell the market what was decided, and ask for the further votes that this calls for.

    Each step can be repeated and done by two at once: the market's word and our constraints see to it.
    """
    refuse_moved(batch, now=timezone.now())
    align(batch.pk, market, clock=timezone.now)
    # Answers first: nothing that goes wrong with money may keep them from being copied.
    found = collect_batch(batch.pk, market, clock=timezone.now, report=report, actor=actor, every=every)
    if approve:
        wish_approval(passing(batch), batch, now=timezone.now(), actor=actor)
    told = carry_out(batch.pk, market, clock=timezone.now, report=report)
    asked = Published()
    batch.refresh_from_db()
    if batch.state in (BatchState.LIVE, BatchState.PUBLISHING):
        grant_more(batch, market, asked, clock=timezone.now)
    note_complete(batch.pk)
    return Synchronised(told, found, asked)


def poll(batch_id: int, *, connect_to: Connect = market_of) -> None:
    """Synchronise a batch that nobody asked about. What goes wrong is logged: the next turn tries again."""
    batch = CrowdBatch.objects.select_related("project").get(pk=batch_id)
    try:
        synchronise(batch, connect_to(batch))
    except (PublishStopped, MarketError, NoEnvironment) as error:
        logger.warning("%s of %s: not collected (%s)", batch, batch.project, error)


def do_collect(run: Run, ticket: Ticket, *, connect_to: Connect = market_of) -> None:
    """Synchronise a batch because somebody asked for it, and delete at the market what is copied if that was asked."""
    batch, market = _open(run, connect_to)
    deleted = 0
    try:
        done = synchronise(
            batch, market, actor=run.started_by, every=bool(run.parameters.get("every")), report=ticket.report
        )
        if run.parameters.get("delete"):
            deleted = delete_copied(batch.pk, market, clock=timezone.now, actor=run.started_by)
    except PublishStopped as error:
        raise JobRefused(str(error), can_retry=True) from error
    except WrongAccount as error:
        raise JobRefused(str(error), can_retry=True) from error
    except MarketError as error:
        raise JobRefused(f"The market does not answer ({error}).", can_retry=True) from error
    with transaction.atomic():
        counts = {**done.as_dict(), "deleted": deleted, "errors": done.errors[:20]}
        ticket.finish(project=batch.project, counts=counts, signature=f"collect {batch.environment}", can_undo=False)
