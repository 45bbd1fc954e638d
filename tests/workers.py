"""Real worker processes on the real broker of this run: embedded with SQLite, or Redis with PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from annotation import models
from workbench import processes
from workbench.celery import app

ROOT = Path(__file__).resolve().parent.parent
# One process at a time uses the broker of this run.
QUEUE = [pytest.mark.xdist_group("queue"), pytest.mark.django_db(transaction=True)]


def database_url() -> str:
    """The address of the database that this test runs on, for another process."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{config['NAME']}"
    return f"postgres://{config['USER']}:{config['PASSWORD']}@{config['HOST']}:{config['PORT']}/{config['NAME']}"


@pytest.fixture
def start_worker(tmp_path):
    """Starts Celery workers as production runs them, but quicker to give up on each other."""
    with app.connection_for_write() as broker:
        for queue in models.Queue.values:
            broker.default_channel.queue_purge(queue)
    started: list[subprocess.Popen[bytes]] = []
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "PYRAMID_VAR": str(settings.VAR_DIR),
        "RUN_STALE_SECONDS": "3",
        "OMP_NUM_THREADS": "1",  # threads of several workers on few cores would only wait for each other
    }

    def start(**other: str) -> subprocess.Popen[bytes]:
        command, set_up = processes.worker_command(), {**environment, **other}
        with (tmp_path / "worker.log").open("ab") as output:
            started.append(processes.start(command, cwd=ROOT, env=set_up, stdout=output, stderr=output))
        return started[-1]

    yield start
    for process in started:
        # A clean stop takes seconds and is tested with the demo.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def wait_until(tmp_path):
    """Waits for what a worker does, and tells what the worker said where that does not happen."""

    def wait(condition: Callable[[], object], *, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                log = (tmp_path / "worker.log").read_text()[-3000:]
                raise AssertionError(f"Waited {seconds} s in vain. The worker says:\n{log}")
            time.sleep(0.02)

    return wait


@pytest.fixture
def wait_for(wait_until):
    def wait(run: models.Run, condition: Callable[[models.Run], object], *, seconds: float = 90) -> models.Run:
        def is_so() -> object:
            run.refresh_from_db()
            return condition(run)

        try:
            wait_until(is_so, seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"The run is {run.state}, phase {run.phase!r}. {error}") from error
        return run

    return wait


def has_ended(run: models.Run) -> bool:
    return run.ended_at is not None


def kill(worker: subprocess.Popen[bytes]) -> None:
    """As the kernel does when memory runs out: at once, with its children."""
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
