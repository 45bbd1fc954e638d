"""manage.py import_corpus PATH --format … --project NAME: a corpus from files into the database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.management.plain_command import PlainCommand, printable
from annotation.models import User
from annotation.readers import FORMATS
from annotation.services.importing import ImportRefused, ImportReport, import_corpus

SHOWN_PROBLEMS = 30
SHOWN_NOTES = 10


class Command(PlainCommand):
    help = "Import a corpus: a Lite2-3Pyramid folder, JSONL, CSV, or a zip of one of them. All of it, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", help="a folder, a file or a zip")
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--project", required=True, help="name of the project; created if it does not exist")
        parser.add_argument("--lead", help="user name of the person who leads the project if it is new")
        parser.add_argument("--dry-run", action="store_true", help="check and count, write nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, path: str, project: str, lead: str | None, dry_run: bool, **options: Any) -> None:
        if not path.strip():
            raise CommandError("The path is empty. Name a folder, a file or a zip.")
        actor = User.objects.filter(username=lead).first() if lead else None
        if lead and actor is None:
            raise CommandError(
                f"There is no user {lead!r}. Check the name; manage.py createsuperuser makes the first one."
            )
        bar = ProgressBar(self.stderr)
        try:
            report = import_corpus(
                Path(path),
                corpus_format=options["format"],
                project_name=project,
                now=timezone.now(),
                actor=actor,
                dry_run=dry_run,
                progress=bar.show,
            )
        except ImportRefused as refusal:
            bar.close()
            self._fail(refusal.report, as_json=options["json"])
        finally:
            bar.close()
        self._show(report, dry_run=dry_run)
        if lead and report.project and not report.project.memberships.filter(user=actor, left_at__isnull=True).exists():
            self.stderr.write(
                "Note: --lead counts for a new project only. "
                f"Add somebody to this one: manage.py add_member {report.project.slug} {lead} --role lead"
            )
        if options["json"]:
            outcome = {"new": report.new.as_dict(), "dry_run": dry_run, "warnings": report.warnings}
            self.stdout.write(json.dumps({**report.counts.as_dict(), **outcome}))

    def _fail(self, report: ImportReport, *, as_json: bool) -> NoReturn:
        problems = list(report.problems)
        lines = [printable(str(problem)) for problem in problems[:SHOWN_PROBLEMS]]
        if report.problems.count > len(lines):
            lines.append(
                f"… and {report.problems.count - len(lines):,} more; --json lists the first {report.problems.KEPT}."
            )
        if as_json:
            rows = [{"file": item.file, "line": item.line, "message": item.message} for item in problems]
            self.stdout.write(
                json.dumps({"error": "refused", "problem_count": report.problems.count, "problems": rows})
            )
        count = report.problems.count
        title = "1 problem" if count == 1 else f"{count:,} problems"
        raise CommandError("\n".join([f"{title}; nothing was imported.", *lines]))

    def _show(self, report: ImportReport, *, dry_run: bool) -> None:
        counts, new = report.counts.as_dict(), report.new.as_dict()
        self.stdout.write(f"{'':14}{'in the files':>14}{'new' if not dry_run else 'would be new':>14}")
        for name, count in counts.items():
            if count or new[name]:
                self.stdout.write(f"{name:14}{count:>14,}{new[name]:>14,}")
        if report.first_units:
            self.stdout.write("First units:")
        for line in report.first_units:
            self.stdout.write(f"  {printable(line)}")
        for warning in report.warnings[:SHOWN_NOTES]:
            self.stderr.write(f"Note: {printable(warning)}")
        if len(report.warnings) > SHOWN_NOTES:
            self.stderr.write(f"… and {len(report.warnings) - SHOWN_NOTES} more notes; --json lists them.")
        if dry_run:
            self.stdout.write("Dry run: nothing was written.")
        elif report.new.total() == 0:
            self.stdout.write("Everything was here already; nothing changed.")
        elif report.project:
            self._show_place(report)

    def _show_place(self, report: ImportReport) -> None:
        project = report.project
        assert project is not None
        self.stdout.write(f"Imported into the project {project.name!r}, on the web at /projects/{project.slug}/")
        if not project.memberships.filter(left_at__isnull=True).exists():
            self.stdout.write(
                "It has no members yet, so only staff see it. Add one: "
                f"manage.py add_member {project.slug} USERNAME --role lead"
            )


class ProgressBar:
    """One bar per phase, on a terminal only."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.phase = ""
        self.bar: tqdm[Any] | None = None

    def show(self, phase: str, done: int, total: int) -> None:
        if phase != self.phase:
            self.close()
            self.phase = phase
            hidden = not getattr(self.stream, "isatty", lambda: False)()
            self.bar = tqdm(total=total, desc=phase, unit="B", unit_scale=True, disable=hidden)
        if self.bar is not None:
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
