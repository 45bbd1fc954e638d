"""PostgreSQL and Redis of our own, on free ports, gone when the tests are over. Running servers are never touched."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench import processes

STARTUP_SECONDS = 60


class ServerMissing(Exception):
    """The programs of a server are not installed."""


def postgresql_programs() -> Path:
    """The folder of initdb and postgres: Debian keeps it off the path, newest version last."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    if program is None:
        raise ServerMissing("PostgreSQL's initdb is not installed")
    return Path(program).parent


def redis_program() -> str:
    program = shutil.which("redis-server")
    if program is None:
        raise ServerMissing("redis-server is not installed")
    return program


@contextmanager
def private_postgresql() -> Iterator[str]:
    """A database URL. PostgreSQL refuses to run as root, so root hands it to the user nobody."""
    programs = postgresql_programs()
    folder = Path(tempfile.mkdtemp(prefix="pyramid-postgresql-"))
    as_user: dict[str, object] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    password, port = secrets.token_hex(16), processes.free_port()
    server: subprocess.Popen[bytes] | None = None
    try:
        (folder / "password").write_text(password)
        if as_user:
            os.chown(folder / "password", nobody.pw_uid, nobody.pw_gid)
        subprocess.run(
            [programs / "initdb", "--pgdata", folder / "data", "--username", "pyramid", "--encoding", "UTF8",
             "--locale", "C.UTF-8", "--auth", "scram-sha-256", "--pwfile", folder / "password", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **as_user,
        )  # fmt: skip
        with (folder / "log").open("wb") as log:
            server = processes.start(
                [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder,
                 "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"],
                cwd=folder, stdout=log, stderr=log, **as_user,
            )  # fmt: skip
        wait_for([programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], server, folder / "log")
        yield f"postgres://pyramid:{password}@127.0.0.1:{port}/postgres"
    finally:
        if server:
            processes.stop(server)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_redis() -> Iterator[str]:
    """A broker URL."""
    program = redis_program()
    folder = Path(tempfile.mkdtemp(prefix="pyramid-redis-"))
    password, port = secrets.token_hex(16), processes.free_port()
    server: subprocess.Popen[bytes] | None = None
    try:
        with (folder / "log").open("wb") as log:
            server = processes.start(
                [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "",
                 "--appendonly", "no", "--requirepass", password],
                cwd=folder, stdout=log, stderr=log,
            )  # fmt: skip
        ping = ["redis-cli", "-h", "127.0.0.1", "-p", str(port), "-a", password, "--no-auth-warning", "ping"]
        wait_for(ping, server, folder / "log", answer=b"PONG")
        yield f"redis://:{password}@127.0.0.1:{port}/0"
    finally:
        if server:
            processes.stop(server)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(command: list[object], server: subprocess.Popen[bytes], log: Path, *, answer: bytes = b"") -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while True:
        reply = subprocess.run(command, capture_output=True, check=False)  # type: ignore[call-overload]
        if reply.returncode == 0 and answer in reply.stdout:
            return
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(
                f"{command[0]} found no server. Its log says:\n{log.read_text(errors='replace')[-2000:]}"
            )
        time.sleep(0.1)
