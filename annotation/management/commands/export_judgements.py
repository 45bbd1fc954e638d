"""manage.py export_judgements PROJECT DIR --format …: what people judged into a folder of files."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.plain_command import PlainCommand
from annotation.readers.judgements import FILE_FORMATS
from annotation.services.exporting import ExportRefused
from annotation.services.judgement_export import export_judgements


class Command(PlainCommand):
    help = "Export the judgements of a project into a new folder, under pseudonyms, with a manifest of counts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project")
        parser.add_argument("directory", type=Path, help="a folder that does not exist yet, or an empty one")
        parser.add_argument("--format", required=True, choices=FILE_FORMATS)
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, directory: Path, **options: Any) -> None:
        found = self.get_project(project)
        try:
            report = export_judgements(found, directory, file_format=options["format"], now=timezone.now())
        except ExportRefused as error:
            raise CommandError(str(error)) from error
        for name, count in report.counts.as_dict().items():
            self.stdout.write(f"{name:16}{count:>12,}")
        for what, count in report.left_out.items():
            self.stderr.write(f"Left out: {count:,} {what}")
        files = "1 file" if len(report.files) == 1 else f"{len(report.files)} files"
        self.stdout.write(f"Written to {report.directory}: {files} and manifest.json.")
        if options["json"]:
            outcome = {"left_out": report.left_out, "files": report.files, "directory": str(report.directory)}
            self.stdout.write(json.dumps({**report.counts.as_dict(), **outcome}))
