"""Simulated workers one click away."""

from __future__ import annotations

import datetime as dt

import pytest
from django.urls import reverse
from django.utils import timezone

from mturk.exchange.ids import SIMULATED as named_by_the_exchange
from mturk.exchange.services.recruiting import enrol_simulated, simulated_link
from mturk.exchange.services.simulated import standing
from mturk.services.figures import SIMULATED
from tests.factories import MembershipFactory
from tests.mturk.exchange.rows import HitFactory, RequesterFactory

pytestmark = pytest.mark.django_db


def test_simulated_workers_are_off_unless_the_server_says_otherwise(client, settings, monkeypatch):
    lead = MembershipFactory(role="lead").user
    client.force_login(lead)
    assert client.get(reverse("exchange:simulated")).status_code == 404
    settings.EXCHANGE_SIMULATION = True
    client.force_login(MembershipFactory(role="annotator").user)
    assert client.get(reverse("exchange:simulated")).status_code == 404
    client.force_login(lead)
    sent: list[dict] = []
    monkeypatch.setattr("mturk.exchange.views.simulated.simulate_task.apply_async", lambda **given: sent.append(given))
    assert b"Nothing is open" in client.get(reverse("exchange:simulated")).content
    assert client.post(reverse("exchange:simulated")).status_code == 302
    assert sent == [{"queue": "io", "retry": False}]


def test_a_requester_can_tell_simulated_workers_by_their_id():
    link = simulated_link(RequesterFactory(), None, now=timezone.now())
    (worker,) = enrol_simulated(link, ["w1"], now=timezone.now())
    assert worker.worker_id.startswith(SIMULATED)
    assert named_by_the_exchange == SIMULATED


def test_what_is_open_is_counted_in_assignments():
    HitFactory(max_assignments=3, expires_at=timezone.now() + dt.timedelta(days=1))
    HitFactory(max_assignments=3)  # ran out
    assert standing().open == 3
