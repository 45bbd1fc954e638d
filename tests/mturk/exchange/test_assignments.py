"""Assignments: what requesters see, approve, reject, take back, and pay on top."""

from __future__ import annotations

import datetime as dt

import pytest

from mturk.exchange.models import Bonus
from mturk.exchange.services import clock
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.exchange.walking import ANSWER, DAY, accept, hit_of, money, publish, refused, submit


def test_a_submission_is_shown_whole(mturk, worker):
    hit_id = publish(mturk, AutoApprovalDelayInSeconds=3600)
    assignment_id = submit(hit_id, worker)
    answer = mturk.get_assignment(AssignmentId=assignment_id)
    shown = answer["Assignment"]
    assert (shown["WorkerId"], shown["HITId"], shown["AssignmentStatus"]) == (worker.worker_id, hit_id, "Submitted")
    assert shown["Answer"] == ANSWER
    assert shown["AutoApprovalTime"] - shown["SubmitTime"] == dt.timedelta(hours=1)
    assert shown["Deadline"] - shown["AcceptTime"] == dt.timedelta(minutes=10)
    assert not {"ApprovalTime", "RejectionTime", "RequesterFeedback"} & set(shown)
    assert answer["HIT"]["HITId"] == hit_id


def test_what_is_not_handed_in_is_not_there(mturk):
    hit_id = publish(mturk)
    held = accept(hit_id)
    assert mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"] == []
    for call in (mturk.get_assignment, mturk.approve_assignment):
        with refused("AssignmentDoesNotExist", held.assignment_id):
            call(AssignmentId=held.assignment_id)


def test_assignments_are_listed_by_status(mturk):
    hit_id = publish(mturk)
    first, second, third = (submit(hit_id) for _ in range(3))
    mturk.approve_assignment(AssignmentId=first, RequesterFeedback="Thank you")
    mturk.reject_assignment(AssignmentId=second, RequesterFeedback="Nothing was answered")
    listed = mturk.list_assignments_for_hit(HITId=hit_id)
    assert [row["AssignmentStatus"] for row in listed["Assignments"]] == ["Approved", "Rejected", "Submitted"]
    assert listed["NumResults"] == 3
    assert [row["RequesterFeedback"] for row in listed["Assignments"][:2]] == ["Thank you", "Nothing was answered"]
    open_ones = mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Submitted"])["Assignments"]
    assert [row["AssignmentId"] for row in open_ones] == [third]
    with refused("ParameterValidationError", "one of"):
        mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Open"])


def test_approval_pays_and_stands(mturk, worker):
    assignment_id = submit(publish(mturk), worker)
    mturk.approve_assignment(AssignmentId=assignment_id)
    assert money(mturk) == ("99.40", "0.40")
    line = worker.lines.get()
    assert (line.kind, line.cents, line.reference) == ("pay", -20, assignment_id)
    words = "currently in the state 'Approved'.  This operation can be called with a status of: Submitted"
    with refused("InvalidAssignmentState", words):
        mturk.approve_assignment(AssignmentId=assignment_id)
    with refused("InvalidAssignmentState", words):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="no")
    assert worker.lines.count() == 1


def test_rejection_needs_words_and_frees_the_money_not_the_place(mturk):
    hit_id = publish(mturk, MaxAssignments=1)
    assignment_id = submit(hit_id)
    with refused("ParameterValidationError", "RequesterFeedback"):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=" ")
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Nothing was answered")
    assert money(mturk) == ("100.00", "0.00")
    assert hit_of(mturk, hit_id)["NumberOfAssignmentsAvailable"] == 0
    shown = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert shown["RejectionTime"]
    assert "ApprovalTime" not in shown


def test_a_rejection_is_taken_back_within_a_month(mturk, worker):
    first, second = submit(publish(mturk), worker), submit(publish(mturk))
    for assignment_id in (first, second):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="no")
    with refused("InvalidAssignmentState", "'Rejected'"):
        mturk.approve_assignment(AssignmentId=first)
    clock.advance(30 * DAY - 60)
    mturk.approve_assignment(AssignmentId=first, OverrideRejection=True)
    assert worker.lines.get().cents == -20
    clock.advance(61)
    with refused("InvalidAssignmentState", "more than 30 days ago"):
        mturk.approve_assignment(AssignmentId=second, OverrideRejection=True)


