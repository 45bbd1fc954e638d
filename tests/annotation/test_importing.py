"""Importing: all or nothing, twice is once, a conflict is told."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from annotation import models
from annotation.records import Counts
from annotation.services.importing import ImportRefused, ImportReport, import_corpus
from annotation.services.projects import BadProjectName, ProjectInTrash, add_member, create_project, find_project
from annotation.services.trashing import move_to_trash
from tests.conftest import NOW
from tests.factories import ProjectFactory, UserFactory
from tests.mini_corpus import FILES, write_mini_corpus

pytestmark = pytest.mark.django_db

MINI = Counts(examples=3, references=3, sentences=4, systems=2, summaries=6, scus=4, stus=3, labels=8, mixes=3, folds=3)


def run_import(path: Path, *, corpus_format: str = "lite2-3pyramid", project: str = "P", **options) -> ImportReport:
    return import_corpus(path, corpus_format=corpus_format, project_name=project, now=NOW, **options)


def refused(path: Path, **options) -> list[str]:
    before = row_counts()
    with pytest.raises(ImportRefused) as caught:
        run_import(path, **options)
    assert row_counts() == before  # nothing is left behind, not even a project or a run
    return [str(problem) for problem in caught.value.report.problems]


def row_counts() -> dict[str, int]:
    from django.apps import apps

    return {model.__name__: model.objects.count() for model in apps.get_app_config("annotation").get_models()}


def jsonl(tmp_path: Path, *lines: dict, name: str = "c.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_rows_of_a_folder(mini):
    report = run_import(mini)
    assert report.counts == report.new == MINI
    project = models.Project.objects.get()
    assert [example.key for example in project.examples.all()] == ["a1", "a2", "a3"]
    sentences = models.Sentence.objects.filter(reference__example__key="a1")
    assert [sentence.text for sentence in sentences] == ["The mill\u00a0closed .", "Forty people lost work ."]
    for sentence in models.Sentence.objects.select_related("reference"):
        assert sentence.text == sentence.reference.text[sentence.start : sentence.end]
    labels = models.Label.objects.filter(unit__example__key="a1", summary__system__name="alpha").order_by(
        "unit__position"
    )
    assert [(label.present, label.rule) for label in labels] == [(True, "imported"), (False, "imported")]
    fold = models.Fold.objects.get(axis="examples", name="fold1")
    assert [member.example.key for member in fold.members.all()] == ["a3", "a1"]
    run = models.Run.objects.get()
    assert (run.stage, run.state, run.project, run.counts["file"]["labels"]) == ("import", "done", project, 8)
    assert models.AuditEntry.objects.filter(action="import", project=project).count() == 1


def test_the_same_file_twice_changes_nothing(mini):
    run_import(mini)
    before = {name: count for name, count in row_counts().items() if name not in {"Run", "AuditEntry"}}
    report = run_import(mini)
    assert report.counts == MINI
    assert report.new == Counts()
    assert {name: count for name, count in row_counts().items() if name not in {"Run", "AuditEntry"}} == before


def test_a_dry_run_counts_and_writes_nothing(mini):
    before = row_counts()
    report = run_import(mini, dry_run=True)
    assert report.new == MINI
    assert report.first_units[0] == "a1 scu-1: The mill closed."
    assert row_counts() == before


def test_a_conflicting_row_is_refused_and_the_stored_one_kept(tmp_path, mini):
    run_import(mini)
    changed = write_mini_corpus(
        tmp_path / "changed",
        {
            "summaries/alpha.summary": ["The mill shut .", "Brandt LOST.", "It snowed."],
            "labels/beta.label": ["0\t1", "0", "1"],
        },
    )
    assert refused(changed) == [
        "ids.txt, line 1: example 'a1' has another label of unit 'scu-2' by imported beta here. Nothing was overwritten.",
        "ids.txt, line 2: example 'a2' has another summary by 'alpha' here. Nothing was overwritten.",
    ]
    assert models.Summary.objects.get(example__key="a2", system__name="alpha").text == "Brandt won."


def test_bad_rows_leave_nothing_behind(tmp_path):
    folder = write_mini_corpus(tmp_path / "bad", {"labels/beta.label": ["0\t0", "7", "1"]})
    assert refused(folder) == [
        "labels/beta.label, line 2: has the label '7' for example 'a2'. Labels are 0 or 1, separated by tabs."
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", "is empty"),
        ("page.csv", b"<!doctype html><p>404", "a web page"),
        ("model.jsonl", b"\x80\x04\x95\x10", "a Python pickle"),
        ("latin.csv", "id,reference\nx,Käse\n".encode("latin-1"), "is not UTF-8"),
        ("nul.jsonl", b'{"id": "x", "reference": "a\x00b"}', "NUL byte"),
        ("columns.csv", b"name,text\nx,One.\n", "no column 'id'"),
    ],
)
def test_files_of_another_kind_leave_nothing_behind(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    problems = refused(tmp_path / name, corpus_format=name.rsplit(".", 1)[1])
    assert len(problems) == 1
    assert words in problems[0]


def test_a_file_over_the_limit_leaves_nothing_behind(tmp_path, settings):
    settings.IMPORT_MAX_BYTES = 100
    path = jsonl(tmp_path, {"id": "x", "reference": "One. " * 100})
    assert "the limit is" in refused(path, corpus_format="jsonl")[0]


def test_evil_zips_leave_nothing_behind(tmp_path, mini):
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        archive.writestr("../ids.txt", "x")
    assert "leads out of the archive" in refused(tmp_path / "slip.zip")[0]
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ids.txt", b"0" * (40 * 1024 * 1024))
    assert "times its size" in refused(tmp_path / "bomb.zip")[0]


def test_a_zip_gives_the_same_rows_as_its_folder(tmp_path, mini):
    with zipfile.ZipFile(tmp_path / "mini.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in mini.rglob("*.*"):
            archive.write(path, f"mini/{path.relative_to(mini)}")
    assert run_import(tmp_path / "mini.zip").new == MINI
    assert run_import(mini).new == Counts()


def test_a_summary_of_a_megabyte_is_taken_and_flagged(tmp_path):
    path = jsonl(tmp_path, {"id": "x", "reference": "One.", "summaries": {"alpha": "word " * 210_000}})
    report = run_import(path, corpus_format="jsonl")
    assert report.warnings == ["example 'x': the summary by 'alpha' has 1,050,000 characters. Is it one text?"]
    assert len(models.Summary.objects.get().text) == 1_050_000


def test_a_blank_reference_is_taken_and_flagged(tmp_path):
    report = run_import(jsonl(tmp_path, {"id": "x", "reference": " "}), corpus_format="jsonl")
    assert report.warnings == ["example 'x': reference '1' is blank and has no sentence."]
    assert models.Sentence.objects.count() == 0


def test_the_same_id_on_two_lines_is_refused(tmp_path):
    path = jsonl(tmp_path, {"id": "x", "reference": "One."}, {"id": "x", "reference": "One."})
    assert refused(path, corpus_format="jsonl") == [
        "c.jsonl, line 2: example 'x' stands in line 1 already. Give it another id."
    ]


def test_a_system_needs_a_summary_of_every_example(tmp_path):
    path = jsonl(
        tmp_path,
        {"id": "x", "reference": "One.", "summaries": {"alpha": "s", "beta": "s"}},
        {"id": "y", "reference": "Two.", "summaries": {"alpha": "s"}},
    )
    (problem,) = refused(path, corpus_format="jsonl")
    assert "system 'beta' has 1 summaries for 2 examples (example 'y' has none)" in problem
    late = jsonl(
        tmp_path,
        {"id": "x", "reference": "One."},
        {"id": "y", "reference": "Two.", "summaries": {"alpha": "s"}},
        name="late.jsonl",
    )
    assert "(example 'x' has none)" in refused(late, corpus_format="jsonl")[0]


def test_a_system_can_be_added_to_known_examples(tmp_path, mini):
    run_import(mini)
    rows = [{"id": key, "summaries": {"gamma": "g"}} for key in ("a1", "a2", "a3")]
    report = run_import(jsonl(tmp_path, *rows), corpus_format="jsonl")
    assert report.new == Counts(systems=1, summaries=3)
    partial = jsonl(tmp_path, {"id": "a1", "summaries": {"delta": "d"}}, name="partial.jsonl")
    assert (
        "system 'delta' has 1 summaries for 3 examples (example 'a2' has none)"
        in refused(partial, corpus_format="jsonl")[0]
    )


def test_examples_can_be_added_with_summaries_of_all_systems(tmp_path, mini):
    run_import(mini)
    row = {"id": "b1", "reference": "More.", "summaries": {"alpha": "s", "beta": "t"}}
    assert run_import(jsonl(tmp_path, row), corpus_format="jsonl").new == Counts(
        examples=1, references=1, sentences=1, summaries=2
    )
    assert models.Example.objects.get(key="b1").position == 4
    lacking = jsonl(tmp_path, {**row, "id": "b2", "summaries": {"alpha": "s"}}, name="lacking.jsonl")
    (problem,) = refused(lacking, corpus_format="jsonl")
    assert "example 'b2' is new and has no summary by system 'beta'. Add it" in problem


def test_labels_can_be_added_to_known_units(tmp_path, mini):
    run_import(mini)
    unit = {"id": "scu-1", "kind": "scu", "text": "Snow fell.", "reference": "1", "labels": {"majority": {"alpha": 0}}}
    report = run_import(jsonl(tmp_path, {"id": "a3", "units": [unit]}), corpus_format="jsonl")
    assert report.new == Counts(labels=1)
    assert models.Label.objects.filter(unit__example__key="a3", rule="majority", present=False).count() == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"units": [{"text": "a", "reference": "9"}]}, "unit 'scu-1' names reference '9', which does not exist."),
        (
            {"units": [{"text": "a", "reference": "1", "sentence": 7}]},
            "names sentence 7, which reference '1' does not have.",
        ),
        ({"units": [{"text": "a", "contributors": [{"reference": "9"}]}]}, "names reference '9'"),
        (
            {"units": [{"text": "a", "labels": {"imported": {"zeta": 1}}}]},
            "has a label for system 'zeta', which has no summary",
        ),
        ({"mixes": {"m": {"9": ["a"]}}}, "mix 'm' names reference '9'"),
    ],
)
def test_what_a_part_points_to_must_exist(tmp_path, row, message):
    path = jsonl(tmp_path, {"id": "x", "reference": "One.", **row})
    problems = refused(path, corpus_format="jsonl")
    assert len(problems) == 1
    assert message in problems[0]


def test_a_new_example_needs_a_reference(tmp_path):
    assert "has no reference" in refused(jsonl(tmp_path, {"id": "x", "document": "d"}), corpus_format="jsonl")[0]


def test_folds_must_name_what_exists_and_stay_what_they_are(tmp_path, mini):
    example = {"id": "x", "reference": "One."}
    path = jsonl(tmp_path, example, {"type": "fold", "axis": "examples", "name": "f", "members": ["zz"]})
    assert "fold 'f' names 'zz', which is not among the examples." in refused(path, corpus_format="jsonl")[0]
    run_import(mini)
    other = write_mini_corpus(tmp_path / "other", {"by_examples/fold1.id": ["a1", "a3"]})
    assert "fold 'fold1' by examples stands here already, with other members." in refused(other)[0]


def test_what_is_in_the_trash_is_not_imported_into(tmp_path, mini):
    run_import(mini)
    move_to_trash(models.Example.objects.get(key="a2"), now=NOW)
    assert refused(mini) == [
        "ids.txt, line 2: example 'a2' is in the trash here. Restore it first. Nothing was overwritten."
    ]
    move_to_trash(models.Project.objects.get(), now=NOW)
    with pytest.raises(ProjectInTrash, match="Restore it first"):
        run_import(mini)


def test_merged_units_keep_their_contributors(tmp_path):
    path = jsonl(
        tmp_path,
        {
            "id": "x",
            "references": [{"text": "Snow fell."}, {"text": "It snowed a lot."}],
            "units": [{"text": "Snow fell.", "weight": 2, "author": "w7",
                       "contributors": [{"reference": "1", "text": "Snow", "span": [0, 4]}, {"reference": "2", "sentence": 1}]}],
        },
    )  # fmt: skip
    assert run_import(path, corpus_format="jsonl").new.contributors == 2
    unit = models.Unit.objects.get()
    first, second = unit.contributors.all()
    assert (unit.weight, unit.reference, unit.author.key) == (2, None, "w7")
    assert (first.reference.key, first.start, first.end, first.sentence) == ("1", 0, 4, None)
    assert (second.reference.key, second.sentence.text) == ("2", "It snowed a lot.")


def test_a_failure_while_writing_rolls_everything_back(mini, monkeypatch):
    from annotation.services.storing import Store

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Store, "_add_labels", fail)
    before = row_counts()
    with pytest.raises(OSError, match="disk full"):
        run_import(mini)
    assert row_counts() == before


def test_the_person_who_imports_into_a_new_project_leads_it(mini):
    lead = UserFactory()
    run_import(mini, actor=lead)
    assert models.Membership.objects.get().role == models.Role.LEAD


def test_projects_are_found_by_name(mini):
    create_project("News: été", now=NOW)
    run_import(mini, project=" NEWS: ÉTÉ ")
    assert models.Project.objects.count() == 1
    assert find_project("news-ete", by_slug=True).name == "News: été"
    run_import(mini, project="news-ete")  # a name, never somebody else's slug
    assert [project.slug for project in models.Project.objects.order_by("pk")] == ["news-ete", "news-ete-2"]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\u202eb", "n" * 201, "bad\udcff"])
def test_odd_names_of_projects_are_refused(mini, name):
    with pytest.raises(BadProjectName, match="The name of the project"):
        run_import(mini, project=name)
    assert models.Example.objects.count() == 0


def test_a_member_is_added_once():
    from django.core.exceptions import ValidationError

    project, user = ProjectFactory(), UserFactory()
    add_member(project, user, role="viewer", now=NOW)
    with pytest.raises(ValidationError):
        add_member(project, user, role="lead", now=NOW)
    with pytest.raises(ValidationError):
        add_member(project, UserFactory(), role="owner", now=NOW)


def test_progress_is_told_in_bytes(mini):
    seen = []
    run_import(mini, progress=lambda *step: seen.append(step))
    total = sum(len("\n".join(lines).encode()) for lines in FILES.values())
    assert all(done <= total == of for _, done, of in seen)
    assert {phase for phase, _, _ in seen} == {"checking", "writing"}
    assert seen[-1][1] > 0


def test_a_document_may_be_added_later(tmp_path):
    run_import(jsonl(tmp_path, {"id": "x", "reference": "One."}), corpus_format="jsonl")
    assert models.Example.objects.get().document is None
    run_import(jsonl(tmp_path, {"id": "x", "document": "Source."}), corpus_format="jsonl")
    assert models.Example.objects.get().document == "Source."
    assert (
        "has another document" in refused(jsonl(tmp_path, {"id": "x", "document": "Other."}), corpus_format="jsonl")[0]
    )


def test_a_trashed_system_takes_no_new_summaries(tmp_path, mini):
    run_import(mini)
    move_to_trash(models.System.objects.get(name="beta"), now=NOW)
    row = {"id": "b1", "reference": "More.", "summaries": {"alpha": "s", "beta": "t"}}
    (problem,) = refused(jsonl(tmp_path, row), corpus_format="jsonl")
    assert "system 'beta' is in the trash here. Restore it first." in problem
    run_import(jsonl(tmp_path, {**row, "summaries": {"alpha": "s"}}), corpus_format="jsonl")


def test_a_hole_that_the_trash_left_does_not_close_the_project(tmp_path, mini):
    """An example that came while a system was in the trash has no summary by it, and stays without after its return."""
    from annotation.services.trashing import restore_from_trash

    run_import(mini)
    system = models.System.objects.get(name="beta")
    move_to_trash(system, now=NOW)
    run_import(jsonl(tmp_path, {"id": "b1", "reference": "More.", "summaries": {"alpha": "s"}}), corpus_format="jsonl")
    restore_from_trash(system, now=NOW)
    unit = {"id": "scu-1", "text": "Snow fell.", "labels": {"majority": {"alpha": 1}}, "reference": "1"}
    assert run_import(jsonl(tmp_path, {"id": "a3", "units": [unit]}), corpus_format="jsonl").new.labels == 1


@pytest.mark.parametrize("examples", [3, 60])
def test_the_place_of_a_line_in_the_file_does_not_matter(tmp_path, examples):
    rows = [{"id": f"e{number}", "reference": "One."} for number in range(examples)]
    fold = {"type": "fold", "axis": "examples", "name": "f", "members": [f"e{examples - 1}"]}
    assert run_import(jsonl(tmp_path, fold, *rows), corpus_format="jsonl").new.folds == 1
    late = [{**row, "summaries": {"s": "t"}} for row in rows]
    system = {"type": "system", "name": "s", "trashed_at": "2026-01-01T00:00:00+00:00"}
    problems = refused(jsonl(tmp_path, *late, system, name="late.jsonl"), corpus_format="jsonl", project="Q")
    assert "Put this line before the examples." in problems[0]


def test_merged_units_weigh_their_contributors(tmp_path):
    row = {"id": "x", "references": [{"text": "One."}, {"text": "Two."}],
           "units": [{"text": "Both.", "contributors": [{"reference": "1"}, {"reference": "2"}]}, {"text": "One."}]}  # fmt: skip
    run_import(jsonl(tmp_path, row), corpus_format="jsonl")
    assert list(models.Unit.objects.order_by("position").values_list("weight", "reference__key")) == [
        (2, None),
        (1, None),
    ]


def test_a_unit_of_the_only_reference_need_not_name_it(tmp_path):
    run_import(jsonl(tmp_path, {"id": "x", "reference": "One.", "units": [{"text": "One."}]}), corpus_format="jsonl")
    assert models.Unit.objects.get().reference.key == "1"


def test_a_contributor_must_lie_in_the_stored_reference(tmp_path):
    run_import(jsonl(tmp_path, {"id": "x", "references": [{"text": "One."}, {"text": "Two."}]}), corpus_format="jsonl")
    unit = {"text": "a", "contributors": [{"reference": "1", "span": [1, 9]}]}
    (problem,) = refused(jsonl(tmp_path, {"id": "x", "units": [unit]}), corpus_format="jsonl")
    assert "ends behind reference '1'" in problem


def test_a_newer_revision_is_refused_in_words(tmp_path):
    unit = {"id": "u", "text": "One.", "reference": "1"}
    run_import(jsonl(tmp_path, {"id": "x", "reference": "One.", "units": [unit]}), corpus_format="jsonl")
    newer = [{**unit, "superseded_at": "2026-01-01T00:00:00+00:00"}, {**unit, "revision": 2, "text": "Two."}]
    problems = refused(jsonl(tmp_path, {"id": "x", "units": newer}), corpus_format="jsonl")
    assert len(problems) == 2
    assert "superseded in the file, but current here" in problems[0]
    assert "the file brings revision 2" in problems[1]


def test_files_that_are_no_part_of_the_format_are_named(tmp_path):
    folder = write_mini_corpus(tmp_path / "m", {"Weights.txt": ["1"], "summaries/gamma.txt": ["x"]})
    assert run_import(folder).warnings[0] == (
        "2 file(s) are no part of the format and were not read: Weights.txt, summaries/gamma.txt."
    )


def test_empty_summaries_are_flagged(mini):
    assert run_import(mini).warnings == ["system 'beta' has 1 empty summary(s), the first for example 'a2'."]


def test_a_run_ends_after_it_starts(mini):
    run = run_import(mini).run
    assert run.started_at == NOW < run.ended_at


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("same", [True, False])
def test_two_imports_at_once_into_a_new_project(tmp_path, same):
    """Both end well on both databases: one creates the project, the other waits and adds to it."""
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    paths = [
        jsonl(tmp_path, *({"id": f"{0 if same else n}-{i}", "reference": "One."} for i in range(80)), name=f"{n}.jsonl")
        for n in range(2)
    ]

    def work(path: Path) -> int:
        try:
            return run_import(path, corpus_format="jsonl", project="New").new.examples
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        added = sorted(pool.map(work, paths))
    assert added == ([0, 80] if same else [80, 80])
    assert models.Project.objects.count() == 1
    positions = list(models.Example.objects.order_by("position").values_list("position", flat=True))
    assert positions == list(range(1, sum(added) + 1))
