"""manage.py import_judgements PROJECT PATH --format …: what people judged elsewhere into a project."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.commands.import_corpus import SHOWN_PROBLEMS, ProgressBar
from annotation.management.plain_command import PlainCommand, printable
from annotation.readers.judgements import FILE_FORMATS
from annotation.services.judgement_import import MISSING, PRESENT, JudgementReport, JudgementsRefused, import_judgements

# Rules for answers that were left blank, by the corpus that has them.
BLANK_RULES = {MISSING: MISSING, "litepyramid": PRESENT}


class Command(PlainCommand):
    help = "Import judgements: batch results of Mechanical Turk, or one row per vote. All of them, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project, which has the corpus already")
        parser.add_argument("path", help="a file, a folder or a zip; amt takes every .csv in a folder")
        parser.add_argument("--format", required=True, choices=FILE_FORMATS)
        parser.add_argument("--prefix", default="", help="what stands before the names of systems here, e.g. abs_")
        parser.add_argument(
            "--blank",
            default=MISSING,
            choices=BLANK_RULES,
            help="what a blank answer is: missing (default), or present by the rule of litepyramid",
        )
        parser.add_argument("--dry-run", action="store_true", help="check and count, write nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, path: str, dry_run: bool, **options: Any) -> None:
        found = self.get_project(project)
        if not path.strip():
            raise CommandError("The path is empty. Name a file, a folder or a zip.")
        bar = ProgressBar(self.stderr)
        try:
            report = import_judgements(
                found,
                Path(path),
                file_format=options["format"],
                now=timezone.now(),
                prefix=options["prefix"],
                blank=BLANK_RULES[options["blank"]],
                dry_run=dry_run,
                progress=bar.show,
            )
        except JudgementsRefused as refusal:
            bar.close()
            self._fail(refusal.report, as_json=options["json"])
        finally:
            bar.close()
        self._show(report, dry_run=dry_run)
        if options["json"]:
            outcome = {"new": report.new.as_dict(), "known": report.known, "dry_run": dry_run}
            self.stdout.write(json.dumps({**report.counts.as_dict(), **outcome}))

    def _fail(self, report: JudgementReport, *, as_json: bool) -> NoReturn:
        problems, count = list(report.problems), report.problems.count
        lines = [printable(str(problem)) for problem in problems[:SHOWN_PROBLEMS]]
        if count > len(lines):
            lines.append(f"… and {count - len(lines):,} more; --json lists the first {report.problems.KEPT}.")
        if as_json:
            rows = [{"file": item.file, "line": item.line, "message": item.message} for item in problems]
            self.stdout.write(json.dumps({"error": "refused", "problem_count": count, "problems": rows}))
        title = "1 problem" if count == 1 else f"{count:,} problems"
        raise CommandError("\n".join([f"{title}; nothing was imported.", *lines]))

    def _show(self, report: JudgementReport, *, dry_run: bool) -> None:
        counts, new = report.counts.as_dict(), report.new.as_dict()
        self.stdout.write(f"{'':16}{'in the files':>14}{'new' if not dry_run else 'would be new':>14}")
        for name, count in counts.items():
            if name != "judges" and (count or new[name]):
                self.stdout.write(f"{name:16}{count:>14,}{new[name]:>14,}")
        self.stdout.write(f"{'judges':16}{'':14}{new['judges']:>14,}")
        if dry_run:
            self.stdout.write("Dry run: nothing was written.")
        elif not new["assignments"] + new["judgements"]:
            self.stdout.write("Everything was here already; nothing changed.")
