"""Ranking in the product: revisions, reasons on the page and in the API, and training on a project."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import models
from annotation.decomposing.texts import decompose_texts
from annotation.ranking.regressor import load_ranker, train_ranker
from annotation.ranking.rows import sentence_digest
from annotation.services import jobs, ranking
from annotation.services.decompose_job import request_decompose
from annotation.services.decomposing import decompose_project
from annotation.services.ranking import current_ranker, rank_project
from annotation.spacy_parser import load_parser
from tests.annotation.test_ranking import invented_rows
from tests.conftest import NOW
from tests.factories import (
    ContributorFactory,
    ExampleFactory,
    MembershipFactory,
    ProjectFactory,
    ReferenceFactory,
    UnitFactory,
)

pytestmark = pytest.mark.django_db(transaction=True)


def quiet(*_: object) -> None:
    """Nobody asks how far it is."""


@pytest.fixture
def reference() -> models.Reference:
    text = "Nora Fisk won the race in Oslo. She lives in Leeds."
    return ReferenceFactory(example=ExampleFactory(position=1), key="1", position=1, text=text)


def rank(project: models.Project, ranker=None) -> int:
    return rank_project(project, ranker or load_ranker(), load_parser(), now=NOW, progress=quiet).ranked


def test_ranking_is_part_of_the_job(reference, client):
    project = reference.example.project
    lead = MembershipFactory(project=project, role="lead").user
    run = request_decompose(project, now=NOW, actor=lead)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    assert run.counts["ranked"] == 2
    assert load_ranker().signature in run.signature
    rankings = models.Ranking.objects.order_by("sentence__position")
    assert [(row.revision, row.was_seen) for row in rankings] == [(1, False), (1, False)]
    assert all(0 < row.easiness < 1 and len(row.reasons) == 3 for row in rankings)
    client.force_login(lead)
    page = client.get(reverse("annotation:example", args=[project.slug, 1])).content.decode()
    assert f"easiness {rankings[0].easiness:.2f}" in page
    assert page.count("easier: ") + page.count("harder: ") == 6
    rows = client.get(reverse("api-sentences", args=[project.slug])).json()["results"]
    assert [row["easiness"] for row in rows] == [row.easiness for row in rankings]
    assert [reason["effect"] for reason in rows[0]["reasons"]] == [reason["effect"] for reason in rankings[0].reasons]
    assert all(reason["words"] in page for reason in rows[0]["reasons"])
    assert rows[0]["ranker"] == load_ranker().signature


def test_ranked_again_nothing_changes_until_units_or_ranker_do(reference):
    project = reference.example.project
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    assert (rank(project), rank(project)) == (2, 0)
    with CaptureQueriesContext(connection) as few:
        rank(project)
    assert len(few) <= 8
    first = list(models.Ranking.objects.order_by("pk").values_list("pk", "easiness"))
    UnitFactory(example=reference.example, kind="stu", reference=reference, text="Nora Fisk ran in Oslo")
    assert rank(project) == 2
    rows = invented_rows()
    other = train_ranker([row.features for row in rows], [row.easiness for row in rows])
    assert rank(project, other) == 2
    assert list(models.Ranking.objects.order_by("pk").values_list("pk", "easiness"))[:2] == first
    revisions = (
        models.Ranking.objects.filter(sentence__position=1).order_by("revision").values_list("revision", "ranker")
    )
    assert list(revisions) == [(1, load_ranker().signature), (2, load_ranker().signature), (3, other.signature)]


def test_sentences_that_the_ranker_learnt_from_are_marked(reference, client):
    project = reference.example.project
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    rows = invented_rows()
    seen = train_ranker(
        [row.features for row in rows],
        [row.easiness for row in rows],
        seen=["0" * 16, sentence_digest("She lives in Leeds.")],
    )
    rank(project, seen)
    assert list(models.Ranking.objects.order_by("sentence__position").values_list("was_seen", flat=True)) == [
        False,
        True,
    ]
    client.force_login(MembershipFactory(project=project).user)
    page = client.get(reverse("annotation:example", args=[project.slug, 1])).content.decode()
    assert page.count("the ranker has learnt from this sentence") == 1
    client.force_login(MembershipFactory(project=project, role="lead").user)
    page = client.get(reverse("annotation:decompose", args=[project.slug])).content.decode()
    assert "1 sentence of this project was in the training data" in page
    rank(project)  # by one that has not seen it
    page = client.get(reverse("annotation:decompose", args=[project.slug])).content.decode()
    assert "training data" not in page


def test_a_setting_names_another_ranker_and_a_bad_one_is_told(reference, settings, tmp_path):
    rows = invented_rows()
    other = train_ranker([row.features for row in rows], [row.easiness for row in rows])
    other.write_to(tmp_path / "r.json")
    settings.RANKER = str(tmp_path / "r.json")
    assert current_ranker().signature == other.signature
    settings.RANKER = str(tmp_path / "none.json")
    run = request_decompose(reference.example.project, now=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "train_ranker" in run.error
    assert not models.Unit.objects.exists()  # told before the work begins


def test_a_ranker_is_trained_on_a_project(tmp_path):
    project = ProjectFactory(name="P")
    for number in range(1, 61):
        example = ExampleFactory(project=project, position=number)
        text = f"Nora Fisk won race {number} in Oslo."
        reference = ReferenceFactory(example=example, key="1", position=1, text=text)
        models.Sentence.objects.create(reference=reference, position=1, start=0, end=len(text), text=text)
        if number % 2:
            UnitFactory(example=example, reference=reference, text=f"Nora Fisk won race {number}.")
        else:  # as units merged across references are
            merged = UnitFactory(example=example, text=f"Nora Fisk won race {number}.", provenance="merged")
            ContributorFactory(unit=merged, reference=reference, position=1)
    call_command("train_ranker", "P", str(tmp_path / "r.json"))
    ranker = load_ranker(tmp_path / "r.json")
    assert (ranker.trained_on, len(ranker.seen)) == ("P", 60)
    with pytest.raises(CommandError, match="no project"):
        call_command("train_ranker", "Q", str(tmp_path / "r.json"))
    with pytest.raises(CommandError, match="is no file"):
        call_command("train_ranker", "P", str(tmp_path))
    models.Unit.objects.filter(pk__gt=models.Unit.objects.order_by("pk")[9].pk).update(trashed_at=NOW)
    with pytest.raises(CommandError, match="10 sentences with SCUs"):
        call_command("train_ranker", "P", str(tmp_path / "r.json"))


def test_the_command_tells_the_easiness(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "text": "Nora Fisk won. Cheaper than Spain."}))
    call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"))
    first, second = json.loads((tmp_path / "out.jsonl").read_text())["sentences"]
    assert 0 < second["easiness"] < first["easiness"] < 1


def test_a_sentence_without_units_is_as_hard_as_can_be(tmp_path):
    project = ProjectFactory()
    text = "The mill closed on Friday. !!! Der Bürgermeister hat am Freitag die neue Brücke eröffnet."
    ReferenceFactory(example=ExampleFactory(project=project, position=1), key="1", position=1, text=text)
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    rank(project)
    values = {row.sentence.text[:3]: row.easiness for row in models.Ranking.objects.select_related("sentence")}
    assert values["The"] > 0.4
    assert values["Der"] == 0
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "text": text}))
    call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"))
    found = json.loads((tmp_path / "out.jsonl").read_text())["sentences"]
    assert {sentence["text"][:3]: sentence["easiness"] for sentence in found} == {
        key: pytest.approx(value, abs=1e-4) for key, value in values.items()
    }


def test_what_changes_while_a_reference_is_measured_is_left_to_the_next_pass(reference, monkeypatch):
    project = reference.example.project
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    real = ranking.measure_texts

    def meanwhile(texts, parser):
        found = list(real(texts, parser))
        monkeypatch.setattr(ranking, "measure_texts", real)
        UnitFactory(example=reference.example, kind="stu", reference=reference, text="Nora Fisk ran in Oslo")
        assert rank(project) == 2  # another worker was quicker
        return found

    monkeypatch.setattr(ranking, "measure_texts", meanwhile)
    assert rank(project) == 0
    assert list(models.Ranking.objects.values_list("revision", flat=True)) == [1, 1]
    assert rank(project) == 0


def test_a_reference_that_cannot_be_measured_does_not_keep_the_others_waiting(reference, monkeypatch):
    project = reference.example.project
    ReferenceFactory(
        example=ExampleFactory(project=project, position=2), key="1", position=1, text="The mill closed on Friday."
    )
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    real = ranking.measure_texts

    def fail(texts, parser):
        if any("Nora" in text for text, _, _ in texts):
            raise ValueError("no")
        return real(texts, parser)

    monkeypatch.setattr(ranking, "measure_texts", fail)
    report = rank_project(project, load_ranker(), load_parser(), now=NOW, progress=quiet)
    assert (report.ranked, report.unranked) == (1, 1)


def test_units_are_measured_alike_from_the_database_and_from_the_rules(reference):
    project = reference.example.project
    decompose_project(project, load_parser(), now=NOW, progress=quiet)
    rank(project)
    (found,) = decompose_texts([reference.text], load_parser(), measured=True)
    expected = load_ranker().predict([sentence.features for sentence in found])
    stored = models.Ranking.objects.order_by("sentence__position").values_list("easiness", flat=True)
    assert list(stored) == pytest.approx(expected, abs=1e-6)


def test_the_command_uses_the_ranker_of_the_settings(tmp_path, settings):
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "text": "Nora Fisk won."}))
    settings.RANKER = str(tmp_path / "none.json")
    with pytest.raises(CommandError, match="PYRAMID_RANKER"):
        call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"))
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    settings.RANKER = str(tmp_path / "binary.json")
    with pytest.raises(CommandError, match="is no ranker"):
        call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"))
    settings.RANKER = ""
    with pytest.raises(CommandError, match="belongs to --rule seed"):
        call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), regressor=tmp_path / "x")
    settings.ALLENNLP_PYTHON = "python"
    settings.ALLENNLP_MODELS = {"srl": "x", "coref": "", "constituency": "x"}
    with pytest.raises(CommandError, match="cannot be read"):
        call_command(
            "decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "o"), rule="seed", regressor=tmp_path / "x"
        )
