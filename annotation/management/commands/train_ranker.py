"""manage.py train_ranker PROJECT OUT.json: a regressor of easiness from a corpus with SCUs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.ranking.regressor import train_ranker
from annotation.services.projects import find_project
from annotation.services.ranking import rows_of_project

MIN_SENTENCES = 50


class Command(BaseCommand):
    help = "Learn from the SCUs of a project how easily automatic units stand in for them, and write a ranker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT")
        parser.add_argument("target", type=Path, metavar="OUT.json")

    def handle(self, *, project: str, target: Path, **options: Any) -> None:
        from annotation.spacy_parser import WrongWeights, load_parser

        found = find_project(project, by_slug=True)
        if found is None:
            raise CommandError(f"There is no project {project!r}. Import a corpus with SCUs first.")
        if target.exists() and not target.is_file():
            raise CommandError(f"{target} is no file. Name a file for the ranker.")
        try:
            rows = list(rows_of_project(found, load_parser()))
        except WrongWeights as error:
            raise CommandError(str(error)) from error
        if len(rows) < MIN_SENTENCES:
            raise CommandError(
                f"{project!r} has {len(rows)} sentences with SCUs, and a ranker needs at least {MIN_SENTENCES}. "
                "A reference that was not split yet counts as one: run Split and decompose first."
            )
        ranker = train_ranker(
            [row.features for row in rows],
            [row.easiness for row in rows],
            seen=[row.digest for row in rows],
            trained_on=found.name,
        )
        try:
            ranker.write_to(target)
        except OSError as error:
            raise CommandError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
        self.stdout.write(f"Written to {target}: {ranker.signature}, from {found.name}.")
        self.stdout.write("Set PYRAMID_RANKER to this file, then rank again: page Split and decompose.")
