"""manage.py train_judge PROJECT OUT.json: a head for the embedded judge from a project's own labels."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Label
from annotation.services.projects import ProjectInTrash, find_project
from scoring.training import TooFewLabels, train_on_project


class Command(BaseCommand):
    help = "Learn from the labels of a project which units people find in summaries, and write a head for the judge."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT")
        parser.add_argument("target", type=Path, metavar="OUT.json")
        parser.add_argument("--rule", default=Label.IMPORTED, help="which labels to learn from (default: %(default)s)")

    def handle(self, *, project: str, target: Path, rule: str, **options: Any) -> None:
        from annotation.spacy_parser import WrongWeights, load_parser

        try:
            found = find_project(project, by_slug=True)
        except ProjectInTrash as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError(f"There is no project {project!r}. Import a corpus with labels first.")
        if target.exists() and not target.is_file():
            raise CommandError(f"{target} is no file. Name a file for the head.")
        try:
            trained = train_on_project(found, load_parser(), rule=rule)
        except (WrongWeights, TooFewLabels) as error:
            raise CommandError(str(error)) from error
        try:
            trained.head.write_to(target)
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
        correlation = trained.summary_pearson
        told = "not measured (no example has two systems)" if correlation is None else f"{correlation:.3f}"
        self.stdout.write(f"{trained.labels:,} labelled pairs in {trained.examples:,} examples of {found.name}.")
        self.stdout.write("Out of fold, five folds by examples:")
        self.stdout.write(f"  accuracy                    {trained.accuracy:.3f}")
        self.stdout.write(f"  expected calibration error  {trained.calibration_error:.3f}")
        self.stdout.write(f"  summary-level Pearson       {told}")
        self.stdout.write(f"Written to {target}: {trained.head.signature}.")
        self.stdout.write("Set PYRAMID_JUDGE_HEAD to this file, then score again with the embedded judge.")
