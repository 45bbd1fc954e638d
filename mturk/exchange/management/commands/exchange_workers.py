"""manage.py exchange_workers: simulated workers do the HITs of the exchange, through its worker pages only."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from mturk.exchange.models import QualificationType, RecruitmentLink, Requester
from mturk.exchange.services import clock, recruiting
from mturk.exchange.simulating import Crowd, read_key, simulate, skimming_key


def share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text} is no share from 0 to 1")
    return value


def number(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ArgumentTypeError(f"{text} is not 1 or more")
    return value


class Command(BaseCommand):
    help = "Let simulated workers do the open HITs. They are marked as simulated wherever people see them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workers", type=number, default=10, help="how many (default: %(default)s)")
        parser.add_argument("--seed", type=int, default=0, help="the same seed, the same workers and answers")
        parser.add_argument(
            "--accuracy", type=share, default=0.9, help="how often they are right (default: %(default)s)"
        )
        parser.add_argument("--speed", type=float, default=0.0, help="60: a minute takes a second; 0: nobody waits")
        parser.add_argument("--spam", type=share, default=0.0, help="share of careless workers (default: %(default)s)")
        parser.add_argument("--returns", type=share, default=0.0, help="share of HITs that they return")
        parser.add_argument("--abandons", type=share, default=0.0, help="share of HITs that they accept and forget")
        parser.add_argument("--key", type=Path, help='JSON file of right answers: [{"text", "statement", "answer"}]')
        parser.add_argument("--most", type=number, help="stop after that many assignments")
        parser.add_argument("--threads", type=number, default=1, help="rooms in which they work at once")
        parser.add_argument("--requester", help="whose recruitment link they use (default: the only one there is)")
        parser.add_argument("--qualification", help="name of a qualification that they get, of that requester")
        parser.add_argument("--url", default=settings.PUBLIC_URL, help="where the exchange runs (default: %(default)s)")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, **options: Any) -> None:
        crowd = Crowd(
            options["workers"], seed=options["seed"], accuracy=options["accuracy"], spam=options["spam"],
            returns=options["returns"], abandons=options["abandons"], speed=options["speed"],
        )  # fmt: skip
        profiles = crowd.profiles()
        link = self.find_link(options["requester"], options["qualification"])
        recruiting.enrol_simulated(link, [profile.name for profile in profiles], now=clock.now())
        join = options["url"].rstrip("/") + reverse("exchange:join", args=[link.token])
        try:
            key = read_key(options["key"]) if options["key"] else skimming_key
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CommandError(f"The key {options['key']} cannot be read: {error}") from error
        started = time.monotonic()
        try:
            tally = simulate(
                profiles, join=join, key=key, seed=crowd.seed, speed=crowd.speed, threads=options["threads"],
                most=options["most"],
            )  # fmt: skip
        except OSError as error:
            raise CommandError(
                f"No exchange answers at {options['url']} ({error}). Start it, or name its --url."
            ) from error
        seconds = time.monotonic() - started
        figures = {
            "handed_in": tally.handed_in, "returned": tally.returned, "abandoned": tally.abandoned,
            "refused": tally.refused, "requests": tally.requests, "seconds": round(seconds, 2),
        }  # fmt: skip
        self.stdout.write(
            f"{tally.handed_in:,} handed in, {tally.returned:,} returned, {tally.abandoned:,} left lying, "
            f"{tally.refused:,} refused, by {len(profiles):,} simulated workers in {seconds:.1f} s"
        )
        if options["json"]:
            self.stdout.write(json.dumps(figures))

    def find_link(self, name: str | None, qualification: str | None) -> RecruitmentLink:
        """The link for simulated workers, made when it is first needed."""
        requesters = Requester.objects.filter(revoked_at__isnull=True)
        found = list(requesters.filter(name=name)[:2] if name else requesters[:2])
        if len(found) != 1:
            names = ", ".join(sorted(requesters.values_list("name", flat=True)))
            raise CommandError(
                f"Name one requester by --requester. There are: {names or 'none; publish something first'}."
            )
        kind = None
        if qualification:
            types = QualificationType.objects.filter(requester=found[0], deleted_at__isnull=True)
            kind = types.filter(name=qualification).first()
            if kind is None:
                raise CommandError(f"{found[0].name} has no qualification {qualification!r}.")
        return recruiting.simulated_link(found[0], kind, now=clock.now())
