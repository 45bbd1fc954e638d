"""Reading Lite2-3Pyramid folders, good and bad."""

from pathlib import Path

import pytest

from annotation.readers import Limits, UnreadableSource, open_source, read_corpus
from annotation.records import ExampleRecord, FoldRecord, LabelRecord, Problems
from tests.mini_corpus import FILES, write_mini_corpus


def read(folder: Path) -> tuple[list[ExampleRecord], list[FoldRecord], list[str]]:
    problems = Problems()
    records = list(read_corpus(open_source(folder, Limits()), "lite2-3pyramid", problems))
    examples = [record for record in records if isinstance(record, ExampleRecord)]
    folds = [record for record in records if isinstance(record, FoldRecord)]
    return examples, folds, [str(problem) for problem in problems]


def problems_of(tmp_path: Path, changes: dict) -> list[str]:
    return read(write_mini_corpus(tmp_path / "changed", changes))[2]


def test_a_good_folder_is_read_whole(mini):
    examples, folds, problems = read(mini)
    assert problems == []
    assert [example.key for example in examples] == ["a1", "a2", "a3"]
    first = examples[0]
    assert first.references[0].text == FILES["references.txt"][0]
    assert [first.references[0].text[s.start : s.end] for s in first.references[0].sentences] == [
        "The mill\u00a0closed .",
        "Forty people lost work .",
    ]
    assert [(unit.key, unit.kind, unit.weight) for unit in first.units] == [
        ("scu-1", "scu", 1), ("scu-2", "scu", 1), ("stu-1", "stu", 1), ("stu-2", "stu", 1),
    ]  # fmt: skip
    assert first.units[0].labels == (LabelRecord("alpha", True), LabelRecord("beta", False))
    assert [(summary.system, summary.text) for summary in examples[1].summaries] == [
        ("alpha", "Brandt won."),
        ("beta", ""),
    ]
    assert examples[2].units == (examples[2].units[0],)  # an empty STU line is an example without STUs
    assert first.mixes[0].texts == ("The mill closed", "Forty people lost work.")
    assert [(fold.axis, fold.name, fold.members) for fold in folds] == [
        ("examples", "fold1", ("a3", "a1")), ("examples", "fold2", ("a2",)), ("systems", "fold1", ("beta", "alpha")),
    ]  # fmt: skip


def test_final_newlines_bom_and_crlf_change_nothing(tmp_path, mini):
    odd = {name: ("\ufeff" + "\r\n".join(lines) + "\r\n").encode() for name, lines in FILES.items()}
    assert read(write_mini_corpus(tmp_path / "odd", odd))[:2] == read(mini)[:2]


def test_only_ids_and_references_are_needed(tmp_path):
    changes = {name: None for name in FILES if name not in {"ids.txt", "references.txt"}}
    examples, folds, problems = read(write_mini_corpus(tmp_path / "bare", changes))
    assert (len(examples), folds, problems) == (3, [], [])
    assert examples[0].document is None


def test_weights_are_read(tmp_path):
    examples, _, problems = read(write_mini_corpus(tmp_path / "w", {"weights.txt": ["2\t1", "4", "1"]}))
    assert problems == []
    assert [unit.weight for unit in examples[0].units if unit.kind == "scu"] == [2, 1]


@pytest.mark.parametrize("missing", ["ids.txt", "references.txt"])
def test_a_folder_of_something_else_is_refused(tmp_path, missing):
    with pytest.raises(UnreadableSource, match=f"holds no {missing}"):
        read(write_mini_corpus(tmp_path / "m", {missing: None}))


