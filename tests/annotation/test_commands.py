"""The commands that people script against."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation import models
from tests.mini_corpus import write_mini_corpus

pytestmark = pytest.mark.django_db

KEYS = ["examples", "references", "sentences", "systems", "summaries", "scus", "stus", "labels"]


def run(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_import_prints_its_counts_as_the_last_line(mini):
    lines = run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P", "--json")
    counts = json.loads(lines[-1])
    assert [counts[key] for key in KEYS] == [3, 3, 4, 2, 6, 4, 3, 8]
    assert counts["new"]["labels"] == 8


def test_a_dry_run_shows_counts_and_first_units(mini):
    lines = run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P", "--dry-run")
    text = "\n".join(lines)
    assert "a1 scu-1: The mill closed." in text
    assert "Dry run: nothing was written." in text
    assert models.Project.objects.count() == 0


def test_importing_twice_says_so(mini):
    arguments = ("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")
    run(*arguments)
    assert run(*arguments)[-1] == "Everything was here already; nothing changed."


def test_problems_are_listed_and_the_command_fails(tmp_path):
    folder = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0", "7", "1"]})
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("import_corpus", str(folder), "--format", "lite2-3pyramid", "--project", "P", "--json", stdout=out)
    message = str(caught.value)
    assert message.startswith("2 problems; nothing was imported.")
    assert "labels/beta.label, line 1: has 1 labels for 2 SCUs" in message
    report = json.loads(out.getvalue().splitlines()[-1])
    assert [(item["file"], item["line"]) for item in report["problems"]] == [
        ("labels/beta.label", 1),
        ("labels/beta.label", 2),
    ]


def test_a_name_too_long_for_a_project_is_told(mini):
    with pytest.raises(CommandError, match="200 characters"):
        run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "n" * 201)
    assert models.Example.objects.count() == 0


def test_export_by_name_and_slug(tmp_path, mini):
    run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "My corpus")
    lines = run("export_corpus", "my-corpus", str(tmp_path / "a"), "--format", "jsonl", "--json")
    assert json.loads(lines[-1])["labels"] == 8
    run("export_corpus", "My corpus", str(tmp_path / "b"), "--format", "csv")
    assert (tmp_path / "b" / "labels.csv").exists()


def test_export_refusals_are_told(tmp_path, mini):
    with pytest.raises(CommandError, match="There is no project 'nope'"):
        run("export_corpus", "nope", str(tmp_path / "a"), "--format", "jsonl")
    run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")
    with pytest.raises(CommandError, match="is not empty"):
        run("export_corpus", "P", str(mini), "--format", "jsonl")
