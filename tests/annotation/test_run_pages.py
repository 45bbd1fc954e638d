"""What people see and send on the pages about jobs: import, export, runs."""

from __future__ import annotations

import datetime as dt
import io
import json
import socket
import time
import uuid
import zipfile
from pathlib import Path
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation import models
from annotation.services import jobs
from annotation.services.demo import load_demo
from annotation.services.files import drop_old_files, keep_upload, safe_name, upload_path
from tests.conftest import NOW
from tests.factories import ExampleFactory, MembershipFactory, ReferenceFactory, RunFactory, WorkerFactory

GOOD = b'{"id": "a", "reference": "The mill closed.", "summaries": {"s": "It shut."}}\n'
BAD = b'{"id": "a", "reference": "The mill closed."}\n{"id": "a"\n'

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    """Runs that were sent to a worker. Nobody works here; a test does the run itself."""
    found: list[int] = []
    monkeypatch.setattr("annotation.views.runs.send_run", lambda run: found.append(run.pk))
    return found


@pytest.fixture
def lead(client):
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    return membership


@pytest.fixture
def project(lead) -> models.Project:
    return lead.project


def page(name: str, project: models.Project, *args: object) -> str:
    return reverse(f"annotation:{name}", args=[project.slug, *args])


def upload(client, project, content: bytes, name: str = "corpus.jsonl", **fields: str):
    file = SimpleUploadedFile(name, content)
    return client.post(page("import", project), {"file": file, "format": "jsonl", **fields}, follow=True)


def test_from_the_upload_over_the_dry_run_to_the_import(client, project, sent):
    shown = upload(client, project, GOOD)
    assert shown.status_code == 200
    check = models.Run.objects.get()
    assert sent == [check.pk]
    assert "Waiting for a worker" in shown.text
    jobs.run_job(check.pk)
    shown = client.get(page("run", project, check.pk))
    assert "Nothing is wrong with this file." in shown.text
    assert "Import 1 example" in shown.text
    assert models.Example.objects.count() == 0

    client.post(page("start-import", project, check.pk))
    again = client.post(page("start-import", project, check.pk))  # an impatient second click
    run = models.Run.objects.exclude(pk=check.pk).get()
    assert again.headers["Location"] == page("run", project, run.pk)
    assert sent == [check.pk, run.pk]
    jobs.run_job(run.pk)
    assert "Imported." in client.get(page("run", project, run.pk)).text
    assert models.Example.objects.get().key == "a"
    assert "See its import" in client.get(page("run", project, check.pk)).text

    upload(client, project, GOOD)
    again = models.Run.objects.order_by("-pk").first()
    jobs.run_job(again.pk)
    shown = client.get(page("run", project, again.pk)).text
    assert "Everything in this file is here already." in shown
    assert "Import 1 example" not in shown


def test_problems_are_a_table_with_file_and_line(client, project, sent):
    upload(client, project, BAD)
    run = models.Run.objects.get()
    jobs.run_job(run.pk)
    shown = client.get(page("run", project, run.pk)).text
    assert "Nothing was written. Mend the file and upload it again." in shown
    assert "<code>corpus.jsonl</code>" in shown
    assert "Import 1 example" not in shown
    told = client.post(page("start-import", project, run.pk), follow=True)
    assert "Mend the file" in told.text
    assert models.Run.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "fields", "words"),
    [
        (b"", {}, "The file is empty."),
        (GOOD, {"format": "xml"}, "is not one of the available choices"),
    ],
)
def test_a_bad_form_is_told_and_nothing_is_kept(client, project, sent, content, fields, words):
    shown = upload(client, project, content, **fields)
    assert shown.status_code == 422
    assert words in shown.text
    assert models.Run.objects.count() == 0


def test_no_file_is_told(client, project):
    assert "Choose a file." in client.post(page("import", project), {"format": "jsonl"}).text


def test_a_file_above_the_limit_is_told_and_not_kept(client, project, settings, tmp_path):
    settings.IMPORT_MAX_BYTES, settings.UPLOADS_DIR = 1000, tmp_path
    shown = upload(client, project, GOOD * 100)
    assert shown.status_code == 422
    assert "The file is larger than 0 MB" in shown.text
    assert list(tmp_path.iterdir()) == []
    assert models.Run.objects.count() == 0


