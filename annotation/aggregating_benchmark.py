"""Measures what becomes of votes: REALSumm's released ones against its published labels and agreement, adaptive asking
through the real queue, and speed. On a private SQLite database, in a process of its own."""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.aggregating.agreement import alpha_with_interval, group_histograms, mean_of_tasks
from annotation.aggregating.votes import Vote, count_votes
from annotation.benchmarks import in_a_process
from annotation.readers.amt import AmtRow, read_amt_rows

if TYPE_CHECKING:
    from annotation.models import Project

MODULE = "annotation.aggregating_benchmark"
MILLION = 1_000_000
FOLDERS = {"abs_": "SCU_rating_results_abs_systems", "ext_": "SCU_rating_results_ext_systems"}
Answers = dict[tuple[str, str], list[list[bool]]]
"""By system and example: for each row of the files, in their order, the answers to the units in their order."""


def benchmark_aggregation(data: Path | None) -> Iterator[tuple[str, float, str]]:
    """Figures as (key, value, what it means)."""
    yield (
        "million_votes_s",
        measure_million(),
        "seconds for alpha with its interval, and the paper's, over a million votes",
    )
    if data is None:
        return
    if not (data / "realsumm-amt").is_dir():
        raise FileNotFoundError(f"{data} holds no realsumm-amt. --data must hold the released votes.")
    with tempfile.TemporaryDirectory(prefix="pyramid-votes-") as folder:
        told = in_a_process(Path(folder) / "votes", "votes", str(data), module=MODULE)
        yield "labels_identical", told["identical"], "labels by the majority that equal the published ones"
        yield "labels_total", told["total"], "published labels"
        yield "alpha_all", told["alpha_all"], "Krippendorff's alpha as REALSumm's paper has it (published: .66)"
        yield "alpha_abs", told["alpha_abs"], "the same, abstractive systems (.72)"
        yield "alpha_ext", told["alpha_ext"], "the same, extractive systems (.57)"
        yield "import_rows_per_s", told["import_rows_per_s"], "judgements per second, import of batch results"
        yield "export_rows_per_s", told["export_rows_per_s"], "judgements per second, export to JSONL"
        replay = in_a_process(Path(folder) / "replay", "replay", str(data), module=MODULE)
        yield "adaptive_votes", replay["votes"], "unit votes of two judges and a third where they differ"
        yield "adaptive_third_tasks", replay["third_tasks"], "sheets that went to a third judge"
        yield "adaptive_identical", replay["identical"], "labels that equal those of three votes for all"
        yield "adaptive_saved_votes", replay["saved_votes"], "share of the votes that three for all would have been"
        yield "adaptive_saved_tasks", replay["saved_tasks"], "share of the tasks that three for all would have been"


