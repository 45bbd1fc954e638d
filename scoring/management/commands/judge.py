"""manage.py judge IN.jsonl OUT.jsonl --judge NAME: presence of units in summaries. No database needed."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.batching import batched
from annotation.management.jsonl_files import checked_paths, read_lines, refuse_bad_lines, whole_file
from scoring.judges import open_judge
from scoring.judging import Judge, Pair, UnknownJudge, signature_of

LINES_AT_ONCE = 1_000


class Command(BaseCommand):
    help = 'Read lines {"id", "summary", "unit"}, write the same with "p", and p3c l3c p2c l2c for NLI models.'
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="IN.jsonl")
        parser.add_argument("target", type=Path, metavar="OUT.jsonl")
        parser.add_argument("--judge", default="embedded", help='"embedded", or an NLI model by hub name or folder')

    def handle(self, *, source: Path, target: Path, judge: str, **options: Any) -> None:
        target = checked_paths(source, target)
        refuse_bad_lines(source, what_is_wrong)
        try:
            opened = open_judge(judge)
        except UnknownJudge as error:
            raise CommandError(f"Nothing was written. {error}") from error
        with whole_file(target) as write:
            number, cut = write_verdicts(source, write, opened, quiet=not self.stderr.isatty())
        self.stdout.write(f"Written to {target}: {number:,} pairs, judged by {signature_of(opened)}.")
        if cut:
            self.stdout.write(f'Too long for the judge and cut off: {cut:,} pairs. They say "truncated": true.')


def what_is_wrong(line: Any) -> str:
    if not isinstance(line, dict):
        return 'is no JSON object. Each line is {"id": …, "summary": …, "unit": …}.'
    if "id" not in line or not isinstance(line.get("summary"), str) or not isinstance(line.get("unit"), str):
        return 'needs an "id", a "summary" and a "unit".'
    return "" if line["unit"].strip() else "has an empty unit. A unit says something."


def write_verdicts(
    source: Path, write: Callable[[dict[str, Any]], None], judge: Judge, *, quiet: bool
) -> tuple[int, int]:
    """Judge every line, in the order of the file. How many there were, and how many were too long."""
    number = cut = 0
    lines = (line for _, line in read_lines(source))
    for block in batched(tqdm(lines, disable=quiet, unit=" pairs"), LINES_AT_ONCE):
        verdicts = judge.judge([Pair(line["summary"], line["unit"]) for line in block])
        for line, verdict in zip(block, verdicts, strict=True):
            write({**line, **verdict.as_dict()})
            cut += verdict.was_truncated
        number += len(block)
    return number, cut
