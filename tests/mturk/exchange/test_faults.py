"""Failures to order, over a real connection, with boto3 as it is: what its retries make of them."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, HTTPClientError, ReadTimeoutError

from mturk.exchange.models import Hit, Requester
from mturk.exchange.services import clock, faults
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import assert_balanced, connect
from tests.mturk.exchange.walking import publish, refused


@pytest.fixture
def served(transactional_db, live_server, settings):
    """A requester at a real server."""
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"
    requester = create_requester("Lab", now=clock.now(), deposit_cents=10_000)
    yield requester, live_server.url
    assert_balanced()


def client_of(served, attempts=1, **config):
    requester, url = served
    return connect(requester, url, retries={"total_max_attempts": attempts, "mode": "standard"}, **config)


def test_a_lost_reply_makes_boto3_publish_twice_unless_there_is_a_token(served):
    mturk = client_of(served, attempts=3)
    faults.order("drop_after", operation="CreateHIT")
    publish(mturk)
    assert Hit.objects.count() == 2  # nobody asked for two
    faults.order("drop_after", operation="CreateHIT")
    with pytest.raises(ClientError) as caught:
        publish(mturk, UniqueRequestToken="one")
    assert Hit.objects.count() == 3
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.HitAlreadyExists"
    assert Hit.objects.latest("pk").hit_id in str(caught.value)


def test_a_connection_that_breaks_before_changes_nothing(served):
    mturk = client_of(served)
    faults.order("drop_before")
    with pytest.raises((ConnectionClosedError, HTTPClientError)):
        publish(mturk)
    assert Hit.objects.count() == 0
    assert publish(mturk)


def test_a_fault_after_the_deed(served):
    mturk = client_of(served)
    faults.order("error_after", operation="CreateHIT")
    with refused("ServiceFault") as answer:
        publish(mturk)
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert Hit.objects.count() == 1


def test_a_slow_reply(served):
    mturk = client_of(served, read_timeout=0.3)
    faults.order("slow", operation="CreateHIT", seconds=0.8)
    with pytest.raises(ReadTimeoutError):
        publish(mturk)
    deadline = time.monotonic() + 20  # the server is still at it
    while not Hit.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert Hit.objects.count() == 1


def test_throttling_passes_with_patience(served):
    faults.order("throttle", times=2)
    assert client_of(served, attempts=3).get_account_balance()["AvailableBalance"] == "100.00"
    faults.order("throttle", times=None)
    with refused("ThrottlingException", "Rate exceeded"):
        client_of(served).get_account_balance()
    faults.cancel_all()


def test_an_empty_page_with_a_token_loses_nothing(served):
    mturk = client_of(served)
    made = [publish(mturk, MaxAssignments=1) for _ in range(5)]
    faults.order("empty_page", operation="ListHITs", skip=1, times=2)
    pages = list(mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 2}))
    assert [page["NumResults"] for page in pages] == [2, 0, 0, 2, 1]
    assert [hit["HITId"] for page in pages for hit in page["HITs"]] == made


def test_money_runs_out_at_the_third_hit(served):
    mturk = client_of(served)
    faults.order("no_funds", skip=2)
    mturk.get_account_balance()  # other calls do not count
    publish(mturk)
    publish(mturk)
    with refused("InsufficientFunds", "insufficient funds"):
        publish(mturk)
    assert publish(mturk)
    assert faults.fired() == {"no_funds": 1}


@pytest.mark.django_db
def test_a_share_of_calls_is_drawn_by_the_seed(settings):
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"

    def draw(seed):
        faults.cancel_all()
        faults.order("throttle", share=0.3, times=None, seed=seed)
        return [bool(faults.strike("GetHIT")) for _ in range(40)]

    assert draw(1) == draw(1) != draw(2)
    assert 5 < sum(draw(3)) < 20


@pytest.mark.django_db
def test_without_control_nothing_is_struck(settings):
    settings.EXCHANGE_CONTROL_TOKEN = ""
    faults.order("throttle", times=None)
    assert faults.strike("GetHIT") == {}


CONTROL = "/exchange/_control/"


def ask(url, path, body=None, *, token="for-tests", method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url + CONTROL + path, data=data, method=method, headers={"X-Control-Token": token} if token else {}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@pytest.mark.urls("tests.mturk.exchange.urls_with_control")
def test_the_control_interface_moves_time_orders_failures_and_clears(served):
    requester, url = served
    mturk = client_of(served)
    publish(mturk, LifetimeInSeconds=300)
    assert ask(url, "clock")["offset_s"] == 0
    assert ask(url, "clock", {"advance": 301})["offset_s"] == 301
    assert mturk.get_account_balance()["OnHoldBalance"] == "0.00"
    ask(url, "faults", {"kind": "throttle"})
    with refused("ThrottlingException"):
        mturk.list_hits()
    assert ask(url, "faults") == {"fired": {"throttle": 1}}
    assert ask(url, "faults", method="DELETE") == {"fired": {}}
    row = ask(url, "balance")["requesters"][requester.key_id]
    assert (row["available"], row["differences"]) == (10_000, [])
    for path, body in (
        ("clock", {"advance": -1}),
        ("clock", {}),
        ("faults", {"kind": "fire"}),
        ("faults", {"colour": 1}),
    ):
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(url, path, body)
    ask(url, "reset", {})
    assert Requester.objects.count() == Hit.objects.count() == 0


@pytest.mark.urls("tests.mturk.exchange.urls_with_control")
@pytest.mark.parametrize("token", ["", "wrong"])
def test_the_control_interface_is_not_there_for_others(served, token):
    for path in ("clock", "faults", "balance", "reset"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            ask(served[1], path, {}, token=token)
    assert Requester.objects.count() == 1


def test_by_default_there_is_no_control_interface_at_all(client):
    from mturk.exchange.urls import urlpatterns

    assert not any("control" in str(route.pattern) for route in urlpatterns)


@pytest.mark.django_db
def test_nothing_is_emptied_without_control(settings):
    from mturk.exchange.services.resetting import reset

    settings.EXCHANGE_CONTROL_TOKEN = ""
    with pytest.raises(PermissionError):
        reset()
