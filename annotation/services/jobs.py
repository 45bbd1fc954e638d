"""Jobs that a worker does: the run row says what is wanted, who does it, how far it is and what came of it.

The row is the truth, a message only a hint. Every change of state is a conditional update, so that two messages, two
workers or two sweepers for one run are harmless on every database and every broker. Liveness is decided by the clock of
the database alone.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Project, Queue, Run, RunState, User, Worker
from annotation.services.auditing import record_audit

logger = logging.getLogger(__name__)

# A run whose worker died this often will not be saved by another try.
MAX_ATTEMPTS = 5
# Nobody needs more jobs of one project at once; a script gone wild must not fill the queue for all the others.
MAX_UNFINISHED = 10


class JobRefused(Exception):
    """The job cannot be done as it was asked for. The message is for the person who asked."""


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


# --- asking for a job ----------------------------------------------------------------------------------------------


def request_job(
    stage: str,
    parameters: dict[str, Any],
    *,
    now: dt.datetime,
    project: Project | None = None,
    actor: User | None = None,
    retry_of: Run | None = None,
) -> Run:
    """Note a job to be done. The caller sends its id to a worker once this is committed."""
    if project:
        waiting = Run.objects.filter(project=project, state__in=(RunState.QUEUED, RunState.RUNNING)).count()
        if waiting >= MAX_UNFINISHED:
            raise TooManyJobs(
                _("%(n)s jobs of this project are not done yet. Wait for one, or cancel one.") % {"n": waiting}
            )
    return Run.objects.create(
        stage=stage,
        queue=JOBS[stage].queue,
        project=project,
        parameters=parameters,
        started_by=actor,
        retry_of=retry_of,
        created_at=now,
        sent_at=now,
    )


@transaction.atomic
def cancel_run(run: Run, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Stop a run: at once if nobody has begun, else when its worker next looks. False if it has ended."""
    waiting = Run.objects.filter(pk=run.pk, state=RunState.QUEUED)
    cancelled = waiting.update(state=RunState.CANCELLED, ended_at=Now(), cancel_requested_at=now)
    asked = cancelled or Run.objects.filter(pk=run.pk, state=RunState.RUNNING).update(cancel_requested_at=now)
    if asked:
        record_audit("cancel run", run.project, target=f"{run.stage} {run.pk}", actor=actor, now=now)
    run.refresh_from_db()
    return bool(asked)


@transaction.atomic
def retry_run(run: Run, *, now: dt.datetime, actor: User | None = None) -> Run:
    """A new run with the parameters of one that failed or was cancelled. The caller sends its id."""
    if run.state not in (RunState.FAILED, RunState.CANCELLED):
        raise CannotRetry(
            _("This run is %(state)s. Only a run that failed or was cancelled can be tried again.")
            % {"state": run.state}
        )
    record_audit("retry run", run.project, target=f"{run.stage} {run.pk}", actor=actor, now=now)
    return request_job(run.stage, run.parameters, now=now, project=run.project, actor=actor, retry_of=run)


# --- doing a job ---------------------------------------------------------------------------------------------------


class Ticket:
    """The right of one worker to do one run, as long as its heart beats."""

    def __init__(self, run_id: int, claim: uuid.UUID) -> None:
        self.run_id, self.claim = run_id, claim
        self.phase, self.done, self.total = "", 0, 0
        self.is_lost = self.is_cancelled = False

    def report(self, phase: str, done: int, total: int) -> None:
        """Tell how far the work is, and learn whether it should go on. Cheap: the heart writes it down later."""
        self.phase, self.done, self.total = phase, min(done, total), total
        if self.is_lost:
            raise ClaimLost
        if self.is_cancelled:
            raise JobCancelled

    def finish(self, *, project: Project | None, counts: dict[str, Any], signature: str = "") -> None:
        """Mark the run as done. Call it in the transaction of the work, so that both are stored or neither."""
        finished = self._mine().update(
            state=RunState.DONE, claim=None, project=project, counts=counts, signature=signature, ended_at=Now(),
            phase=self.phase, steps_done=self.total, steps_total=self.total,
        )  # fmt: skip
        if not finished:
            raise ClaimLost

    def fail(self, error: str) -> None:
        self._mine().update(state=RunState.FAILED, claim=None, error=error or "unknown", ended_at=Now())

    def cancel(self) -> None:
        self._mine().update(state=RunState.CANCELLED, claim=None, ended_at=Now())

    def give_back(self) -> None:
        """Queue the run again: this worker is being stopped."""
        self._mine().update(state=RunState.QUEUED, claim=None)

    def beat(self) -> None:
        """See what others decided, show that the worker lives, and write the progress down."""
        # Reading comes first: it works even while our own import keeps everybody on SQLite from writing.
        row = self._mine().values_list("cancel_requested_at").first()
        self.is_lost = row is None
        self.is_cancelled = row is not None and row[0] is not None
        self._mine().update(heartbeat_at=Now(), phase=self.phase, steps_done=self.done, steps_total=self.total)

    def _mine(self) -> QuerySet[Run]:
        return Run.objects.filter(pk=self.run_id, claim=self.claim, state=RunState.RUNNING)


