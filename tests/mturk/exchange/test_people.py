"""Workers and qualifications, as requesters deal with them."""

from __future__ import annotations

import pytest

from mturk.exchange.models import Message, QualificationRequest
from mturk.exchange.services import clock
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.form_xml import SMALL
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.exchange.walking import DAY, publish, refused, submit

TRAINED = {"Name": "Trained judges", "Description": "Passed the training.", "QualificationTypeStatus": "Active"}
TEST = {"Test": SMALL, "TestDurationInSeconds": 600}


def make_type(mturk, **changes):
    return mturk.create_qualification_type(**{**TRAINED, **changes})["QualificationType"]["QualificationTypeId"]


def test_a_type_is_made_read_changed_and_found(mturk):
    made = mturk.create_qualification_type(**TRAINED, Keywords="news", RetryDelayInSeconds=60)["QualificationType"]
    assert made["IsRequestable"]
    type_id = made["QualificationTypeId"]
    assert mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]["Name"] == "Trained judges"
    changed = mturk.update_qualification_type(
        QualificationTypeId=type_id, Description="Passed it.", QualificationTypeStatus="Inactive"
    )["QualificationType"]
    assert (changed["Description"], changed["IsRequestable"]) == ("Passed it.", False)
    listed = mturk.list_qualification_types(MustBeRequestable=False, MustBeOwnedByCaller=True, Query="TRAINED")
    assert [kind["QualificationTypeId"] for kind in listed["QualificationTypes"]] == [type_id]
    assert mturk.list_qualification_types(MustBeRequestable=True)["NumResults"] == 0
    assert mturk.list_qualification_types(MustBeRequestable=False, Query="pears")["NumResults"] == 0


def test_a_name_is_free_two_days_after_deletion(mturk):
    type_id = make_type(mturk)
    with refused("QualificationTypeAlreadyExists", "already created a QualificationType with this name"):
        make_type(mturk)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    with refused("QualificationTypeDoesNotExist"):
        mturk.get_qualification_type(QualificationTypeId=type_id)
    with refused("QualificationTypeAlreadyExists"):
        make_type(mturk)
    clock.advance(2 * DAY + 1)
    assert make_type(mturk)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Test": SMALL}, "TestDurationInSeconds"),
        ({"AnswerKey": "<AnswerKey/>"}, "Test"),
        ({**TEST, "AutoGranted": True}, "AutoGranted"),
        ({"AutoGrantedValue": 5}, "AutoGrantedValue"),
        ({"Name": "n" * 201}, "Name"),
        ({"QualificationTypeStatus": "Sleeping"}, "QualificationTypeStatus"),
        ({**TEST, "Test": "t" * 65_536}, "bytes"),
    ],
)
def test_a_type_that_makes_no_sense_is_refused(mturk, change, words):
    with refused("ParameterValidationError", words):
        make_type(mturk, **change)


def test_a_change_is_held_to_the_same_rules(mturk):
    type_id = make_type(mturk, AutoGranted=True, AutoGrantedValue=3)
    with refused("ParameterValidationError", "AutoGranted"):
        mturk.update_qualification_type(QualificationTypeId=type_id, **TEST)
    assert mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]["AutoGrantedValue"] == 3


def test_types_of_the_system_are_known_and_nobodys(mturk, worker):
    shown = mturk.get_qualification_type(QualificationTypeId="00000000000000000071")["QualificationType"]
    assert shown["Name"] == "Worker_Locale"
    with refused("PermissionDenied"):
        mturk.associate_qualification_with_worker(QualificationTypeId="00000000000000000040", WorkerId=worker.worker_id)


def test_a_qualification_is_given_changed_and_taken(mturk, worker):
    type_id = make_type(mturk)
    pair = {"QualificationTypeId": type_id, "WorkerId": worker.worker_id}
    with refused("QualificationDoesNotExist", "You requested a Qualification that does not exist."):
        mturk.get_qualification_score(**pair)
    mturk.associate_qualification_with_worker(**pair, SendNotification=False)
    assert mturk.get_qualification_score(**pair)["Qualification"]["IntegerValue"] == 1
    mturk.associate_qualification_with_worker(**pair, IntegerValue=90)
    shown = mturk.get_qualification_score(**pair)["Qualification"]
    assert (shown["IntegerValue"], shown["Status"], shown["WorkerId"]) == (90, "Granted", worker.worker_id)
    assert mturk.list_workers_with_qualification_type(QualificationTypeId=type_id)["NumResults"] == 1
    mturk.disassociate_qualification_from_worker(**pair, Reason="A new test is due")
    assert mturk.get_qualification_score(**pair)["Qualification"]["Status"] == "Revoked"
    assert mturk.list_workers_with_qualification_type(QualificationTypeId=type_id)["NumResults"] == 0
    assert mturk.list_workers_with_qualification_type(QualificationTypeId=type_id, Status="Revoked")["NumResults"] == 1
    with refused("QualificationDoesNotExist"):
        mturk.disassociate_qualification_from_worker(**pair)
    assert Message.objects.filter(worker=worker).count() == 2
    with refused("ParameterValidationError", 'The value "ANOBODY" is not valid for the parameter WorkerId.'):
        mturk.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId="ANOBODY")


