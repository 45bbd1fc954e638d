"""Exporting: byte-identical where the format is somebody else's, lossless where it is ours."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
import threading
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import models
from annotation.services.exporting import ExportRefused, export_corpus, snapshot
from annotation.services.importing import ImportRefused, import_corpus
from annotation.services.loading import iterate_examples, load_folds
from annotation.services.trashing import move_to_trash
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


def contents(project: models.Project) -> tuple:
    """Everything in a project that is not a primary key or the time of import."""
    systems = models.System.objects.filter(project=project).order_by("name").values_list("name", "trashed_at")
    return list(systems), [loaded.record for loaded in iterate_examples(project)], load_folds(project)


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
    assert contents(again) == contents(project)
    assert import_corpus(folder, corpus_format=corpus_format, project_name="P", now=NOW).new.total() == 0


TEXT = st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
        assert contents(again) == contents(project)


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
    assert "--format jsonl" in str(caught.value)
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
    models.Fold.objects.all().delete()
    folder = export(project, tmp_path / "l", "lite2-3pyramid")
    assert (folder / "ids.txt").read_text() == "a1\na3"
    assert not (folder / "summaries" / "beta.summary").exists()
    lines = (export(project, tmp_path / "j", "jsonl") / "corpus.jsonl").read_text().splitlines()
    assert sum('"trashed_at"' in line for line in lines) == 2


def test_a_failure_while_writing_leaves_no_folder(tmp_path, mini, monkeypatch):
    from annotation.writers.jsonl import JsonlWriter

    project = load(mini)
    monkeypatch.setattr(JsonlWriter, "finish", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
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
        "User", "Membership", "Project",  # accounts belong to an installation; the project's name is in the header
        "Run", "AuditEntry",  # what happened here, not what the corpus is
        "Task", "Judgement", "JudgementVersion",  # nothing writes them yet
    }  # fmt: skip
    assert {model.__name__ for model in apps.get_app_config("annotation").get_models()} == exported | stays
