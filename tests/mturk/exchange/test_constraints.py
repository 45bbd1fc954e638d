"""Every rule that the exchange's tables hold, broken once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from mturk.exchange import models
from tests.conftest import NOW
from tests.mturk.exchange import rows as make

pytestmark = pytest.mark.django_db


def line(**values: Any) -> Callable[[], object]:
    return lambda: models.LedgerLine.objects.create(
        **{
            "requester": make.RequesterFactory.create(),
            "kind": "deposit",
            "cents": 1,
            "at": NOW,
            "reference": "r",
            **values,
        }
    )


def twice(make_row: Callable[[], object]) -> Callable[[], object]:
    return lambda: (make_row(), make_row())


def same_worker_twice() -> None:
    hit, worker = make.HitFactory.create(), make.WorkerFactory.create()
    make.HitAssignmentFactory.create(hit=hit, worker=worker)
    make.submitted(hit=hit, worker=worker)


def participant_twice() -> None:
    link = make_link()
    for _ in range(2):
        make.WorkerFactory.create(link=link, participant="p1")


def make_link(**values: Any) -> models.RecruitmentLink:
    given = {"token": "t", "kind": "participant", "completion_code": "DONE", "created_at": NOW, **values}
    return models.RecruitmentLink.objects.create(requester=make.RequesterFactory.create(), **given)


def of_pair(model: Any, **values: Any) -> Callable[[], object]:
    """Two rows of the same qualification type and worker."""

    def attempt() -> None:
        kind, worker = make.QualificationTypeFactory.create(), make.WorkerFactory.create()
        for number in range(2):
            given = {name: value(number) if callable(value) else value for name, value in values.items()}
            model.objects.create(qualification_type=kind, worker=worker, **given)

    return attempt


def of_requester(model: Any, **values: Any) -> Callable[[], object]:
    def attempt() -> None:
        requester = make.RequesterFactory.create()
        shared = {name: value() if callable(value) else value for name, value in values.items()}
        for _ in range(2):
            model.objects.create(requester=requester, **shared)

    return attempt


def names_twice() -> None:
    requester = make.RequesterFactory.create()
    for _ in range(2):
        make.QualificationTypeFactory.create(requester=requester, name="n")


def types_twice() -> None:
    requester = make.RequesterFactory.create()
    for _ in range(2):
        make.HitTypeFactory.create(requester=requester, digest="d")


def request_in(state: str) -> Callable[[], object]:
    return lambda: models.QualificationRequest.objects.create(
        qualification_type=make.QualificationTypeFactory.create(),
        worker=make.WorkerFactory.create(),
        request_id="r",
        state=state,
        submitted_at=NOW,
    )


BREAKS: dict[str, Callable[[], object]] = {
    "exchange_requester_balance_from_0": lambda: make.RequesterFactory.create(balance_cents=-1),
    "exchange_requester_held_from_0": lambda: make.RequesterFactory.create(held_cents=-1),
    "exchange_hittype_once_by_value": types_twice,
    "exchange_hittype_reward_from_0": lambda: make.HitTypeFactory.create(reward_cents=-1),
    "exchange_hit_assignments_only_grow": lambda: make.HitFactory.create(max_assignments=2, created_max=3),
    "exchange_hit_held_from_0": lambda: make.HitFactory.create(held_cents=-1),
    "exchange_hit_disposed_holds_nothing": lambda: make.HitFactory.create(disposed_at=NOW, held_cents=1),
    "exchange_hit_review_status_known": lambda: make.HitFactory.create(review_status="Seen"),
    "exchange_assignment_one_per_worker": same_worker_twice,
    "exchange_assignment_state_known": lambda: make.HitAssignmentFactory.create(state="lost"),
    "exchange_assignment_handed_in_has_times": lambda: make.HitAssignmentFactory.create(state="submitted"),
    "exchange_assignment_decided_has_time": lambda: make.submitted(state="approved"),
    "exchange_bonus_above_0": lambda: models.Bonus.objects.create(
        assignment=make.submitted(), worker=make.WorkerFactory.create(), cents=0, reason="r", granted_at=NOW
    ),
    "exchange_link_kind_known": lambda: make_link(kind="open"),
    "exchange_link_participant_has_code": lambda: make_link(completion_code=""),
    "exchange_worker_participant_once": participant_twice,
    "exchange_block_once": of_requester(models.Block, worker=make.WorkerFactory, reason="r", created_at=NOW),
    "exchange_qualtype_name_once": names_twice,
    "exchange_qualtype_status_known": lambda: make.QualificationTypeFactory.create(status="Asleep"),
    "exchange_qualtype_test_or_automatic": lambda: make.QualificationTypeFactory.create(test="t", auto_granted=True),
    "exchange_qualification_once": of_pair(models.Qualification, granted_at=NOW),
    "exchange_qualrequest_one_open": of_pair(
        models.QualificationRequest, request_id=lambda number: f"3R{number}", submitted_at=NOW
    ),
    "exchange_qualrequest_state_known": request_in("lost"),
    "exchange_qualrequest_testing_has_deadline": request_in("testing"),
    "exchange_token_once": of_requester(
        models.RequestToken, operation="CreateHIT", token="t", result="3X", created_at=NOW
    ),
    "exchange_line_kind_known": line(kind="gift", cents=-1),
    "exchange_line_sign_of_its_kind": line(cents=-1),
    "exchange_line_worker_where_paid": line(kind="pay", cents=-1),
    "exchange_payout_above_0": lambda: models.Payout.objects.create(
        requester=make.RequesterFactory.create(), worker=make.WorkerFactory.create(), cents=0, paid_at=NOW
    ),
    "exchange_clock_is_one": lambda: models.Clock.objects.create(pk=2),
    "exchange_clock_never_back": lambda: models.Clock.objects.create(pk=1, offset_s=-1),
    "exchange_fault_kind_known": lambda: models.Fault.objects.create(kind="fire"),
    "exchange_fault_share_0_to_1": lambda: models.Fault.objects.create(kind="slow", share=1.5),
}


def test_every_constraint_has_its_break():
    held = {row.name for model in apps.get_app_config("exchange").get_models() for row in model._meta.constraints}
    assert held == set(BREAKS)


@pytest.mark.parametrize("name", sorted(BREAKS))
def test_the_database_refuses(name):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        BREAKS[name]()
    assert name in str(caught.value) or "UNIQUE constraint failed: exchange_" in str(caught.value)


def test_whoever_gave_back_may_try_again():
    hit, worker = make.HitFactory.create(), make.WorkerFactory.create()
    make.HitAssignmentFactory.create(hit=hit, worker=worker, state="returned")
    make.HitAssignmentFactory.create(hit=hit, worker=worker, state="abandoned")
    make.HitAssignmentFactory.create(hit=hit, worker=worker)


def test_a_line_is_written_once():
    row = line()()
    assert isinstance(row, models.LedgerLine)
    row.cents = 5
    with pytest.raises(TypeError, match="written once"):
        row.save()
