"""Measures the NLI judge against the plain loop of the paper, on the same weights, texts and threads."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from annotation.decomposing_benchmark import Figure, read_lines, read_units
from annotation.encoder import check_weights
from scoring.entailment import read_logits
from scoring.judges.nli import MAX_TOKENS, NliJudge
from scoring.judging import Pair, Verdict

PAIRS = 1_000
REPEATS = 3
THREADS = 2
BATCH = 32
SEED = 0
WANTED_SD, ROOM = 0.2, 0.02
SAMPLE = 200
MARGIN = 1e-4
LABELS = ("entailment", "neutral", "contradiction")


def benchmark_nli(data: Path | None) -> Iterator[Figure]:
    """Figures as (key, value, what it means)."""
    if data is None:
        raise FileNotFoundError("The judges are measured on the published corpora. Name their folder: --data DIR")
    import torch

    torch.set_num_threads(THREADS)
    pairs = list(islice(realsumm_pairs(data / "lite2-3pyramid" / "REALSumm"), PAIRS))
    with TemporaryDirectory(prefix="pyramid-nli-") as name:
        folder = write_model(Path(name), pairs)
        judge, loop = NliJudge(str(folder)), load_reference(folder)
        times: dict[str, list[float]] = {"ours": [], "reference": []}
        ours: list[Verdict] = []
        logits: list[list[float]] = []
        for _ in range(REPEATS):  # in turn, so that a slow moment of the machine meets both
            ours, seconds = timed(lambda: judge.judge(pairs))
            times["ours"].append(seconds)
            logits, seconds = timed(lambda: loop.logits(pairs))
            times["reference"].append(seconds)
    median = {name: statistics.median(values) for name, values in times.items()}
    reference = [read_logits(row, judge.labels) for row in logits]
    gaps = [max(abs(a.p3c - b.p3c), abs(a.p2c - b.p2c)) for a, b in zip(told(ours), told(reference), strict=True)]
    yield "p3c_sd", statistics.pstdev(verdict.p3c for verdict in told(reference)), "standard deviation of p3c"
    yield "speed_vs_reference", median["reference"] / median["ours"], "the loop of the paper to ours, same threads"
    yield "max_abs_difference", max(gaps), "largest difference of p3c or p2c between the two"
    yield "label_differences", count_label_differences(ours, logits), "l3c or l2c that differ, margin above 1e-4"
    yield "nli_pairs_per_s", len(pairs) / median["ours"], "pairs per second, a model of MiniLM's size"
    yield "nli_truncated", sum(verdict.was_truncated for verdict in ours), "pairs that were cut off"


class Told:
    """A verdict of a three-way model, whose readings are all there."""

    def __init__(self, verdict: Verdict) -> None:
        assert verdict.p3c is not None, "a three-way model has p3c"
        assert verdict.p2c is not None, "a three-way model has p2c"
        self.p3c, self.p2c = verdict.p3c, verdict.p2c


def told(verdicts: Sequence[Verdict]) -> list[Told]:
    return [Told(verdict) for verdict in verdicts]


def count_label_differences(ours: Sequence[Verdict], logits: Sequence[Sequence[float]]) -> int:
    """Labels that differ from those of the reference's logits (entailment first) where it is no near tie."""
    wrong = 0
    for verdict, (entailment, neutral, contradiction) in zip(ours, logits, strict=True):
        for label, rival in (
            (verdict.l3c, max(neutral, contradiction)),
            (verdict.l2c, neutral + contradiction),
        ):
            margin = entailment - rival
            wrong += abs(margin) > MARGIN and label != int(margin >= 0)
    return wrong


Found = TypeVar("Found")


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    started = time.perf_counter()
    found = work()
    return found, time.perf_counter() - started


def realsumm_pairs(folder: Path) -> Iterator[Pair]:
    """Example by example, the systems in turn, the units of each."""
    units = [read_units(line) for line in read_lines(folder / "SCUs.txt")]
    systems = [read_lines(path) for path in sorted((folder / "summaries").glob("*.summary"))]
    for number, own in enumerate(units):
        for summaries in systems:
            for unit in own:
                yield Pair(summaries[number], unit)


def write_model(folder: Path, pairs: Sequence[Pair]) -> Path:
    """The pinned MiniLM with a seeded head of three outputs, scaled until its answers spread."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    source = check_weights()
    torch.manual_seed(SEED)
    names = dict(enumerate(LABELS))
    model: Any = AutoModelForSequenceClassification.from_pretrained(
        source, num_labels=len(names), id2label=names, label2id={name: place for place, name in names.items()}
    )
    tokenizer: Any = AutoTokenizer.from_pretrained(source)
    tokenizer.save_pretrained(folder)
    with torch.no_grad():
        torch.nn.init.normal_(model.classifier.weight)
        torch.nn.init.zeros_(model.classifier.bias)
        sample = pairs[:: max(1, len(pairs) // SAMPLE)]
        logits = torch.tensor(ReferenceLoop(model, tokenizer).logits(sample))
        centred = logits - logits.mean(0)  # or all answers would be the same one
        scale = 1.0
        while float((centred * scale).softmax(1)[:, 0].std()) < WANTED_SD + ROOM:
            scale *= 1.25
        model.classifier.weight.mul_(scale)
        model.classifier.bias.copy_(-logits.mean(0) * scale)
    model.save_pretrained(folder)
    return folder


class ReferenceLoop:
    """As the code of Zhang and Bansal does: batches of 32 in the order given, every pair padded to 400 tokens."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer

    def logits(self, pairs: Sequence[Pair]) -> list[list[float]]:
        import torch

        found: list[list[float]] = []
        for begin in range(0, len(pairs), BATCH):
            batch = pairs[begin : begin + BATCH]
            inputs = self.tokenizer(
                [pair.summary for pair in batch],
                [pair.unit for pair in batch],
                max_length=MAX_TOKENS,
                padding="max_length",
                truncation=True,
                return_tensors="pt",
            )
            with torch.no_grad():
                found += self.model(**inputs).logits.tolist()
        return found


def load_reference(folder: Path) -> ReferenceLoop:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    return ReferenceLoop(model, AutoTokenizer.from_pretrained(folder))
