"""Commands: score and judge."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation import models
from annotation.services.labels import make_labels
from scoring.services import score_job
from scoring.services.human import human_scores
from tests.conftest import NOW
from tests.factories import MembershipFactory
from tests.judging import answer_all, judged_project, open_batch
from tests.scoring.judges import write_tiny_nli

pytestmark = pytest.mark.usefixtures("judge")


def call(*arguments: object) -> str:
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_score_prints_scores_with_signatures_as_json(project):
    last = json.loads(call("score", "Mini", "--metric", "lite2", "--judge", "human", "--json").splitlines()[-1])
    assert {name: row["score"] for name, row in last["systems"].items()} == human_scores(project)
    row = last["systems"]["alpha"]
    assert row["low"] <= row["score"] <= row["high"]
    assert (row["n"], row["by_people"]) == (3, 1.0)
    assert row["signature"].startswith("lite2|units:")
    assert last["signature"] == models.Run.objects.get(pk=last["run"]).signature != row["signature"]


@pytest.mark.django_db(transaction=True)
def test_score_shows_a_table_and_what_to_know_of_it(project):
    said = call("score", "mini", "--system", "alpha")
    assert "4 pairs, 4 of them judged now" in said
    assert "In the judge's training data: 1 of 4 units." in said
    assert "beta" not in said
    lines = call("score", "mini", "--normalised").splitlines()
    run = models.Run.objects.filter(stage="score").latest("pk")
    assert lines[-1] == run.signature.replace("|length:as is|", "|length:alpha=2|")  # of all systems, not of the first


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "There is no project 'nothing'"),
        (["mini", "--metric", "lite9"], "is no metric"),
        (["mini", "--system", "zeta"], "There is no system 'zeta' here. Known are alpha, beta"),
        (["mini", "--metric", "lite2.5"], "Run Split and decompose first"),
        (["mini", "--judge", "human+"], "Name a judge"),
    ],
)
def test_score_ends_with_a_plain_sentence(project, arguments, message):
    with pytest.raises(CommandError, match=message):
        call("score", *arguments)


@pytest.mark.django_db(transaction=True)
def test_score_can_be_stopped_and_leaves_nothing_to_a_worker(project, monkeypatch):
    def stop(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(score_job, "open_judge", stop)
    with pytest.raises(CommandError, match="What was judged is kept"):
        call("score", "mini")
    assert models.Run.objects.get(stage="score").state == "cancelled"


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "in.jsonl"
    rows = [
        {"id": "1", "summary": "The mill closed.", "unit": "The mill shut.", "more": 1},
        {"id": 2, "summary": "", "unit": "Snow fell."},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_judge_adds_its_verdict_to_every_line(lines, tmp_path):
    folder = write_tiny_nli(tmp_path / "tiny")
    target = tmp_path / "out.jsonl"
    said = call("judge", lines, target, "--judge", folder)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1", 2]
    assert rows[0]["more"] == 1
    assert {"p", "p3c", "l3c", "p2c", "l2c"} <= set(rows[0])
    assert all(0 <= row["p"] <= 1 for row in rows)
    assert "2 pairs, judged by" in said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 1: is no JSON object"),
        ('{"id": 1, "summary": "x"}', 'line 1: needs an "id", a "summary" and a "unit"'),
        ('{"id": 1, "summary": "x", "unit": " "}', "line 1: has an empty unit"),
    ],
)
def test_judge_refuses_a_bad_line_and_writes_nothing(tmp_path, line, message):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(line, encoding="utf-8")
    with pytest.raises(CommandError, match=message):
        call("judge", source, target)
    assert not target.exists()


def test_judge_knows_no_people(lines, tmp_path):
    with pytest.raises(CommandError, match="stands for the labels of a project"):
        call("judge", lines, tmp_path / "out.jsonl", "--judge", "human")


def test_judge_with_a_model_that_is_not_there(lines, tmp_path):
    with pytest.raises(CommandError, match=r"Nothing was written\. The model .* cannot be loaded"):
        call("judge", lines, tmp_path / "out.jsonl", "--judge", tmp_path / "nothing")
    assert not (tmp_path / "out.jsonl").exists()


# --- labels that people made here ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_labels_of_votes_flow_into_scores(client):
    """Votes become labels by a rule, and a run takes that rule, by itself where the corpus came with none."""
    project = judged_project(slug="votes")
    lead = MembershipFactory(project=project, role="lead").user
    open_batch(project, votes=1)
    answer_all(project, lead, lambda task, row: "present" if row.unit.position == 1 else "not_present")
    make_labels(project, "none", now=NOW, actor=lead)
    told = json.loads(call("score", "votes", "--metric", "lite2", "--judge", "human", "--json").splitlines()[-1])
    assert [round(row["score"], 6) for row in told["systems"].values()] == [0.333333, 0.333333]
    assert "labels:majority" in models.Run.objects.get(stage="score").signature
    with pytest.raises(CommandError, match="Known are majority"):
        call("score", "votes", "--judge", "human", "--labels", "imported")
    client.force_login(lead)
    assert "Labels of people" not in client.get(reverse("scoring:start", args=["votes"])).content.decode()
    make_labels(project, "realsumm-worst-of-task", now=NOW, actor=lead)
    page = client.get(reverse("scoring:start", args=["votes"])).content.decode()
    assert "majority/realsumm-worst-of-task (12)" in page
