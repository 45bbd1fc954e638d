"""Simulated workers on a button: for trying the whole way before anybody is asked to work."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from mturk.exchange.models import Hit, HitAssignment, Requester
from mturk.exchange.queries import states_of
from mturk.exchange.services import clock, recruiting
from mturk.exchange.services.settling import settle
from mturk.exchange.simulating import Crowd, Tally, simulate

WORKERS = 6
CROWD = Crowd(WORKERS, seed=1, accuracy=0.9, spam=1 / WORKERS, returns=0.05)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is open at the exchange, and what simulated workers have done there."""

    open: int
    handed_in: int


def standing() -> Standing:
    now = clock.now()
    settle(now=now)
    hits = list(Hit.objects.filter(disposed_at__isnull=True, expires_at__gt=now).select_related("hit_type"))
    done = HitAssignment.objects.filter(worker__is_simulated=True, submitted_at__isnull=False)
    return Standing(sum(state.available for state in states_of(hits, now=now).values()), done.count())


def let_work() -> Tally:
    """Let simulated workers do what is open, for every requester, through the worker pages alone."""
    whole = Tally()
    for requester in Requester.objects.filter(revoked_at__isnull=True):
        link = recruiting.simulated_link(requester, None, now=clock.now())
        profiles = CROWD.profiles()
        recruiting.enrol_simulated(link, [profile.name for profile in profiles], now=clock.now())
        join = settings.PUBLIC_URL + reverse("exchange:join", args=[link.token])
        whole.add(simulate(profiles, join=join, seed=CROWD.seed))
    return whole
