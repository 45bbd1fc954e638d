"""Reading our canonical form, good and bad."""

import json
from pathlib import Path

import pytest

from annotation.readers import Limits, UnreadableSource, open_source, read_corpus
from annotation.records import ExampleRecord, FoldRecord, LabelRecord, Problems, SystemRecord


def read(path: Path) -> tuple[list, list[str]]:
    problems = Problems()
    records = list(read_corpus(open_source(path, Limits()), "jsonl", problems))
    return records, [str(problem) for problem in problems]


def read_lines(tmp_path: Path, *lines: object) -> tuple[list, list[str]]:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return read(path)


def test_the_smallest_example(tmp_path):
    records, problems = read_lines(tmp_path, {"id": 7, "reference": "Snow fell.", "summaries": {"alpha": ""}})
    assert problems == []
    (example,) = records
    assert isinstance(example, ExampleRecord)
    assert (example.key, example.document, example.references[0].key) == ("7", None, "1")
    assert example.references[0].sentences[0].end == len("Snow fell.")


def test_every_field(tmp_path):
    line = {
        "type": "example", "id": "x", "document": "d\nd", "trashed_at": "2026-01-01T00:00:00+01:00",
        "references": [{"id": "r", "text": "One. Two.", "sentences": [[5, 9], [0, 4], [0, 9, 2]]}, {"text": "Three."}],
        "summaries": {"alpha": "s"},
        "units": [
            {"id": "u1", "kind": "stu", "text": "One.", "reference": "r", "sentence": 1, "provenance": "derived"},
            {"text": "Both.", "weight": 2, "author": "w7", "guideline_version": "g@2", "revision": 3,
             "contributors": [{"reference": "r", "text": "One", "span": [0, 3], "sentence": [2, 1]}, {"reference": "2"}],
             "labels": {"imported": {"alpha": 1}, "majority": {"alpha": 0}}},
        ],
        "mixes": {"m": {"r": ["One."]}},
    }  # fmt: skip
    records, problems = read_lines(
        tmp_path,
        {"type": "corpus", "version": 1, "name": "n"},
        {"type": "system", "name": "old", "trashed_at": "2026-01-01T00:00:00Z"},
        line,
        {"type": "fold", "axis": "systems", "name": "f", "members": ["alpha"]},
    )
    assert problems == []
    system, example, fold = records
    assert system == SystemRecord("old", "2026-01-01T00:00:00+00:00")
    assert fold == FoldRecord("systems", "f", ("alpha",))
    assert example.trashed_at == "2025-12-31T23:00:00+00:00"
    assert [(s.revision, s.position, s.start, s.end) for s in example.references[0].sentences] == [
        (1, 1, 0, 4), (1, 2, 5, 9), (2, 1, 0, 9),
    ]  # fmt: skip
    assert example.units[0].sentence == (1, 1)
    assert example.units[1].key == "scu-2"
    assert example.units[1].contributors[0].sentence == (2, 1)
    assert example.units[1].labels == (LabelRecord("alpha", True), LabelRecord("alpha", False, "majority"))


