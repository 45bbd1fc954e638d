"""AllenNLP in its own process: with a stand-in always, with the real thing where ALLENNLP_PYTHON names it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.allennlp.client import SERVER, AllenNlp, AllenNlpFailed, verbs_of, words_of
from annotation.allennlp.decomposing import decompose_by_seed_rule
from annotation.ranking.published import load_published
from annotation.spacy_parser import load_parser
from tests.annotation.test_published_ranking import write_regressor

STAND_IN = Path(__file__).with_name("allennlp_stand_in.py")


@pytest.fixture
def models(tmp_path):
    command = [sys.executable, str(STAND_IN), str(tmp_path / "died")]
    made = AllenNlp("", {"srl": "x", "coref": "x"}, seconds=5, command=command, log=tmp_path / "log")
    yield made
    made.close()


def parsed(*sentences):
    return load_parser().parse(list(sentences))


def test_frames_clusters_and_trees_come_back(models):
    (parse,) = parsed("Nora Fisk won gold.")
    assert (words_of(parse), verbs_of(parse)) == (["Nora", "Fisk", "won", "gold", "."], [2])
    assert models.frames([parse]) == [[["B-ARG0", "B-ARG0", "B-V", "B-ARG1", "B-ARG1"]]]
    assert models.clusters([["Nora", "Fisk", "won", ".", "She"]]) == [[(0, 1), (4, 4)]]
    assert models.trees([parse]) == ["(S (NNP Nora) (NNP Fisk) (VBD won) (NN gold) (. .))"]
    assert models.ready() == ["srl"]


def test_a_process_that_died_is_started_again(models):
    first = models.ready()
    models._process.kill()
    models._process.wait()
    assert models.ready() == first
    (parse,) = parsed("DIE-ONCE")
    assert models.frames([parse])  # died while it worked, and the second try came through


def test_a_process_that_dies_again_and_again_is_told(models):
    with pytest.raises(AllenNlpFailed, match=r"process ended \(exit code 3\).*log"):
        models.clusters([["DIE"]])
    assert models.ready() == ["srl"]


def test_a_process_that_hangs_is_ended(models):
    models.seconds = 0.5
    with pytest.raises(AllenNlpFailed, match=r"no answer within 0\.5 seconds"):
        models.clusters([["HANG"]])
    models.seconds = 5
    assert models.ready() == ["srl"]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-c", "import time; time.sleep(60)"],  # never reads: a long question fills the pipe
        ["sh", "-c", "sleep 60; true"],  # a child holds the pipes open
        [sys.executable, "-c", "import os, time; os.close(1); time.sleep(60)"],  # closes its output and lives on
    ],
)
def test_no_process_can_hold_us_longer_than_the_limit(command, monkeypatch):
    monkeypatch.setattr("annotation.allennlp.client.GRACE", 0.5)
    models = AllenNlp("", {}, seconds=0.5, command=command)
    started = time.monotonic()
    with pytest.raises(AllenNlpFailed):
        models.clusters([["word"] * 100_000])
    models.close()
    assert time.monotonic() - started < 20  # a bound on hanging, no measure of speed


@pytest.mark.parametrize(
    "answer",
    ['{"clusters": [[1]]}', '{"clusters": [[[0, 99]]]}', '{"clusters": 3}', "{}", '{"clusters": [[[1, 0]]]}'],
)
def test_an_answer_of_another_shape_is_told(answer, tmp_path):
    echo = "import sys, json\nfor line in sys.stdin: print(json.dumps({**json.loads(sys.argv[1]), 'id': json.loads(line)['id']}), flush=True)"
    models = AllenNlp("", {}, seconds=10, command=[sys.executable, "-c", echo, answer], log=tmp_path / "new" / "log")
    with pytest.raises(AllenNlpFailed, match="no clusters as they were asked for"):
        models.clusters([["a", "b"]])
    models.close()


@pytest.mark.parametrize(("word", "message"), [("ERROR", "ValueError: no"), ("NONSENSE", "nonsense")])
def test_a_wrong_answer_is_told(models, word, message):
    with pytest.raises(AllenNlpFailed, match=message):
        models.clusters([[word]])


def test_an_interpreter_that_is_not_there_is_told():
    with pytest.raises(AllenNlpFailed, match="Set ALLENNLP_PYTHON"):
        AllenNlp("/no/such/python", {"srl": "x"}).ready()


def test_a_text_is_decomposed_by_the_seed_rule(models, tmp_path):
    write_regressor(tmp_path / "r.json")
    found = decompose_by_seed_rule(
        "Nora Fisk won. She left Leeds.", models, load_parser(), load_published(tmp_path / "r.json")
    )
    assert [sentence.text for sentence in found] == ["Nora Fisk won.", "Nora Fisk left Leeds."]
    assert found[1].units == ["Nora Fisk left Leeds ."]
    assert [sentence.easiness for sentence in found] == [1.0, 0.25]  # four words are below the threshold of five
    assert decompose_by_seed_rule("", models, load_parser()) == []


def test_the_command_needs_an_interpreter_for_the_seed_rule(tmp_path, settings):
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "text": "Nora Fisk won."}))
    settings.ALLENNLP_PYTHON = ""
    with pytest.raises(CommandError, match="ALLENNLP_PYTHON"):
        call_command("decompose", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), rule="seed")
    assert not (tmp_path / "out.jsonl").exists()


# --- the server itself ---------------------------------------------------------------------------------------------


def test_the_server_is_written_for_old_python_and_needs_nothing_of_ours():
    tree = ast.parse(SERVER.read_text(encoding="utf-8"), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.startswith("annotation")]


def test_the_server_answers_bad_lines_and_goes_on():
    asked = [
        "nonsense",
        "[]",
        json.dumps({"id": 1, "do": "fly"}),
        json.dumps({"id": 2, "do": "frames", "sentences": []}),
        json.dumps({"id": 3, "do": "ping"}),
    ]
    done = subprocess.run(
        [sys.executable, str(SERVER)], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [None, None, 1, 2, 3]
    assert "nobody can do" in answers[2]["error"]
    assert "no model for srl" in answers[3]["error"]
    assert answers[4]["ready"] == []


@pytest.mark.skipif(not os.environ.get("ALLENNLP_PYTHON"), reason="not run: ALLENNLP_PYTHON names no interpreter")
def test_real_allennlp_with_tiny_models(tmp_path):
    python = os.environ["ALLENNLP_PYTHON"]
    build = Path(__file__).with_name("allennlp_tiny_models.py")
    subprocess.run([python, str(build), str(tmp_path)], check=True, capture_output=True, text=True)
    archives = {name: str(tmp_path / name / "model.tar.gz") for name in ("srl", "coref", "constituency")}
    models = AllenNlp(python, archives, seconds=300, log=tmp_path / "log")
    try:
        parses = parsed("Nora Fisk won the race.", "She left Leeds on Friday.")
        frames = models.frames(parses)
        assert [[len(tags) for tags in own] for own in frames] == [[6], [6]]
        trees = models.trees(parses)
        assert all(tree.startswith("(") and tree.count("(") == tree.count(")") for tree in trees)
        assert "Fisk" in trees[0]
        for cluster in models.clusters([words_of(parse) for parse in parses]):
            assert all(0 <= start <= end < 12 for start, end in cluster)
        found = decompose_by_seed_rule("Nora Fisk won the race. She left Leeds.", models, load_parser())
        assert all(sentence.units for sentence in found)
    finally:
        models.close()