def measure_million() -> float:
    chance = random.Random(0)  # noqa: S311
    votes = [
        Vote((number // 3 % 10, number // 30), str(number % 97), number // 30, chance.random() < 0.5)
        for number in range(MILLION)
    ]
    started = time.perf_counter()
    tallies = count_votes(votes)
    task_of: dict[Hashable, Hashable] = {item: item[1] for item in tallies if isinstance(item, tuple)}
    example_of: dict[Hashable, Hashable] = {item: item[1] // 25 for item in tallies if isinstance(item, tuple)}
    mean_of_tasks(group_histograms(tallies, task_of))
    alpha_with_interval(group_histograms(tallies, example_of))
    return time.perf_counter() - started


def released_rows(data: Path) -> Iterator[tuple[str, AmtRow]]:
    """Rows of the released votes with the prefix of their folder."""
    for prefix, folder in FOLDERS.items():
        for path in sorted((data / "realsumm-amt" / folder).glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                for row in read_amt_rows(csv.DictReader(file)):
                    yield prefix, row


def released_answers(data: Path, systems: set[str]) -> Answers:
    """Two extractive systems lie in the folder of the abstractive ones."""
    found: Answers = defaultdict(list)
    for prefix, row in released_rows(data):
        name = f"{prefix}{row.system}" if f"{prefix}{row.system}" in systems else f"ext_{row.system}"
        found[name, row.example].append([bool(one.present) for one in row.answers if not one.is_filler])
    return found


def replay_votes(project: Project, data: Path) -> dict[str, float]:
    """The released rows through the real queue: the first row of a summary is the first judge's, and so on."""
    from django.utils import timezone

    from annotation.judging.answers import Answers as Page
    from annotation.judging.answers import Given
    from annotation.models import System
    from annotation.services.batches import BatchOptions, create_batch, list_batches
    from annotation.services.filling import make_users
    from annotation.services.judging import hand_in_answers, questions_of
    from annotation.services.queue import claim_next
    from annotation.services.votes import read_tallies

    now = timezone.now()
    systems = dict(System.objects.filter(project=project).values_list("pk", "name"))
    rows = released_answers(data, set(systems.values()))
    keys = dict(project.examples.values_list("pk", "key"))
    create_batch(project, BatchOptions(is_adaptive=True, with_fillers=False), now=now, actor=None)
    judges = make_users(3)
    for place in range(3):
        judge = judges[place]
        while task := claim_next(project, judge, "judge", now=now):
            assert task.summary is not None
            assert task.lease_token is not None
            said = rows[systems[task.summary.system_id], keys[task.summary.example_id]][place]
            given = (
                Given(number, "present" if said[question.unit.position - 1] else "not_present")
                for number, question in enumerate(questions_of(task, judge), start=1)
                if question.unit
            )
            page = Page(tuple(given))
            hand_in_answers(task.pk, judge, task.lease_token, key=uuid.uuid4(), answers=page, now=now)
    batch = list_batches(project)[0]
    labels = {pair: tally.label for pair, tally in read_tallies(project).items()}
    return {
        "votes": batch.votes,
        "third_tasks": batch.third_tasks,
        "identical": _count_identical(project, labels, rows),
        "saved_votes": batch.saved_votes or 0.0,
        "saved_tasks": batch.saved_tasks or 0.0,
    }


def _count_identical(project: Project, labels: dict[tuple[int, int], bool], rows: Answers) -> int:
    """Labels that are what the majority of the first three rows says."""
    from annotation.models import Summary, Unit

    places = dict(Unit.objects.filter(example__project=project, kind="scu").values_list("pk", "position"))
    summaries = Summary.objects.filter(example__project=project)
    wanted = {
        summary: Counter(place for row in rows[system, example][:3] for place, said in enumerate(row, 1) if said)
        for summary, system, example in summaries.values_list("pk", "system__name", "example__key")
    }
    return sum(label is (wanted[summary][places[unit]] > 1) for (unit, summary), label in labels.items())


def _import_realsumm(data: str) -> Project:
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.services.importing import import_corpus

    call_command("migrate", verbosity=0, interactive=False)
    corpus = Path(data) / "lite2-3pyramid" / "REALSumm"
    report = import_corpus(corpus, corpus_format="lite2-3pyramid", project_name="votes", now=timezone.now())
    assert report.project is not None
    return report.project


def measure_replay(var: Path, data: str) -> dict[str, float]:
    return replay_votes(_import_realsumm(data), Path(data))


def measure_votes(var: Path, data: str) -> dict[str, float]:
    """Import all released rows, make labels, compare, measure agreement, export."""
    from django.utils import timezone

    from annotation.models import Judgement, Label
    from annotation.services.judgement_export import export_judgements
    from annotation.services.judgement_import import import_judgements
    from annotation.services.labels import make_labels
    from annotation.services.quality import measure_agreement
    from annotation.services.votes import by_group, read_places, read_tallies

    project, now = _import_realsumm(data), timezone.now()
    started = time.perf_counter()
    for prefix, folder in FOLDERS.items():
        import_judgements(project, Path(data) / "realsumm-amt" / folder, file_format="amt", now=now, prefix=prefix)
    imported = time.perf_counter() - started
    make_labels(project, "none", now=now, actor=None)
    rules = {
        rule: {(unit, summary): present for unit, summary, present in own}
        for rule in (Label.IMPORTED, "majority")
        if (own := Label.objects.filter(rule=rule).values_list("unit", "summary", "present"))
    }
    published, made = rules[Label.IMPORTED], rules["majority"]
    tallies = read_tallies(project)
    places = read_places(project, tallies.keys())
    alphas = {
        prefix: mean_of_tasks(
            by_group({p: t for p, t in tallies.items() if places[p].system.startswith(prefix)}, lambda pair: pair[1])
        ).value
        for prefix in FOLDERS
    }
    begun = time.perf_counter()
    export_judgements(project, var / "export", file_format="jsonl", now=now)
    exported = time.perf_counter() - begun
    number = Judgement.objects.count()
    return {
        "identical": sum(made.get(pair) is present for pair, present in published.items()),
        "total": len(published),
        "alpha_all": measure_agreement(project).paper.value or 0.0,
        "alpha_abs": alphas["abs_"] or 0.0,
        "alpha_ext": alphas["ext_"] or 0.0,
        "import_rows_per_s": number / imported,
        "export_rows_per_s": number / exported,
    }


if __name__ == "__main__":
    import json

    import django

    django.setup()
    measures = {"votes": measure_votes, "replay": measure_replay}
    print(json.dumps(measures[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])))  # noqa: T201
