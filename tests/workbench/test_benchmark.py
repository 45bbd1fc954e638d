"""The benchmark command measures something and prints it in both forms. Speeds are goals, never tested here."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation import benchmarks
from annotation.benchmarks import repeat_corpus, write_lookalike
from workbench.management.commands.benchmark import BENCHMARKS


def test_it_prints_an_object_as_the_last_line(monkeypatch):
    monkeypatch.setattr(benchmarks, "REPEATS", 1)
    monkeypatch.setattr(benchmarks, "TIMES", 2)
    monkeypatch.setattr(benchmarks, "TABLE_REPEATS", 1)
    monkeypatch.setattr(benchmarks, "FEW", 60)
    monkeypatch.setattr(benchmarks, "MANY", 120)
    out = io.StringIO()
    call_command("benchmark", "web", "--json", stdout=out)
    result = json.loads(out.getvalue().splitlines()[-1])
    assert result["name"] == "web"
    assert {"import_rows_per_s", "import_memory_ratio", "export_rows_per_s", "list_ratio", "list_queries"} <= set(
        result["figures"]
    )
    routes = [result["figures"][f"routes_{part}_ratio"] for part in ("list", "warned", "search")]
    assert result["figures"]["routes_ratio"] == max(routes)
    assert result["figures"].pop("claim_duplicates") == 0
    assert all(value > 0 for value in result["figures"].values())


def test_small_figures_keep_their_digits(monkeypatch):
    found = [("gap", 0.000140000001234, "a gap"), ("speed", 123_456.78, "a speed"), ("none", 0, "nothing")]
    monkeypatch.setitem(BENCHMARKS, "web", lambda data: iter(found))
    out = io.StringIO()
    call_command("benchmark", "web", "--json", stdout=out)
    *lines, last = out.getvalue().splitlines()
    assert json.loads(last)["figures"] == {"gap": 0.00014, "speed": 123_456.78, "none": 0}
    assert [line.split()[1] for line in lines] == ["0.00014", "123,456.780", "0.000"]


def test_a_wrong_folder_is_told(tmp_path):
    with pytest.raises(CommandError, match="is not a folder"):
        call_command("benchmark", "web", "--data", str(tmp_path / "nowhere"))


def test_a_folder_of_something_else_is_told(tmp_path):
    with pytest.raises(CommandError, match="--data must hold lite2-3pyramid/REALSumm"):
        call_command("benchmark", "web", "--data", str(tmp_path))


def test_the_lookalike_has_the_numbers_of_realsumm(tmp_path):
    folder = write_lookalike(tmp_path / "c")
    assert (folder / "references.txt").read_text().count("<t>") == 368
    assert sum(len(line.split("\t")) for line in (folder / "SCUs.txt").read_text().split("\n")) == 1056
    assert len(list((folder / "summaries").iterdir())) == 25
    ids = (repeat_corpus(folder, tmp_path / "r", 3) / "ids.txt").read_text().split("\n")
    assert len(set(ids)) == 300
