"""The demo command: it starts, keeps what people did, says when its port is taken, and stops cleanly."""

from __future__ import annotations

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError

from annotation import models
from annotation.services import jobs
from annotation.services.demo import DEMO_PROJECT, load_demo
from mturk.models import CrowdBatch
from scoring.services.human import human_scores
from tests.conftest import NOW
from workbench import processes
from workbench.demo_crowd import demo_environment
from workbench.management.commands.demo import analyse_demo, checked_port

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.django_db
def test_the_demo_has_people_of_every_role_and_systems_of_every_quality():
    logins = load_demo(password="p", now=NOW)
    assert sorted(login.role for login in logins) == ["adjudicator", "annotator", "annotator", "lead", "viewer"]
    project = models.Project.objects.get(name=DEMO_PROJECT)
    assert project.memberships.count() == 5
    scores = human_scores(project)
    ranked = sorted(scores.values(), reverse=True)
    assert len(ranked) == 5
    assert all(better - worse > 0.05 for better, worse in itertools.pairwise(ranked))


@pytest.mark.django_db
def test_loading_it_again_changes_nothing_people_did():
    load_demo(password="p", now=NOW)
    user = models.User.objects.get(username="anton")
    user.set_password("own")
    user.save()
    models.Membership.objects.filter(user=user).update(left_at=NOW)
    load_demo(password="p", now=NOW)
    user.refresh_from_db()
    assert user.check_password("own")
    assert models.Membership.objects.filter(user=user, left_at__isnull=True).count() == 0
    assert models.Example.objects.count() == 12


@pytest.mark.parametrize("text", ["", "web", "0", "65536", "-1", "80 80"])
def test_a_port_must_be_a_port(text):
    with pytest.raises(CommandError, match="is no port"):
        checked_port(text)


def test_a_taken_port_gets_a_clear_message():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {port} is taken.*make demo PORT={port + 1}"):
            checked_port(str(port))


@pytest.mark.django_db(transaction=True)
def test_the_demo_is_analysed_once(monkeypatch):
    sent = []
    monkeypatch.setattr("workbench.management.commands.demo.send_run", sent.append)
    load_demo(password="p", now=NOW)
    analyse_demo()
    decompose, score, publish = sent
    assert (decompose.stage, decompose.state, decompose.parameters["missing_only"]) == ("decompose", "queued", False)
    assert (score.stage, score.parameters["metric"], score.parameters["judge"]) == ("score", "lite2", "embedded")
    assert (publish.stage, publish.state) == ("publish", "queued")  # done by the worker, once the exchange is up
    batch = CrowdBatch.objects.get()
    assert (batch.environment, batch.assignments, batch.state) == ("exchange", 3, "publishing")
    assert 0 < batch.reserved_cents <= batch.cap_cents
    for run in (decompose, score):
        jobs.run_job(run.pk)
        run.refresh_from_db()
        assert run.state == "done", run.error
    assert analyse_demo() == []  # every reference has its units, every system its score, the crowd its HITs
    assert len(sent) == 3


@pytest.mark.django_db
def test_web_and_worker_get_one_key_of_the_exchange(monkeypatch, settings):
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "exchange", dict(settings.CROWD_ENVIRONMENTS["exchange"]))
    first, second = (demo_environment("http://127.0.0.1:8001", now=NOW) for _ in range(2))
    assert first == second
    assert first["EXCHANGE_FRAME_ORIGIN"] == "http://localhost:8001"
    assert settings.CROWD_ENVIRONMENTS["exchange"]["endpoint_url"] == "http://127.0.0.1:8001/exchange/api/"


def start_demo(var: Path, port: int) -> subprocess.Popen[str]:
    environment = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", str(port)],
        cwd=ROOT,
        env={**environment, "PYRAMID_VAR": str(var), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    seen = ""
    for line in process.stdout:
        seen += line
        if words in line:
            return seen
    raise AssertionError(f"The demo ended early:\n{seen}")


def children_of(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def test_it_serves_and_stops_cleanly_and_starts_again(tmp_path):
    passwords = []
    for _ in range(2):
        port = processes.free_port()
        demo = start_demo(tmp_path, port)
        try:
            output = read_until(demo, "Ctrl-C stops")
            assert f"http://127.0.0.1:{port}/" in output
            assert all(name in output for name in ("lena", "anton", "aisha", "judit", "viktor"))
            passwords.append(re.search(r"password  (\S+)", output).group(1))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/sign-in/", timeout=10) as page:
                assert "Sign in" in page.read().decode()
            children = children_of(demo.pid)
            assert len(children) == 2
            second = start_demo(tmp_path, processes.free_port())
            second.communicate(timeout=40)
            assert second.returncode == 1  # one demo per folder
            demo.send_signal(signal.SIGINT)
            rest, _ = demo.communicate(timeout=40)
        finally:
            demo.kill()
            demo.wait()
        assert demo.returncode == 0
        assert "Stopped." in rest
        assert not any(Path(f"/proc/{child}").exists() for child in children)
        assert processes.port_is_free("127.0.0.1", port)
    assert passwords[0] == passwords[1]


def test_its_children_do_not_outlive_it(tmp_path):
    demo = start_demo(tmp_path, processes.free_port())
    read_until(demo, "Ctrl-C stops")
    children = children_of(demo.pid)
    demo.kill()
    demo.communicate()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
