"""manage.py benchmark NAME --data DIR: measures, prints a table for people and with --json an object for scripts."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.aggregating_benchmark import benchmark_aggregation
from annotation.benchmarks import benchmark_web
from annotation.decomposing_benchmark import benchmark_decomposer
from annotation.easiness_benchmark import benchmark_easiness
from scoring.nli_benchmark import benchmark_nli
from scoring.presence_benchmark import benchmark_presence
from workbench.crowd_benchmark import benchmark_crowd
from workbench.runs_benchmark import benchmark_runs


def benchmark_scoring(data: Path | None) -> Iterator[tuple[str, float, str]]:
    """The NLI judge against the loop of the paper, then whole runs."""
    yield from benchmark_nli(data)
    if data is not None:
        yield from benchmark_runs(data)


BENCHMARKS: dict[str, Callable[[Path | None], Iterator[tuple[str, float, str]]]] = {
    "aggregation": benchmark_aggregation,
    "crowd": benchmark_crowd,
    "decomposer": benchmark_decomposer,
    "easiness": benchmark_easiness,
    "presence": benchmark_presence,
    "scoring": benchmark_scoring,
    "web": benchmark_web,
}


DIGITS = 8  # that count: .00014 must not pass as .0001
SMALL = 0.01


def shown(value: float) -> str:
    """A figure for people; of a small one the digits that count."""
    return f"{value:.3g}" if 0 < abs(value) < SMALL else f"{value:,.3f}"


class Command(BaseCommand):
    help = "Measure the product. Figures depend on the machine; compare them within one run."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=sorted(BENCHMARKS))
        parser.add_argument("--data", type=Path, help="folder with the real corpora (default: PYRAMID_DATA)")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, name: str, data: Path | None, **options: Any) -> None:
        folder = data or (Path(os.environ["PYRAMID_DATA"]) if os.environ.get("PYRAMID_DATA") else None)
        if folder is not None and not folder.is_dir():
            raise CommandError(f"{folder} is not a folder. Name the folder with the real corpora.")
        figures = {}
        try:
            for key, value, meaning in BENCHMARKS[name](folder):
                figures[key] = float(f"{value:.{DIGITS}g}")
                self.stdout.write(f"{key:36}{shown(value):>12}  {meaning}")
        except FileNotFoundError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"name": name, "figures": figures}))
