"""manage.py check_units PROJECT: how often each check of the writing page fires on units that are there."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Project
from annotation.services.projects import ProjectInTrash, find_project
from annotation.services.text_checks import LEAST_FOLLOWS
from annotation.services.unit_checks import check_project, units_with_sentences
from annotation.writing.checks import ERROR
from scoring.services.text_checks import find_out


class Command(BaseCommand):
    help = "Run the checks of the writing page over the units of a project. Nothing is changed or refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT")
        parser.add_argument("--kind", choices=["scu", "stu"], default="scu", help="which units (default: %(default)s)")
        parser.add_argument("--list", metavar="CHECK", help="print the units on which a check fires")
        parser.add_argument("--models", action="store_true", help="also the checks that need a parse and a judge")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, kind: str, **options: Any) -> None:
        try:
            found = find_project(project, by_slug=True)
        except ProjectInTrash as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError(f"There is no project {project!r}.")
        units, counts, warned = 0, Counter[str](), 0
        for example, text, findings in check_project(found, kind):
            units += 1
            counts.update(finding.check for finding in findings)
            warned += bool(findings)
            for finding in findings:
                if finding.check == options["list"]:
                    self.stdout.write(f"{example}\t{text}" + (f"\t{finding.twin}" if finding.twin else ""))
        if not units:
            raise CommandError(f"{found.name!r} has no {kind.upper()}s. Import or write some first.")
        self.stdout.write(f"{units:,} {kind.upper()}s of {found.name}")
        shown = dict(CHECKS)
        if options["models"]:
            counts.update(self.by_models(found, kind, options["list"]))
            shown |= MODEL_CHECKS
        shares = {name: round(100 * counts[name] / units, 2) for name in shown}
        for name, (level, words) in shown.items():
            self.stdout.write(f"  {name:10} {shares[name]:6.2f} %  {level:8} {words}")
        self.stdout.write(f"  {'any':10} {100 * warned / units:6.2f} %")
        if options["json"]:
            whole = {"units": units, "percent": {**shares, "any": round(100 * warned / units, 2)}}
            self.stdout.write(json.dumps(whole))

    def by_models(self, project: Project, kind: str, listed: str | None) -> Counter[str]:
        """Counts of what a worker would say of the units beside their sentences."""
        placed = list(units_with_sentences(project, kind))
        findings, _judge = find_out([(sentence, text) for _, sentence, text in placed])
        counts = Counter[str]()
        for (example, _sentence, text), finding in zip(placed, findings, strict=True):
            names = ["verb"] * (not finding.has_verb) + ["follows"] * finding.is_doubtful
            counts.update(names)
            if listed in names:
                self.stdout.write(f"{example}\t{text}")
        return counts


MODEL_CHECKS = {
    "verb": ("badge", "no verb"),
    "follows": ("badge", f"the judge gives less than {LEAST_FOLLOWS} that its sentence says it"),
}
CHECKS = {
    "short": (ERROR, "fewer than 3 words"),
    "duplicate": (ERROR, "the same words as another unit of the reference"),
    "long": ("warning", "more than 15 words"),
    "and": ("warning", "“and” inside"),
    "pronoun": ("warning", "begins with a pronoun"),
    "near": ("warning", "nearly the same words as another unit (Jaccard of at least .8)"),
    "foreign": ("warning", "fewer than 40 % of its content words are in the reference"),
}
