"""Settings come from the environment, and production refuses what is unsafe."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "kJ8s-a-long-key-with-many-different-letters-0123456789-zyxw"
PRODUCTION = {"PYRAMID_ENV": "production", "SECRET_KEY": KEY, "PUBLIC_URL": "https://pyramid.example.org"}
OURS = ("SECRET_KEY", "PUBLIC_URL", "PYRAMID_ENV", "DATABASE_URL", "CELERY_BROKER_URL", "DEBUG", "TRUST_PROXY")


def evaluate(expression: str, var: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        [sys.executable, "-c", f"from workbench import settings as s; print(({expression}))"],
        cwd=ROOT,
        env={**environment, "PYRAMID_VAR": str(var), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is a default or too short"),
        ({"SECRET_KEY": "django-insecure-" + KEY}, "SECRET_KEY is a default"),
        ({"SECRET_KEY": "change-me-" + KEY}, "SECRET_KEY is a default"),
        ({"SECRET_KEY": "x" * 80}, "SECRET_KEY is a default or too short"),
        ({"PUBLIC_URL": ""}, "PUBLIC_URL is not set"),
        ({"PUBLIC_URL": "pyramid.example.org"}, "must be an address without path"),
        ({"PUBLIC_URL": "https://*"}, "must be an address without path"),
        ({"PUBLIC_URL": "https://user:pw@p.org"}, "must be an address without path"),
        ({"PUBLIC_URL": "https://p.org/sub"}, "must be an address without path"),
        ({"PYRAMID_ENV": "prod"}, "Set it to one of: local, production."),
        ({"DEBUG": "1"}, "Unset it in production"),
        ({"DEBUG": "maybe"}, "Set it to one of: 0, 1."),
        ({"IMPORT_MAX_MB": "abc"}, "Set it to a whole number of megabytes"),
        ({"IMPORT_MAX_MB": "-1"}, "Set it to a whole number of megabytes"),
        ({"LOG_LEVEL": "info"}, "Set it to one of: DEBUG, INFO, WARNING, ERROR."),
        ({"DATABASE_URL": "mysql://u:p@h/n"}, "must begin with sqlite:/// or postgres://"),
        ({"DATABASE_URL": "nonsense"}, "must begin with sqlite:/// or postgres://"),
    ],
)
def test_production_refuses_to_start(tmp_path, change, message):
    done = evaluate("1", tmp_path, **{**PRODUCTION, **change})
    assert done.returncode != 0
    assert message in done.stderr


def test_the_example_environment_would_be_refused(tmp_path):
    lines = (ROOT / ".env.example").read_text().splitlines()
    values = dict(
        line.removeprefix("# ").split("=", 1) for line in lines if "=" in line and " " not in line.split("=")[0][2:]
    )
    done = evaluate("1", tmp_path, **{**values, "PYRAMID_ENV": "production"})
    assert "SECRET_KEY is a default" in done.stderr


def test_every_variable_is_listed_in_the_example():
    import re

    source = (ROOT / "workbench" / "settings.py").read_text()
    source += (ROOT / "workbench" / "gunicorn_conf.py").read_text()
    read = set(re.findall(r'(?:env\.\w+|one_of|switch|environ\.get)\(\s*"([A-Z_]+)"', source))
    listed = set(re.findall(r"^#? ?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert read == listed


def test_hosts_and_cookies_follow_the_public_address(tmp_path):
    expression = "s.ALLOWED_HOSTS, s.CSRF_TRUSTED_ORIGINS, s.SESSION_COOKIE_SECURE, s.SECURE_HSTS_SECONDS > 0, s.DEBUG"
    done = evaluate(expression, tmp_path, **PRODUCTION)
    assert done.stdout.strip() == "(['pyramid.example.org'], ['https://pyramid.example.org'], True, True, False)"
    brackets = evaluate("s.ALLOWED_HOSTS", tmp_path, **{**PRODUCTION, "PUBLIC_URL": "https://[2001:db8::1]:8443"})
    assert brackets.stdout.strip() == "['[2001:db8::1]']"
    plain = evaluate("s.SESSION_COOKIE_SECURE, s.SECURE_HSTS_SECONDS", tmp_path)
    assert plain.stdout.strip() == "(False, 0)"


def test_a_variable_set_to_nothing_counts_as_not_set(tmp_path):
    empty = {"DATABASE_URL": "", "CELERY_BROKER_URL": "", "IMPORT_MAX_MB": "", "LOG_LEVEL": "", "PUBLIC_URL": ""}
    done = evaluate("s.CELERY_BROKER_URL, s.DATABASES['default']['ENGINE'][-7:], s.IMPORT_MAX_BYTES", tmp_path, **empty)
    assert done.stdout.strip() == "('filesystem://', 'sqlite3', 268435456)"


def test_a_wrong_setting_is_told_without_a_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "PYRAMID_VAR": str(tmp_path), "LOG_LEVEL": "loud"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "Configuration: LOG_LEVEL is 'loud'. Set it to one of: DEBUG, INFO, WARNING, ERROR.\n"


def test_a_laptop_gets_a_key_of_its_own(tmp_path):
    first = evaluate("s.SECRET_KEY", tmp_path / "a").stdout.strip()
    again = evaluate("s.SECRET_KEY", tmp_path / "a").stdout.strip()
    other = evaluate("s.SECRET_KEY", tmp_path / "b").stdout.strip()
    assert first == again != other
    assert len(first) >= 50
    assert stat.S_IMODE((tmp_path / "a" / "secret-key").stat().st_mode) == 0o600


@pytest.mark.django_db
def test_sqlite_is_set_up_for_several_writers():
    if connection.vendor != "sqlite":
        pytest.skip("this run is on PostgreSQL")
    with connection.cursor() as cursor:
        values = [
            cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "busy_timeout")
        ]
    assert values == ["wal", 2, 20_000]
    assert settings.DATABASES["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.postgresql
@pytest.mark.django_db
def test_this_run_is_on_postgresql():
    with connection.cursor() as cursor:
        cursor.execute("SELECT version()")
        assert cursor.fetchone()[0].startswith("PostgreSQL")
