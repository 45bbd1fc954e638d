"""Jobs that a worker does: the run row says what is wanted, who does it, how far it is and what came of it.

The row is the truth, a message only a hint. Every change of state is a conditional update, so that two messages, two
workers or two sweepers for one run are harmless on every database and every broker. Liveness is decided by the clock of
the database alone.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import sqlite3
import threading
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotation.models import Project, Queue, Run, RunState, User, Worker
from annotation.services.auditing import record_audit

logger = logging.getLogger(__name__)

# A run whose worker died this often will not be saved by another try.
MAX_ATTEMPTS = 5
# Nobody needs more jobs of one project at once; a script gone wild must not fill the queue for all the others.
MAX_UNFINISHED = 10
# Soon, so that a page has something to show.
FIRST_BEAT_SECONDS = 0.5
UNFINISHED = (RunState.QUEUED, RunState.RUNNING)
# InterfaceError is no DatabaseError, for historical reasons.
DATABASE_ERRORS = (DatabaseError, InterfaceError)


class JobRefused(Exception):
    """The job cannot be done as it was asked for. The message is for the person who asked; `counts` may tell more."""

    def __init__(self, message: str, counts: dict[str, Any] | None = None, *, can_retry: bool = False) -> None:
        super().__init__(message)
        self.counts = {**(counts or {}), "refused": not can_retry}


class JobCancelled(Exception):
    """Somebody asked to stop the job."""


class ClaimLost(Exception):
    """Another worker has the run now, because ours seemed dead. Whatever was not committed must not be."""


class CannotRetry(Exception):
    """Only a run that failed or was cancelled can be tried again."""


class TooManyJobs(Exception):
    """The project has enough jobs for now. The message says what to do."""


# --- which stage does what -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """What a stage does, and on which queue. The function gets the run and a ticket, and calls ticket.finish."""

    queue: str
    work: Callable[[Run, Ticket], None]


JOBS: dict[str, Job] = {}


def register_job(stage: str, *, queue: str, work: Callable[[Run, Ticket], None]) -> None:
    """Tell how a stage is done. Each app does so when it is loaded."""
    JOBS[stage] = Job(queue, work)


CHORES: list[tuple[str, Callable[[dt.datetime], None]]] = []


def register_chore(queue: str, do: Callable[[dt.datetime], None]) -> None:
    """Something that workers of a queue look after by themselves, every few seconds. It must be quick."""
    if (queue, do) not in CHORES:
        CHORES.append((queue, do))


def do_chores(queues: Collection[str], *, now: dt.datetime) -> None:
    for queue, do in CHORES:
        if queue in queues:
            do(now)


# --- asking for a job ----------------------------------------------------------------------------------------------


@transaction.atomic
def request_job(
    stage: str,
    parameters: dict[str, Any],
    *,
    now: dt.datetime,
    project: Project | None = None,
    actor: User | None = None,
    retry_of: Run | None = None,
    sent: bool = True,
) -> Run:
    """Note a job to be done. The caller sends its id to a worker once this is committed.

    With sent=False somebody else does: the worker that is about to finish the job before it, or the sweeper.
    """
    if project:
        Project.objects.select_for_update().get(pk=project.pk)  # or two at once could both be the last one allowed
        refuse_too_many(project)
    run = Run.objects.create(
        stage=stage,
        queue=JOBS[stage].queue,
        project=project,
        parameters=parameters,
        started_by=actor,
        retry_of=retry_of,
        created_at=now,
        sent_at=Now() if sent else None,
    )
    run.refresh_from_db(fields=["sent_at"])
    return run


def refuse_too_many(project: Project) -> None:
    """Say so if a project has as many unfinished jobs as one may have."""
    unfinished = Run.objects.filter(project=project, state__in=UNFINISHED).count()
    if unfinished >= MAX_UNFINISHED:
        raise TooManyJobs(
            _("%(n)s jobs of this project are not done yet. Wait for one, or cancel one.") % {"n": unfinished}
        )


@transaction.atomic
def cancel_run(run: Run, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Stop a run: at once if nobody works on it, else when its worker next looks. False if it has ended."""
    idle = Q(state=RunState.QUEUED) | Q(state=RunState.RUNNING, heartbeat_at__lt=stale_time())
    stopped = {"state": RunState.CANCELLED, "claim": None, "ended_at": Now(), "cancel_requested_at": now}
    cancelled = Run.objects.filter(idle, pk=run.pk).update(**stopped)
    asked = cancelled or Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(cancel_requested_at=now)
    if asked:
        record_audit("cancel run", run.project, target=f"{run.stage} {run.pk}", actor=actor, now=now)
    run.refresh_from_db()
    return bool(asked)


