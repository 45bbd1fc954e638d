"""The crowd for programs: to read, never to pay."""

from __future__ import annotations

import pytest

from mturk.models import CrowdBatch, CrowdHit
from mturk.services.collecting import collect_batch
from mturk.services.publishing import publish_batch
from tests.factories import MembershipFactory
from tests.judging import judged_project
from tests.mturk.crowds import confirmed, drafted, work_all
from tests.mturk.fakes import FakeMarket

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client):
    project = judged_project(slug="api")
    client.force_login(MembershipFactory(project=project, role="lead").user)
    return project


def test_batches_are_listed_with_their_money(client, project):
    batch, market = confirmed(project), FakeMarket()
    publish_batch(batch.pk, market, clock=market.clock)
    work_all(market, batch, {"AWORKER1": "present"})
    collect_batch(batch.pk, market, clock=market.clock)
    (row,) = client.get("/api/v1/projects/api/crowd-batches/?state=live").json()["results"]
    told = {
        name: row[name] for name in ("number", "state", "hits", "live_hits", "collected", "approved", "reserved_cents")
    }
    assert told == {
        "number": 1, "state": "live", "hits": 4, "live_hits": 4, "collected": 4, "approved": 0, "reserved_cents": 336
    }  # fmt: skip
    assert "endpoint" not in row


def test_a_dry_run_tells_the_cost_and_does_nothing(client, project):
    batch = drafted(project, cap_cents=100)
    found = client.get(f"/api/v1/projects/api/crowd-batches/{batch.number}/dry-run/").json()
    assert (found["hits"], found["total"], found["fees"]) == (4, 336, 0)
    assert "the cap is $1.00" in found["problems"][0]
    assert CrowdBatch.objects.get().state == "draft"
    assert not CrowdHit.objects.exists()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_is_paid_through_the_api(client, project, method):
    batch = drafted(project)
    for address in ("", f"{batch.number}/dry-run/"):
        assert getattr(client, method)(f"/api/v1/projects/api/crowd-batches/{address}").status_code == 405
