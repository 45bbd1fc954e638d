"""manage.py demo: the whole product on this machine, with a corpus and people to try it."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.models import Project, Run, User
from annotation.services.decompose_job import lacks_units, request_decompose
from annotation.services.demo import DEMO_LEAD, DEMO_PROJECT, DemoLogin, load_demo
from annotation.tasks import send_run
from scoring.options import checked_options
from scoring.services.results import score_runs
from scoring.services.score_job import request_score
from workbench import processes
from workbench.demo_crowd import demo_environment, publish_demo

HOST = "127.0.0.1"  # the demo has known logins: it is for this machine alone
STARTUP_SECONDS = 60
ANALYSIS_SECONDS = 120


class Command(BaseCommand):
    help = "Prepare the database, load the demo corpus and users, and run web and worker until Ctrl-C."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", default="8000", help="port of the web server (default 8000)")

    def handle(self, *, port: str, **options: Any) -> None:
        number = checked_port(port)
        if settings.PRODUCTION:
            raise CommandError("The demo has known logins and does not run with PYRAMID_ENV=production.")
        stop = stop_on_signals()
        lock = lock_var()
        self.stdout.write("Preparing the database and the static files …")
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        password = demo_password()
        (settings.VAR_DIR / "demo-address").write_text(f"http://{HOST}:{number}", encoding="ascii")
        logins = load_demo(password=password, now=timezone.now())
        known = demo_environment(f"http://{HOST}:{number}", now=timezone.now())
        runs = analyse_demo()
        logs = settings.VAR_DIR / "log"
        logs.mkdir(exist_ok=True)
        children = {
            "web": start_web(number, logs / "web.log", known),
            "worker": start(processes.worker_command(), logs / "worker.log", known),
        }
        try:
            wait_until_served(f"http://{HOST}:{number}/sign-in/", children, logs, stop)
            if runs and not stop.is_set():
                self.stdout.write("Decomposing, ranking and scoring the demo corpus, publishing a few HITs …")
                wait_until_analysed(runs, children, logs, stop)
            if not stop.is_set():
                self.show(number, password, logins, logs, known)
            self.watch(children, logs, stop)
        finally:
            self.stdout.write("\nStopping web and worker …")
            self.stdout.flush()
            for child in children.values():
                child.terminate()
            for child in children.values():
                processes.stop(child)
            lock.close()
            self.stdout.write(
                f"Stopped. What you did is kept in {relative(settings.VAR_DIR)}/; run 'make demo' to go on."
            )

    def show(self, port: int, password: str, logins: list[DemoLogin], logs: Path, environment: dict[str, str]) -> None:
        keys = " ".join(f"{name}={environment[name]}" for name in ("PUBLIC_URL", "EXCHANGE_KEY_ID", "EXCHANGE_SECRET"))
        names = "\n".join(f"    {login.username:<10} {login.role}" for login in logins)
        self.stdout.write(
            f"\nPyramid Workbench runs at  http://{HOST}:{port}/\n\n"
            f"Sign in as one of these, password  {password}\n{names}\n\n"
            f"Workers of the crowd:  http://{HOST}:{port}/exchange/work/\n"
            f"For publish_hits and collect_hits beside it:  export {keys}\n"
            f"Logs: {relative(logs)}/web.log and worker.log. Ctrl-C stops web and worker."
        )
        self.stdout.flush()

    @staticmethod
    def watch(children: dict[str, subprocess.Popen[bytes]], logs: Path, stop: threading.Event) -> None:
        while not stop.wait(0.5):
            refuse_dead(children, logs)


def analyse_demo() -> list[Run]:
    """Ask the worker to decompose, rank and score the demo corpus and to publish HITs, where that was not done."""
    project = Project.objects.filter(name=DEMO_PROJECT, trashed_at__isnull=True).first()
    if project is None:
        return []
    runs = [request_decompose(project, now=timezone.now())] if lacks_units(project) else []
    if not score_runs(project).exists():
        options = checked_options({"metric": "lite2", "judge": "embedded"})
        runs.append(request_score(project, options, now=timezone.now()))
    published = publish_demo(project, User.objects.get(username=DEMO_LEAD), now=timezone.now())
    if published:
        runs.append(published)
    for run in runs:
        send_run(run)
    return runs


def wait_until_analysed(
    runs: list[Run], children: dict[str, subprocess.Popen[bytes]], logs: Path, stop: threading.Event
) -> None:
    """Wait for the runs, so that the first page is no building site. A slow machine goes on in the background."""
    deadline = time.monotonic() + ANALYSIS_SECONDS
    waiting = Run.objects.filter(pk__in=[run.pk for run in runs], ended_at__isnull=True)
    while waiting.exists() and time.monotonic() < deadline and not stop.wait(0.3):
        refuse_dead(children, logs)


def checked_port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise CommandError(f"{text!r} is no port. Use a number from 1 to 65535: make demo PORT=8001")
    port = int(text)
    if not processes.port_is_free(HOST, port):
        raise CommandError(
            f"Port {port} is taken by another program (or needs more rights). Choose another: make demo PORT={port + 1}"
        )
    return port


def lock_var() -> IO[str]:
    """One demo per folder: two would share a database, a broker and log files without knowing."""
    file = (settings.VAR_DIR / "demo.lock").open("w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise CommandError(
            f"A demo runs on {relative(settings.VAR_DIR)}/ already. Stop it, or set PYRAMID_VAR to another folder."
        ) from None
    return file


def demo_password() -> str:
    """One random password per installation, printed at every start."""
    path = settings.VAR_DIR / "demo-password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(f"pyramid-{secrets.randbelow(900_000) + 100_000}", encoding="ascii")
    return path.read_text(encoding="ascii").strip()


def stop_on_signals() -> threading.Event:
    stop = threading.Event()

    def ask(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, ask)
    signal.signal(signal.SIGTERM, ask)
    return stop


def start_web(port: int, log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [
        sys.executable, "-m", "gunicorn", "--config", "python:workbench.gunicorn_conf", "--bind", f"{HOST}:{port}",
        "workbench.wsgi",
    ]  # fmt: skip
    return start(command, log, environment)


def start(command: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return processes.start(
            command, cwd=settings.BASE_DIR, env={**os.environ, **environment}, stdout=output, stderr=output
        )


def wait_until_served(
    url: str, children: dict[str, subprocess.Popen[bytes]], logs: Path, stop: threading.Event
) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # our own address, never through a proxy
    while not stop.is_set():
        refuse_dead(children, logs)
        try:
            with opener.open(url, timeout=5):
                return
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise CommandError(f"The web server does not answer. See {relative(logs)}/web.log.") from error
        stop.wait(0.1)


def refuse_dead(children: dict[str, subprocess.Popen[bytes]], logs: Path) -> None:
    for name, child in children.items():
        if child.poll() is not None:
            raise CommandError(f"The {name} process ended by itself. See {relative(logs)}/{name}.log.")


def relative(path: Path) -> Path:
    return path.relative_to(settings.BASE_DIR) if path.is_relative_to(settings.BASE_DIR) else path
