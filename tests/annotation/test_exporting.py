"""Exporting: byte-identical where the format is somebody else's, lossless where it is ours."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotation import models
from annotation.services.exporting import ExportRefused, export_corpus, snapshot
from annotation.services.importing import ImportRefused, import_corpus
from annotation.services.loading import iterate_examples, load_folds, load_systems
from annotation.services.trashing import move_to_trash, restore_from_trash
from tests.conftest import NOW
from tests.factories import ExampleFactory, ProjectFactory
from tests.mini_corpus import FILES, write_mini_corpus

pytestmark = pytest.mark.django_db


def load(path: Path, corpus_format: str = "lite2-3pyramid", name: str = "P") -> models.Project:
    import_corpus(path, corpus_format=corpus_format, project_name=name, now=NOW)
    return models.Project.objects.get(name=name)


def export(project: models.Project, directory: Path, corpus_format: str) -> Path:
    export_corpus(project, directory, corpus_format=corpus_format, now=NOW)
    return directory


def contents(project: models.Project, *, corpus_format: str = "jsonl") -> tuple:
    """Everything in a project that is not a primary key or the time of import."""
    records = [loaded.record for loaded in iterate_examples(project)]
    if corpus_format == "csv":  # a cell cannot tell an empty document from none
        records = [replace(record, document=record.document or None) for record in records]
    return load_systems(project), records, load_folds(project)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }


def rich_corpus(tmp_path: Path) -> Path:
    """Several references, merged units, revisions, trash, odd texts: all that JSONL must hold."""
    path = tmp_path / "rich.jsonl"
    odd = "=1+1\r\nnew line\ttab \u2028 'quoted' \"double\" 🙂 \ufeff"
    lines = [
        {"type": "system", "name": "old", "trashed_at": "2026-01-05T00:00:00+00:00"},
        {
            "id": "x", "document": odd,
            "references": [{"id": "A", "text": "One. Two.", "sentences": [[0, 4], [5, 9], [0, 9, 2]]}, {"id": "B", "text": odd}],
            "summaries": {"=alpha": "-5", "@beta": odd, "'=gamma": ""},
            "units": [
                {"id": "u", "text": "Old.", "reference": "A", "sentence": 1, "superseded_at": "2026-02-01T10:00:00+00:00"},
                {"id": "u", "text": "New.", "reference": "A", "sentence": [2, 1], "revision": 2, "provenance": "edited",
                 "author": "w1", "guideline_version": "g@1", "created_at": "2026-02-01T10:00:00+00:00"},
                {"id": "m", "text": "+Both.", "weight": 2, "provenance": "merged",
                 "contributors": [{"reference": "A", "text": "One", "span": [0, 3], "sentence": 1}, {"reference": "B"}],
                 "labels": {"imported": {"=alpha": 1, "@beta": 0}, "majority": {"=alpha": 0}}},
                {"id": "t", "kind": "stu", "text": "Trashed.", "reference": "B", "provenance": "derived",
                 "trashed_at": "2026-02-02T00:00:00+00:00"},
            ],
            "mixes": {"m50": {"A": ["One.", "=2"], "B": []}},
        },
        {"id": "y", "reference": "", "summaries": {"=alpha": "", "@beta": "b", "'=gamma": "c"}},
        {"id": "gone", "reference": "Gone.", "trashed_at": "2026-01-06T00:00:00+00:00"},
        {"type": "fold", "axis": "examples", "name": "f", "members": ["y", "x"]},
        {"type": "fold", "axis": "systems", "name": "f", "members": ["@beta"]},
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_lite23_folder_comes_back_byte_for_byte(tmp_path, mini):
    folder = export(load(mini), tmp_path / "out", "lite2-3pyramid")
    assert files_of(folder) == {name: "\n".join(lines).encode() for name, lines in FILES.items()}


def test_optional_files_come_back_only_if_they_were_there(tmp_path):
    changes = {name: None for name in FILES if name not in {"ids.txt", "references.txt"}}
    folder = export(load(write_mini_corpus(tmp_path / "bare", changes)), tmp_path / "out", "lite2-3pyramid")
    assert set(files_of(folder)) == {"ids.txt", "references.txt"}
    weighted = write_mini_corpus(tmp_path / "weighted", {"weights.txt": ["2\t1", "1", "3"]})
    folder = export(load(weighted, name="W"), tmp_path / "out2", "lite2-3pyramid")
    assert (folder / "weights.txt").read_bytes() == b"2\t1\n1\n3"


@pytest.mark.parametrize("corpus_format", ["jsonl", "csv"])
def test_our_own_formats_lose_nothing(tmp_path, corpus_format):
    project = load(rich_corpus(tmp_path), "jsonl")
    folder = export(project, tmp_path / "out", corpus_format)
    again = load(folder, corpus_format, "Again")
    assert contents(again, corpus_format=corpus_format) == contents(project, corpus_format=corpus_format)
    assert import_corpus(folder, corpus_format=corpus_format, project_name="P", now=NOW).new.total() == 0


TEXT = st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=12)


@settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    document=TEXT,
    reference=TEXT,
    summary=TEXT,
    unit=TEXT.filter(str.strip),
    corpus_format=st.sampled_from(["jsonl", "csv"]),
)
def test_every_text_survives_the_round_trip(document, reference, summary, unit, corpus_format):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        line = {"id": "x", "document": document, "reference": reference.replace("<", ""),
                "summaries": {"s": summary}, "units": [{"text": unit}]}  # fmt: skip
        (folder / "in.jsonl").write_text(json.dumps(line))
        number = models.Project.objects.count()
        project = load(folder / "in.jsonl", "jsonl", f"P{number}")
        again = load(export(project, folder / "out", corpus_format), corpus_format, f"Q{number}")
        assert contents(again, corpus_format=corpus_format) == contents(project, corpus_format=corpus_format)


def test_csv_cells_are_safe_and_numbers_stay_numbers(tmp_path):
    folder = export(load(rich_corpus(tmp_path), "jsonl"), tmp_path / "out", "csv")
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for cell in row.values():
                    assert not cell.startswith(("=", "+", "@", "\t", "\r")), (path, cell)
    with (folder / "summaries.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["system"] == "'=alpha"
    assert rows[1]["text"] == "-5"
    with (folder / "units.csv").open(encoding="utf-8", newline="") as file:
        assert [row["weight"] for row in csv.DictReader(file)] == ["1", "1", "2", "1"]


def test_the_manifest_counts_and_sums_up(tmp_path, mini):
    folder = export(load(mini), tmp_path / "out", "csv")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["counts"]["labels"] == 8
    assert {entry["name"] for entry in manifest["files"]} == set(files_of(folder))
    for entry in manifest["files"]:
        content = (folder / entry["name"]).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def test_nothing_is_overwritten(tmp_path, mini):
    project = load(mini)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(ExportRefused, match="is not empty"):
        export(project, tmp_path / "full", "jsonl")
    with pytest.raises(ExportRefused, match="is a file"):
        export(project, tmp_path / "full" / "mine.txt", "jsonl")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_an_empty_folder_may_be_filled(tmp_path, mini):
    (tmp_path / "out").mkdir()
    assert (export(load(mini), tmp_path / "out", "jsonl") / "corpus.jsonl").exists()


def test_what_lite23_cannot_hold_is_refused_and_nothing_is_left(tmp_path):
    project = load(rich_corpus(tmp_path), "jsonl")
    with pytest.raises(ExportRefused) as caught:
        export(project, tmp_path / "out", "lite2-3pyramid")
    assert "example 'x' has 2 references" in str(caught.value)
    assert "the format jsonl" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rich.jsonl"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "x", "reference": "a\nb"}, "the reference of 'x' has a line break"),
        ({"id": "x", "reference": "a", "document": "a\nb"}, "the document of 'x' has a line break"),
        ({"id": "x", "reference": "a", "units": [{"text": "a\tb"}]}, "an SCU of 'x' has a tab"),
        ({"id": "x", "reference": "a", "summaries": {"a/b": "s"}}, "system 'a/b' has a name that cannot be a file name"),
        ({"id": "x", "reference": "a", "summaries": {"s": "t"}, "units": [{"text": "a", "labels": {"imported": {"s": 1}}}, {"text": "b"}]},
         "system 's' has labels for 1 of 2 SCUs"),
        ({"id": "x", "reference": "a", "mixes": {"own": {"1": ["a"]}}}, "mix 'own' has a name that the format does not know"),
    ],
)  # fmt: skip
def test_what_lite23_cannot_hold_is_named(tmp_path, line, reason):
    (tmp_path / "c.jsonl").write_text(json.dumps(line))
    with pytest.raises(ExportRefused, match=reason):
        export(load(tmp_path / "c.jsonl", "jsonl"), tmp_path / "out", "lite2-3pyramid")


def test_the_trash_stays_out_of_lite23_and_in_jsonl(tmp_path, mini):
    project = load(mini)
    move_to_trash(models.Example.objects.get(key="a2"), now=NOW)
    move_to_trash(models.System.objects.get(name="beta"), now=NOW)
    report = export_corpus(project, tmp_path / "l", corpus_format="lite2-3pyramid", now=NOW)
    folder = report.directory
    assert (folder / "ids.txt").read_text() == "a1\na3"
    assert (folder / "by_systems" / "fold1.sys").read_text() == "alpha"
    assert report.left_out == {
        "systems in the trash": 1, "examples in the trash": 1, "members of folds in the trash": 2,
    }  # fmt: skip
    assert (report.counts.systems, report.counts.examples, report.counts.labels) == (1, 2, 3)
    assert load(folder, name="Again").examples.count() == 2
    assert not (folder / "summaries" / "beta.summary").exists()
    lines = (export(project, tmp_path / "j", "jsonl") / "corpus.jsonl").read_text().splitlines()
    assert sum('"trashed_at"' in line for line in lines) == 2


def test_what_lite23_has_no_place_for_is_counted(tmp_path):
    unit = {"id": "mine", "text": "One.", "author": "w1", "labels": {"imported": {"s": 1}, "majority": {"s": 0}}}
    line = {"id": "x", "reference": "One.", "summaries": {"s": "t"}, "units": [unit]}
    (tmp_path / "c.jsonl").write_text(json.dumps(line))
    report = export_corpus(
        load(tmp_path / "c.jsonl", "jsonl"), tmp_path / "out", corpus_format="lite2-3pyramid", now=NOW
    )
    assert report.left_out == {
        "authors of units": 1,
        "ids of units (an import numbers them anew)": 1,
        "labels of STUs or by other rules than 'imported'": 1,
    }
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["left_out"] == report.left_out
    with pytest.raises(ImportRefused) as caught:
        load(tmp_path / "out")  # into the same project: the unit is there, under its own id
    assert "has the text of unit 'scu-1' (scu) here already, as unit 'mine'" in str(
        next(iter(caught.value.report.problems))
    )


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "..", ".hidden", "a\\b"])
def test_a_name_never_leads_out_of_the_folder(tmp_path, name):
    victim = tmp_path / "evil.id"
    victim.write_text("precious")
    fold = {"type": "fold", "axis": "examples", "name": name, "members": ["x"]}
    for lines in ([{"id": "x", "reference": "a"}, fold], [{"id": "x", "reference": "a", "summaries": {name: "s"}}]):
        path = tmp_path / "c.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        project = load(path, "jsonl", f"P{models.Project.objects.count()}")
        with pytest.raises(ExportRefused, match="has a name that cannot be a file name"):
            export(project, tmp_path / "a" / "b" / "out", "lite2-3pyramid")
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["c.jsonl", "evil.id"]


def test_a_hole_left_by_the_trash_survives_the_round_trip(tmp_path, mini):
    project = load(mini)
    beta = models.System.objects.get(name="beta")
    move_to_trash(beta, now=NOW)
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "b1", "reference": "More.", "summaries": {"alpha": "s"}}))
    load(tmp_path / "c.jsonl", "jsonl")
    restore_from_trash(beta, now=NOW)
    for corpus_format in ("jsonl", "csv"):
        folder = export(project, tmp_path / corpus_format, corpus_format)
        again = load(folder, corpus_format, corpus_format)
        assert contents(again, corpus_format="csv") == contents(project, corpus_format="csv")


def test_an_export_that_cannot_be_logged_does_not_appear(tmp_path, mini, monkeypatch):
    from annotation.services import exporting

    project = load(mini)
    monkeypatch.setattr(exporting, "record_audit", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("locked")))
    with pytest.raises(RuntimeError, match="locked"):
        export(project, tmp_path / "out", "jsonl")
    assert not (tmp_path / "out").exists()
    assert models.Run.objects.filter(stage="export").count() == 0


def test_a_failure_while_writing_leaves_no_folder(tmp_path, mini, monkeypatch):
    from annotation.writers.jsonl import JsonlWriter

    project = load(mini)
    monkeypatch.setattr(JsonlWriter, "finish", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(ExportRefused, match="cannot be written: disk full"):
        export(project, tmp_path / "out", "jsonl")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["mini"]


def test_an_export_is_a_run_and_an_audit_entry(tmp_path, mini):
    project = load(mini)
    export(project, tmp_path / "out", "jsonl")
    assert models.Run.objects.get(stage="export").counts["summaries"] == 6
    assert models.AuditEntry.objects.filter(action="export", project=project).count() == 1


def test_a_conflict_between_export_and_project_is_still_told(tmp_path, mini):
    project = load(mini)
    folder = export(project, tmp_path / "out", "csv")
    table = (folder / "summaries.csv").read_text().replace("Brandt won.", "Brandt lost.")
    (folder / "summaries.csv").write_text(table)
    with pytest.raises(ImportRefused):
        load(folder, "csv")


@pytest.mark.django_db(transaction=True)
def test_an_export_reads_one_state_while_others_write():
    project = ProjectFactory()
    ExampleFactory(project=project, position=1)

    def write() -> None:
        ExampleFactory(project=project, position=2)
        connection.close()

    with snapshot():
        before = models.Example.objects.count()
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(30)
        assert not writer.is_alive()  # the reader does not keep the writer waiting
        assert models.Example.objects.count() == before
    assert models.Example.objects.count() == before + 1


def test_every_model_is_exported_or_known_to_stay():
    """A model added later must be exported, or named here with the reason."""
    exported = {
        "Example", "Reference", "Sentence", "System", "Summary", "Unit", "Contributor", "Mix", "Label", "Fold", "FoldMember",
        "Person",  # as author of a unit
    }  # fmt: skip
    stays = {
        "User", "ApiToken", "Membership", "Invitation", "Project",  # accounts belong to an installation; the project's name is in the header
        "Run", "Worker", "AuditEntry",  # what happened here, not what the corpus is
        # Votes are exported by themselves, without names: manage.py export_judgements.
        "Judgement", "JudgementVersion", "Assignment", "FillerAnswer", "Batch", "Sheet", "SheetUnit", "Exclusion",
        "WorkerIdentity",  # never leaves
        "TextCheck",  # what a machine says of a text: made anew
        # Work under way and how it was organised. (The units that came of it are exported; plans are not, yet.)
        "Task", "DraftVersion", "Submission", "WrittenUnit", "Skip", "Flag",
        "Plan", "PlannedSentence", "PlanDraft", "Pin", "Route", "RatioCurve",
        "Ranking",  # predicted from what is exported: it comes out the same again
    }  # fmt: skip
    assert {model.__name__ for model in apps.get_app_config("annotation").get_models()} == exported | stays
