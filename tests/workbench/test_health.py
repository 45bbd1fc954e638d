"""Health for load balancers, and a doctor for people."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.services.jobs import show_worker
from workbench import health
from workbench.management.commands import doctor

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("queue")]


def test_the_process_answers_without_a_database(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get(reverse("healthz"))
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert client.post(reverse("healthz")).status_code == 405


def test_readiness_names_what_is_missing(client):
    answer = client.get(reverse("readyz"))
    assert answer.status_code == 503
    parts = answer.json()
    assert (parts["ready"], parts["database"], parts["migrations"], parts["broker"]) == (False, "ok", "ok", "ok")
    assert parts["workers"].endswith("Start one: celery --app workbench worker --queues io,nlp")
    show_worker("w", ["io", "nlp"])
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()["ready"]) == (200, True)


def test_without_a_database_the_rest_is_not_asked(client, monkeypatch):
    monkeypatch.setitem(health.CHECKS, "database", lambda: "gone")
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "database": "gone"})


def test_a_broker_that_is_down_is_told(settings, monkeypatch):
    from kombu import Connection

    # A port on which nobody listens.
    monkeypatch.setattr(health.app, "connection_for_write", lambda: Connection("redis://127.0.0.1:1/0"))
    assert "The broker cannot be reached" in health.broker_problem()


def test_migrations_that_wait_are_told(monkeypatch):
    monkeypatch.setattr("django.db.migrations.executor.MigrationExecutor.migration_plan", lambda *_: [1, 2])
    assert health.migrations_problem() == "2 migration(s) are not applied. Run: manage.py migrate"


def examine() -> tuple[str, str]:
    out = io.StringIO()
    try:
        call_command("doctor", stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def test_the_doctor_prints_the_cure(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    report, verdict = examine()
    assert "WRONG static files: they are not collected. Run: manage.py collectstatic --no-input" in report
    assert "WRONG workers: No worker has shown itself lately" in report
    assert "ok    database" in report
    assert verdict == "2 thing(s) to mend."
    (tmp_path / "staticfiles.json").touch()
    show_worker("w", ["io", "nlp"])
    report, verdict = examine()
    assert (report.splitlines()[-1], verdict) == ("Nothing to mend.", "")


def test_the_doctor_warns_of_a_laptop_set_up_in_production(settings):
    settings.PRODUCTION = True
    settings.CELERY_BROKER_URL = "filesystem://"
    assert "Set DATABASE_URL to PostgreSQL" in doctor._settings_problem("sqlite")
    assert "Set CELERY_BROKER_URL to Redis" in doctor._settings_problem("postgresql")


def test_the_doctor_sees_a_folder_that_cannot_be_written(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert "Change its owner" in doctor._folder_problem()


def test_probes_come_by_address_and_over_plain_http(client, settings):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["pyramid.example.org"], True
    assert client.get("/healthz", headers={"Host": "10.0.0.3:8000"}).status_code == 200
    assert client.get("/readyz", headers={"Host": "10.0.0.3:8000"}).status_code in (200, 503)
    assert client.get("/sign-in/", headers={"Host": "10.0.0.3:8000"}).status_code == 400


def test_https_behind_a_proxy_that_is_not_trusted_is_found(settings):
    settings.PRODUCTION, settings.HTTPS, settings.TRUST_PROXY = True, True, False
    settings.CELERY_BROKER_URL = "redis://x"
    assert "TRUST_PROXY=1" in doctor._settings_problem("postgresql")


def test_without_its_tables_the_rest_is_not_asked(client, monkeypatch):
    monkeypatch.setitem(health.CHECKS, "migrations", lambda: "3 migration(s) are not applied.")
    assert list(client.get(reverse("readyz")).json()) == ["ready", "database", "migrations"]


def test_the_doctor_sees_a_ranker_that_is_none(settings, tmp_path):
    assert doctor._ranker_problem() is None
    settings.RANKER = str(tmp_path / "none.json")
    assert "mend PYRAMID_RANKER" in doctor._ranker_problem()
