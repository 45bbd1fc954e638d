"""manage.py exchange: the exchange alone, for requesters elsewhere and the people who work for them."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from mturk.exchange.models import Requester
from mturk.exchange.money import cents_of, dollars_of
from mturk.exchange.services.requesters import create_requester
from mturk.exchange.signing import REGION
from workbench import processes
from workbench.management.commands.demo import stop_on_signals

SETTINGS = "workbench.exchange_settings"


class Command(BaseCommand):
    help = "Serve the exchange alone: MTurk's API at the root, and the site for workers. Ctrl-C stops it."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            help="address to serve at (default 127.0.0.1); for others than this machine set PUBLIC_URL as well",
        )
        parser.add_argument("--port", default="8100", help="port to serve at (default 8100)")
        parser.add_argument("--requester", default="", help="make a requester of this name and print its key")
        parser.add_argument("--deposit", default="0", help="dollars that the new requester may spend")

    def handle(self, *, host: str, port: str, requester: str, deposit: str, **options: Any) -> None:
        number, cents = checked_port(host, port), checked_amount(deposit)
        if cents and not requester:
            raise CommandError("--deposit goes with --requester. For one that exists, use the page of requester keys.")
        stop = stop_on_signals()
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        address = os.environ.get("PUBLIC_URL") or f"http://{host}:{number}"
        self.show(address, create_requester(requester, now=timezone.now(), deposit_cents=cents) if requester else None)
        web = processes.start(
            serve_command(host, number),
            cwd=settings.BASE_DIR,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS, "PUBLIC_URL": address},
        )
        try:
            while not stop.wait(0.5):
                if web.poll() is not None:
                    raise CommandError("The server ended by itself; its last lines are above.")
        finally:
            processes.stop(web)
            self.stdout.write("The exchange has stopped.")

    def show(self, address: str, made: Requester | None) -> None:
        self.stdout.write(
            f"\nThe exchange runs at  {address}/\n"
            f"  requesters  endpoint_url {address}/ with region {REGION}\n"
            f"  workers     {address}/exchange/work/\n"
            f"  keys        {address}/exchange/keys/ (for staff)\n"
        )
        if made is not None:
            self.stdout.write(
                f"{made.name} may spend ${dollars_of(made.balance_cents)}. The secret is printed this once:\n"
                f"  AWS_ACCESS_KEY_ID={made.key_id}\n  AWS_SECRET_ACCESS_KEY={made.secret}\n"
            )
        self.stdout.flush()


def serve_command(host: str, port: int) -> list[str]:
    return [
        sys.executable, "-m", "gunicorn", "--config", "python:workbench.gunicorn_conf", "--bind", f"{host}:{port}",
        "workbench.wsgi",
    ]  # fmt: skip


def checked_port(host: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise CommandError(f"{text!r} is no port. Use a number from 1 to 65535.")
    if not processes.port_is_free(host, int(text)):
        raise CommandError(f"Port {text} at {host} is taken, or the address is not this machine's. Choose another.")
    return int(text)


def checked_amount(text: str) -> int:
    try:
        return cents_of(text)
    except ValueError:
        raise CommandError(f"{text!r} is no amount of dollars, e.g. 100.00.") from None
