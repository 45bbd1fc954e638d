"""The commands that people script against."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from annotation import models
from tests.factories import UserFactory
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
    with pytest.raises(CommandError, match="The name of the project has 201 characters"):
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
    with pytest.raises(CommandError, match=r"/dev/null/x cannot be written: .*Name another folder\."):
        run("export_corpus", "P", "/dev/null/x", "--format", "jsonl")


def test_a_new_project_can_have_a_lead_at_once(mini):
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P", "--lead", "nobody")
    UserFactory(username="lena")
    lines = run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P", "--lead", "lena")
    assert lines[-1] == "Imported into the project 'P', on the web at /projects/p/"
    assert models.Membership.objects.get().role == "lead"


def test_members_can_be_added(mini):
    lines = run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")
    assert "manage.py add_member p USERNAME" in lines[-1]
    UserFactory(username="anton")
    assert run("add_member", "p", "anton", "--role", "annotator") == ["anton is now annotator in 'P'."]
    with pytest.raises(CommandError, match="is a member of 'P' already"):
        run("add_member", "P", "anton", "--role", "lead")
    with pytest.raises(CommandError, match="There is no user 'eve'"):
        run("add_member", "P", "eve", "--role", "lead")


def test_the_trash_by_command(mini):
    run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")
    assert run("trash", "P", "--example", "a2") == ["a2 is in the trash."]
    assert run("trash", "P", "--example", "a2") == ["a2 was in the trash already; nothing changed."]
    assert run("trash", "P", "--example", "a2", "--restore") == ["a2 is restored."]
    assert run("trash", "p") == ["P is in the trash."]
    with pytest.raises(CommandError, match="is in the trash"):
        run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")
    assert run("trash", "P", "--restore") == ["P is restored."]
    with pytest.raises(CommandError, match="nothing of that name"):
        run("trash", "P", "--system", "zeta")


def test_a_database_that_is_not_prepared_is_told(mini, monkeypatch):
    monkeypatch.setattr("django.db.migrations.executor.MigrationExecutor.migration_plan", lambda *_: ["something"])
    with pytest.raises(CommandError, match=r"Run: \.venv/bin/python manage\.py migrate"):
        run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OperationalError("database is locked"), "busy with another long write"),
        (OperationalError("connection refused\nis it running?"), r"cannot be reached \(connection refused\)"),
        (KeyboardInterrupt(), "Stopped. Nothing was written."),
    ],
)
def test_what_goes_wrong_around_a_command_is_told_plainly(mini, monkeypatch, error, words):
    from annotation.management.commands import import_corpus

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(import_corpus, "import_corpus", fail)
    with pytest.raises(CommandError, match=words):
        run("import_corpus", str(mini), "--format", "lite2-3pyramid", "--project", "P")


def test_an_empty_path_is_not_the_current_folder():
    with pytest.raises(CommandError, match="The path is empty"):
        run("import_corpus", "", "--format", "jsonl", "--project", "P")


def test_a_corpus_cannot_steer_the_terminal(tmp_path):
    unit = {"text": "red \x1b[31m alert"}
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "x", "reference": "a", "units": [unit]}))
    out = "\n".join(run("import_corpus", str(tmp_path / "c.jsonl"), "--format", "jsonl", "--project", "P"))
    assert "\x1b" not in out
    assert "red \ufffd[31m alert" in out
