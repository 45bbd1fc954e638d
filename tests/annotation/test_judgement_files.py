"""Judgements in files: batch results of Mechanical Turk and one row per vote, in and out."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.aggregating.votes import Vote, majority
from annotation.models import (
    Assignment,
    AuditEntry,
    Example,
    FillerAnswer,
    Judgement,
    JudgementVersion,
    Label,
    Person,
    Project,
    Summary,
    System,
    Unit,
    WorkerIdentity,
)
from annotation.pseudonyms import is_pseudonym, pseudonym, row_pseudonym
from annotation.readers.amt import read_amt_row, read_time, write_questions
from annotation.services.exporting import ExportRefused
from annotation.services.importing import import_corpus
from annotation.services.judgement_export import export_judgements
from annotation.services.judgement_import import JudgementReport, JudgementsRefused, import_judgements
from annotation.services.pseudonyms import name_judge, name_worker
from tests.conftest import NOW
from tests.factories import AssignmentFactory, FillerAnswerFactory, JudgementFactory, PersonFactory, UserFactory

FORMATS = ("amt", "jsonl", "csv")
CORPUS = [
    {
        "id": "e1",
        "reference": "The mill closed. Forty people lost work.",
        "summaries": {
            "abs_alpha": "The mill  shut .",
            "ext_beta": "Nothing happened .",
            "ext_gamma": "Nothing happened .",
        },
        "units": [
            {"id": "u1", "text": "The mill closed."},
            {"id": "u2", "text": "Forty people lost work."},
            {"id": "u3", "text": "The mill closed.", "kind": "stu"},
            {"id": "u4", "text": "=The owner left.", "revision": 1, "superseded_at": "2026-01-01T00:00:00+00:00"},
            {"id": "u4", "text": "The owner left town.", "revision": 2},
        ],
    },
    {
        "id": "e2",
        "reference": "Snow fell.",
        "summaries": {"abs_alpha": "It snowed.", "ext_beta": "", "ext_gamma": "Snow."},
        "units": [{"id": "u1", "text": "Snow fell."}],
    },
]


@pytest.fixture
def project(tmp_path) -> Project:
    return make_project(tmp_path)


def make_project(tmp_path: Path, name: str = "P") -> Project:
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in CORPUS), encoding="utf-8")
    import_corpus(path, corpus_format="jsonl", project_name=name, now=NOW)
    return Project.objects.get(name=name)


def amt(**changes: str) -> dict[str, str]:
    """A row of batch results; a double underscore stands for the dot in a column's name."""
    row = {
        "Input.eventId": "e1", "Input.summaryId": "alpha", "Input.qIdList": "['7', '8', '9']",
        "Input.summary_text": "The mill shut .", "Input.statement_1": "The mill closed.",
        "Input.statement_2": "Forty people lost work.", "Input.statement_3": "BLANK",
        "Answer.S1Answer": "p", "Answer.S2Answer": "n", "Answer.S3Answer": "n",
    }  # fmt: skip
    return row | {name.replace("__", "."): cell for name, cell in changes.items()}


E2 = {"Input__eventId": "e2", "Input__summary_text": "It snowed.", "Input__qIdList": "", "Input__statement_1": "Snow fell.",
      "Input__statement_2": "", "Input__statement_3": ""}  # fmt: skip


