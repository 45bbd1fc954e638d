"""manage.py score PROJECT --metric … --judge …: scores the systems of a project, here and now."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.plain_command import PlainCommand, printable
from annotation.mixing import ORDERS, RULES
from annotation.models import Project, Run, RunState, System
from annotation.services.jobs import TooManyJobs, cancel_run, run_job
from annotation.services.labels import label_rules, main_rule
from scoring.metric_names import KNOWN, UnknownMetric
from scoring.models import SystemScore, Variant
from scoring.options import READINGS, BadOptions, ScoreOptions, checked_options
from scoring.services.results import board_signature
from scoring.services.score_job import request_score


class Command(PlainCommand):
    help = "Score the systems of a project. What was judged before is not judged again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT")
        parser.add_argument("--metric", default="lite2", help=KNOWN)
        parser.add_argument(
            "--judge",
            default="embedded",
            help='"human", "embedded", "human+embedded", or an NLI model by name or folder',
        )
        parser.add_argument("--reading", default="p", choices=READINGS, help="which value of a verdict counts")
        parser.add_argument("--order", default="easiest", choices=ORDERS, help="which sentences get STUs first")
        parser.add_argument("--rule", default="exact", choices=RULES, help='how many: "seed" as published code does')
        parser.add_argument("--labels", metavar="RULE", help="which labels of people: imported, majority …")
        parser.add_argument("--seed", type=int, default=0, help="of a sample of units or a random order")
        parser.add_argument("--system", action="append", metavar="NAME", help="only this system; may be repeated")
        parser.add_argument("--normalised", action="store_true", help="show length-normalised scores")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *, project: str, **options: Any) -> None:
        found = self.get_project(project)
        try:
            rule = self.label_rule(found, options["labels"])
            asked = checked_options({**options, "label_rule": rule, "systems": self.systems(found, options["system"])})
            run = request_score(found, asked, now=timezone.now())
        except (BadOptions, UnknownMetric, TooManyJobs) as error:
            raise CommandError(str(error)) from error
        try:
            run_job(run.pk)
        except KeyboardInterrupt:
            cancel_run(run, now=timezone.now())  # or a worker would go on with it
            raise CommandError(
                "Stopped. What was judged is kept; the same command goes on from there.", returncode=130
            ) from None
        run.refresh_from_db()
        self.wait_for(run)
        variant = Variant.NORMALISED if options["normalised"] else Variant.PLAIN
        self.show(run, asked, variant, as_json=options["json"])

    @staticmethod
    def label_rule(project: Project, name: str | None) -> str:
        known = label_rules(project)
        if name is not None and name not in known:
            raise CommandError(f"There are no labels {name!r} here. Known are {', '.join(known) or 'none'}.")
        return name or main_rule(project)

    @staticmethod
    def systems(project: Project, names: list[str] | None) -> list[int] | None:
        if names is None:
            return None
        known = dict(System.objects.live().filter(project=project).values_list("name", "pk"))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise CommandError(
                f"There is no system {unknown[0]!r} here. Known are {', '.join(sorted(known)) or 'none'}."
            )
        return [known[name] for name in names]

    @staticmethod
    def wait_for(run: Run) -> None:
        if run.state == RunState.RUNNING:
            raise CommandError(f"A worker has taken run {run.pk}. Follow it on its page, or ask again when it is done.")
        if run.state == RunState.QUEUED:
            raise CommandError(f"Run {run.pk} could not write to the database now and waits for a worker. Try again.")
        if run.state != RunState.DONE:
            raise CommandError(run.error or f"The run was {run.state}. Try again.")

    def show(self, run: Run, asked: ScoreOptions, variant: str, *, as_json: bool) -> None:
        rows = SystemScore.objects.filter(run=run, variant=variant).select_related("system")
        ranked = sorted(rows, key=lambda row: (row.place is None, row.place or 0, row.system.name))
        counts = run.counts
        self.stdout.write(
            f"{asked.metric}, {asked.judge}: {counts['pairs']:,} pairs, {counts['new_pairs']:,} of them judged now."
        )
        for row in ranked:
            score = "not measured" if row.value is None else f"{row.value:.4f}  [{row.low:.4f}, {row.high:.4f}]"
            note = row.letters if row.place else f"unranked: {row.reason}"
            self.stdout.write(f"{row.place or '–':>4}  {printable(row.system.name):32}{score:28}{note}")
        if counts["seen_units"]:
            self.stdout.write(f"In the judge's training data: {counts['seen_units']:,} of {counts['units']:,} units.")
        if counts["truncated"]:
            self.stdout.write(f"Cut off, too long for the judge: {counts['truncated']:,} pairs.")
        self.stdout.write(board_signature(run, ranked))
        if as_json:
            self.stdout.write(json.dumps({"run": run.pk, **_as_json(asked, run, ranked)}))


def _as_json(asked: ScoreOptions, run: Run, rows: list[SystemScore]) -> dict[str, Any]:
    return {
        "metric": asked.metric,
        "judge": asked.judge,
        "counts": run.counts,
        "signature": board_signature(run, rows),
        "systems": {
            row.system.name: {
                "score": row.value,
                "low": row.low,
                "high": row.high,
                "n": row.examples,
                "place": row.place,
                "letters": row.letters,
                "reason": row.reason,
                "by_people": row.by_people,
                "in_training_data": bool(run.counts["seen_units"]),
                "signature": row.signature,
            }
            for row in rows
        },
    }
