"""The yardstick of the NLI judge."""

from __future__ import annotations

import pytest

from scoring import nli_benchmark
from scoring.entailment import Labels, read_logits
from scoring.judging import Pair
from scoring.nli_benchmark import ReferenceLoop, count_label_differences, realsumm_pairs
from tests.mini_corpus import write_mini_corpus
from tests.scoring.judges import write_tiny_nli
from workbench import runs_benchmark
from workbench.management.commands.benchmark import benchmark_scoring

LABELS = Labels(0, 1, 2)


def test_pairs_come_example_by_example_the_systems_in_turn(mini):
    pairs = list(realsumm_pairs(mini))
    assert pairs[:3] == [
        Pair("The mill shut .", "The mill closed."),
        Pair("The mill shut .", "Forty people lost work."),
        Pair("Nothing happened .", "The mill closed."),
    ]
    assert len(pairs) == 8


def test_labels_are_compared_but_for_near_ties():
    logits = [(1.0, 0.0, -1.0), (0.0, 1.0, 0.0), (0.50001, 0.5, 0.00001)]
    right = [read_logits(row, LABELS) for row in logits]
    assert count_label_differences(right, logits) == 0
    swapped = [read_logits(row, LABELS) for row in ((0.0, 1.0, 0.0), (1.0, 0.0, -1.0), (0.5, 0.50001, 0.00001))]
    assert count_label_differences(swapped, logits) == 4  # both labels of the first two; the third is a tie


def test_the_reference_loop_pads_every_pair_to_the_limit(tmp_path, monkeypatch):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = write_tiny_nli(tmp_path / "tiny")
    loop = ReferenceLoop(
        AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    )
    shapes = []
    forward = loop.model.forward
    monkeypatch.setattr(
        loop.model, "forward", lambda **inputs: shapes.append(inputs["input_ids"].shape) or forward(**inputs)
    )
    assert len(loop.logits([Pair("The mill shut.", "Snow fell.")] * 33)) == 33
    assert [tuple(shape) for shape in shapes] == [(32, 400), (1, 400)]


def test_the_benchmark_gives_the_figures_that_it_promises(tmp_path, monkeypatch):
    """With a tiny model and runs that nobody has done; both judges are real."""
    full = {"summaries/beta.summary": ["Nothing happened .", "It rained.", "Snow fell."]}  # nobody judges an empty one
    write_mini_corpus(tmp_path / "lite2-3pyramid" / "REALSumm", full)
    monkeypatch.setattr(nli_benchmark, "write_model", lambda folder, pairs: write_tiny_nli(folder / "tiny"))
    ran = {"first_s": 60.0, "again_s": 2.0, "pairs": 600}
    monkeypatch.setattr(runs_benchmark, "in_a_process", lambda *given, **options: ran)
    found = {key: value for key, value, _ in benchmark_scoring(tmp_path)}
    assert set(found) == {
        "p3c_sd", "speed_vs_reference", "max_abs_difference", "label_differences", "nli_pairs_per_s", "nli_truncated",
        "two_workers_ratio", "rerun_ratio", "run_pairs_per_s",
    }  # fmt: skip
    assert (found["max_abs_difference"], found["label_differences"]) == (pytest.approx(0, abs=1e-4), 0)
    assert (found["rerun_ratio"], found["run_pairs_per_s"], found["two_workers_ratio"]) == (30, 10, 1)
    with pytest.raises(FileNotFoundError, match="--data DIR"):
        next(benchmark_scoring(None))