def write_csv(path: Path, rows: Iterable[dict[str, str]]) -> Path:
    rows = list(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def vote(**changes: object) -> dict[str, object]:
    return {"example": "e1", "system": "abs_alpha", "unit_key": "u1", "judge": "Ada", "answer": "present"} | changes


def write_jsonl(path: Path, rows: Iterable[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def take(project: Project, path: Path, file_format: str = "amt", **options: object) -> JudgementReport:
    options.setdefault("prefix", "abs_" if file_format == "amt" else "")
    return import_judgements(project, path, file_format=file_format, now=NOW, **options)


def refused(project: Project, path: Path, file_format: str = "amt", **options: object) -> list[str]:
    before = Judgement.objects.count(), Person.objects.count()
    with pytest.raises(JudgementsRefused) as refusal:
        take(project, path, file_format, **options)
    assert (Judgement.objects.count(), Person.objects.count()) == before
    return [str(problem) for problem in refusal.value.report.problems]


def export(project: Project, folder: Path, file_format: str) -> dict[str, bytes]:
    export_judgements(project, folder, file_format=file_format, now=NOW)
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}


def answers(project: Project) -> list[tuple[str, str, str, str]]:
    rows = Judgement.objects.filter(summary__example__project=project).order_by("pk")
    return list(rows.values_list("summary__system__name", "unit__kind", "unit__key", "answer"))


# --- pure parts ---------------------------------------------------------------------------------------------------------


def test_a_pseudonym_tells_neither_name_nor_project():
    name = pseudonym(b"secret", "1", "A1B2")
    assert is_pseudonym(name)
    assert name == pseudonym(b"secret", "1", "A1B2")
    others = [(b"other", "1", "A1B2"), (b"secret", "2", "A1B2"), (b"secret", "1", "A1B3"), (b"secret", "", "1A1B2")]
    assert len({name, *(pseudonym(*one) for one in others)}) == 5
    assert is_pseudonym(row_pseudonym("row-1"))
    assert not any(map(is_pseudonym, ("w-ines", "ines", "row-1", "W-0123456789abcdef", name + "0", name + "\n")))


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("Tue Nov 17 10:00:00 PST 2026", dt.datetime(2026, 11, 17, 18, tzinfo=dt.UTC)),
        ("Wed Jul 1 10:00:00 PDT 2026", dt.datetime(2026, 7, 1, 17, tzinfo=dt.UTC)),
        ("2026-11-17T10:00:00+01:00", dt.datetime(2026, 11, 17, 9, tzinfo=dt.UTC)),
        ("2026-11-17T10:00:00Z", dt.datetime(2026, 11, 17, 10, tzinfo=dt.UTC)),
        ("Tue Nov 17 10:00:00 XYZ 2026", None),
        ("Tue Nov 31 10:00:00 PST 2026", None),
        ("Tue Foo 17 10:00:00 PST 2026", None),
        ("2026-11-17T10:00:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_of_both_kinds(cell, told):
    assert read_time(cell) == told


def test_questions_come_back_whatever_is_in_them():
    names = ["7", "it's", 'a "b"', "back\\slash", "ü\u00a0"]
    row = amt(Input__qIdList=write_questions(names), Input__statement_4="x", Input__statement_5="y")
    assert [one.question for one in read_amt_row(row).answers] == names


def test_unsure_is_read_and_is_no_vote():
    one = read_amt_row(amt(Answer__S1Answer="u")).answers[0]
    assert (one.answer, one.present) == ("unsure", None)


# --- batch results in ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_row_becomes_an_assignment_with_its_votes(project, tmp_path):
    row = amt(
        WorkerId="A1B2", AssignmentId="3XYZ", WorkTimeInSeconds="90", SubmitTime="Tue Nov 17 10:00:00 PST 2026",
        HITId="H1", Answer__feedback="fine", Input__topic="mills",
    )  # fmt: skip
    report = take(project, write_csv(tmp_path / "a.csv", [row | {"": ""}]))
    assert report.new.as_dict() == {
        "assignments": 1, "judgements": 2, "fillers": 1, "fillers_present": 0, "missing": 0, "judges": 1,
    }  # fmt: skip
    one = Assignment.objects.select_related("judge", "summary__system").get()
    u1, u2 = (Unit.objects.get(example__key="e1", key=key) for key in ("u1", "u2"))
    assert (one.key, one.origin, one.seconds, one.summary.system.name) == ("amt-3XYZ", "imported", 90.0, "abs_alpha")
    assert one.submitted_at == dt.datetime(2026, 11, 17, 18, tzinfo=dt.UTC)
    assert one.asked == [[u1.pk, "7"], [u2.pk, "8"], [None, "9"]]
    assert one.details == {"HITId": "H1", "Answer.feedback": "fine", "Input.topic": "mills"}
    assert (one.judge.key, one.judge.is_linked) == (name_worker(project, "A1B2"), True)
    assert WorkerIdentity.objects.get().name == "A1B2"
    assert answers(project) == [("abs_alpha", "scu", "u1", "present"), ("abs_alpha", "scu", "u2", "not_present")]
    assert Judgement.objects.filter(judged_at=one.submitted_at, assignment=one, judge=one.judge).count() == 2
    versions = JudgementVersion.objects.values_list("version", "answer", "judged_at")
    assert sorted(versions) == [(1, "not_present", one.submitted_at), (1, "present", one.submitted_at)]
    assert FillerAnswer.objects.values_list("position", "text", "answer").get() == (3, "BLANK", "not_present")
    assert AuditEntry.objects.filter(action="import judgements").count() == 1


@pytest.mark.django_db
def test_a_row_that_does_not_tell_whose_it_is_has_a_judge_of_its_own(project, tmp_path):
    path = write_csv(tmp_path / "a.csv", [amt(), amt(), amt(Answer__S1Answer="n"), amt(SubmitTime="last week")])
    assert take(project, path).new.judges == 4  # the first two read the same and are two
    for one in Assignment.objects.select_related("judge"):
        assert (one.judge.key, one.judge.is_linked) == (row_pseudonym(one.key), False)
        assert one.key.startswith("row-")
    assert Assignment.objects.get(details__SubmitTime="last week").submitted_at is None
    assert set(Judgement.objects.values_list("judged_at", flat=True)) == {NOW}
    assert not WorkerIdentity.objects.exists()
    again = take(project, path)
    assert (again.new.assignments, again.new.judges, again.known) == (0, 0, 4)
    assert Judgement.objects.count() == 8


@pytest.mark.django_db
def test_a_worker_is_one_judge_in_all_rows(project, tmp_path):
    rows = [amt(WorkerId="A1", AssignmentId="1"), amt(**E2, WorkerId="A1", AssignmentId="2")]
    path = write_csv(tmp_path / "a.csv", rows)
    assert take(project, path).new.judges == 1
    assert (take(project, path).known, Assignment.objects.count()) == (2, 2)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("system", "prefix", "text", "told"),
    [
        ("alpha", "abs_", "The mill shut .", "abs_alpha"),
        ("ext_beta", "abs_", "Nothing happened .", "ext_beta"),
        ("beta", "abs_", "Nothing  happened .", "ext_beta"),  # the folder says abs_, the project ext_
        ("alpha", "", "The mill shut .", "abs_alpha"),
        ("", "", "The mill shut .", "abs_alpha"),
        ("abs_alpha", "", "", "abs_alpha"),
    ],
)
def test_systems_are_found_by_name_and_by_what_they_wrote(project, tmp_path, system, prefix, text, told):
    path = write_csv(tmp_path / "a.csv", [amt(Input__summaryId=system, Input__summary_text=text)])
    take(project, path, prefix=prefix)
    assert Assignment.objects.get().summary.system.name == told


@pytest.mark.django_db
def test_texts_that_are_alike_are_taken_in_their_order(project, tmp_path):
    take(project, write_csv(tmp_path / "a.csv", [amt(Input__statement_2=" The  mill closed. ", Answer__S2Answer="u")]))
    assert answers(project) == [("abs_alpha", "scu", "u1", "present"), ("abs_alpha", "stu", "u3", "unsure")]


@pytest.mark.django_db
def test_the_page_of_pyrxsum(project, tmp_path):
    row = {
        "Input.example_id": "e1", "Input.summary": "The mill shut .", "Input.numfact": "2", "Input.fact1": "The mill closed.",
        "Input.fact2": "Forty people lost work.", "Input.fact3": "unused", "Answer.rate0": "1", "Answer.rate1": "2",
        "Answer.commentbox": "ok",
    }  # fmt: skip
    take(project, write_csv(tmp_path / "a.csv", [row]))
    assert [one[3] for one in answers(project)] == ["present", "not_present"]
    assert Assignment.objects.get().details == {"Answer.commentbox": "ok"}


@pytest.mark.django_db
@pytest.mark.parametrize(("blank", "told", "missing"), [("missing", [], 2), ("present", ["present", "present"], 0)])
def test_a_blank_answer_is_missing_unless_a_rule_says_otherwise(project, tmp_path, blank, told, missing):
    path = write_csv(tmp_path / "a.csv", [amt(Answer__S1Answer="", Answer__S2Answer="", Answer__S3Answer="")])
    report = take(project, path, blank=blank)
    assert ([one[3] for one in answers(project)], report.new.missing) == (told, missing)
    assert FillerAnswer.objects.get().answer is None
    assert take(project, path, blank=blank).known == 1
    other = {"missing": "present", "present": "missing"}[blank]
    assert "is here already, with other answers" in refused(project, path, blank=other)[0]


@pytest.mark.django_db
def test_a_dry_run_counts_and_writes_nothing(project, tmp_path):
    path = write_csv(tmp_path / "a.csv", [amt(WorkerId="A1")])
    assert take(project, path, dry_run=True).new.judgements == 2
    assert not Assignment.objects.exists()
    assert not Person.objects.exists()
    assert not AuditEntry.objects.filter(action="import judgements").exists()
    assert take(project, path).new.judgements == 2


BAD = [
    (amt(Input__eventId="e9"), "there is no example 'e9' here. Check its id, or import the corpus first."),
    (amt(Input__eventId=""), "A row needs Input.eventId or Input.example_id."),
    (amt(Input__summaryId="delta"), "there is no system 'abs_delta' or 'delta' here, and no system whose name ends with 'delta'"),
    (amt(Input__summaryId="delta", Input__summary_text=""), "there is no system 'abs_delta' or 'delta' here. Check its name"),
    (amt(Input__summaryId="", Input__summary_text="Nothing happened ."), "2 systems wrote this summary of example 'e1': ext_beta, ext_gamma"),
    (amt(Input__summary_text="It rained."), "the summary of example 'e1' by 'abs_alpha' reads otherwise here."),
    (amt(Input__statement_2="It rained."), "statement 2 ('It rained.') is no current unit of example 'e1'."),
    (amt(Input__statement_2="=The owner left."), "statement 2 ('=The owner left.') is no current unit"),  # superseded
    (amt(Input__statement_1="Forty people lost work."), "statement 2 ('Forty people lost work.') stands here more often"),
    (amt(Answer__S2Answer="x"), "The answer to statement 2 must be p, n, u, 1, 2 or blank, not 'x'."),
    (amt(Input__qIdList="['7']"), "Input.qIdList names 1 questions for 3 statements."),
    (amt(Input__units='["filler"]'), "Input.units names 1 units for 3 statements."),
    (amt(Input__units="u1"), "Input.units is not JSON"),
    (amt(Input__units='["u1", "u2", "filler"]'), "Input.units must hold [kind, key, revision]"),
    (amt(Input__units='[["scu", "u9", 1], ["scu", "u2", 1], "filler"]'), "example 'e1' has no scu 'u9', revision 1, here."),
    (amt(Input__units='[["scu", "u2", 1], ["scu", "u2", 1], "filler"]'), "unit 'u2' of example 'e1' reads otherwise here"),
    (amt(WorkerId="A" * 201), "WorkerId has 201 characters; the limit is 200."),
    (amt(AssignmentId="A" * 191), "AssignmentId has more than 190 characters."),
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(("row", "message"), BAD, ids=range(len(BAD)))
def test_a_bad_row_is_told_with_its_line_and_a_way_out(project, tmp_path, row, message):
    problems = refused(project, write_csv(tmp_path / "a.csv", [amt(**E2), row]))
    assert len(problems) == 1
    assert problems[0].startswith("a.csv, line 3: ")
    assert message in problems[0]


@pytest.mark.django_db
def test_all_that_is_wrong_is_shown_together(project, tmp_path):
    problems = refused(project, write_csv(tmp_path / "a.csv", [row for row, _ in BAD]))
    assert len(problems) == len(BAD)


@pytest.mark.django_db
def test_what_is_in_the_trash_takes_no_votes(project, tmp_path):
    path = write_csv(tmp_path / "a.csv", [amt()])
    Example.objects.filter(key="e1").update(trashed_at=NOW)
    assert "example 'e1' is in the trash here. Restore it first." in refused(project, path)[0]
    Example.objects.update(trashed_at=None)
    System.objects.filter(name="abs_alpha").update(trashed_at=NOW)
    assert "system 'abs_alpha' is in the trash here. Restore it first." in refused(project, path)[0]
    System.objects.update(trashed_at=None)
    Unit.objects.filter(key="u2").update(trashed_at=NOW)
    assert "statement 2" in refused(project, path)[0]


@pytest.mark.django_db
def test_nothing_is_overwritten(project, tmp_path):
    take(project, write_csv(tmp_path / "a.csv", [amt(WorkerId="A1", AssignmentId="1")]))
    other = write_csv(tmp_path / "b.csv", [amt(WorkerId="A1", AssignmentId="1", Answer__S1Answer="n")])
    assert (
        "assignment 'amt-1' is here already, with other answers. Nothing was overwritten." in refused(project, other)[0]
    )
    twice = write_csv(tmp_path / "c.csv", [amt(WorkerId="A1", AssignmentId="2")])
    told = refused(project, twice)[0]
    assert "has judged unit 'u1' of this summary before. One judge has one vote" in told
    assert "A1" not in told, "problems are shown to others than leads"
    within = [amt(WorkerId="A2", AssignmentId="3"), amt(WorkerId="A2", AssignmentId="4")]
    assert "line 3: judge 'w-" in refused(project, write_csv(tmp_path / "d.csv", within))[0]


@pytest.mark.django_db
def test_a_name_of_elsewhere_never_stands_in_the_way_of_our_tasks(project, tmp_path):
    """Tasks of this house hand in under task-N; the same number in a file comes from another house."""
    take(project, write_csv(tmp_path / "a.csv", [amt(WorkerId="w-0123456789abcdef", AssignmentId="task-1")]))
    one = Assignment.objects.select_related("judge").get()
    assert (one.key, one.judge.key) == ("file-task-1", "w-0123456789abcdef")
    assert b'"task-1"' in export(project, tmp_path / "out", "amt")["abs_alpha.csv"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.csv is empty."),
        ("x,y\n1,2\n", "neither a column Input.eventId nor Input.example_id"),
        ("Input.eventId,Input.summaryId\n", "holds no row"),
        ("Input.eventId,Input.eventId\n1,2\n", "names a column twice"),
        ("Input.eventId,b\n1\n", "line 2: has 1 cells"),
    ],
)
def test_a_file_of_another_kind_is_refused(project, tmp_path, content, message):
    path = tmp_path / "a.csv"
    path.write_text(content)
    assert message in refused(project, path)[0]


# --- one row per vote ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_votes_without_an_assignment_are_votes(project, tmp_path):
    rows = [
        vote(),
        vote(unit_key=None, unit="Forty  people lost work.", answer="unsure"),
        vote(unit_key="u4", answer="not_present"),
    ]
    path = write_jsonl(tmp_path / "v.jsonl", rows)
    report = take(project, path, "jsonl")
    assert (report.new.assignments, report.new.judgements, report.new.judges) == (0, 3, 1)
    assert JudgementVersion.objects.count() == 3
    assert Judgement.objects.get(unit__key="u4").unit.revision == 2
    assert (take(project, path, "jsonl").known, Judgement.objects.count()) == (3, 3)
    changed = write_jsonl(tmp_path / "w.jsonl", [vote(answer="not_present")])
    assert "has judged unit 'u1' of this summary before" in refused(project, changed, "jsonl")[0]


BAD_VOTES = [
    ([vote(unit_key=None)], "the row names no unit: give unit_key, or the text of the unit as unit."),
    ([vote(filler="BLANK")], "the row names both a unit and a filler."),
    ([vote(unit_key=None, filler="BLANK")], "a filler needs the assignment that it stood in."),
    ([vote(answer=None)], "the row has neither an answer nor an assignment"),
    ([vote(answer="yes")], "answer must be one of present, not_present, unsure, not 'yes'."),
    ([vote(judge=None)], "judge must be text, not null."),
    ([vote(system="delta")], "there is no system 'delta' here."),
    ([vote(unit_key="u9")], "example 'e1' has no scu 'u9' here."),
    ([vote(unit="It rained.")], "unit 'u1' of example 'e1' reads otherwise here"),
    ([vote(votes=1)], "the row has the unknown field 'votes'"),
    ([vote(seconds=-1)], "seconds must be a number from 0"),
    ([vote(is_linked=1)], "is_linked must be true or false"),
    ([vote(judged_at="2026-01-01")], "has no time zone"),
    ([vote(shown="x")], "shown must be a SHA-256"),
    ([vote(origin="dream")], "origin must be one of"),
    ([vote(assignment="1", question="'\"")], "question must have at most 100 characters, and quotes of one kind only."),
    ([vote(assignment="1", details={"WorkerId": "A1"})], "details must not hold 'WorkerId', which has a field of its own."),
    ([vote(assignment="1", details={"a": 1})], "'a' in details must be text"),
    ([vote(assignment="1", position=2)], "row 1 of assignment '1' has the position 2."),
    ([vote(assignment="1"), vote(assignment="1", unit_key="u2", judge="Bo")], "rows of assignment '1' must have the same example, system, judge"),
    ([vote(assignment="1"), vote(assignment="1")], "unit 'u1' is asked twice in one assignment."),
    (
        [vote(assignment="1"), vote(assignment="2", judge="Bo"), vote(assignment="1", unit_key="u2")],
        "assignment '1' has rows further up.",
    ),
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(("rows", "message"), BAD_VOTES, ids=range(len(BAD_VOTES)))
def test_a_bad_vote_is_told_with_its_line_and_a_way_out(project, tmp_path, rows, message):
    problems = refused(project, write_jsonl(tmp_path / "v.jsonl", rows), "jsonl")
    assert len(problems) == 1
    assert problems[0].startswith("v.jsonl, line ")
    assert message in problems[0]


@pytest.mark.django_db
def test_a_table_of_votes_by_somebody_else_is_taken_as_it_is(project, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("example,system,judge,answer,unit,seconds\ne2,abs_alpha,'=Ada,present,Snow fell.,2.5\n")
    take(project, path, "csv")
    assert WorkerIdentity.objects.get().name == "'=Ada"  # no manifest of ours: an apostrophe is an apostrophe
    assert Judgement.objects.get().seconds == 2.5
    path.write_text("example,system,judge,answer,unit,seconds\ne2,abs_alpha,Bo,present,Snow fell.,fast\n")
    assert "seconds must be a number from 0, not 'fast'." in refused(project, path, "csv")[0]
    path.write_text("example,system,answer\n")
    assert "has no column 'judge'" in refused(project, path, "csv")[0]


# --- out, and in again --------------------------------------------------------------------------------------------------


def judge_in_house(project: Project) -> None:
    """A sheet as our own page stores it: shuffled, with both units that read the same, an old revision and a filler."""
    judge = PersonFactory(project=project, key="ines", user=UserFactory(username="ines"))
    summary = Summary.objects.get(example__project=project, example__key="e1", system__name="abs_alpha")
    units = {(one.key, one.revision): one for one in Unit.objects.filter(example=summary.example)}
    asked = [units["u3", 1], units["u1", 1], units["u4", 1]]
    one = AssignmentFactory(
        project=project, key="task-12", summary=summary, judge=judge, seconds=12.34, submitted_at=NOW,
        asked=[*([unit.pk, str(unit.pk)] for unit in asked), [None, "filler"]],
    )  # fmt: skip
    FillerAnswerFactory(assignment=one, position=4, text="@Pigs fly.", answer="unsure")
    for unit, answer in zip(asked, ("present", "unsure", "not_present"), strict=True):
        JudgementFactory(
            unit=unit, summary=summary, judge=judge, assignment=one, answer=answer, shown="0" * 64, seconds=1.5
        )
    other = Summary.objects.get(example__project=project, example__key="e2", system__name="ext_beta")
    JudgementFactory(unit=Unit.objects.get(example=other.example), summary=other, judge=judge)  # of no assignment


def fill(project: Project, tmp_path: Path) -> None:
    rows = [
        amt(
            WorkerId="A1B2",
            AssignmentId="3XYZ",
            SubmitTime="Tue Nov 17 10:00:00 PST 2026",
            HITId="-H",
            Answer__feedback="=1+1",
        ),
        amt(Answer__S1Answer="", Answer__S3Answer=""),
        amt(WorkerId="A1B2", **E2, WorkTimeInSeconds="soon"),
        amt(Input__summaryId="ext_gamma", Input__summary_text="", Answer__S3Answer="p"),
    ]
    take(project, write_csv(tmp_path / "fill.csv", rows))
    judge_in_house(project)


@pytest.mark.django_db
@pytest.mark.parametrize("file_format", FORMATS)
def test_a_round_trip_loses_nothing(project, tmp_path, file_format):
    fill(project, tmp_path)
    first = export(project, tmp_path / "one", file_format)
    assert take(project, tmp_path / "one", file_format, prefix="").new.assignments == 0  # all of it is known here
    fresh = make_project(tmp_path, "fresh")
    report = take(fresh, tmp_path / "one", file_format, prefix="")
    assert (report.new.assignments, report.new.fillers, report.new.missing) == (5, 4, 1)
    assert report.new.judgements == (9 if file_format == "amt" else 10)
    assert export(fresh, tmp_path / "two", file_format) == first
    ours, theirs = ([one for one in answers(which) if one[0] != "ext_beta"] for which in (project, fresh))
    assert sorted(ours) == sorted(theirs)


@pytest.mark.django_db
def test_a_file_of_an_export_is_known_as_ours_by_the_manifest_beside_it(project, tmp_path):
    fill(project, tmp_path)
    export(project, tmp_path / "one", "csv")
    fresh = make_project(tmp_path, "fresh")
    take(fresh, tmp_path / "one" / "judgements.csv", "csv")
    assert FillerAnswer.objects.filter(assignment__project=fresh, text="@Pigs fly.").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("file_format", FORMATS)
def test_an_export_holds_pseudonyms_only(project, tmp_path, file_format):
    fill(project, tmp_path)
    written = b"".join(export(project, tmp_path / "out", file_format).values())
    written += (tmp_path / "out" / "manifest.json").read_bytes()
    for name in (b"A1B2", b"ines"):
        assert name not in written
    assert name_worker(project, "A1B2").encode() in written
    assert name_judge(Person.objects.get(key="ines")).encode() in written


@pytest.mark.django_db
def test_who_is_called_like_a_pseudonym_gets_one(project):
    key = "w-0123456789abcdef"
    assert name_judge(PersonFactory(project=project, key=key)) == key
    renamed = PersonFactory(project=project, key="w-fedcba9876543210", user=UserFactory())
    assert name_judge(renamed) != renamed.key
    assert is_pseudonym(name_judge(PersonFactory(project=project, key="worker 7")))
    # A worker elsewhere who has the name of one of ours is somebody else.
    assert name_worker(project, "ines") != name_judge(PersonFactory(project=project, key="ines", user=UserFactory()))


@pytest.mark.django_db
def test_the_manifest_counts_what_was_written(project, tmp_path):
    fill(project, tmp_path)
    written = export(project, tmp_path / "out", "amt")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["counts"] == {
        "assignments": 5, "judgements": 9, "fillers": 4, "fillers_present": 1, "judges": 4, "missing": 1,
    }  # fmt: skip
    assert (manifest["content"], manifest["format"], manifest["version"]) == ("judgements", "amt", 1)
    assert manifest["left_out"] == {"votes of no assignment": 1}
    assert {one["name"]: one["rows"] for one in manifest["files"]} == {"abs_alpha.csv": 4, "ext_gamma.csv": 1}
    assert set(written) == {"abs_alpha.csv", "ext_gamma.csv"}
    assert AuditEntry.objects.filter(action="export judgements").count() == 1


@pytest.mark.django_db
def test_batch_results_have_the_columns_of_mechanical_turk(project, tmp_path):
    many = {f"Input.statement_{place}": "BLANK" for place in range(2, 11)}
    row = {"Input.eventId": "e2", "Input.summaryId": "abs_alpha", "Input.statement_1": "Snow fell.", **many}
    take(project, write_csv(tmp_path / "a.csv", [row | {"Answer.S1Answer": "p", "Answer.S10Answer": "n"}]))
    header, first = csv.reader(StringIO(export(project, tmp_path / "out", "amt")["abs_alpha.csv"].decode()))
    assert header == [
        "Input.eventId", "Input.summaryId", "Input.qIdList", "Input.summary_text",
        *(f"Input.statement_{place}" for place in range(1, 11)),
        *(f"Answer.S{place}Answer" for place in (10, 1, 2, 3, 4, 5, 6, 7, 8, 9)), "WorkerId", "AssignmentId",
    ]  # fmt: skip
    assert first[:4] == ["e2", "abs_alpha", "['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']", "It snowed."]


@pytest.mark.django_db
def test_what_is_in_the_trash_is_left_out_and_counted(project, tmp_path):
    fill(project, tmp_path)
    Unit.objects.filter(key="u2").update(trashed_at=NOW)
    System.objects.filter(name="ext_gamma").update(trashed_at=NOW)
    report = export_judgements(project, tmp_path / "out", file_format="jsonl", now=NOW)
    assert report.left_out == {"judgements of what is in the trash": 4}
    rows = [json.loads(line) for line in (tmp_path / "out" / "judgements.jsonl").read_text().splitlines()]
    assert {"u2", "ext_gamma"} & {cell for row in rows for cell in row.values() if isinstance(cell, str)} == set()
    assert take(project, tmp_path / "out", "jsonl").new.assignments == 0


@pytest.mark.django_db
def test_an_export_is_whole_or_not_there(project, tmp_path):
    fill(project, tmp_path)
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").touch()
    with pytest.raises(ExportRefused, match="is not empty"):
        export(project, full, "jsonl")
    System.objects.filter(name="ext_gamma").update(name="a/b")
    with pytest.raises(ExportRefused, match="'a/b' cannot be the name"):
        export(project, tmp_path / "out", "amt")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".out", "out"))]


@pytest.mark.django_db
def test_a_project_without_votes_gives_an_empty_file(project, tmp_path):
    assert export(project, tmp_path / "out", "jsonl") == {"judgements.jsonl": b""}
    assert export(project, tmp_path / "amt", "amt") == {}


# --- commands -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_commands_end_with_counts(project, tmp_path, capsys):
    path = write_csv(tmp_path / "a.csv", [amt(WorkerId="A1", Answer__S1Answer="")])
    options = ("--format", "amt", "--prefix", "abs_", "--json")
    for more, told in ((["--dry-run"], 1), (["--blank", "litepyramid"], 0), (["--blank", "litepyramid"], 0)):
        call_command("import_judgements", "P", str(path), *options, *more)
        counts = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert (counts["assignments"], counts["missing"], counts["dry_run"]) == (1, told, bool(told))
    assert (counts["known"], counts["new"]["judgements"]) == (1, 0)
    with pytest.raises(CommandError, match=r"1 problem; nothing was imported.\na.csv, line 2: assignment"):
        call_command("import_judgements", "P", str(path), *options)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["problem_count"] == 1
    call_command("export_judgements", "P", str(tmp_path / "out"), "--format", "csv", "--json")
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (counts["judgements"], counts["fillers"], counts["files"][0]["rows"]) == (2, 1, 3)
    with pytest.raises(CommandError, match="is not empty"):
        call_command("export_judgements", "P", str(tmp_path / "out"), "--format", "csv")
    with pytest.raises(CommandError, match="There is no project"):
        call_command("export_judgements", "Q", str(tmp_path / "q"), "--format", "csv")


# --- REALSumm's released votes ------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="comes out the same on every database, and runs once")
def test_realsumms_votes_give_its_published_labels(data, tmp_path):
    folder = data / "lite2-3pyramid" / "REALSumm"
    import_corpus(folder, corpus_format="lite2-3pyramid", project_name="REALSumm", now=NOW)
    project = Project.objects.get()
    for kind in ("abs", "ext"):
        take(project, data / "realsumm-amt" / f"SCU_rating_results_{kind}_systems", prefix=f"{kind}_")
    present = FillerAnswer.objects.filter(answer="present").count()
    counts = (Assignment.objects.count(), Judgement.objects.count(), FillerAnswer.objects.count(), present)
    assert counts == (7_743, 81_581, 42_307, 55)
    columns = ("unit", "summary", "judge", "assignment", "answer")
    rows = Judgement.objects.values_list(*columns).iterator(chunk_size=5000)
    labels = majority(
        Vote((unit, summary), str(judge), task, answer == "present") for unit, summary, judge, task, answer in rows
    )
    published = Label.objects.filter(rule=Label.IMPORTED).values_list("unit", "summary", "present")
    assert {(unit, summary): label for unit, summary, label in published} == labels
    assert len(labels) == 26_400
    report = export_judgements(project, tmp_path / "out", file_format="amt", now=NOW)
    assert (len(report.files), report.counts.judgements, report.left_out) == (25, 81_581, {})
    again = import_judgements(project, tmp_path / "out", file_format="amt", now=NOW)
    assert (again.known, again.new.assignments) == (7_743, 0)
