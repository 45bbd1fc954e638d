"""manage.py publish_hits PROJECT NUMBER: publish a crowd batch from the command line, or go on with one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.plain_command import PlainCommand, printable
from mturk.environments import NoEnvironment, confirmation_words
from mturk.market import MarketError
from mturk.models import BatchState, CrowdBatch
from mturk.pricing import OverCap, dollars
from mturk.services.crowd_job import market_of
from mturk.services.ending import CannotEnd, resume
from mturk.services.planning import CannotPublish, Preview, confirm, dry_run, wish_of
from mturk.services.publishing import PublishStopped, publish_batch


class Command(PlainCommand):
    help = "Publish the HITs of a crowd batch. Cut off at any point, the same command goes on; no HIT is made twice."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug")
        parser.add_argument("number", type=int, help="of the crowd batch")
        parser.add_argument("--dry-run", action="store_true", help="say what it would cost, and publish nothing")
        parser.add_argument("--confirm", default="", metavar="WORDS", help="on other markets: the title and the amount")

    def handle(self, *arguments: Any, **options: Any) -> None:
        batch = find_batch(self, options["project"], options["number"])
        try:
            market = market_of(batch)
            if options["dry_run"] or batch.state == BatchState.DRAFT:
                found = dry_run(batch.project, wish_of(batch), market)
                self._say(found)
                if options["dry_run"]:
                    return
                if not found.can_go or not found.is_checked:
                    raise CommandError("Nothing was published.")
                batch = confirm(batch, typed=options["confirm"], now=timezone.now(), actor=None)
            if batch.state == BatchState.PAUSED:
                batch = resume(batch, now=timezone.now(), actor=None)
            done = publish_batch(batch.pk, market, clock=timezone.now, report=self._report)
        except (CannotPublish, CannotEnd, OverCap, NoEnvironment, PublishStopped) as error:
            raise CommandError(str(error)) from error
        except MarketError as error:
            raise CommandError(f"The market does not answer ({error}). Run the same again.") from error
        told = ", ".join(f"{number} {name}" for name, number in done.as_dict().items() if number) or "nothing to do"
        self.stdout.write(f"{batch}: {told}.")
        for error_text in done.errors[:20]:
            self.stderr.write(printable(error_text))

    def _report(self, phase: str, done: int, total: int) -> None:
        if done % 100 == 0 and done:
            self.stdout.write(f"{done:,} of {total:,}")

    def _say(self, found: Preview) -> None:
        cost = found.cost
        self.stdout.write(f"{cost.hits:,} HITs, {cost.assignments:,} assignments, {dollars(cost.total)} with fees.")
        for text in (*found.problems, *found.warnings):
            self.stdout.write(f"- {printable(text)}")
        words = confirmation_words(found.place, "TITLE", cost.most)
        if words:
            self.stdout.write(f'To publish: --confirm "{words}", with the title of the batch.')


def find_batch(command: PlainCommand, project_name: str, number: int) -> CrowdBatch:
    project = command.get_project(project_name)
    batch = CrowdBatch.objects.filter(project=project, number=number).select_related("project", "batch").first()
    if batch is None:
        raise CommandError(f"There is no crowd batch {number} in {project_name!r}.")
    return batch
