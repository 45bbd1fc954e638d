"""The exchange alone: it starts, answers clients at its root, shows the pages, and stops."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from workbench import processes
from workbench.management.commands.exchange import checked_amount, checked_port

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_exchange_runs_alone(tmp_path):
    import boto3

    port = processes.free_port()
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "PUBLIC_URL", "DJANGO_SETTINGS_MODULE")
    }
    command = [sys.executable, "manage.py", "exchange", "--port", str(port), "--requester", "Lab", "--deposit", "20"]
    with (tmp_path / "log").open("w+b") as log:
        exchange = processes.start(
            command,
            cwd=ROOT,
            env={**environment, "PYRAMID_VAR": str(tmp_path), "WEB_CONCURRENCY": "1"},
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_served(f"{url}/healthz", exchange, tmp_path / "log")
            told = (tmp_path / "log").read_text()
            key, secret = (
                re.search(rf"{name}=(\S+)", told)[1] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
            )
            for endpoint in (f"{url}/", f"{url}/exchange/api/"):
                mturk = boto3.client(
                    "mturk",
                    endpoint_url=endpoint,
                    region_name="us-east-1",
                    aws_access_key_id=key,
                    aws_secret_access_key=secret,
                )
                assert mturk.get_account_balance()["AvailableBalance"] == "20.00"
            with urllib.request.urlopen(f"{url}/sign-in/", timeout=20) as page:
                assert page.status == 200
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{url}/projects/x/", timeout=20)
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{url}/exchange/_control/clock", timeout=20)
            exchange.send_signal(signal.SIGTERM)
            assert exchange.wait(30) == 0
            assert "The exchange has stopped." in (tmp_path / "log").read_text()
        finally:
            processes.stop(exchange)


def wait_until_served(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)


@pytest.mark.parametrize("text", ["", "web", "0", "65536"])
def test_a_port_must_be_a_port(text):
    with pytest.raises(CommandError, match="is no port"):
        checked_port("127.0.0.1", text)


def test_a_taken_port_gets_a_clear_message():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match="is taken"):
            checked_port("127.0.0.1", str(port))


@pytest.mark.parametrize("text", ["much", "-1", "1.234", ""])
def test_an_amount_must_be_one(text):
    with pytest.raises(CommandError, match="no amount"):
        checked_amount(text)


def test_a_deposit_needs_somebody():
    with pytest.raises(CommandError, match="goes with --requester"):
        call_command("exchange", port=str(processes.free_port()), deposit="5")