def test_taking_a_rejection_back_needs_the_money(mturk):
    assignment_id = submit(publish(mturk, MaxAssignments=1))
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="no")
    publish(mturk, MaxAssignments=500)
    with refused("InsufficientFunds"):
        mturk.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
    assert mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"] == "Rejected"


def test_another_requester_sees_and_decides_nothing(mturk):
    other = in_process(connect(create_requester("Other", now=clock.now(), deposit_cents=500)))
    assignment_id = submit(publish(mturk))
    for call in (other.get_assignment, other.approve_assignment):
        with refused("AssignmentDoesNotExist"):
            call(AssignmentId=assignment_id)


def test_a_bonus_comes_out_of_free_money(mturk, worker):
    hit_id = publish(mturk)
    assignment_id = submit(hit_id, worker)
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "Reason": "It took longer"}
    mturk.send_bonus(**bonus, BonusAmount="1.50")
    mturk.send_bonus(**bonus, BonusAmount="0.01")
    assert money(mturk) == ("97.89", "0.60")
    for listed in (
        mturk.list_bonus_payments(HITId=hit_id),
        mturk.list_bonus_payments(AssignmentId=assignment_id),
    ):
        assert [row["BonusAmount"] for row in listed["BonusPayments"]] == ["1.50", "0.01"]
        assert listed["BonusPayments"][0]["Reason"] == "It took longer"
    with refused("InsufficientFunds"):
        mturk.send_bonus(**bonus, BonusAmount="97.90")
    with refused("ParameterValidationError", "either"):
        mturk.list_bonus_payments()


def test_a_token_pays_a_bonus_once(mturk, worker):
    assignment_id = submit(publish(mturk), worker)
    bonus = {
        "WorkerId": worker.worker_id, "AssignmentId": assignment_id, "Reason": "top-up", "BonusAmount": "0.10",
        "UniqueRequestToken": "bonus-1",
    }  # fmt: skip
    request_id = mturk.send_bonus(**bonus)["ResponseMetadata"]["RequestId"]
    with refused("DuplicateRequest", request_id):
        mturk.send_bonus(**bonus)
    assert Bonus.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"BonusAmount": "0.00"}, "at least 0.01"),
        ({"BonusAmount": "0.005"}, "BonusAmount"),
        ({"Reason": " "}, "Reason"),
        ({"WorkerId": "ANOBODY"}, "another worker"),
    ],
)
def test_a_bonus_that_makes_no_sense_is_refused(mturk, worker, change, words):
    assignment_id = submit(publish(mturk), worker)
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "Reason": "r", "BonusAmount": "1"}
    with refused("ParameterValidationError", words):
        mturk.send_bonus(**{**bonus, **change})
    with refused("AssignmentDoesNotExist"):
        mturk.send_bonus(**{**bonus, "AssignmentId": "3NONE"})


def test_a_bonus_can_follow_for_half_a_year_even_after_deletion(mturk, worker):
    hit_id = publish(mturk, MaxAssignments=1)
    assignment_id = submit(hit_id, worker)
    mturk.approve_assignment(AssignmentId=assignment_id)
    mturk.delete_hit(HITId=hit_id)
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "Reason": "r", "BonusAmount": "1"}
    mturk.send_bonus(**bonus)
    clock.advance(184 * DAY)
    with refused("ParameterValidationError", "six months"):
        mturk.send_bonus(**bonus)


def test_one_worker_has_one_assignment_of_a_hit(mturk, worker):
    from django.db import IntegrityError, transaction

    hit_id = publish(mturk)
    submit(hit_id, worker)
    with pytest.raises(IntegrityError), transaction.atomic():
        accept(hit_id, worker)
    assert submit(publish(mturk), worker)  # another HIT of the same type is another matter
    assert accept(hit_id, WorkerFactory.create())
