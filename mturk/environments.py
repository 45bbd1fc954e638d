"""Markets that batches can go to. Whoever runs the server names them; nobody types an address into a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.planning.fees import FeeSchedule
from mturk.pricing import AMAZON, NO_FEES, dollars

CLOSED_HOST = "amazonaws.com"
FEES = {"none": NO_FEES, "amazon": AMAZON}


class NoEnvironment(Exception):
    """A market that is not set up, or one without keys. The message says what to set."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One market: where it is, by which keys, and what it takes. The secret is read when a call needs it."""

    name: str
    endpoint: str
    region: str
    key_variable: str
    secret_variable: str
    fees: FeeSchedule
    is_exchange: bool

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint).hostname or ""

    @property
    def is_closed(self) -> bool:
        """Whether it is Amazon's own, which exists no more."""
        return self.host == CLOSED_HOST or self.host.endswith(f".{CLOSED_HOST}")

    def has_moved(self, endpoint: str) -> bool:
        """Whether a batch made for that address would go elsewhere now. Our own exchange is the same at any address."""
        return not self.is_exchange and self.endpoint != endpoint

    @property
    def warning(self) -> str:
        if not self.is_closed:
            return ""
        return _(
            "Amazon closed Mechanical Turk on 30 September 2026, its sandbox included. %(host)s is its address: "
            "nobody will do what is sent there. Choose the exchange, or another server that speaks the protocol."
        ) % {"host": self.host}

    def keys(self) -> tuple[str, str]:
        given: dict[str, Any] = settings.CROWD_ENVIRONMENTS[self.name]
        key = given.get("key_id") or os.environ.get(self.key_variable, "")
        secret = given.get("secret") or os.environ.get(self.secret_variable, "")
        if not key or not secret:
            raise NoEnvironment(
                _("There are no keys for the market “%(name)s”. Set %(key)s and %(secret)s for web and workers.")
                % {"name": self.name, "key": self.key_variable, "secret": self.secret_variable}
            )
        return key, secret


def environment(name: str) -> Environment:
    """The market of a name."""
    given: dict[str, Any] | None = settings.CROWD_ENVIRONMENTS.get(name)
    if given is None:
        known = ", ".join(settings.CROWD_ENVIRONMENTS)
        raise NoEnvironment(_("There is no market “%(name)s” here. Known: %(known)s.") % {"name": name, "known": known})
    return Environment(
        name=name,
        endpoint=given["endpoint_url"],
        region=given["region"],
        key_variable=given.get("key_id_variable", ""),
        secret_variable=given.get("secret_variable", ""),
        fees=FEES[given.get("fees", "amazon")],
        is_exchange=bool(given.get("is_exchange")),
    )


def environments() -> list[Environment]:
    return [environment(name) for name in settings.CROWD_ENVIRONMENTS]


def confirmation_words(place: Environment, title: str, cents: int) -> str:
    """What somebody must type before money leaves the house; "" on the exchange, whose money is the lab's own list."""
    return "" if place.is_exchange else f"{title} {dollars(cents)}"