@transaction.atomic
def retry_run(run: Run, *, now: dt.datetime, actor: User | None = None) -> Run:
    """A new run with the parameters of one that failed or was cancelled. A second click finds the first one's run."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    alive = Run.objects.filter(retry_of=run, state__in=UNFINISHED).first()
    if alive:
        return alive
    if run.state not in (RunState.FAILED, RunState.CANCELLED):
        raise CannotRetry(_("Only a run that failed or was cancelled can be tried again."))
    record_audit("retry run", run.project, target=f"{run.stage} {run.pk}", actor=actor, now=now)
    return request_job(run.stage, run.parameters, now=now, project=run.project, actor=actor, retry_of=run)


# --- doing a job ---------------------------------------------------------------------------------------------------


class Ticket:
    """The right of one worker to do one run, as long as its heart beats."""

    def __init__(self, run_id: int, claim: uuid.UUID) -> None:
        self.run_id, self.claim = run_id, claim
        # One value, assigned at once: the heart reads it from another thread.
        self.progress = ("", 0, 0)
        self.is_lost = self.is_cancelled = False

    def report(self, phase: str, done: int, total: int) -> None:
        """Tell how far the work is, and learn whether it should go on. Cheap: the heart writes it down later."""
        self.progress = (phase, min(done, total), total)
        if self.is_lost:
            raise ClaimLost
        if self.is_cancelled:
            raise JobCancelled

    def hold(self) -> None:
        """Be sure that the run is still ours. Call it first in a transaction: until its end nobody can take it over."""
        if not self._mine().update(heartbeat_at=Now()):
            raise ClaimLost

    def finish(
        self, *, project: Project | None, counts: dict[str, Any], signature: str = "", can_undo: bool = True
    ) -> None:
        """Mark the run as done. Call it in the transaction of the work, so that both are stored or neither.

        A run that was cancelled before is not done, however near its end it was: raised here, JobCancelled undoes the
        work. Work that cannot be undone (what a market was told) is done all the same.
        """
        phase, _done, total = self.progress
        mine = self._mine().filter(cancel_requested_at__isnull=True) if can_undo else self._mine()
        finished = mine.update(
            state=RunState.DONE, claim=None, project=project, counts=counts, signature=signature, ended_at=Now(),
            phase=phase, steps_done=total, steps_total=total,
        )  # fmt: skip
        if not finished:
            raise JobCancelled if self._mine().exists() else ClaimLost

    def fail(self, error: str, counts: dict[str, Any] | None = None) -> None:
        """Mark the run as failed. Trying again helps, unless the counts say that it was refused."""
        failed = {"state": RunState.FAILED, "claim": None, "error": error or "unknown", "ended_at": Now()}
        self._mine().update(**failed, counts=counts or {})

    def cancel(self) -> None:
        self._mine().update(state=RunState.CANCELLED, claim=None, ended_at=Now())

    def give_back(self) -> None:
        """Queue the run again: this worker cannot go on with it. One that should be cancelled is."""
        self._mine().filter(cancel_requested_at__isnull=False).update(
            state=RunState.CANCELLED, claim=None, ended_at=Now()
        )
        self._mine().update(state=RunState.QUEUED, claim=None, sent_at=None)

    def beat(self) -> None:
        """See what others decided, show that the worker lives, and write the progress down."""
        # Reading comes first: it works even while our own import keeps everybody on SQLite from writing.
        row = self._mine().values_list("cancel_requested_at").first()
        self.is_lost = row is None
        self.is_cancelled = row is not None and row[0] is not None
        phase, done, total = self.progress
        self._mine().update(heartbeat_at=Now(), phase=phase, steps_done=done, steps_total=total)

    def _mine(self) -> QuerySet[Run]:
        return Run.objects.filter(pk=self.run_id, claim=self.claim, state=RunState.RUNNING)


class Beating(Protocol):
    """A right that lasts as long as somebody shows now and then that it lives."""

    run_id: int

    def beat(self) -> None: ...


class Heart:
    """Beats beside the work, on a database connection of its own."""

    def __init__(self, ticket: Beating) -> None:
        self.ticket = ticket
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name=f"heart of run {ticket.run_id}", daemon=True)

    def __enter__(self) -> Heart:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self.thread.join()

    def _run(self) -> None:
        try:
            pause = FIRST_BEAT_SECONDS
            while not self.stopped.wait(min(pause, settings.RUN_BEAT_SECONDS)):
                pause = settings.RUN_BEAT_SECONDS
                try:
                    if connection.vendor == "sqlite":
                        # Rather a missed beat than a heart that waits 20 seconds for our own import to end.
                        connection.cursor().execute("PRAGMA busy_timeout = 200")
                    self.ticket.beat()
                except DATABASE_ERRORS as error:
                    # SQLite has one writer, and that may be our own import: then nobody else can take the run either.
                    # A connection that was lost is opened anew at the next beat.
                    logger.info("run %s: no heartbeat now (%s)", self.ticket.run_id, error)
                    connection.close()
        finally:
            connection.close()


def run_job(run_id: int) -> None:
    """Do a queued run once. A second message for the same run finds it claimed and does nothing."""
    claim = uuid.uuid4()
    claimed = Run.objects.filter(pk=run_id, state=RunState.QUEUED).update(
        state=RunState.RUNNING, claim=claim, attempt=F("attempt") + 1, started_at=Now(), heartbeat_at=Now(),
        phase="", steps_done=0, steps_total=0,
    )  # fmt: skip
    if not claimed:
        return
    run = Run.objects.get(pk=run_id)
    ticket = Ticket(run_id, claim)
    if run.cancel_requested_at:
        ticket.cancel()
        return
    try:
        with Heart(ticket):
            JOBS[run.stage].work(run, ticket)
    except JobRefused as error:
        ticket.fail(str(error), error.counts)
    except JobCancelled:
        ticket.cancel()
    except ClaimLost:
        logger.warning("run %s was taken over by another worker; what this one did is dropped", run_id)
    except (OperationalError, InterfaceError) as error:
        # The database was busy or away, which passes: another try, by whoever comes first.
        logger.warning("run %s: %s; it is queued again", run_id, error)
        connection.close()
        if run.attempt < MAX_ATTEMPTS:
            ticket.give_back()
        else:
            ticket.fail(_our_fault(run_id))
    except Exception:
        # What went wrong is for the log: it may tell of folders, hosts and queries.
        ticket.fail(_our_fault(run_id))
        raise
    except BaseException:
        ticket.give_back()
        raise


def _our_fault(run_id: int) -> str:
    return _("A fault of ours. The log of the worker has it under run %(run)s. Try again, or ask an administrator.") % {
        "run": run_id
    }


# --- watching ------------------------------------------------------------------------------------------------------


def stale_time() -> CombinedExpression:
    """Whatever has not beaten since then is dead."""
    # Times are compared by the database: what it wrote itself and what Python wrote differ in the last digits.
    return Now() - dt.timedelta(seconds=settings.RUN_STALE_SECONDS)


def sweep_runs(queues: Collection[str] = Queue.values) -> list[Run]:
    """Runs whose worker died or whose message was lost. The caller, who works on these queues, sends them again."""
    stale = stale_time()
    for run in Run.objects.filter(state=RunState.RUNNING, heartbeat_at__lt=stale):
        _take_back(run, Run.objects.filter(state=RunState.RUNNING, claim=run.claim, heartbeat_at__lt=stale))
    # Only for queues that somebody works on: else messages would pile up for the day when somebody does.
    waiting = Run.objects.filter(
        Q(sent_at__lt=stale) | Q(sent_at__isnull=True), state=RunState.QUEUED, queue__in=queues
    )
    return [run for run in waiting if waiting.filter(pk=run.pk).update(sent_at=Now())]


def _take_back(run: Run, theirs: QuerySet[Run]) -> None:
    """Free a run from a worker whose heart stopped, unless it has begun to beat again."""
    if theirs.filter(cancel_requested_at__isnull=False).update(state=RunState.CANCELLED, claim=None, ended_at=Now()):
        return
    if run.attempt >= MAX_ATTEMPTS:
        error = _("Its worker died %(n)s times. See the log of the worker, then try again.") % {"n": run.attempt}
        theirs.update(state=RunState.FAILED, claim=None, error=error, ended_at=Now())
    else:
        logger.warning("run %s has had no heartbeat since %s; it is queued again", run.pk, run.heartbeat_at)
        theirs.update(state=RunState.QUEUED, claim=None, sent_at=None)


def show_worker(name: str, queues: list[str]) -> None:
    """Note that a worker lives."""
    known = Worker.objects.filter(name=name).update(seen_at=Now(), queues=queues, stopped_at=None)
    if not known:
        Worker.objects.create(name=name, queues=queues, started_at=Now(), seen_at=Now())
        Worker.objects.filter(seen_at__lt=Now() - dt.timedelta(days=1)).delete()  # long gone


def hide_worker(name: str) -> None:
    """Note that a worker has stopped in good order."""
    Worker.objects.filter(name=name).update(stopped_at=Now())


def has_worker(queue: str) -> bool:
    """Whether a worker of a queue has shown itself lately."""
    since = Now() - dt.timedelta(seconds=settings.WORKER_MISSING_SECONDS)
    alive = Worker.objects.filter(seen_at__gte=since, stopped_at__isnull=True).values_list("queues", flat=True)
    return any(queue in queues for queues in alive) or is_write_locked()


def is_write_locked() -> bool:
    """Whether somebody writes to SQLite just now: as long as that lasts, no worker can show that it lives."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return False
    with contextlib.closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0)) as probe:
        try:
            probe.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        probe.rollback()
    return False


def is_abandoned(run: Run) -> bool:
    """Whether a run that has not ended waits for a worker that is not there: none has come yet, or its own died."""
    if run.state == RunState.QUEUED:
        return not has_worker(run.queue)
    without_heart = Run.objects.filter(pk=run.pk, state=RunState.RUNNING, heartbeat_at__lt=stale_time())
    return without_heart.exists() and not has_worker(run.queue)


def missing_queues(project: Project) -> list[str]:
    """Queues on which jobs of a project wait and nobody works."""
    wanted = set(Run.objects.filter(project=project, state__in=UNFINISHED).values_list("queue", flat=True))
    return [queue for queue in Queue.values if queue in wanted and not has_worker(queue)]
