"""Shared fixtures. No test reaches the network; the clock is handed in, not read."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from tests.mini_corpus import write_mini_corpus

NOW = dt.datetime(2026, 3, 2, 9, 30, tzinfo=dt.UTC)


def pytest_configure() -> None:
    # Hashed file names need a collectstatic first; a cheap hash keeps logins from taking most of the time.
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one server are skipped where another is in use; 'make test' runs them on the right one.

    What touches neither database nor broker comes out the same on both, and runs once, on SQLite.
    """
    in_use = {
        "postgresql": settings.DATABASES["default"]["ENGINE"].endswith("postgresql"),
        "redis": settings.CELERY_BROKER_URL.startswith("redis"),
    }
    if in_use["postgresql"]:
        alike = [item for item in items if not touches_servers(item)]
        items[:] = [item for item in items if touches_servers(item)]
        config.hook.pytest_deselected(items=alike)
    for item in items:
        for name, used in in_use.items():
            if item.get_closest_marker(name) and not used:
                item.add_marker(pytest.mark.skip(reason=f"{name} is not in use in this run"))


SERVED = {"db", "transactional_db", "live_server", "start_worker"}


def touches_servers(item: pytest.Item) -> bool:
    """Whether a test needs the database or the broker."""
    marks = ("django_db", "postgresql", "redis", "browser")
    return any(item.get_closest_marker(mark) for mark in marks) or bool(SERVED & set(getattr(item, "fixturenames", ())))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database without guests when it is dropped.

    A thread of the live server keeps its connection for as long as its client keeps the line open (boto3 does), and
    PostgreSQL drops no database that somebody is connected to.
    """
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture
def now() -> dt.datetime:
    return NOW


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    """A Lite2-3Pyramid folder of three examples and two systems."""
    return write_mini_corpus(tmp_path / "mini")


@pytest.fixture(scope="session")
def data() -> Path:
    """The real corpora, or a skip that says so."""
    folder = os.environ.get("PYRAMID_DATA")
    if not folder:
        pytest.skip("not run: no data")
    return Path(folder)
