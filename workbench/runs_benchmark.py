"""Measures score runs with real workers: what a second one brings, and a run that has nothing left to judge."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.benchmarks import in_a_process
from annotation.decomposing_benchmark import Figure
from workbench import processes

if TYPE_CHECKING:
    from annotation.models import Project, Run

REPEATS = 3
EXAMPLES = 24  # of REALSumm’s 100: a run of about a minute
WARM_SYSTEMS = 2
PATIENCE = 900
MODULE = "workbench.runs_benchmark"


def benchmark_runs(data: Path) -> Iterator[Figure]:
    """Figures as (key, value, what it means)."""
    corpus = data / "lite2-3pyramid" / "REALSumm"
    seconds: dict[int, list[float]] = {1: [], 2: []}
    again: list[float] = []
    with tempfile.TemporaryDirectory(prefix="pyramid-runs-") as name:
        for repeat in range(REPEATS):
            for workers in (1, 2):  # in turn, so that a slow moment of the machine meets both
                var = Path(name) / f"{repeat}-{workers}"
                found = in_a_process(var, "runs", str(corpus), str(workers), module=MODULE)
                seconds[workers].append(found["first_s"])
                again += [found["first_s"] / found["again_s"]] if workers == 1 else []
                pairs = found["pairs"]
    one, two = (statistics.median(values) for values in seconds.values())
    yield "two_workers_ratio", one / two, "time of a score run with one worker to that with two, a thread each"
    yield "rerun_ratio", statistics.median(again), "time of a score run to that of the same run again"
    yield "run_pairs_per_s", pairs / one, "pairs per second of a run, one worker with one thread, embedded judge"


def measure_runs(var: Path, corpus: str, workers: str) -> dict[str, float]:
    """A run by so many workers, each with its model loaded, then the same run again."""
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.models import Example, System
    from annotation.services.importing import import_corpus

    call_command("migrate", verbosity=0, interactive=False)
    now = timezone.now()
    project = import_corpus(Path(corpus), corpus_format="lite2-3pyramid", project_name="benchmark", now=now).project
    assert project is not None
    Example.objects.filter(project=project, position__gt=EXAMPLES).update(trashed_at=now)
    systems = list(System.objects.filter(project=project).order_by("name").values_list("pk", flat=True))
    with running_workers(int(workers), var / "worker.log"):
        _score(project, systems[:WARM_SYSTEMS])
        first = _score(project, systems[WARM_SYSTEMS:])
        again = _score(project, systems[WARM_SYSTEMS:])
    assert again.counts["new_pairs"] == 0, "the second run had something to judge"
    return {"first_s": _took(first), "again_s": _took(again), "pairs": first.counts["new_pairs"]}


@contextmanager
def running_workers(number: int, log: Path) -> Iterator[None]:
    """Workers with one thread each."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with log.open("ab") as output:
        started = [
            processes.start(processes.worker_command(), env=environment, stdout=output, stderr=output)
            for _ in range(number)
        ]
    try:
        yield
    finally:
        for process in started:
            processes.stop(process)


def _score(project: Project, systems: list[int]) -> Run:
    from django.utils import timezone

    from annotation.tasks import send_run
    from scoring.options import checked_options
    from scoring.services.score_job import request_score

    options = checked_options({"metric": "lite2", "judge": "embedded", "systems": systems})
    run = request_score(project, options, now=timezone.now())
    send_run(run)
    deadline = time.monotonic() + PATIENCE
    while run.ended_at is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the run is still {run.state} after {PATIENCE} s")
        time.sleep(0.1)
        run.refresh_from_db()
    if run.state != "done":
        raise RuntimeError(run.error)
    return run


def _took(run: Run) -> float:
    assert run.started_at is not None, "a run that is done has begun"
    assert run.ended_at is not None, "and has ended"
    return (run.ended_at - run.started_at).total_seconds()


if __name__ == "__main__":
    import json

    import django

    django.setup()
    print(json.dumps(measure_runs(Path(sys.argv[2]), *sys.argv[3:])))  # noqa: T201