def test_an_empty_id_file_is_refused(tmp_path):
    with pytest.raises(UnreadableSource, match=r"ids\.txt is empty"):
        read(write_mini_corpus(tmp_path / "m", {"ids.txt": b""}))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"labels/beta.label": ["0\t0\t1", "0", "1"]}, "labels/beta.label, line 1: has 3 labels for 2 SCUs of example 'a1'."),
        ({"labels/beta.label": ["0", "0", "1"]}, "labels/beta.label, line 1: has 1 labels for 2 SCUs of example 'a1'."),
        ({"labels/beta.label": ["0\t0", "yes", "1"]}, "labels/beta.label, line 2: has the label 'yes' for example 'a2'."),
        ({"labels/beta.label": ["0\t0", "2", "1"]}, "labels/beta.label, line 2: has the label '2'"),
        ({"labels/beta.label": ["0 0", "0", "1"]}, "labels/beta.label, line 1: has the label '0 0'"),
        ({"labels/beta.label": ["0\t0", "0"]}, "labels/beta.label, line 3: ends before the line for example 'a3'."),
        ({"labels/gamma.label": ["0\t0", "0", "1"]}, "labels/gamma.label: labels a system without summaries"),
        ({"SCUs.txt": None}, "SCUs.txt: is missing, but there are labels."),
        ({"SCUs.txt": ["One.\t\tTwo.", "x", "y"]}, "SCUs.txt, line 1: unit 2 of 3 is empty"),
        ({"SCUs.txt": ["One.\tTwo.\t", "x", "y"]}, "SCUs.txt, line 1: unit 3 of 3 is empty"),
        ({"ids.txt": ["a1", "", "a3"]}, "ids.txt, line 2: is blank."),
        ({"ids.txt": ["a1", " a2", "a3"]}, "ids.txt, line 2: the id ' a2' has white space"),
        ({"summaries/beta.summary": ["x", "y"]}, "summaries/beta.summary, line 3: ends before the line for example 'a3'."),
        ({"summaries/beta.summary": ["x", "y", "z", "q"]}, "summaries/beta.summary, line 4: has 1 more line(s) than ids.txt."),
        ({"summaries/beta.summary": b""}, "summaries/beta.summary: is empty."),
        ({"summaries/beta.summary": b"x\ny \xe9\nz"}, "summaries/beta.summary, line 2: is not UTF-8"),
        ({"summaries/beta.summary": b"x\ny\x00\nz"}, "summaries/beta.summary, line 2: holds a NUL byte"),
        ({"references.txt": ["<t> One .", "x", "y"]}, "references.txt, line 1: <t> at character 1 has no partner."),
        ({"weights.txt": ["1\t1\t1", "1", "1"]}, "weights.txt, line 1: has 3 weights for 2 SCUs of example 'a1'."),
        ({"weights.txt": ["1\t.5", "1", "1"]}, "weights.txt, line 1: has the weight '.5'."),
        ({"weights.txt": ["1\t0", "1", "1"]}, "weights.txt, line 1: has the weight '0'."),
        ({"weights.txt": ["1\t1", "1", "1"], "SCUs.txt": None, "labels/alpha.label": None, "labels/beta.label": None},
         "SCUs.txt: is missing, but there are weights."),
        ({"by_systems/fold1.sys": ["beta", "beta"]}, "by_systems/fold1.sys, line 2: names 'beta' for the second time."),
        ({"by_systems/fold1.sys": ["b" * 201]}, "by_systems/fold1.sys, line 1: the member has 201 characters"),
    ],
)  # fmt: skip
def test_bad_rows_are_named_with_file_and_line(tmp_path, changes, expected):
    problems = problems_of(tmp_path, changes)
    assert any(problem.startswith(expected) for problem in problems), problems


def test_all_bad_rows_are_reported_together(tmp_path):
    problems = problems_of(
        tmp_path,
        {
            "labels/alpha.label": ["1", "9", "1"],
            "labels/beta.label": ["0\t0", "0", ""],
            "references.txt": ["fine", "<t> One .", "fine"],
        },
    )
    assert {problem.split(":")[0] for problem in problems} == {
        "labels/alpha.label, line 1",
        "labels/alpha.label, line 2",
        "labels/beta.label, line 3",
        "references.txt, line 2",
    }


def test_a_last_line_that_is_empty_is_a_line(tmp_path):
    # Without a final line break the last summary is empty; with one more there is a break too many to ignore.
    folder = write_mini_corpus(tmp_path / "e", {"summaries/beta.summary": b"x\ny\n"})
    examples, _, problems = read(folder)
    assert problems == []
    assert examples[2].summaries[1].text == ""


@pytest.mark.parametrize(
    "name", ["summaries/beta.summary", "SCUs.txt", "STUs.txt", "references.txt", "documents.txt", "labels/alpha.label"]
)
def test_where_ids_end_with_a_break_a_missing_last_line_is_missing(tmp_path, name):
    ended = {file: ("\n".join(lines) + "\n").encode() for file, lines in FILES.items()}
    ended[name] = ("\n".join(FILES[name][:2]) + "\n").encode()
    problems = problems_of(tmp_path, ended)
    assert f"{name}, line 3: ends before the line for example 'a3'. Each id needs a line." in problems


def test_a_missing_summary_file_is_one_problem(tmp_path):
    problems = problems_of(tmp_path, {"summaries/beta.summary": None, "by_systems/fold1.sys": None})
    assert problems == ["labels/beta.label: labels a system without summaries: summaries/beta.summary is missing."]


def test_one_example_may_have_an_empty_summary(tmp_path):
    changes = dict.fromkeys(FILES) | {"ids.txt": ["a"], "references.txt": ["b"], "summaries/s.summary": b""}
    examples, _, problems = read(write_mini_corpus(tmp_path / "one", changes))
    assert (examples[0].summaries[0].text, problems) == ("", [])


def test_names_of_systems_keep_their_dots(tmp_path):
    folder = write_mini_corpus(tmp_path / "d", {"summaries/gpt-3.5.summary": ["x", "y", "z"]})
    assert [summary.system for summary in read(folder)[0][0].summaries] == ["alpha", "beta", "gpt-3.5"]
