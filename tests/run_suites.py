"""Runs every check and every test, with servers of its own. Called by 'make test'.

Names of suites on the command line (make test SUITES="sqlite browser") run those alone.
With CI=true a suite that cannot run is a failure; elsewhere it is skipped and the reason printed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.private_servers import (  # noqa: E402
    ServerMissing,
    postgresql_programs,
    private_postgresql,
    private_redis,
    redis_program,
)

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
PYTHON = sys.executable
# What a developer's shell may have set must not leak into the tests.
OUR_VARIABLES = (
    "DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY", "PUBLIC_URL", "PYRAMID_ENV", "PYRAMID_VAR", "DEBUG", "TRUST_PROXY",
    "IMPORT_MAX_MB", "LOG_LEVEL", "WEB_CONCURRENCY",
)  # fmt: skip
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = {"postgresql": "postgresql", "redis": "redis-server", "browser": "chromium"}


@dataclass(frozen=True)
class Outcome:
    suite: str
    verdict: str  # "passed", "FAILED" or "not run"
    note: str


def chromium() -> str | None:
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


def missing_parts() -> dict[str, str]:
    """Suites that lack a program, and what to install."""
    missing = {}
    for suite, find in (("postgresql", postgresql_programs), ("redis", redis_program)):
        try:
            find()
        except ServerMissing as error:
            missing[suite] = str(error)
    if chromium() is None:
        missing["browser"] = "Chromium is not installed"
    return missing


def install_missing(missing: dict[str, str]) -> None:
    """As root on Debian, install what is missing, without starting any service."""
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    packages = [PACKAGES[suite] for suite in missing]
    print(f"Installing {', '.join(packages)} …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with services_not_started():
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
        ):
            done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            if done.returncode:
                print(f"  {' '.join(command[:2])} failed; the suites that need it cannot run.", flush=True)
                return


@contextlib.contextmanager
def services_not_started() -> Iterator[None]:
    """Keep Debian from starting a server when its package is installed: policy-rc.d answers 101, "not allowed"."""
    policy = Path("/usr/sbin/policy-rc.d")
    is_ours = not policy.exists()
    if is_ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        yield
    finally:
        if is_ours:
            policy.unlink()


def run(title: str, command: list[str], environment: dict[str, str]) -> Outcome:
    print(f"\n=== {title}: {' '.join(command[1:] if command[0] == PYTHON else command)}", flush=True)
    started = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return Outcome(title, "FAILED" if code else "passed", f"{time.monotonic() - started:.0f} s")


def check_environment(var: Path) -> dict[str, str]:
    """A production environment, so that the deployment check looks at what will run."""
    return {
        **clean_environment(var),
        "PYRAMID_ENV": "production",
        "SECRET_KEY": secrets.token_urlsafe(60),
        "PUBLIC_URL": "https://pyramid.example.org",
    }


def clean_environment(var: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in OUR_VARIABLES}
    browser = {"PYRAMID_CHROMIUM": path} if (path := chromium()) else {}
    return {**kept, **browser, "PYRAMID_VAR": str(var), "PYTHONDONTWRITEBYTECODE": "1"}


def checks(var: Path) -> Iterator[Outcome]:
    environment = clean_environment(var)
    manage = [PYTHON, "manage.py"]
    yield run("ruff check", [PYTHON, "-m", "ruff", "check", "."], environment)
    yield run("ruff format", [PYTHON, "-m", "ruff", "format", "--check", "."], environment)
    yield run("mypy", [PYTHON, "-m", "mypy"], environment)
    yield run("migrations", [*manage, "makemigrations", "--check", "--dry-run"], environment)
    yield run("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"], check_environment(var))


def pytest(title: str, marks: str, environment: dict[str, str], *more: str, processes: str = "2") -> Outcome:
    command = [PYTHON, "-m", "pytest", "-q", "-n", processes, "--dist", "loadgroup", "-m", marks, *more]
    return run(title, command, environment)


def suites(wanted: set[str]) -> Iterator[Outcome]:
    missing = missing_parts()
    if wanted & set(PACKAGES) and missing:
        install_missing({suite: why for suite, why in missing.items() if suite in wanted})
        missing = missing_parts()
    with tempfile.TemporaryDirectory(prefix="pyramid-tests-") as folder, contextlib.ExitStack() as servers:
        var = Path(folder)
        if "checks" in wanted:
            yield from checks(var / "checks")
        if "sqlite" in wanted:
            yield pytest("sqlite", "not browser and not postgresql and not redis", clean_environment(var / "sqlite"))
        for suite in ("postgresql", "redis", "browser"):
            if suite in wanted and suite in missing:
                yield Outcome(suite, "FAILED" if IN_CI else "not run", missing[suite])
        database = wanted & {"postgresql", "redis"} - set(missing)
        if database:
            environment = clean_environment(var / "postgresql")
            if "postgresql" in database or ("redis" in database and "postgresql" not in missing):
                environment["DATABASE_URL"] = servers.enter_context(private_postgresql())
            if "redis" in database:
                environment["CELERY_BROKER_URL"] = servers.enter_context(private_redis())
            marks = "not browser" if "redis" in database else "not browser and not redis"
            yield pytest(" + ".join(sorted(database)), marks, environment)
        if "browser" in wanted and "browser" not in missing:
            # A browser on a busy machine misses a moment now and then: once more, and named in the summary.
            again = ("--reruns", "1", "-rR")
            yield pytest("browser", "browser", clean_environment(var / "browser"), *again, processes="0")


def main() -> int:
    known = ["checks", "sqlite", "postgresql", "redis", "browser"]
    wanted = set(sys.argv[1:]) or set(known)
    if unknown := wanted - set(known):
        print(f"Unknown suite: {', '.join(sorted(unknown))}. Known: {', '.join(known)}.")
        return 2
    if not os.environ.get("PYRAMID_DATA"):
        print("Data tests: not run: no data (set PYRAMID_DATA to the folder with the real corpora).", flush=True)
    outcomes = list(suites(wanted))
    print("\n=== Summary")
    for outcome in outcomes:
        print(f"  {outcome.suite:22} {outcome.verdict:8} {outcome.note}")
    return 1 if any(outcome.verdict == "FAILED" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
