"""The wire and the model: what comes in and what goes out is held against botocore's own shapes."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from mturk.exchange import answering, wire
from mturk.exchange.errors import KINDS, Refused
from mturk.exchange.operations.table import CHANGING, PAGED, READING, REFUSED
from mturk.exchange.validating import input_problems, operation_names, output_problems, service_model
from tests.mturk.exchange.walking import HIT, publish, refused

CORE = [
    "ApproveAssignment",
    "AssociateQualificationWithWorker",
    "CreateAdditionalAssignmentsForHIT",
    "CreateHIT",
    "CreateHITType",
    "CreateHITWithHITType",
    "CreateQualificationType",
    "CreateWorkerBlock",
    "DeleteHIT",
    "DeleteWorkerBlock",
    "DisassociateQualificationFromWorker",
    "GetAccountBalance",
    "GetAssignment",
    "GetHIT",
    "GetQualificationScore",
    "GetQualificationType",
    "ListAssignmentsForHIT",
    "ListBonusPayments",
    "ListHITs",
    "ListQualificationTypes",
    "ListWorkerBlocks",
    "NotifyWorkers",
    "RejectAssignment",
    "SendBonus",
    "UpdateExpirationForHIT",
]


def test_every_operation_of_the_model_is_answered_once():
    tables = [*READING, *CHANGING, *REFUSED]
    assert sorted(tables) == sorted(operation_names())
    assert len(tables) == 39
    assert len(CORE) == 25
    assert set(CORE) <= set(READING) | set(CHANGING)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_offered_is_refused_honestly(mturk, name):
    arguments = {
        "GetFileUploadURL": {"AssignmentId": "3X", "QuestionIdentifier": "q"},
        "ListReviewPolicyResultsForHIT": {"HITId": "3X"},
        "SendTestEventNotification": {"Notification": NOTIFICATION, "TestEventType": "Ping"},
        "UpdateNotificationSettings": {"HITTypeId": "3X"},
    }[name]
    with refused("NotImplemented", f"{name} is not offered by this exchange") as answer:
        mturk._make_api_call(name, arguments)
    assert answer["Error"]["Code"] == "RequestError"


NOTIFICATION = {
    "Destination": "arn:aws:sns:us-east-1:1:t", "Transport": "SNS", "Version": "2014-08-15", "EventTypes": ["Ping"],
}  # fmt: skip

WRONG_INPUTS = [
    ({**HIT, "Reward": "$1"}, "Reward"),
    ({**HIT, "Reward": "0.15\n"}, "Reward"),
    ({**HIT, "Reward": 0.15}, "Reward"),
    ({**HIT, "UniqueRequestToken": "t" * 65}, "UniqueRequestToken"),
    ({**HIT, "UniqueRequestToken": ""}, "UniqueRequestToken"),
    ({**HIT, "MaxAssignments": "3"}, "MaxAssignments"),
    ({**HIT, "MaxAssignments": True}, "MaxAssignments"),
    ({**HIT, "MaxAssignments": 1.5}, "MaxAssignments"),
    ({**HIT, "MaxAssignments": 2**31}, "MaxAssignments"),
    ({**HIT, "Colour": "blue"}, "Colour"),
    ({**HIT, "Title": "a\0b"}, "Title"),
    ({**HIT, "Title": "\ud800"}, "Title"),
    ({**HIT, "Title": ["t"]}, "Title"),
    ({**HIT, "QualificationRequirements": {}}, "QualificationRequirements"),
    (
        {**HIT, "QualificationRequirements": [{"Comparator": "Exists"}]},
        "QualificationRequirements[0].QualificationTypeId",
    ),
    (
        {**HIT, "QualificationRequirements": [{"QualificationTypeId": "3", "Comparator": "Equals"}]},
        "QualificationRequirements[0].Comparator",
    ),
    ({name: value for name, value in HIT.items() if name != "Title"}, "Title"),
]


@pytest.mark.parametrize(("params", "name"), WRONG_INPUTS)
def test_the_one_thing_that_is_wrong_with_a_request_is_named(params, name):
    assert [problem.name for problem in input_problems("CreateHIT", params)] == [name]


def test_a_good_request_has_no_problems():
    assert input_problems("CreateHIT", HIT) == []
    assert input_problems("UpdateExpirationForHIT", {"HITId": "3X", "ExpireAt": 1767225600.5}) == []
    assert input_problems("ListHITs", {"MaxResults": 100}) == []


@pytest.mark.parametrize("when", ["2026-01-01T00:00:00Z", True, float("inf"), 10**13])
def test_a_time_is_a_number_of_seconds(when):
    assert input_problems("UpdateExpirationForHIT", {"HITId": "3X", "ExpireAt": when})


@pytest.mark.parametrize(
    "hit",
    [
        {"HITStatus": "Gone"},
        {"HITId": "3x"},
        {"CreationTime": "2026-01-01"},
        {"Reward": "$0.15"},
        {"Colour": "blue"},
        {"MaxAssignments": "3"},
    ],
)
def test_answers_are_held_to_the_same_model(hit):
    assert len(output_problems("GetHIT", {"HIT": hit})) == 1


def test_operations_without_answer_answer_nothing():
    assert output_problems("DeleteHIT", {}) == []
    assert output_problems("DeleteHIT", {"HITId": "3X"})


def test_the_kinds_of_shapes_are_those_we_check():
    kinds = {service_model().shape_for(name).type_name for name in service_model().shape_names}
    assert kinds == {"structure", "list", "string", "integer", "long", "boolean", "timestamp"}


def test_an_answer_of_ours_that_breaks_the_model_is_a_fault_and_changes_nothing(mturk, monkeypatch, caplog):
    from mturk.exchange.models import Hit

    monkeypatch.setitem(answering.CHANGING, "CreateHIT", lambda call: {**CHANGING_CREATE(call), "Colour": "blue"})
    with refused("ServiceFault") as answer:
        publish(mturk)
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert Hit.objects.count() == 0
    assert "Colour" in caplog.text
    caplog.clear()  # this fault was ordered


CHANGING_CREATE = CHANGING["CreateHIT"]


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_no_body_is_no_parameters(body):
    assert wire.read_params("ListHITs", body) == {}


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b'{"MaxResults": NaN}', b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(body):
    with pytest.raises(Refused) as caught:
        wire.read_params("ListHITs", body)
    assert caught.value.kind.type == "SerializationException"


def test_nulls_are_left_out():
    assert wire.read_params("ListHITs", b'{"NextToken": null, "MaxResults": 3}') == {"MaxResults": 3}


@pytest.mark.parametrize("target", ["", "ListHITs", "MTurkRequesterServiceV20170117.Nothing", "Other.ListHITs"])
def test_an_unknown_operation_is_refused(target):
    with pytest.raises(Refused) as caught:
        wire.read_operation(target)
    assert caught.value.kind.type == "UnknownOperationException"


def test_times_go_out_as_seconds_and_none_stays_away():
    when = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert wire.to_wire({"a": when, "b": None, "c": [{"d": when}]}) == {"a": 1767225600.0, "c": [{"d": 1767225600.0}]}


def test_errors_have_mturks_shape():
    body = Refused("HITDoesNotExist", id="3X").body(1767225600123)
    assert json.loads(wire.dump(body)) == {
        "__type": "RequestError",
        "Message": "Hit 3X does not exist. (1767225600123 s)",
        "TurkErrorCode": "AWS.MechanicalTurk.HITDoesNotExist",
    }


def test_every_error_says_where_it_is_known_from():
    assert {kind.source for kind in KINDS.values()} <= {"model", "docs", "seen", "aws", "own"}
    assert {kind.status for kind in KINDS.values()} == {400, 413, 500}
    assert {kind.type for kind in KINDS.values() if kind.code} == {
        "RequestError",
        "ParameterValidationError",
        "ServiceFault",
    }


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_give_everything_once(mturk, size):
    made = [publish(mturk, MaxAssignments=1) for _ in range(5)]
    pages = list(mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": size}))
    assert [hit["HITId"] for page in pages for hit in page["HITs"]] == made
    assert [page["NumResults"] for page in pages] == [len(page["HITs"]) for page in pages]
    assert "NextToken" not in pages[-1]


def test_rows_that_come_meanwhile_make_no_page_repeat_one(mturk):
    first = [publish(mturk) for _ in range(2)]
    page = mturk.list_hits(MaxResults=1)
    later = publish(mturk)
    rest = mturk.list_hits(NextToken=page["NextToken"])
    assert [hit["HITId"] for hit in (*page["HITs"], *rest["HITs"])] == [*first, later]


def test_a_token_is_for_its_own_question(mturk):
    for _ in range(2):
        publish(mturk)
    token = mturk.list_hits(MaxResults=1)["NextToken"]
    assert len(token) <= 255
    for call in (
        lambda: mturk.list_reviewable_hits(NextToken=token),
        lambda: mturk.list_hits(NextToken=token + "x"),
        lambda: mturk.list_hits(NextToken="1"),
    ):
        with refused("ParameterValidationError", "NextToken"):
            call()


def test_pages_are_of_ten_unless_asked_otherwise(mturk):
    for _ in range(11):
        publish(mturk, MaxAssignments=1)
    assert mturk.list_hits()["NumResults"] == 10


def test_every_list_pages():
    assert all(name.startswith("List") for name in PAGED)
    assert len(PAGED) == 9


def test_the_page_about_the_exchange_lists_the_operations_as_they_are():
    text = (Path(__file__).resolve().parents[3] / "docs" / "exchange.md").read_text(encoding="utf-8")
    section = text.split("## Operations")[1].split("\n## ")[0]
    listed = [set(part.split(":", 1)[1].split()) for part in section.strip().split("\n\n")]
    assert listed == [set(READING), set(CHANGING), set(REFUSED)]