GOOD = {"id": "x", "reference": "One."}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "is not JSON"),
        ("[1]", "the line must be an object, not a list."),
        ('{"id": NaN}', "holds NaN"),
        ('{"id": "x", "id": "y"}', "gives the field 'id' twice."),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "x", "reference": "\\ud800"}', "surrogate"),
        ('{"id": "x", "reference": "a\\u0000b"}', "NUL"),
        ('{"id": 1' + "0" * 5000 + "}", "number with too many digits"),
        ({"type": "story"}, "type must be example"),
        ({"type": "corpus", "version": 99}, "version 99"),
        ({"reference": "One."}, "the id of the example must be text, not null."),
        ({**GOOD, "id": ""}, "the id of the example is empty."),
        ({**GOOD, "id": "a\tb"}, "white space"),
        ({**GOOD, "id": "k" * 201}, "201 characters"),
        ({**GOOD, "id": True}, "must be text, not true or false"),
        ({**GOOD, "refrences": []}, "unknown field 'refrences'; did you mean 'references'?"),
        ({**GOOD, "references": [{"text": "x"}]}, "both 'reference' and 'references'"),
        ({"id": "x", "references": [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}]}, "reference '1' stands here twice."),
        ({"id": "x", "references": [{"text": 5}]}, "must be text, not a number."),
        ({"id": "x", "references": [{"text": "abc", "sentences": [[0, 4]]}]}, "behind the end of the text"),
        ({"id": "x", "references": [{"text": "abc", "sentences": [[0, 2], [1, 3]]}]}, "overlap"),
        ({"id": "x", "references": [{"text": "abc", "sentences": [[2, 2]]}]}, "not before its end"),
        ({"id": "x", "references": [{"text": "<t> a"}]}, "has no partner"),
        ({**GOOD, "summaries": ["a"]}, "summaries must be an object"),
        ({**GOOD, "units": [{"text": " "}]}, "the text of unit 'scu-1' is empty."),
        ({**GOOD, "units": [{"text": "a", "kind": "acu"}]}, "must be one of scu, stu"),
        ({**GOOD, "units": [{"text": "a", "weight": 0}]}, "the weight of unit 'scu-1' must be a whole number from 1"),
        ({**GOOD, "units": [{"text": "a", "weight": 1.5}]}, "must be a whole number"),
        ({**GOOD, "units": [{"text": "a", "labels": {"imported": {"s": 2}}}]}, "must be 0 or 1, not 2."),
        ({**GOOD, "units": [{"text": "a", "labels": {"imported": {"s": True}}}]}, "must be 0 or 1, not True."),
        ({**GOOD, "units": [{"text": "a", "id": "u"}, {"text": "b", "id": "u"}]}, "stands here twice."),
        ({**GOOD, "units": [{"text": "a", "id": "u"}, {"text": "b", "id": "u", "revision": 2}]}, "a current revision of the unit"),
        ({"id": "x", "references": [{"text": "a"}, {"text": "b"}], "units": [{"text": "a", "sentence": 1}]}, "names a sentence but no reference."),
        ({**GOOD, "units": [{"text": "a", "reference": "1", "contributors": [{"reference": "1"}]}]}, "both a reference and"),
        ({**GOOD, "units": [{"text": "a", "created_at": "2026-01-01T00:00:00"}]}, "has no time zone"),
        ({**GOOD, "units": [{"text": "a", "created_at": "0001-01-01T00:00:00+14:00"}]}, "must be a time such as"),
        ({**GOOD, "units": [{"text": "a", "guideline_version": "g" * 201}]}, "201 characters"),
        ({**GOOD, "units": [{"text": "a", "labels": {"r" * 201: {"s": 1}}}]}, "201 characters"),
        ({**GOOD, "id": "a\u202eb"}, "invisible character"),
        ({**GOOD, "references": []}, "both 'reference' and 'references'"),
        ({"type": "system", "name": "s", "partial": 1}, "partial must be true or false"),
        ({"type": "fold", "axis": "words", "name": "f", "members": []}, "must be one of examples, systems"),
        ({"type": "fold", "axis": "examples", "name": "f", "members": ["a", "a"]}, "stands here twice."),
    ],
)  # fmt: skip
def test_bad_lines_are_named(tmp_path, line, expected):
    _, problems = read_lines(tmp_path, GOOD, line)
    assert len(problems) == 1, problems
    assert problems[0].startswith("c.jsonl, line 2: ")
    assert expected in problems[0]


def test_blank_lines_crlf_and_bom_are_accepted(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n" + json.dumps({**GOOD, "id": "y"}).encode() + b"\r\n"
    )
    records, problems = read(path)
    assert ([record.key for record in records], problems) == (["x", "y"], [])


@pytest.mark.parametrize("content", ["id,reference\nx,One.\n", "[\n{}\n]\n", "plain text"])
def test_a_file_of_another_format_is_one_problem(tmp_path, content):
    (tmp_path / "c.jsonl").write_text(content)
    with pytest.raises(UnreadableSource, match="Is the format right"):
        read(tmp_path / "c.jsonl")


def test_only_blank_lines_are_nothing_to_import(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(b"\n\n  \n")
    with pytest.raises(UnreadableSource, match="only blank lines"):
        read(tmp_path / "c.jsonl")


def test_a_folder_must_hold_one_jsonl_file(tmp_path):
    (tmp_path / "readme.txt").write_text("x")
    (tmp_path / "b.txt").write_text("x")
    with pytest.raises(UnreadableSource, match=r"no \.jsonl file"):
        read(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps(GOOD))
    with pytest.raises(UnreadableSource, match="2 JSONL files"):
        read(tmp_path)


def test_the_demo_corpus_is_what_the_readme_promises():
    records, problems = read(Path("annotation/demo/corpus.jsonl").absolute())
    assert problems == []
    assert len(records) >= 10
    assert sum(len(record.references) >= 3 for record in records) >= 3
    assert all(len(record.summaries) == 5 and record.document for record in records)
    with_units = [record for record in records if record.units]
    assert len(with_units) == 6
    for record in with_units:
        systems = {summary.system for summary in record.summaries}
        assert all({label.system for label in unit.labels} == systems for unit in record.units)
        texts = {reference.key: reference.text for reference in record.references}
        covered = set()
        for unit in record.units:
            covered |= {unit.reference} if unit.reference else {item.reference for item in unit.contributors}
            assert not unit.contributors or unit.weight == len(unit.contributors)
            assert all(texts[item.reference][item.start : item.end] == item.text for item in unit.contributors)
        assert covered == set(texts)
