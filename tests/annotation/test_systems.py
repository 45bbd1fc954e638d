"""Adding a system: every form of file, what is wrong with one, all or nothing."""

from __future__ import annotations

import json

import pytest

from annotation import models
from annotation.readers.system_file import BadSystemFile, check_summaries, read_system_file
from annotation.services.importing import import_corpus
from annotation.services.systems import CannotAddSystem, add_system, example_keys
from tests.conftest import NOW

KEYS = ["a1", "a2", "a3"]
GOOD = {"a1": "The mill shut.", "a2": "", "a3": 'He said "yes", then left.'}


def as_jsonl(rows: list[dict]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", as_jsonl([{"id": key, "summary": text} for key, text in GOOD.items()])),
        ("s.csv", 'id,summary\r\na1,The mill shut.\r\na2,\r\na3,"He said ""yes"", then left."\r\n'.encode("utf-8-sig")),
        ("s.csv", b'summary,id\nThe mill shut.,a1\n,a2\n"He said ""yes"", then left.",a3'),
        ("s.summary", b'The mill shut.\n\nHe said "yes", then left.'),
        ("s.txt", b'The mill shut.\r\n\r\nHe said "yes", then left.\r\n'),
    ],
)
def test_every_form_gives_the_same(name, content):
    assert read_system_file(name, content, KEYS) == GOOD


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.txt", b"one\ntwo", "has 2 lines, and there are 3 examples"),
        ("s.txt", b"\xff\xfe", "is not UTF-8"),
        ("s.jsonl", b'{"id": "a1", "text": "x"}', "Line 1 is no object"),
        ("s.jsonl", b"nonsense", "Line 1 is no object"),
        ("s.jsonl", as_jsonl([{"id": "a1", "summary": 7}]), "Line 1: the summary"),
        ("s.jsonl", as_jsonl([{"id": "zz", "summary": "x"}]), "there is no example 'zz'"),
        ("s.jsonl", as_jsonl([{"id": "a1", "summary": "x"}] * 2), "Line 2: example 'a1' was there before"),
        ("s.jsonl", as_jsonl([{"id": "a1", "summary": "x"}]), "2 of 3 examples have no summary, such as 'a2'"),
        ("s.csv", b"id,text\na1,x", "must name the columns id and summary"),
        ("s.csv", b"id,summary\na1,x,y", "too many or too few cells"),
        ("s.csv", b'id,summary\na1,"x', "This is no CSV"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(name, content, message):
    with pytest.raises(BadSystemFile, match=message):
        read_system_file(name, content, KEYS)


def test_other_line_separators_are_part_of_a_summary():
    odd = "one\u2028two\u0085three"
    rows = [json.dumps({"id": key, "summary": odd}, ensure_ascii=False) for key in KEYS]
    assert read_system_file("s.jsonl", "\n".join(rows).encode(), KEYS) == dict.fromkeys(KEYS, odd)


def test_json_lines_are_known_by_their_content():
    content = as_jsonl([{"id": key, "summary": text} for key, text in GOOD.items()])
    assert read_system_file("s.txt", content, KEYS) == GOOD


def test_what_is_no_summary_is_refused(monkeypatch):
    with pytest.raises(BadSystemFile, match="All summaries are empty"):
        read_system_file("s.txt", b"\n\n\n", KEYS)
    with pytest.raises(BadSystemFile, match="50,001 characters are no summary"):
        check_summaries({**GOOD, "a1": "x" * 50_001}, KEYS)


def test_problems_are_shown_together_up_to_a_limit():
    rows = [{"id": f"z{number}", "summary": ""} for number in range(15)]
    with pytest.raises(BadSystemFile, match=r"(?s)Line 1:.*Line 10:.*… and 5 more"):
        read_system_file("s.jsonl", as_jsonl(rows), KEYS)


def test_an_object_is_checked_like_a_file():
    assert check_summaries(dict(GOOD), KEYS) == GOOD
    with pytest.raises(BadSystemFile, match="no example 'zz'"):
        check_summaries({**GOOD, "zz": ""}, KEYS)


@pytest.fixture
def project(mini) -> models.Project:
    import_corpus(mini, corpus_format="lite2-3pyramid", project_name="Mini", now=NOW)
    return models.Project.objects.get()


@pytest.mark.django_db
def test_a_system_is_added_once_with_a_line_in_the_audit_log(project):
    system, is_new = add_system(project, "gamma", GOOD, now=NOW)
    assert is_new
    assert dict(system.summaries.values_list("example__key", "text")) == GOOD
    assert add_system(project, "gamma", GOOD, now=NOW) == (system, False)
    assert models.AuditEntry.objects.filter(action="add system", target="gamma").count() == 1


@pytest.mark.django_db
def test_nothing_is_overwritten_and_nothing_half_written(project):
    before = list(models.Summary.objects.order_by("pk").values())
    with pytest.raises(CannotAddSystem, match="never overwritten"):
        add_system(project, "alpha", GOOD, now=NOW)
    with pytest.raises(CannotAddSystem, match="Upload the file again"):
        add_system(project, "gamma", {"a1": ""}, now=NOW)
    with pytest.raises(CannotAddSystem, match="name of the system"):
        add_system(project, "a\nb", GOOD, now=NOW)
    models.System.objects.filter(name="beta").update(trashed_at=NOW)
    with pytest.raises(CannotAddSystem, match="in the trash"):
        add_system(project, "beta", GOOD, now=NOW)
    assert list(models.Summary.objects.order_by("pk").values()) == before
    assert models.System.objects.count() == 2


@pytest.mark.django_db
def test_only_live_examples_need_a_summary(project):
    models.Example.objects.filter(key="a2").update(trashed_at=NOW)
    assert example_keys(project) == ["a1", "a3"]
    system, _ = add_system(project, "gamma", {"a1": "x", "a3": "y"}, now=NOW)
    assert system.summaries.count() == 2
