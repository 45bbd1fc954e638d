"""Markup in every field that people or files can fill, shown on every page: it is text, and nothing else."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation import models
from annotation.services import jobs
from annotation.services.accounts import create_token
from annotation.services.import_job import request_import
from annotation.services.inviting import invite
from annotation.services.trashing import move_to_trash
from tests.conftest import NOW
from tests.factories import MembershipFactory, ProjectFactory, RunFactory, UserFactory
from tests.mini_corpus import as_upload
from tests.test_access import ROUTES, TABLE

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = "<script>alert(1)</script>"
PAYLOADS = [
    SCRIPT,
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "{{7*7}}{% now %}",
]


@pytest.fixture(params=PAYLOADS, ids=range(len(PAYLOADS)))
def evil(request) -> str:
    return request.param


@pytest.fixture
def project(evil, tmp_path) -> models.Project:
    """A project with the payload in every field there is."""
    project = ProjectFactory(name=f"P {evil}", slug="evil")
    lead = UserFactory(username="lead", first_name=evil, last_name=evil)
    MembershipFactory(project=project, user=lead, role="lead")
    line = {
        "id": f"id {evil}",
        "document": evil,
        "references": [{"id": f"r {evil}", "text": f"{evil} fell."}],
        "summaries": {f"s {evil}": evil},
        "units": [
            {"id": f"u {evil}", "text": evil, "reference": f"r {evil}", "labels": {"imported": {f"s {evil}": 1}}},
            {"kind": "stu", "text": f"STU {evil}", "reference": f"r {evil}"},
        ],
    }
    path = tmp_path / "evil.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    for dry_run in (True, False):
        run = request_import(project, as_upload(path), corpus_format="jsonl", dry_run=dry_run, now=NOW, actor=lead)
        jobs.run_job(run.pk)
        run.refresh_from_db()
        assert run.state == "done", run.error
        assert not run.counts["problem_count"], run.counts["problems"]
    path.write_text(json.dumps({"id": evil, evil: 1, "reference": ""}) + "\n", encoding="utf-8")
    bad = request_import(project, as_upload(path), corpus_format="jsonl", dry_run=True, now=NOW, actor=lead)
    jobs.run_job(bad.pk)
    RunFactory(
        project=project,
        state="failed",
        ended_at=NOW,
        error=evil,
        parameters={"file": evil, "format": evil},
        phase=evil[:40],
    )
    invite(project, role="viewer", note=evil, actor=lead, now=NOW)
    create_token(lead, name=evil, now=NOW)
    extra = models.Example.objects.create(project=project, key=f"t {evil}", position=99, created_at=NOW)
    move_to_trash(extra, now=NOW, actor=lead)
    trashed = ProjectFactory(name=f"T {evil}", slug="trashed", trashed_at=NOW)
    MembershipFactory(project=trashed, user=lead, role="lead")
    return project


# A file, the door that is shut behind one, and pages that show nothing of anybody.
SKIPPED = {"annotation:download", "login", "healthz", "readyz"}


def addresses(project: models.Project) -> list[str]:
    """Every page that can be read, with every object of the project in turn."""
    values = {
        "slug": [project.slug],
        "position": list(project.examples.filter(trashed_at__isnull=True).values_list("position", flat=True)),
        "run_id": list(project.runs.values_list("pk", flat=True)),
    }
    found = []
    for name, rule in TABLE.items():
        needed = list(ROUTES[name].pattern.regex.groupindex)
        if "GET" not in rule.methods or not set(needed) <= set(values) or name in SKIPPED:
            continue
        choices = [{}]
        for key in needed:
            choices = [{**chosen, key: value} for chosen in choices for value in values[key]]
        found += [reverse(name, kwargs=chosen) for chosen in choices]
    return [*found, reverse("annotation:examples", args=[project.slug]) + "?q=id"]


def test_markup_is_text_on_every_page(client, project, evil):
    client.force_login(models.User.objects.get(username="lead"))
    shown = 0
    for address in addresses(project):
        answer = client.get(address)
        assert answer.status_code == 200, address
        kind = answer.headers["Content-Type"].split(";")[0]
        if kind != "text/html":
            assert kind in ("application/json", "application/vnd.oai.openapi", "text/plain"), (address, kind)
            continue
        tags = "".join(re.findall(r"<[a-zA-Z/!][^>]*>", answer.text))
        assert "alert(1)" not in re.sub(r'="[^"]*"', "", tags), address
        assert "<script>" not in answer.text, address
        assert not re.search(r'href="\s*javascript:', answer.text), address
        assert "P 49" not in answer.text, address
        shown += "alert(1)" in answer.text or "{{7*7}}" in answer.text
    assert shown >= 10  # it really was there


def test_a_file_name_cannot_forge_a_header(client, project, evil):
    client.force_login(models.User.objects.get(username="lead"))
    file = SimpleUploadedFile(f"{evil}\r\nX-Evil: 1.jsonl", b"{}")
    answer = client.post(reverse("annotation:import", args=["evil"]), {"file": file, "format": "jsonl"})
    assert answer.status_code in (302, 400, 422)
    assert "X-Evil" not in answer.headers
