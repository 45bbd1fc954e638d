"""manage.py export_corpus PROJECT DIR --format …: a project into a folder of files."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.management.plain_command import PlainCommand
from annotation.readers import FORMATS
from annotation.services.exporting import ExportRefused, export_corpus


class Command(PlainCommand):
    help = "Export a project into a new folder, with a manifest of counts and SHA-256 sums."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project")
        parser.add_argument("directory", type=Path, help="a folder that does not exist yet, or an empty one")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, directory: Path, **options: Any) -> None:
        found = self.get_project(project)
        with tqdm(desc="writing", unit=" examples", disable=not self.stderr.isatty()) as bar:

            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            try:
                report = export_corpus(
                    found, directory, corpus_format=options["format"], now=timezone.now(), progress=show
                )
            except ExportRefused as error:
                raise CommandError(str(error)) from error
        for name, count in report.counts.as_dict().items():
            if count:
                self.stdout.write(f"{name:14}{count:>12,}")
        for what, count in report.left_out.items():
            self.stderr.write(f"Left out, {options['format']} has no place for it: {count:,} {what}")
        files = "1 file" if len(report.files) == 1 else f"{len(report.files)} files"
        self.stdout.write(f"Written to {report.directory}: {files} and manifest.json.")
        if options["json"]:
            outcome = {"left_out": report.left_out, "files": report.files, "directory": str(report.directory)}
            self.stdout.write(json.dumps({**report.counts.as_dict(), **outcome}))
