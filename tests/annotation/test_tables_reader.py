"""Reading CSV: one sheet, or a folder of tables."""

import json
import zipfile
from pathlib import Path

import pytest

from annotation.readers import Limits, UnreadableSource, open_source, read_corpus
from annotation.records import Problems


def read(path: Path) -> tuple[list, list[str]]:
    problems = Problems()
    records = list(read_corpus(open_source(path, Limits()), "csv", problems))
    return records, [str(problem) for problem in problems]


def sheet(tmp_path: Path, content: str | bytes) -> tuple[list, list[str]]:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


def tables(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


GOOD_TABLES = {
    "examples": "example,document\nx,doc\ny,\n",
    "references": "example,reference,text\ny,1,Two.\nx,1,One. And\nx,2,More.\n",
    "summaries": "example,system,text\nx,alpha,s\ny,alpha,\n",
    "units": "example,unit,text,weight,reference\nx,u1,One.,2,1\nx,u2,-5 degrees,1,1\n",
    "labels": "example,unit,system,present\nx,u1,alpha,1\nx,u2,alpha,0\n",
}


def test_a_sheet_with_a_row_per_example(tmp_path):
    records, problems = sheet(
        tmp_path,
        'id,document,reference:1,reference:2,summary:alpha,summary:b:2\r\nx,"two\nlines, ""quoted""",One.,,s,t\r\ny,,Two.,Three.,,u\r\n',
    )
    assert problems == []
    assert [(record.key, len(record.references), record.line) for record in records] == [("x", 1, 2), ("y", 2, 4)]
    assert records[0].document == 'two\nlines, "quoted"'
    assert [(summary.system, summary.text) for summary in records[1].summaries] == [("alpha", ""), ("b:2", "u")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("name,reference\nx,One.\n", "sheet.csv has no column 'id'"),
        ("id,reference,comment\nx,One.,c\n", "unknown column 'comment'"),
        ("id,id\nx,y\n", "names a column twice"),
        ("\n", "is empty"),
        ("id,reference\n", "no row"),
        ("<!doctype html><html>", "a web page"),
    ],
)
def test_a_sheet_of_another_kind_is_refused(tmp_path, content, expected):
    with pytest.raises(UnreadableSource, match=expected):
        sheet(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,reference\nx,One.\ny,Two.,more\n", "sheet.csv, line 3: has 3 cells; the first line names 2 columns."),
        ('id,reference\nx,"One.\ny,Two.\n', "sheet.csv, line 2: begins a row that is not CSV"),
        (b"id,reference\nx,One.\ny,T\xe9.\n", "sheet.csv, line 3: is not UTF-8"),
        (b"id,reference\nx,O\x00ne.\n", "sheet.csv, line 2: holds a NUL byte"),
        ("id,reference\n,One.\n", "sheet.csv, line 2: the id of the example is empty."),
    ],
)
def test_bad_rows_of_a_sheet_are_named(tmp_path, content, expected):
    _, problems = sheet(tmp_path, content)
    assert len(problems) == 1
    assert problems[0].startswith(expected)


def test_an_apostrophe_in_somebody_elses_csv_is_an_apostrophe(tmp_path):
    records, _ = sheet(tmp_path, "id,reference\nx,'-tis so\n")
    assert records[0].references[0].text == "'-tis so"


def test_tables_in_any_order(tmp_path):
    records, problems = read(tables(tmp_path, **GOOD_TABLES))
    assert problems == []
    first, second = records
    assert [reference.key for reference in first.references] == ["1", "2"]
    assert [(unit.key, unit.weight, unit.text) for unit in first.units] == [("u1", 2, "One."), ("u2", 1, "-5 degrees")]
    assert [label.present for unit in first.units for label in unit.labels] == [True, False]
    assert second.summaries[0].text == ""