class Heart:
    """Beats beside the work, on a database connection of its own."""

    def __init__(self, ticket: Ticket) -> None:
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
            if connection.vendor == "sqlite":
                # Rather a missed beat than a heart that waits 20 seconds for our own import to end.
                connection.cursor().execute("PRAGMA busy_timeout = 200")
            while not self.stopped.wait(settings.RUN_BEAT_SECONDS):
                try:
                    self.ticket.beat()
                except DatabaseError as error:
                    # SQLite has one writer, and that may be our own import. Nobody else can take the run meanwhile.
                    logger.info("run %s: no heartbeat now (%s)", self.ticket.run_id, error)
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
    try:
        with Heart(ticket):
            JOBS[run.stage].work(run, ticket)
    except JobRefused as error:
        ticket.fail(str(error))
    except JobCancelled:
        ticket.cancel()
    except ClaimLost:
        logger.warning("run %s was taken over by another worker; what this one did is dropped", run_id)
    except Exception as error:
        ticket.fail(f"{type(error).__name__}: {error}")
        raise
    except BaseException:
        ticket.give_back()
        raise


# --- watching ------------------------------------------------------------------------------------------------------


def sweep_runs() -> list[Run]:
    """Find runs whose worker died or whose message was lost. The caller sends them again."""
    # Times are compared by the database: what it wrote itself and what Python wrote differ in the last digits.
    stale = Now() - dt.timedelta(seconds=settings.RUN_STALE_SECONDS)
    for run in Run.objects.filter(state=RunState.RUNNING, heartbeat_at__lt=stale):
        _take_back(run, Run.objects.filter(state=RunState.RUNNING, claim=run.claim, heartbeat_at__lt=stale))
    waiting = Run.objects.filter(state=RunState.QUEUED).filter(Q(sent_at__lt=stale) | Q(sent_at__isnull=True))
    return [run for run in waiting if waiting.filter(pk=run.pk).update(sent_at=Now())]


def _take_back(run: Run, theirs: QuerySet[Run]) -> None:
    """Free a run from a worker whose heart stopped, unless it has begun to beat again."""
    if run.cancel_requested_at:
        theirs.update(state=RunState.CANCELLED, claim=None, ended_at=Now())
    elif run.attempt >= MAX_ATTEMPTS:
        error = f"Its worker died {run.attempt} times. See the log of the worker, then try again."
        theirs.update(state=RunState.FAILED, claim=None, error=error, ended_at=Now())
    else:
        logger.warning("run %s has had no heartbeat since %s; it is queued again", run.pk, run.heartbeat_at)
        theirs.update(state=RunState.QUEUED, claim=None, sent_at=None)


def show_worker(name: str, queues: list[str]) -> None:
    """Note that a worker lives."""
    known = Worker.objects.filter(name=name).update(seen_at=Now(), queues=queues, stopped_at=None)
    if not known:
        now = timezone.now()
        Worker.objects.create(name=name, queues=queues, started_at=now, seen_at=now)


def hide_worker(name: str) -> None:
    """Note that a worker has stopped in good order."""
    Worker.objects.filter(name=name).update(stopped_at=Now())


def has_worker(queue: str) -> bool:
    """Whether a worker of a queue has shown itself lately."""
    since = Now() - dt.timedelta(seconds=settings.WORKER_MISSING_SECONDS)
    alive = Worker.objects.filter(seen_at__gte=since, stopped_at__isnull=True).values_list("queues", flat=True)
    return any(queue in queues for queues in alive)


def missing_queues() -> list[str]:
    """Queues on which jobs wait and nobody works."""
    waiting = set(Run.objects.filter(state=RunState.QUEUED).values_list("queue", flat=True))
    return [queue for queue in Queue.values if queue in waiting and not has_worker(queue)]
