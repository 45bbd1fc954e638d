"""What tests of the exchange do again and again."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from mturk.exchange.ids import new_id
from mturk.exchange.models import Hit, HitAssignment, Worker
from mturk.exchange.services import clock
from tests.mturk.exchange.rows import WorkerFactory

DAY = 86_400
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
QUESTION = (
    f'<ExternalQuestion xmlns="{SCHEMAS}2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://example.org/task?t=1</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
)
ANSWER = (
    f'<QuestionFormAnswers xmlns="{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>u1'
    "</QuestionIdentifier><FreeText>present</FreeText></Answer></QuestionFormAnswers>"
)
TYPE = {
    "AssignmentDurationInSeconds": 600,
    "Reward": "0.20",
    "Title": "Is it in the summary?",
    "Description": "Read a summary and judge statements.",
}
HIT = {"LifetimeInSeconds": 7 * DAY, "Question": QUESTION, "MaxAssignments": 3, **TYPE}


def publish(mturk: Any, **changes: Any) -> str:
    """A HIT of three assignments at 20 cents, or as changed; None leaves a parameter out. Its id."""
    params = {name: value for name, value in {**HIT, **changes}.items() if value is not None}
    return str(mturk.create_hit(**params)["HIT"]["HITId"])


def accept(hit_id: str, worker: Worker | None = None) -> HitAssignment:
    hit = Hit.objects.select_related("hit_type").get(hit_id=hit_id)
    now = clock.now()
    return HitAssignment.objects.create(
        hit=hit,
        worker=worker or WorkerFactory.create(),
        assignment_id=new_id(),
        accepted_at=now,
        deadline=now + dt.timedelta(seconds=hit.hit_type.duration_s),
    )


def submit(hit_id: str, worker: Worker | None = None, *, answer: str = ANSWER) -> str:
    """A worker accepts a HIT and hands it in. The id of the assignment."""
    assignment = accept(hit_id, worker)
    now = clock.now()
    assignment.state, assignment.submitted_at, assignment.answer = "submitted", now, answer
    assignment.auto_approve_at = now + dt.timedelta(seconds=assignment.hit.hit_type.auto_approval_s)
    assignment.save()
    return assignment.assignment_id


@contextlib.contextmanager
def refused(code: str, words: str = "") -> Iterator[dict[str, Any]]:
    """The call inside is refused with this code and a message that has these words. Yields the answer."""
    told: dict[str, Any] = {}
    with pytest.raises(ClientError) as caught:
        yield told
    response: dict[str, Any] = caught.value.response
    told.update(response)
    assert code in (response.get("TurkErrorCode", "").removeprefix("AWS.MechanicalTurk."), response["Error"]["Code"])
    assert words in response["Error"]["Message"]


def hit_of(mturk: Any, hit_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = mturk.get_hit(HITId=hit_id)["HIT"]
    return answer


def counts(hit: dict[str, Any]) -> tuple[str, int, int, int]:
    """Status, available, pending, completed."""
    names = ("Available", "Pending", "Completed")
    return (hit["HITStatus"], *(hit[f"NumberOfAssignments{name}"] for name in names))


def money(mturk: Any) -> tuple[str, str]:
    """Available, on hold."""
    balance = mturk.get_account_balance()
    return balance["AvailableBalance"], balance["OnHoldBalance"]
