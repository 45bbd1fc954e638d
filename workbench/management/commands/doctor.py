"""manage.py doctor: what is wrong with this installation, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from annotation.ranking.regressor import UnknownRanker
from annotation.services.ranking import current_ranker
from scoring.judges import EMBEDDED, open_judge
from scoring.judging import UnknownJudge
from workbench import health


class Command(BaseCommand):
    help = "Look for misconfigurations and print how to mend each."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        found = list(diagnose())
        for name, problem in found:
            self.stdout.write(f"{'ok   ' if problem is None else 'WRONG'} {name}{f': {problem}' if problem else ''}")
        wrong = sum(problem is not None for _, problem in found)
        if wrong:
            raise CommandError(f"{wrong} thing(s) to mend.")
        self.stdout.write("Nothing to mend.")


def diagnose() -> Iterator[tuple[str, str | None]]:
    """Each part that can be wrong, with the problem and its cure, or None."""
    kind = "production" if settings.PRODUCTION else "local"
    yield (
        f"settings ({kind}, {connection.vendor}, broker {settings.CELERY_BROKER_URL.split(':')[0]})",
        _settings_problem(connection.vendor),
    )
    yield f"folder {settings.VAR_DIR}", _folder_problem()
    yield "static files", _static_problem()
    yield f"ranker {settings.RANKER or 'that ships'}", _ranker_problem()
    yield f"judge {settings.JUDGE_HEAD or 'that ships'}", _judge_problem()
    yield from health.problems()


def _settings_problem(vendor: str) -> str | None:
    if settings.PRODUCTION and vendor == "sqlite":
        return "SQLite in production serves a small group on one machine only. Set DATABASE_URL to PostgreSQL."
    if settings.PRODUCTION and settings.CELERY_BROKER_URL.startswith("filesystem"):
        return "The embedded broker serves one machine only. Set CELERY_BROKER_URL to Redis or RabbitMQ."
    if settings.PRODUCTION and settings.HTTPS and not settings.TRUST_PROXY:
        return (
            "PUBLIC_URL is https and TRUST_PROXY is not set: behind a proxy that ends TLS every page redirects to "
            "itself. Let the proxy set X-Forwarded-Proto and X-Forwarded-For, and set TRUST_PROXY=1."
        )
    warnings = checks.run_checks(include_deployment_checks=settings.PRODUCTION)
    shown = [message for message in warnings if not message.is_silenced()]
    return f"{shown[0].msg} ({shown[0].id}; manage.py check --deploy lists all)" if shown else None


def _ranker_problem() -> str | None:
    try:
        current_ranker()
    except UnknownRanker as error:
        return str(error)
    return None


def _judge_problem() -> str | None:
    try:
        open_judge(EMBEDDED)
    except UnknownJudge as error:
        return str(error)
    return None


def _folder_problem() -> str | None:
    if not os.access(settings.VAR_DIR, os.W_OK):
        return "it cannot be written. Change its owner, or set PYRAMID_VAR to another folder."
    return None


def _static_problem() -> str | None:
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():
        return "they are not collected. Run: manage.py collectstatic --no-input"
    return None
