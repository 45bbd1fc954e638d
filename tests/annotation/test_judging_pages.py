"""Pages of judging: the sheet with and without script, batches, judges, ties; the API; what must not be shown."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation import models
from annotation.services import jobs
from annotation.services.labels import make_labels
from annotation.services.quality import exclude
from annotation.services.queue import claim_next
from tests.conftest import NOW
from tests.factories import MembershipFactory, WorkerIdentityFactory
from tests.judging import always, answer_all, judged_project, open_batch
from tests.planning import freeze

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> models.Project:
    return judged_project(slug="own")


@pytest.fixture
def anton(project) -> models.User:
    return MembershipFactory(project=project, role="annotator", user__username="anton").user


@pytest.fixture
def lena(project) -> models.User:
    return MembershipFactory(project=project, role="lead", user__username="lena").user


def to(name: str, *arguments) -> str:
    return reverse(f"annotation:{name}", args=["own", *arguments])


def take(client, project, user) -> models.Task:
    client.force_login(user)
    answer = client.post(to("judge-next"))
    task = models.Task.objects.get(holder=user)
    assert answer.headers["Location"] == to("judge-task", task.pk)
    return task


def plain_form(task: models.Task, rows: int, **changes) -> dict[str, str]:
    form = {"token": str(task.lease_token), "key": "7d5f3d9e-52f9-4c39-9a3a-3a6c0b8e5d11"}
    return form | {f"row-{place}": "present" for place in range(1, rows + 1)} | changes


def test_the_door_says_why_there_is_nothing_and_then_what_waits(client, project, anton):
    client.force_login(anton)
    assert "when a lead opens a batch" in client.get(to("judge")).content.decode()
    open_batch(project, votes=1)
    assert "4 sheets wait for you" in client.get(to("judge")).content.decode()


def test_a_sheet_is_judged_without_script(client, project, anton):
    open_batch(project, votes=1)
    task = take(client, project, anton)
    page = client.get(to("judge-task", task.pk)).content.decode()
    assert page.count('type="radio"') == 9
    answer = client.post(to("judge-submit", task.pk), plain_form(task, 3, **{"row-2": "unsure"}))
    following = models.Task.objects.get(holder=anton)
    assert answer.headers["Location"] == to("judge-task", following.pk)
    assert sorted(models.Judgement.objects.values_list("answer", flat=True)) == ["present", "present", "unsure"]


def test_a_missing_answer_stays_on_the_page_with_the_others(client, project, anton):
    open_batch(project, votes=1)
    task = take(client, project, anton)
    form = plain_form(task, 2)
    answer = client.post(to("judge-submit", task.pk), form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "1 of 3 statements have no answer yet" in page
    assert page.count(" checked") == 2
    assert not models.Judgement.objects.exists()


def test_neither_system_nor_machine_nor_others_are_in_the_page_and_a_filler_cannot_be_told(client, project, anton):
    models.Unit.objects.filter(example__key="e1").update(text="Ferries sank off Sandholm yesterday.")
    models.Summary.objects.update(text="Mills shut.")
    open_batch(project, votes=1, with_fillers=True)
    for _ in range(4):
        task = take(client, project, anton)
        page = client.get(to("judge-task", task.pk)).content.decode()
        assert "system0" not in page
        assert "system1" not in page
        assert "filler" not in page
        data = json.loads(re.search(r'id="judge-data" type="application/json">(.*?)</script>', page)[1])
        assert set(data) == {"task", "token", "version", "page", "user", "content", "words"}
        rows = page.count("data-row=")
        assert (
            client.post(to("judge-submit", task.pk), plain_form(task, rows, key=f"{task.pk:032x}")).status_code == 302
        )
    assert models.FillerAnswer.objects.filter(answer="present").exists()


def test_what_is_shown_is_cleaned_and_escaped(client, project, anton):
    models.Summary.objects.update(text="<t> Mills shut , & <b>more</b> . </t>")
    open_batch(project, votes=1)
    task = take(client, project, anton)
    page = client.get(to("judge-task", task.pk)).content.decode()
    assert "<p>Mills shut, &amp; &lt;b&gt;more&lt;/b&gt;.</p>" in page


def test_drafts_are_kept_and_come_back(client, project, anton):
    open_batch(project, votes=1)
    task = take(client, project, anton)
    content = {"answers": [{"row": 2, "answer": "unsure", "seconds": 3}], "seconds": 4}
    given = {"token": str(task.lease_token), "version": 0, "content": content}
    saved = client.post(to("judge-draft", task.pk), json.dumps(given), content_type="application/json").json()
    assert (saved["state"], saved["version"], saved["holds"]) == ("saved", 1, True)
    page = client.get(to("judge-task", task.pk)).content.decode()
    assert re.search(r'name="row-2" value="unsure" checked', page)
    bad = {**given, "content": {"answers": [{"row": 2, "answer": "perhaps"}]}}
    assert client.post(to("judge-draft", task.pk), json.dumps(bad), content_type="application/json").status_code == 422


def test_skip_flag_and_stop(client, project, anton, lena):
    open_batch(project, votes=1)
    task = take(client, project, anton)
    form = {"token": str(task.lease_token), "note": "garbled"}
    client.post(to("judge-leave", task.pk), {**form, "do": "flag"})
    client.post(to("judge-leave", task.pk), {**form, "do": "skip"})
    other = models.Task.objects.get(holder=anton)
    assert other.pk != task.pk
    client.post(to("judge-leave", other.pk), {"token": str(other.lease_token), "do": "release"})
    assert not models.Task.objects.filter(holder=anton).exists()
    client.force_login(lena)
    notes = client.get(to("write-notes")).content.decode()
    assert notes.count("garbled") == 2
    sheet = client.get(to("time-sheet")).getvalue().decode()
    assert sheet.startswith("person")


def test_late_answers_wait_for_the_lead(client, project, anton, lena):
    open_batch(project, votes=1)
    task = take(client, project, anton)
    models.Task.objects.filter(pk=task.pk).update(state="open", holder=None, lease_token=None, leased_until=None)
    claim_next(project, lena, "judge", now=NOW)
    answer = client.post(to("judge-submit", task.pk), plain_form(task, 3))
    assert answer.headers["Location"] == to("judge")
    assert models.DraftVersion.objects.get(is_late=True).author == anton
    assert not models.Judgement.objects.exists()
    client.force_login(lena)
    assert "3 answers" in client.get(to("write-notes")).content.decode()


# --- leads --------------------------------------------------------------------------------------------------------------


def test_a_batch_is_previewed_then_opened_then_closed(client, project, lena):
    freeze(project)
    client.force_login(lena)
    form = {"plan": "1", "votes": "2", "share": "100", "seed": "0", "with_stus": "on"}
    page = client.post(to("batches"), {**form, "do": "preview"}).content.decode()
    assert "4 summaries on 4 sheets: 8 tasks, 24 unit votes" in page
    assert "An even number of votes can tie" in page
    assert not models.Batch.objects.exists()
    changed = client.post(to("batches"), {**form, "votes": "3", "seen": "8 tasks, 24 votes", "do": "open"})
    assert changed.status_code == 422
    assert "not what the preview has shown" in changed.content.decode()
    assert "12 tasks, 36 unit votes" in changed.content.decode()
    assert not models.Batch.objects.exists()
    client.post(to("batches"), {**form, "seen": "8 tasks, 24 votes", "do": "open"})
    batch = models.Batch.objects.get()
    assert (batch.votes, batch.plan.number, batch.with_stus, batch.with_fillers) == (2, 1, True, False)
    page = client.get(to("batches")).content.decode()
    assert "0, 8 open" in page
    assert 'name="share" inputmode="decimal" autocomplete="off" value="100"' in page
    client.post(to("close-batch", batch.number))
    assert models.Task.objects.filter(kind="judge", state="withdrawn").count() == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"votes": "x"}, "whole number"),
        ({"share": "0"}, "more than 0"),
        ({"share": "1e999999"}, "at most 100"),
        ({"share": "many"}, "number of percent"),
        ({"seed": "-1"}, "whole number"),
        ({"plan": "99"}, "no plan 99"),
        ({"system": "nobody"}, "no system nobody"),
    ],
)
def test_a_batch_that_cannot_be_gets_a_plain_message(client, project, lena, change, words):
    client.force_login(lena)
    answer = client.post(to("batches"), {"votes": "3", "share": "100", "do": "open", **change})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not models.Batch.objects.exists()


def test_judges_are_listed_excluded_and_counted_again(client, project, anton, lena):
    open_batch(project, votes=2)
    answer_all(project, anton, always("present"))
    answer_all(project, lena, always("not_present"))
    client.force_login(lena)
    assert client.post(to("make-labels"), {"filter": "none"}).status_code == 302
    page = client.get(to("judges")).content.decode()
    assert "anton" in page
    assert "labels stored" in page
    person = models.Person.objects.get(user=lena)
    one = client.get(to("judge-quality", person.pk)).content.decode()
    assert "12 labels turn" in one
    client.post(to("judge-quality", person.pk), {"do": "exclude", "reason": ""})
    assert not models.Exclusion.objects.exists()
    client.post(to("judge-quality", person.pk), {"do": "exclude", "reason": "against all"})
    assert models.Label.objects.filter(present=True).count() == 12
    assert "excluded" in client.get(to("judges")).content.decode()
    client.post(to("judge-quality", person.pk), {"do": "lift"})
    assert models.Label.objects.filter(present=True).count() == 0


def test_rules_that_need_names_are_off_where_rows_tell_none(client, project, anton, lena):
    open_batch(project, votes=1)
    answer_all(project, anton, always("present"))
    models.Person.objects.update(is_linked=False)
    client.force_login(lena)
    page = client.get(to("judges")).content.decode()
    assert page.count("some votes do not tell whose they are") == 3
    client.post(to("make-labels"), {"filter": "litepyramid-difflib"})
    assert not models.Label.objects.exists()
    assert client.post(to("make-labels"), {"filter": "dream"}).status_code == 400


def test_ties_are_listed_and_asked_once_more(client, project, anton, lena):
    open_batch(project, votes=2)
    answer_all(project, anton, always("present"))
    answer_all(project, lena, always("not_present"))
    client.force_login(lena)
    page = client.get(to("open-units")).content.decode()
    pairs = re.findall(r'name="pair" value="(\d+-\d+)"', page)
    assert len(pairs) == 12
    judit = MembershipFactory(project=project, role="adjudicator").user
    client.post(to("open-units"), {"pair": pairs[:3], "who": str(judit.pk)})
    assert models.Task.objects.filter(reserved_for=judit, state="open").exists()
    assert client.post(to("open-units"), {"pair": "x-1"}).status_code == 400


def test_names_of_workers_are_on_the_page_of_judges_alone(client, project, anton, lena):
    open_batch(project, votes=1)
    answer_all(project, anton, always("present"))
    person = models.Person.objects.get(user=anton)
    models.Person.objects.filter(pk=person.pk).update(user=None, key="w-0123456789abcdef")
    WorkerIdentityFactory(person=person, name="A1SECRETWORKER")
    exclude(person, "clicks", now=NOW, actor=lena)
    make_labels(project, "none", now=NOW, actor=lena)
    client.force_login(lena)
    shown = [
        name for name in ("judges", "batches", "open-units", "judge", "audit", "examples", "write-notes")
        if "A1SECRETWORKER" in client.get(to(name)).content.decode()
    ]  # fmt: skip
    assert shown == ["judges"]
    assert "A1SECRETWORKER" in client.get(to("judge-quality", person.pk)).content.decode()
    votes = client.get(reverse("api-judgements", args=["own"])).json()["results"]
    assert {vote["judge"] for vote in votes} == {"w-0123456789abcdef"}


# --- API ----------------------------------------------------------------------------------------------------------------


def test_votes_and_agreement_through_the_api(client, project, anton, lena):
    open_batch(project, votes=2)
    answer_all(project, anton, always("present"))
    answer_all(project, lena, lambda task, row: "present" if row.unit.position > 1 else "unsure")
    client.force_login(lena)
    votes = client.get(reverse("api-judgements", args=["own"]) + "?answer=unsure").json()["results"]
    assert len(votes) == 4
    assert {"anton", "lena"} & {vote["judge"] for vote in votes} == set(), "pseudonyms"
    assert len({vote["judge"] for vote in votes}) == 1
    found = client.get(reverse("api-agreement", args=["own"])).json()
    assert found["overall"]["alpha"] is None
    assert found["overall"]["why"] == "all votes are the same"
    assert [row["name"] for row in found["systems"]] == ["system0", "system1"]
    make_labels(project, "none", now=NOW, actor=None)
    labels = client.get(reverse("api-labels", args=["own"]) + "?rule=majority").json()["results"]
    assert len(labels) == 12
    assert [row["name"] for row in found["examples"]] == ["1", "2"]
    assert all(row["name"].startswith("w-") for row in found["judges"])
    client.force_login(anton)
    hidden = client.get(reverse("api-labels", args=["own"]) + "?rule=majority").json()["results"]
    assert hidden == [], "whoever judges must not see how others did"


# --- files on the web -----------------------------------------------------------------------------------------------------


def run_of(answer) -> models.Run:
    run = models.Run.objects.order_by("-pk").first()
    assert answer.headers["Location"].endswith(f"/runs/{run.pk}/")
    jobs.run_job(run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def unsent(monkeypatch) -> None:
    """The test is the worker."""
    monkeypatch.setattr("annotation.views.runs.send_run", lambda run: None)


@pytest.mark.usefixtures("unsent")
def test_judgements_leave_and_come_back_through_the_pages(client, project, anton, lena):
    open_batch(project, votes=1)
    answer_all(project, anton, always("present"))
    client.force_login(lena)
    for name in ("jsonl", "csv", "amt"):
        run = run_of(client.post(to("export"), {"format": f"judgements-{name}"}))
        assert (run.state, run.counts["judgements"]) == ("done", 12), run.error
        zipped = b"".join(client.get(to("download", run.pk)).streaming_content)
        assert b"anton" not in zipped
        upload = SimpleUploadedFile("votes.zip", zipped)
        check = run_of(client.post(to("import"), {"file": upload, "format": f"judgements-{name}"}))
        assert (check.state, check.counts["problems"]) == ("done", []), check.error
        assert (check.counts["file"]["judgements"], check.counts["new"]["judgements"]) == (12, 0)
        assert "Everything in this file is here already" in client.get(to("run", check.pk)).content.decode()


@pytest.mark.usefixtures("unsent")
def test_batch_results_are_checked_then_imported(client, project, lena):
    summary = models.Summary.objects.select_related("example", "system").first()
    units = list(summary.example.units.filter(kind="scu").order_by("position"))
    columns = ["Input.eventId", "Input.summaryId", "Input.summary_text", "WorkerId", "AssignmentId"]
    columns += [f"Input.statement_{n}" for n in (1, 2, 3)] + [f"Answer.S{n}Answer" for n in (1, 2, 3)]
    row = [summary.example.key, summary.system.name.removeprefix("sys"), summary.text, "A1SECRETWORKER", "3X"]
    row += [unit.text for unit in units] + ["p", "n", ""]
    lines = "\n".join(",".join(f'"{cell}"' for cell in line) for line in (columns, row))
    client.force_login(lena)

    def upload(text: str, **more) -> models.Run:
        file = SimpleUploadedFile("votes.csv", text.encode())
        return run_of(client.post(to("import"), {"file": file, "format": "judgements-amt", **more}))

    bad = upload(lines.replace("tem0", "nobody"))
    assert bad.counts["problem_count"] == 1
    assert bad.counts["problems"][0]["line"] == 2
    good = upload(lines, system_prefix="sys")
    assert good.counts["problems"] == []
    assert not models.Judgement.objects.exists(), "a dry run writes nothing"
    assert "Import 2 judgements" in client.get(to("run", good.pk)).content.decode()
    run_of(client.post(to("start-import", good.pk)))
    assert sorted(models.Judgement.objects.values_list("answer", flat=True)) == ["not_present", "present"]
    assert "A1SECRETWORKER" in client.get(to("judges")).content.decode()
    again = upload(lines, system_prefix="sys", blank="on")
    assert again.counts["problem_count"] == 1, "the same assignment with another answer is never written over"
