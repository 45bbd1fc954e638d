"""What a worker does: one task for every job, and a pulse beside it."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Run
from annotation.services import decompose_job, export_job, files, import_job, jobs, queue

# Importing the jobs tells how they are done.
__all__ = ["decompose_job", "export_job", "import_job", "run_job_task", "send_run"]

logger = logging.getLogger(__name__)


@shared_task
def run_job_task(run_id: int) -> None:
    jobs.run_job(run_id)
    follow = decompose_job.unsent_after(run_id)  # what an import has asked for in turn
    if follow:
        send_run(follow)


def send_run(run: Run) -> None:
    """Hint to a worker that a run waits. If the message is lost, the sweeper sends another."""
    try:
        run_job_task.apply_async((run.pk,), queue=run.queue, retry=False)
    except (OSError, BrokerError) as error:
        logger.warning("run %s: the broker cannot be reached now (%s); the sweeper sends it later", run.pk, error)


class Pulse:
    """Shows that this worker lives and looks for runs that nobody does, every few seconds."""

    def __init__(self, name: str, queues: list[str]) -> None:
        self.name, self.queues = name, queues
        self.shown_at = float("-inf")
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def _run(self) -> None:
        try:
            while True:
                try:
                    self._beat()
                except jobs.DATABASE_ERRORS as error:
                    logger.warning("pulse: the database cannot be written now (%s)", error)
                    connection.close()
                except Exception:
                    logger.exception("pulse: this beat failed; the next one tries again")
                if self.stopped.wait(settings.RUN_BEAT_SECONDS):
                    jobs.hide_worker(self.name)
                    return
        finally:
            connection.close()

    def _beat(self) -> None:
        jobs.show_worker(self.name, self.queues)
        earlier, self.shown_at = self.shown_at, time.monotonic()
        # After a time in which nobody could write (one import on SQLite is enough) all hearts seem to have stopped.
        # They get until the next beat to show that they live.
        if self.shown_at - earlier < settings.RUN_STALE_SECONDS / 2:
            for run in jobs.sweep_runs(self.queues):
                send_run(run)
            files.drop_old_files(now=timezone.now())
            queue.free_expired(timezone.now())  # also where nobody asks for the next task
            jobs.do_chores(self.queues, now=timezone.now())


_pulses: list[Pulse] = []


@signals.worker_ready.connect
def start_pulse(sender: Any, **_: Any) -> None:
    queues = sorted(sender.app.amqp.queues.consume_from)
    # Two workers may have the same host name; no two have the same process id there.
    pulse = Pulse(f"{sender.hostname} {os.getpid()}", queues)
    _pulses.append(pulse)
    pulse.thread.start()


@signals.worker_shutdown.connect
def stop_pulse(**_: Any) -> None:
    for pulse in _pulses:
        pulse.stopped.set()
        pulse.thread.join(settings.RUN_BEAT_SECONDS + 5)
