"""manage.py collect_hits PROJECT [NUMBER …]: collect what the crowd handed in, and tell the market what was decided."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.plain_command import PlainCommand, printable
from mturk.environments import NoEnvironment
from mturk.market import MarketError
from mturk.models import BatchState, CrowdBatch
from mturk.services.crowd_job import market_of, synchronise
from mturk.services.polling import ON_THE_MARKET
from mturk.services.publishing import PublishStopped


class Command(PlainCommand):
    help = "Collect assignments of crowd batches. As often as you like: nothing is collected, counted or paid twice."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug")
        parser.add_argument("numbers", type=int, nargs="*", help="of crowd batches; none for all that are out")
        parser.add_argument("--every", action="store_true", help="list every HIT, not only those with news")
        parser.add_argument("--approve", action="store_true", help="approve what fails no check")

    def handle(self, *arguments: Any, **options: Any) -> None:
        project = self.get_project(options["project"])
        batches = CrowdBatch.objects.filter(project=project).select_related("project").order_by("number")
        numbers = options["numbers"]
        own = batches.filter(number__in=numbers) if numbers else batches.filter(state__in=ON_THE_MARKET)
        missing = set(numbers) - set(own.values_list("number", flat=True))
        if missing:
            raise CommandError(f"There is no crowd batch {min(missing)} in {options['project']!r}.")
        for batch in own.exclude(state=BatchState.DRAFT):
            try:
                self._collect(batch, every=options["every"], approve=options["approve"])
            except (MarketError, NoEnvironment, PublishStopped) as error:
                raise CommandError(f"{batch}: {printable(str(error))} Run the same again.") from error

    def _collect(self, batch: CrowdBatch, *, every: bool, approve: bool) -> None:
        done = synchronise(batch, market_of(batch), every=every, approve=approve)
        new, told = done.found, done.told
        self.stdout.write(
            f"{batch}: {new.new:,} new, {new.stored:,} read, {new.problems:,} with a problem, "
            f"{told.approved:,} approved, {told.rejected:,} rejected, {told.bonuses:,} bonuses, "
            f"{done.asked.added:,} more asked for."
        )
