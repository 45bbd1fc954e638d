"""Real Chromium, the system's own."""

from __future__ import annotations

import os

import pytest

from annotation.services.demo import load_demo
from tests.conftest import NOW

# Playwright's own loop runs in this thread, and Django would refuse to touch the database beside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {
        **browser_type_launch_args,
        "executable_path": os.environ.get("PYRAMID_CHROMIUM", "/usr/bin/chromium"),
        "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    }


@pytest.fixture
def demo(live_server):
    """The demo corpus behind a real server."""
    load_demo(password="secret", now=NOW)
    return live_server.url


@pytest.fixture
def page(page):
    """A page on which any script error or refused resource is a failure."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    assert complaints == []
