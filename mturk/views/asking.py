"""Asking a market while somebody waits for a page: briefly, and never in the way of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _

from mturk.client import connect
from mturk.environments import NoEnvironment, environment
from mturk.market import Market

SECONDS = 5.0


def try_market(name: str) -> tuple[Market | None, str]:
    """The market of an environment, or None and why not."""
    try:
        place = environment(name)
        if place.is_closed:
            return None, ""  # its warning says all
        return connect(place, tries=1, read_seconds=SECONDS), ""
    except NoEnvironment as error:
        return None, str(error)


def market_now(name: str) -> Market:
    """The same for an act that needs it. Raises NoEnvironment."""
    place = environment(name)
    if place.is_closed:
        raise NoEnvironment(_("That market is closed. %(why)s") % {"why": place.warning})
    return connect(place, tries=2, read_seconds=2 * SECONDS)
