"""Calls at the same moment: no cent is spent twice, no token makes two things, nothing is approved twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from mturk.exchange.models import Bonus, Hit, LedgerLine, Requester
from mturk.exchange.services import clock
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import assert_balanced, connect
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.exchange.walking import publish, submit


@pytest.fixture
def mturk(transactional_db: None, live_server: Any, settings: Any) -> Any:
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"
    requester = create_requester("Lab", now=clock.now(), deposit_cents=300)
    yield connect(requester, live_server.url, max_pool_connections=8, read_timeout=60)
    assert_balanced()


def at_once(do: Callable[[int], object], times: int) -> list[str]:
    """What each of several calls at once was told: "" for a success, else the code."""

    def attempt(number: int) -> str:
        try:
            do(number)
        except ClientError as error:
            return str(error.response.get("TurkErrorCode", error.response["Error"]["Code"])).rsplit(".")[-1]
        return ""

    with ThreadPoolExecutor(times) as pool:
        return sorted(pool.map(attempt, range(times)))


def test_money_for_five_hits_makes_five_hits(mturk: Any) -> None:
    told = at_once(lambda number: publish(mturk), 8)  # sixty cents each
    assert told == ["", "", "", "", "", "InsufficientFunds", "InsufficientFunds", "InsufficientFunds"]
    assert Hit.objects.count() == 5
    assert Requester.objects.get().balance_cents == 0


def test_a_token_makes_one_hit_however_often_it_comes(mturk: Any) -> None:
    told = at_once(lambda number: publish(mturk, UniqueRequestToken="one"), 6)
    assert told == ["", *["HitAlreadyExists"] * 5]
    assert Hit.objects.count() == 1


def test_work_is_paid_once_and_a_bonus_too(mturk: Any) -> None:
    worker = WorkerFactory.create()
    assignment_id = submit(publish(mturk), worker)
    told = at_once(lambda number: mturk.approve_assignment(AssignmentId=assignment_id), 4)
    assert told == ["", *["InvalidAssignmentState"] * 3]
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.10", "Reason": "r"}
    told = at_once(lambda number: mturk.send_bonus(**bonus, UniqueRequestToken="b"), 4)
    assert told == ["", *["DuplicateRequest"] * 3]
    assert Bonus.objects.count() == 1
    assert LedgerLine.objects.filter(worker=worker).count() == 2
