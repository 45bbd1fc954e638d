"""manage.py measure_ratio_curve PROJECT: what Lite2.x is worth at every tenth of STUs, measured on a project."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.services.curves import store_curve
from annotation.services.labels import main_rule
from annotation.services.projects import ProjectInTrash, find_project
from scoring.curve_corpus import TooLittle, measure_curve, read_project


class Command(BaseCommand):
    help = "Measure how well Lite2.x agrees with people as STUs take over, and keep the curve for the plan page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="a project with SCUs, STUs and labels")
        parser.add_argument("--rule", help="which labels count (default: those of the rule with the most)")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write the curve as JSON, too")
        parser.add_argument("--json", action="store_true", help="print the curve as one JSON object at the end")

    def handle(self, *, project: str, rule: str | None, out: Path | None, **options: Any) -> None:
        from annotation.spacy_parser import WrongWeights, load_parser

        try:
            found = find_project(project, by_slug=True)
        except ProjectInTrash as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError(f"There is no project {project!r}. Import a corpus with SCUs and labels first.")
        if out and (out.is_dir() or not out.parent.is_dir()):
            raise CommandError(f"{out} cannot be written. Name a file in a folder that exists.")
        try:
            chosen = rule or main_rule(found)
            content = measure_curve(read_project(found, rule=chosen), load_parser(), progress=self._tell)
        except (TooLittle, WrongWeights) as error:
            raise CommandError(str(error)) from error
        store_curve(found, content, now=timezone.now())
        if out:
            out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        self._print(content)
        if options["json"]:
            self.stdout.write(json.dumps(content))

    def _tell(self, what: str, done: int, total: int) -> None:
        self.stderr.write(f"{what} ({done} of {total}) …")

    def _print(self, content: dict[str, Any]) -> None:
        self.stdout.write(f"{content['signature']}\n")
        self.stdout.write("   % STUs   summary r  [95 %]         random   minus random [95 %]     system r")
        for level in content["levels"]:
            own, other = level["summary"], level["system"]
            easiest, gap = own["easiest"], own["difference"]
            self.stdout.write(
                f"   {level['percent']:>6}   {easiest['value']:>9.3f}  [{easiest['low']:.3f}, {easiest['high']:.3f}]"
                f"   {own['random']['value']:>6.3f}   {gap['value']:>+6.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}]"
                f"   {other['easiest']['value']:>9.3f}"
            )