def test_files_are_taken_only_where_they_are_wanted(client, project, settings, tmp_path):
    """Nobody fills the disk through a page that takes no files, or before they have signed in."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    seen = []

    def watch(*args, **kwargs):
        seen.append(args)
        raise AssertionError("a file was spooled")

    with mock.patch("django.core.files.uploadhandler.TemporaryUploadedFile", watch):
        file = {"file": SimpleUploadedFile("c.jsonl", GOOD), "format": "jsonl"}
        client.post(reverse("annotation:theme"), file)
        client.logout()
        client.post(reverse("login"), {**file, "file": SimpleUploadedFile("c.jsonl", GOOD)})
        client.post(page("import", project), {**file, "file": SimpleUploadedFile("c.jsonl", GOOD)})
    assert seen == []


def test_the_limit_counts_all_files_of_a_request(client, project, settings, tmp_path):
    settings.IMPORT_MAX_BYTES, settings.UPLOADS_DIR = 1000, tmp_path
    many = {f"extra{number}": SimpleUploadedFile("c.jsonl", b"x" * 400) for number in range(3)}
    shown = client.post(
        page("import", project), {**many, "file": SimpleUploadedFile("c.jsonl", GOOD), "format": "jsonl"}
    )
    assert shown.status_code == 422
    assert "The file is larger than 0 MB" in shown.text
    assert "Choose a file." not in shown.text


def test_an_upload_cut_in_the_middle_leaves_nothing(live_server, client, settings, tmp_path):
    """The client is gone after half of the body: real sockets, a real server."""
    settings.UPLOADS_DIR = tmp_path
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="c.jsonl"\r\n\r\n' + GOOD * 50
    host, port = live_server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"POST {page('import', membership.project)} HTTP/1.1\r\nHost: {host}\r\nCookie: sessionid={cookie}\r\n"
            f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {10 * len(body)}\r\n\r\n".encode()
            + body
        )
    time.sleep(0.5)
    assert models.Run.objects.count() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_cut_in_the_middle_is_told_with_its_line(client, project, sent):
    upload(client, project, GOOD + GOOD.replace(b'"a"', b'"b"')[:40])
    run = models.Run.objects.get()
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert [problem["line"] for problem in run.counts["problems"]] == [2]


def test_one_project_cannot_fill_the_queue(client, project, sent, settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path
    for _ in range(jobs.MAX_UNFINISHED):
        RunFactory(project=project)
    before = set(settings.UPLOADS_DIR.glob("*"))
    shown = upload(client, project, GOOD)
    assert shown.status_code == 422
    assert "10 jobs of this project are not done yet" in shown.text
    assert set(settings.UPLOADS_DIR.glob("*")) <= before  # the file is not kept


# --- export --------------------------------------------------------------------------------------------------------


def test_an_export_is_a_zip_that_imports_again(client, sent):
    load_demo(password="p", now=NOW)
    client.force_login(models.User.objects.get(username="lena"))
    demo = models.Project.objects.get()
    client.post(page("export", demo), {"format": "jsonl"})
    run = models.Run.objects.get(stage="export")
    assert sent == [run.pk]
    jobs.run_job(run.pk)
    shown = client.get(page("run", demo, run.pk)).text
    assert "Download the zip" in shown
    answer = client.get(page("download", demo, run.pk))
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="demo-twelve-stories-jsonl-')
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    content = b"".join(answer.streaming_content)
    answer.close()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("demo-twelve-stories-jsonl/manifest.json"))
    assert manifest["counts"]["examples"] == 12
    assert page("download", demo, run.pk) in client.get(page("export", demo)).text

    copy = MembershipFactory(role="lead", user__username="copy", project__slug="copy").project
    client.force_login(models.User.objects.get(username="copy"))
    upload(client, copy, content, "export.zip")
    check = models.Run.objects.get(project=copy)
    jobs.run_job(check.pk)
    check.refresh_from_db()
    assert (check.counts["problem_count"], check.counts["new"]["examples"]) == (0, 12)


def test_what_a_format_cannot_hold_is_told(client, project, sent, settings, tmp_path):
    settings.EXPORTS_DIR = tmp_path
    example = ExampleFactory(project=project, position=1, key="a")
    for number in (1, 2):
        ReferenceFactory(example=example, key=str(number), position=number)
    client.post(page("export", project), {"format": "lite2-3pyramid"})
    run = models.Run.objects.get(stage="export")
    jobs.run_job(run.pk)
    shown = client.get(page("run", project, run.pk)).text
    assert "lite2-3pyramid cannot hold this project" in shown
    assert "Use the format jsonl, which holds everything." in shown
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_longer_kept_is_told(client, project):
    download = {"place": "gone.zip", "name": "x.zip", "bytes": 1, "sha256": ""}
    run = RunFactory(
        project=project, stage="export", state="done", started_at=NOW, ended_at=NOW, counts={"download": download}
    )
    assert client.get(page("download", project, run.pk)).status_code == 404
    assert "The file is no longer kept." in client.get(page("run", project, run.pk)).text


# --- following -----------------------------------------------------------------------------------------------------


def make_running(project, **fields) -> models.Run:
    now = timezone.now()
    state = {"state": "running", "claim": uuid.uuid4(), "started_at": now, "heartbeat_at": now}
    return RunFactory(project=project, parameters={"file": "corpus.jsonl"}, **{**state, **fields})


def test_the_progress_asks_for_itself_until_the_run_has_ended(client, project):
    run = make_running(project, phase="checking", steps_done=30, steps_total=120)
    part = client.get(page("run-progress", project, run.pk), headers={"HX-Request": "true"})
    assert 'hx-trigger="every 1s"' in part.text
    assert 'value="25" max="100"' in part.text
    assert "<html" not in part.text
    models.Run.objects.filter(pk=run.pk).update(state="done", claim=None, ended_at=timezone.now())
    ended = client.get(page("run-progress", project, run.pk), headers={"HX-Request": "true"})
    assert (ended.headers["HX-Refresh"], ended.text) == ("true", "")
    assert "hx-trigger" not in client.get(page("run", project, run.pk)).text


def test_without_a_worker_the_pages_say_so_and_what_to_do(client, project):
    run = RunFactory(project=project)
    for address in (page("run", project, run.pk), page("runs", project), reverse("project-home", args=[project.slug])):
        shown = client.get(address).text
        assert "No worker has answered for 30 seconds." in shown
        assert ".venv/bin/celery --app workbench worker --queues io" in shown
    WorkerFactory(seen_at=timezone.now() - dt.timedelta(seconds=31))
    assert "No worker has answered" in client.get(page("runs", project)).text
    WorkerFactory(seen_at=timezone.now())
    assert "No worker has answered" not in client.get(page("runs", project)).text
    assert "No worker has answered" not in client.get(page("run", project, run.pk)).text


def test_cancel_and_retry(client, project, sent):
    run = RunFactory(project=project)
    client.post(page("cancel-run", project, run.pk))
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert "It had ended before." in client.post(page("cancel-run", project, run.pk), follow=True).text
    client.post(page("retry-run", project, run.pk))
    again = models.Run.objects.get(retry_of=run)
    assert sent == [again.pk]
    told = client.post(page("retry-run", project, again.pk), follow=True)
    assert "Only a run that failed" in told.text


def test_a_failed_run_shows_its_error_as_text(client, project):
    RunFactory(project=project, state="failed", ended_at=NOW, error="line 1\n<script>alert(1)</script>")
    run = models.Run.objects.get()
    shown = client.get(page("run", project, run.pk)).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>alert" not in shown


def test_runs_are_listed_page_by_page(client, project):
    made = [RunFactory(project=project, parameters={"file": f"f{number:03}.x"}).pk for number in range(120)]
    seen, address = [], page("runs", project)
    while address:
        answer = client.get(address)
        rows = answer.context["runs"]
        seen += [run.pk for run in rows.rows]
        address = f"{page('runs', project)}?before={rows.older}" if rows.older else ""
    assert seen == made[::-1]
    for odd in ("?before=x", "?before=1e9", "?size=1000000000"):
        assert client.get(page("runs", project) + odd).status_code == 400


def test_a_lost_login_takes_the_whole_page_to_the_door(client, project):
    run = RunFactory(project=project)
    client.logout()
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{page('run', project, run.pk)}"}
    answer = client.get(page("run-progress", project, run.pk), headers=headers)
    assert answer.headers["HX-Redirect"] == f"{reverse('login')}?next={page('run', project, run.pk)}"


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("corpus.jsonl", "corpus.jsonl"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\x.csv", "x.csv"),
        ("..", "upload"),
        ("", "upload"),
        ("a\x00b\n.zip", "ab.zip"),
        ("gpj\u202ecod.exe", "gpjcod.exe"),
        ("Ünits 2026.csv", "Ünits 2026.csv"),
        ("x" * 500 + ".jsonl", "x" * 114 + ".jsonl"),
    ],
)
def test_names_of_uploads_are_made_safe(name, kept):
    assert safe_name(name) == kept


def test_an_upload_that_fails_half_way_is_not_kept(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path

    def chunks():
        yield b"half"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        keep_upload("c.jsonl", chunks())
    assert list(tmp_path.iterdir()) == []


def test_old_files_are_dropped_but_not_what_a_run_needs(settings, tmp_path):
    settings.UPLOADS_DIR, settings.EXPORTS_DIR = tmp_path / "uploads", tmp_path / "exports"
    needed, old = (keep_upload("c.jsonl", [GOOD]) for _ in range(2))
    RunFactory(parameters={"upload": needed.place})
    settings.EXPORTS_DIR.mkdir()
    (settings.EXPORTS_DIR / "e.zip").write_bytes(b"zip")
    assert drop_old_files(now=timezone.now()) == 0
    assert drop_old_files(now=timezone.now() + dt.timedelta(days=8)) == 2
    assert upload_path(needed.place).exists()
    assert not upload_path(old.place).exists()
    assert list(Path(settings.EXPORTS_DIR).iterdir()) == []
