"""Markup in every field that people or files can fill, shown on every page: it is text, and nothing else."""

from __future__ import annotations

import json
import re
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation import models
from annotation.services import jobs
from annotation.services.accounts import create_token
from annotation.services.drafts import pin_sentences
from annotation.services.freezing import freeze_plan
from annotation.services.import_job import request_import
from annotation.services.inviting import invite
from annotation.services.quality import exclude
from annotation.services.queue import LEASE, claim_next
from annotation.services.trashing import move_to_trash
from annotation.services.writing import flag, save_draft
from annotation.writing.content import as_json, read_content
from mturk.exchange.services.recruiting import create_link, enrol_user
from mturk.exchange.services.requesters import create_requester
from mturk.services.collecting import collect_batch
from mturk.services.publishing import publish_batch
from scoring.models import SummaryScore
from scoring.options import checked_options
from scoring.services.score_job import request_score
from tests.conftest import NOW
from tests.factories import (
    MembershipFactory,
    ProjectFactory,
    RankingFactory,
    RunFactory,
    SkipFactory,
    SubmissionFactory,
    TaskFactory,
    UserFactory,
)
from tests.judging import always, answer_sheet, open_batch
from tests.mini_corpus import as_upload
from tests.mturk.crowds import answer, confirmed, xml
from tests.mturk.fakes import FakeMarket
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
    lead = UserFactory(username="lead", first_name=evil, last_name=evil, is_staff=True)
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
    for judge in ("human", f"human+{evil}"):
        options = checked_options({"metric": "lite2", "judge": judge})
        scored = request_score(project, options, now=NOW, actor=lead)
        jobs.run_job(scored.pk)
        scored.refresh_from_db()
        assert (scored.state == "done") == (judge == "human")
    for sentence in models.Sentence.objects.filter(reference__example__project=project):
        RankingFactory(sentence=sentence, reasons=[{"feature": evil, "value": 1.0, "effect": 1.0}], ranker=evil)
        pin_sentences(project, [sentence.pk], "people", note=evil, now=NOW, actor=lead)
    freeze_plan(project, after=0, now=NOW, actor=lead)
    task = claim_next(project, lead, "write", now=timezone.now())
    content = read_content({"units": [{"text": evil}], "comment": evil})
    writer = MembershipFactory(project=project, role="annotator").user
    done = TaskFactory(project=project, sentence=task.sentence, slot=2, state="done", done_at=NOW, done_by=writer)
    SubmissionFactory(task=done, author=writer, content=as_json(content))
    lease = {"holder": lead, "lease_token": uuid.uuid4(), "leased_until": timezone.now() + LEASE}
    TaskFactory(project=project, kind="review", sentence=task.sentence, state="leased", **lease)
    save_draft(task.pk, lead, uuid.uuid4(), base=0, content=content, now=NOW)  # late
    save_draft(task.pk, lead, task.lease_token, base=0, content=content, now=NOW)
    flag(task, lead, evil, now=NOW)
    open_batch(project, votes=3)
    for judge, says in ((writer, "present"), (UserFactory(username=f"j{evil}"[:100]), "not_present")):
        answer_sheet(project, judge, always(says))
    exclude(models.Person.objects.get(user=writer), evil, now=NOW, actor=lead)
    sheet = claim_next(project, lead, "judge", now=timezone.now())
    flag(sheet, lead, evil, now=NOW)
    SkipFactory(task=task, user=writer, reason=evil)
    ask_crowd(project, evil)
    requester = create_requester(evil, now=NOW, owner=lead)
    create_link(requester, kind="participant", name=evil, completion_code=evil, now=NOW)
    enrol_user(lead, now=NOW)
    invite(project, role="viewer", note=evil, actor=lead, now=NOW)
    create_token(lead, name=evil, now=NOW)
    extra = models.Example.objects.create(project=project, key=f"t {evil}", position=99, created_at=NOW)
    move_to_trash(extra, now=NOW, actor=lead)
    trashed = ProjectFactory(name=f"T {evil}", slug="trashed", trashed_at=NOW)
    MembershipFactory(project=trashed, user=lead, role="lead")
    return project


def ask_crowd(project: models.Project, evil: str) -> None:
    """A crowd batch about the STUs, which somebody did with a comment, and one for writing."""
    texts = {"title": evil, "description": evil, "keywords": evil, "consent": evil}
    rewards = [{"name": evil, "systems": [], "cents": 42}]
    batch, market = confirmed(project, judging={"with_stus": True}, rewards=rewards, **texts), FakeMarket()
    publish_batch(batch.pk, market, clock=lambda: NOW)
    hit = batch.hits.get()
    market.work(hit.hit_id, "AEVIL1", answer(hit, comment=evil))
    market.work(hit.hit_id, "AEVIL2", evil)  # no XML at all
    written = confirmed(project, kind="writing", rewards=rewards, **texts)
    publish_batch(written.pk, market, clock=lambda: NOW)
    market.work(written.hits.get().hit_id, "AEVIL1", xml({"s1": f"{evil} fell down.", "comment": evil}))
    for one in (batch, written):
        collect_batch(one.pk, market, clock=lambda: NOW)


# A file, the door that is shut behind one, and pages that show nothing of anybody.
SKIPPED = {
    "annotation:download",
    "exchange:simulated",  # off
    "exchange:finish",  # for those who came by a link: see test_site
    "annotation:plan-units",
    "annotation:time-sheet",
    "scoring:table",
    "login",
    "healthz",
    "readyz",
}


def addresses(project: models.Project) -> list[str]:
    """Every page that can be read, with every object of the project in turn."""
    scored = list(project.runs.filter(stage="score", state="done").values_list("pk", flat=True))
    scores = SummaryScore.objects.filter(run__in=scored)
    values = {
        "slug": [project.slug],
        "system_id": sorted(set(scores.values_list("summary__system_id", flat=True))),
        "unit_id": sorted({row[0] for units in scores.values_list("units", flat=True) for row in units}),
        "position": list(project.examples.filter(trashed_at__isnull=True).values_list("position", flat=True)),
        "number": list(project.plans.values_list("number", flat=True)),
        "task_id": list(project.tasks.filter(state="leased").exclude(kind="judge").values_list("pk", flat=True)),
        "person_id": list(project.people.filter(assignments__isnull=False).values_list("pk", flat=True).distinct()),
        "run_id": list(project.runs.values_list("pk", flat=True)),
    }
    found = []
    for name, rule in TABLE.items():
        needed = list(ROUTES[name].pattern.regex.groupindex)
        if "GET" not in rule.methods or not set(needed) <= set(values) or name in SKIPPED:
            continue
        choices = [{}]
        for key in needed:
            known = scored if key == "run_id" and name.startswith("scoring:") else values[key]
            if key == "number" and ("crowd" in name or name.startswith("mturk:")):
                kinds = ["writing"] if name == "mturk:written" else ["presence", "writing"]
                known = list(project.crowd_batches.filter(kind__in=kinds).values_list("number", flat=True))
            if key == "task_id" and name.startswith("annotation:judge"):
                known = list(project.tasks.filter(state="leased", kind="judge").values_list("pk", flat=True))
            choices = [{**chosen, key: value} for chosen in choices for value in known]
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
            assert kind in ("application/json", "application/vnd.oai.openapi", "text/plain", "text/csv"), (
                address,
                kind,
            )
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