def test_tables_in_a_zip(tmp_path):
    folder = tables(tmp_path, **GOOD_TABLES)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"corpus/{path.name}")
    assert read(tmp_path / "t.zip") == read(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"labels": "example,unit,system,present\nx,u1,alpha,2\n"},
            "labels.csv, line 2: present must be 0 or 1, not 2.",
        ),
        (
            {"labels": "example,unit,system,present\nx,u1,alpha,١\n"},
            "labels.csv, line 2: present must be a whole number",
        ),
        (
            {"labels": "example,unit,system,present\nx,u1,alpha,yes\n"},
            "labels.csv, line 2: present must be a whole number",
        ),
        ({"labels": "example,unit,system,present\nx,u9,alpha,1\n"}, "labels.csv, line 2: names the unit 'u9' (scu)"),
        (
            {"labels": "example,unit,system,present\nx,u1,alpha,1\nx,u1,alpha,1\n"},
            "labels.csv, line 3: stands for the second time (scu, u1, 1, imported, alpha)",
        ),
        ({"summaries": "example,system,text\nz,alpha,s\n"}, "summaries.csv, line 2: names the example 'z'"),
        (
            {"summaries": "example,system,text\nx,alpha,s\nx,alpha,t\n"},
            "summaries.csv, line 3: stands for the second time (alpha)",
        ),
        (
            {"units": "example,unit,text\nx,u1,a\nx,u1,b\n", "labels": "example,unit,system,present\n"},
            "units.csv, line 3: stands for the second time (scu, u1, 1)",
        ),
        (
            {"references": "example,reference,text\nx,1,One.\nx,1,Two.\n"},
            "references.csv, line 3: stands for the second time (1)",
        ),
        ({"sentences": "example,reference,start,end\nx,9,0,1\n"}, "sentences.csv, line 2: names reference '9'"),
        (
            {"mixes": "example,mix,reference,texts\nx,m,1,[]\nx,m,1,[]\n"},
            "mixes.csv, line 3: stands for the second time (m, 1)",
        ),
        ({"units": "example,unit,text,weight\nx,u1, ,1\n"}, "units.csv, line 2: the text of unit 'u1' is empty."),
        ({"mixes": "example,mix,reference,texts\nx,m,1,[\n"}, "mixes.csv, line 2: texts is not JSON"),
        ({"folds": "axis,fold,members\nexamples,f,7\n"}, "folds.csv, line 2: members must be a list"),
        ({"notes": "a,b\n1,2\n"}, "notes.csv: is no table of a corpus."),
    ],
)
def test_bad_tables_are_named(tmp_path, changes, expected):
    _, problems = read(tables(tmp_path, **{**GOOD_TABLES, **changes}))
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"units": "example,unit\nx,u1\n"}, "units.csv has no column 'text'"),
        ({"units": "example,unit,text,colour\nx,u1,a,red\n"}, "units.csv has the unknown column 'colour'"),
        ({"examples": "example,document\n"}, "no row"),
    ],
)
def test_tables_with_other_columns_are_refused(tmp_path, changes, expected):
    with pytest.raises(UnreadableSource, match=expected):
        read(tables(tmp_path, **{**GOOD_TABLES, **changes}))


def test_every_bad_row_is_told_with_its_own_line(tmp_path):
    rows = "".join(f"x,u{number % 2 + 1},s{number},7\n" for number in range(4))
    _, problems = read(tables(tmp_path, **{**GOOD_TABLES, "labels": "example,unit,system,present\n" + rows}))
    assert [problem.split(":")[0] for problem in problems] == [f"labels.csv, line {line}" for line in range(2, 6)]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_separator_is_told(tmp_path, separator):
    with pytest.raises(UnreadableSource, match="Separate the columns by commas"):
        sheet(tmp_path, separator.join(["id", "reference"]) + "\n")


def test_spaces_around_column_names_are_forgiven(tmp_path):
    records, problems = sheet(tmp_path, "id, reference\nx,One.\n")
    assert (records[0].references[0].text, problems) == ("One.", [])


def test_a_lone_carriage_return_is_told_in_plain_words(tmp_path):
    _, problems = sheet(tmp_path, "id,reference\nx,One.\ry,Two.\n")
    assert problems == [
        "sheet.csv, line 2: begins a row that is not CSV: a carriage return outside quotes. Save the file with LF or "
        "CRLF line ends."
    ]


def test_a_folder_without_examples_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "b.csv").write_text("x")
    with pytest.raises(UnreadableSource, match=r"holds no examples\.csv"):
        read(tmp_path)


def test_only_our_own_export_is_unescaped(tmp_path):
    folder = tables(tmp_path, **{**GOOD_TABLES, "references": "example,reference,text\nx,1,'=1\ny,1,'=2\n"})
    assert read(folder)[0][0].references[0].text == "'=1"
    (folder / "manifest.json").write_text(json.dumps({"format": "csv"}))
    assert read(folder)[0][0].references[0].text == "=1"
    (folder / "manifest.json").write_text("[not json")
    assert read(folder)[0][0].references[0].text == "'=1"