def test_another_requester_may_use_a_type_but_not_change_it(mturk, worker):
    other = in_process(connect(create_requester("Other", now=clock.now(), deposit_cents=500)))
    type_id = make_type(mturk)
    publish(other, QualificationRequirements=[{"QualificationTypeId": type_id, "Comparator": "Exists"}])
    for call in (other.update_qualification_type, other.delete_qualification_type):
        with refused("PermissionDenied"):
            call(QualificationTypeId=type_id)
    with refused("PermissionDenied"):
        other.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=worker.worker_id)


def test_requests_for_a_qualification_are_answered_once(mturk, requester, worker):
    type_id = make_type(mturk, **TEST)
    kind = requester.qualification_types.get()
    for number, asker in enumerate((worker, WorkerFactory.create())):
        QualificationRequest.objects.create(
            qualification_type=kind,
            worker=asker,
            request_id=f"3LOCALR{number}",
            test=SMALL,
            answer="<a/>",
            submitted_at=clock.now(),
        )
    listed = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert next((row["WorkerId"], row["Test"], row["Answer"]) for row in listed) == (
        worker.worker_id,
        TEST["Test"],
        "<a/>",
    )
    mturk.accept_qualification_request(QualificationRequestId="3LOCALR0", IntegerValue=7)
    mturk.reject_qualification_request(QualificationRequestId="3LOCALR1", Reason="Not yet")
    score = mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)["Qualification"]
    assert score["IntegerValue"] == 7
    assert mturk.list_qualification_requests()["NumResults"] == 0
    with refused("InvalidQualificationState", "'Granted'"):
        mturk.accept_qualification_request(QualificationRequestId="3LOCALR0")
    with refused("QualificationRequestDoesNotExist"):
        mturk.reject_qualification_request(QualificationRequestId="3NONE")


def test_blocks(mturk, worker):
    mturk.create_worker_block(WorkerId=worker.worker_id, Reason="Copied answers")
    mturk.create_worker_block(WorkerId=worker.worker_id, Reason="Copied many answers")
    assert mturk.list_worker_blocks()["WorkerBlocks"] == [
        {"WorkerId": worker.worker_id, "Reason": "Copied many answers"}
    ]
    for _ in range(2):
        mturk.delete_worker_block(WorkerId=worker.worker_id)
    assert mturk.list_worker_blocks()["WorkerBlocks"] == []
    with refused("ParameterValidationError", 'The value "ANOBODY" is not valid for the parameter WorkerId.'):
        mturk.create_worker_block(WorkerId="ANOBODY", Reason="r")


def test_only_workers_whose_work_was_answered_are_written_to(mturk, worker):
    stranger = WorkerFactory.create()
    mturk.approve_assignment(AssignmentId=submit(publish(mturk), worker))
    failures = mturk.notify_workers(
        Subject="More work",
        MessageText="There is a new batch.",
        WorkerIds=[worker.worker_id, stranger.worker_id, "ANOBODY"],
    )["NotifyWorkersFailureStatuses"]
    assert [(row["WorkerId"], row["NotifyWorkersFailureCode"]) for row in failures] == [
        (stranger.worker_id, "HardFailure"), ("ANOBODY", "HardFailure"),
    ]  # fmt: skip
    assert [message.subject for message in worker.messages.all()] == ["More work"]
    for change in ({"Subject": "s" * 201}, {"MessageText": "m" * 4097}, {"WorkerIds": ["A1"] * 101}):
        with refused("ParameterValidationError", next(iter(change))):
            mturk.notify_workers(**{"Subject": "s", "MessageText": "m", "WorkerIds": ["A1"], **change})
