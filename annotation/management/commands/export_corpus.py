"""manage.py export_corpus PROJECT DIR --format …: a project into a folder of files."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.readers import FORMATS
from annotation.services.exporting import ExportRefused, export_corpus
from annotation.services.projects import ProjectInTrash, find_project


class Command(BaseCommand):
    help = "Export a project into a new folder, with a manifest of counts and SHA-256 sums."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project")
        parser.add_argument("directory", type=Path, help="a folder that does not exist yet, or an empty one")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, directory: Path, **options: Any) -> None:
        try:
            found = find_project(project)
        except ProjectInTrash as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError(f"There is no project {project!r}. Check the name.")
        hidden = not self.stderr.isatty()
        with tqdm(desc="writing", unit=" examples", disable=hidden) as bar:

            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            try:
                report = export_corpus(
                    found, directory, corpus_format=options["format"], now=timezone.now(), progress=show
                )
            except (ExportRefused, OSError) as error:
                raise CommandError(str(error)) from error
        for name, count in report.counts.as_dict().items():
            if count:
                self.stdout.write(f"{name:14}{count:>12,}")
        self.stdout.write(f"Written to {report.directory}, with {len(report.files)} files and manifest.json.")
        if options["json"]:
            self.stdout.write(
                json.dumps({**report.counts.as_dict(), "files": report.files, "directory": str(report.directory)})
            )
