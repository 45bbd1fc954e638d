"""Is the process up, and can it do its work? For load balancers and people on call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.contrib.auth.decorators import login_not_required
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Queue
from annotation.services.jobs import has_worker
from annotation.services.migrating import count_waiting_migrations
from workbench.celery import app

BROKER_SECONDS = 2


def database_problem() -> str | None:
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database cannot be reached. Check DATABASE_URL and the server."
    return None


def migrations_problem() -> str | None:
    waiting = count_waiting_migrations()
    return f"{waiting} migration(s) are not applied. Run: manage.py migrate" if waiting else None


def broker_problem() -> str | None:
    try:
        with app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    except (OSError, BrokerError):
        return "The broker cannot be reached. Check CELERY_BROKER_URL and the server."
    return None


def workers_problem() -> str | None:
    missing = [queue for queue in Queue.values if not has_worker(queue)]
    if not missing:
        return None
    return (
        f"No worker has shown itself lately on: {', '.join(missing)}. "
        f"Start one: celery --app workbench worker --queues {','.join(missing)}"
    )


CHECKS: dict[str, Callable[[], str | None]] = {
    "database": database_problem,
    "migrations": migrations_problem,
    "broker": broker_problem,
    "workers": workers_problem,
}


def problems() -> Iterator[tuple[str, str | None]]:
    """Each part with what is wrong with it. Without a database, or without its tables, the rest cannot be asked."""
    for name, check in CHECKS.items():
        problem = check()
        yield name, problem
        if name in ("database", "migrations") and problem:
            return


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Nothing else is asked, so that a broken database does not restart the web."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Everything that work needs is there; 503 names what is not."""
    found = {name: problem or "ok" for name, problem in problems()}
    ready = all(word == "ok" for word in found.values())
    return JsonResponse({"ready": ready, **found}, status=200 if ready else 503)
