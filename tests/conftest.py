"""Shared fixtures. No test reaches the network; the clock is handed in, not read."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.mini_corpus import write_mini_corpus

NOW = dt.datetime(2026, 3, 2, 9, 30, tzinfo=dt.UTC)


def pytest_configure() -> None:
    # Hashed file names need a collectstatic first; a cheap hash keeps logins from taking most of the time.
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one server are skipped where another is in use; 'make test' runs them on the right one."""
    in_use = {
        "postgresql": settings.DATABASES["default"]["ENGINE"].endswith("postgresql"),
        "redis": settings.CELERY_BROKER_URL.startswith("redis"),
    }
    for item in items:
        for name, used in in_use.items():
            if item.get_closest_marker(name) and not used:
                item.add_marker(pytest.mark.skip(reason=f"{name} is not in use in this run"))


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
