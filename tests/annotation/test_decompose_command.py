"""manage.py decompose: lines in, lines out, and a plain word for files that cannot be."""

from __future__ import annotations

import json
import os

import pytest
from django.core.management import CommandError, call_command

LINE = json.dumps({"id": "a", "text": "Nora Fisk won. Der Bürgermeister hat am Freitag die neue Brücke eröffnet."})


def test_lines_come_out_with_sentences_and_units(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + LINE.encode() + b"\n\n")  # as some editors save it
    call_command("decompose", str(source), str(target))
    (line,) = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert line["id"] == "a"
    assert [sentence["text"] for sentence in line["sentences"]] == [
        "Nora Fisk won.",
        "Der Bürgermeister hat am Freitag die neue Brücke eröffnet.",
    ]
    assert line["sentences"][0]["units"] == ["Nora Fisk won"]
    assert len(line["sentences"][1]["units"]) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]\n", "line 1: is no JSON object"),
        ('{"id": 1}\n', 'line 1: needs an "id" and a "text"'),
        ('{"id": 1, "text": "\\ud800"}\n', "line 1: holds half a character"),
        ('{"id": "\\udfff", "text": "a"}\n', "line 1: holds half a character"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path, content, message):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(content, encoding="utf-8")
    with pytest.raises(CommandError, match=message):
        call_command("decompose", str(source), str(target))
    assert not target.exists()


def test_the_input_is_never_overwritten(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text(LINE, encoding="utf-8")
    (tmp_path / "same.jsonl").hardlink_to(source)
    for target in (source, tmp_path / "same.jsonl"):
        with pytest.raises(CommandError, match="is the input itself"):
            call_command("decompose", str(source), str(target))
    assert source.read_text(encoding="utf-8") == LINE


def test_a_pipe_or_a_folder_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for source in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CommandError, match="is no file"):
            call_command("decompose", str(source), str(tmp_path / "out.jsonl"))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("decompose", str(tmp_path / "none.jsonl"), str(tmp_path / "out.jsonl"))
