"""Child processes that never outlive the one who started them."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def worker_command() -> list[str]:
    """A worker for both queues. Workers know of each other through the database, so Celery's own gossip is off."""
    return [
        sys.executable, "-m", "celery", "--app", "workbench", "worker", "--queues", "io,nlp", "--concurrency", "1",
        "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO",
    ]  # fmt: skip


def start(command: Sequence[str | os.PathLike[str]], **options: object) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own, so that Ctrl-C reaches only us, and we stop it in good order."""
    return subprocess.Popen(  # type: ignore[call-overload]
        command, start_new_session=True, preexec_fn=_die_with_parent if sys.platform == "linux" else None, **options
    )


def _die_with_parent() -> None:
    """Ask Linux to end the child when its parent is killed outright and cannot do so itself."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def stop(process: subprocess.Popen[bytes], *, patience: float = 20.0) -> None:
    """Ask a child to end, and insist if it does not."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def port_is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are still fading is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str = "127.0.0.1") -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
