"""What the client sends, and what it makes of the answers: botocore's own stub stands in for the market."""

from __future__ import annotations

import datetime as dt

import pytest
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, ReadTimeoutError
from botocore.stub import Stubber

from mturk.client import BotoMarket, connect, sort_error
from mturk.environments import NoEnvironment, confirmation_words, environment
from mturk.market import (
    Busy,
    Missing,
    NoFunds,
    NotVisibleYet,
    Refused,
    Repeated,
    TaskType,
    Unclear,
    id_in,
    with_backoff,
)
from mturk.requirements import NAMED, Requirement, as_protocol, for_exchange

HIT = "3LOCAL000000000000000000000001"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def stub():
    import boto3

    client = boto3.client(
        "mturk", endpoint_url="http://127.0.0.1:9/", region_name="us-east-1", aws_access_key_id="k",
        aws_secret_access_key="s",
    )  # fmt: skip
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def market(stub, pauses) -> BotoMarket:
    return BotoMarket(stub.client, tries=3, sleep=pauses.append)


def turk_error(stub, operation: str, code: str, message: str = "no", status: int = 400) -> None:
    stub.add_client_error(
        operation, "RequestError", message, status, response_meta={},
        modeled_fields={"TurkErrorCode": f"AWS.MechanicalTurk.{code}", "Message": message},
    )  # fmt: skip


def create(market: BotoMarket) -> str:
    return market.create_hit("3TYPE", question="<q/>", assignments=2, lifetime_s=60, annotation="wb1:k:1:1", token="t")


def test_a_hit_is_created_with_token_and_annotation(stub, market):
    expected = {
        "HITTypeId": "3TYPE", "Question": "<q/>", "MaxAssignments": 2, "LifetimeInSeconds": 60,
        "RequesterAnnotation": "wb1:k:1:1", "UniqueRequestToken": "t",
    }  # fmt: skip
    stub.add_response("create_hit_with_hit_type", {"HIT": {"HITId": HIT}}, expected)
    assert create(market) == HIT


def test_already_exists_is_a_success_with_the_id_from_the_message(stub, market):
    message = f"The HIT with ID {HIT} already exists for the token t. (1763400000000 s)"
    turk_error(stub, "create_hit_with_hit_type", "HITAlreadyExists", message)
    assert create(market) == HIT


def test_already_exists_without_an_id_says_so(stub, market):
    turk_error(stub, "create_hit_with_hit_type", "HitAlreadyExists", "It exists.")
    assert create(market) == ""


def test_throttling_is_tried_again_after_pauses_that_grow(stub, market, pauses):
    for _ in range(2):
        stub.add_client_error("create_hit_with_hit_type", "ThrottlingException", "Rate exceeded", 400)
    stub.add_response("create_hit_with_hit_type", {"HIT": {"HITId": HIT}})
    assert create(market) == HIT
    assert len(pauses) == 2
    assert all(0 <= pause <= most for pause, most in zip(pauses, (0.5, 1.0), strict=True))


def test_silence_then_no_funds_is_doubtful(stub, market):
    stub.add_client_error("create_hit_with_hit_type", "ServiceFault", "broken", 500)
    turk_error(stub, "create_hit_with_hit_type", "InsufficientFunds")
    with pytest.raises(NoFunds) as caught:
        create(market)
    assert caught.value.is_doubtful
    turk_error(stub, "create_hit_with_hit_type", "InsufficientFunds")
    with pytest.raises(NoFunds) as caught:
        create(market)
    assert not caught.value.is_doubtful


@pytest.mark.parametrize(
    ("code", "message", "status", "kind"),
    [
        ("InsufficientFunds", "no money", 400, NoFunds),
        ("HITDoesNotExist", "Hit X does not exist.", 400, Missing),
        ("AssignmentDoesNotExist", "no", 400, Missing),
        ("InvalidAssignmentState", "can be called with a status of: null", 400, NotVisibleYet),
        ("InvalidAssignmentState", "can be called with a status of: Submitted", 400, Refused),
        ("HitAlreadyExists", "exists", 400, Repeated),
        ("Other", 'The idempotency token "x" has already been processed.', 400, Repeated),
        ("ServiceUnavailable", "down", 503, Unclear),
        ("InvalidMaximumAssignmentsIncrease", "ten", 400, Refused),
    ],
)
def test_errors_of_the_market_are_sorted(stub, code, message, status, kind):
    turk_error(stub, "get_hit", code, message, status)
    with pytest.raises(kind) as caught:
        BotoMarket(stub.client, tries=1).get_hit(HIT)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="http://x"),
        ConnectionClosedError(endpoint_url="http://x"),
        EndpointConnectionError(endpoint_url="http://x"),
        ValueError("no JSON"),
    ],
)
def test_no_answer_is_unclear(error):
    assert type(sort_error(error)) is Unclear


def test_what_botocore_refuses_never_left_the_house(stub, market):
    stub.deactivate()
    with pytest.raises(Refused) as caught:
        market._call("get_hit")
    assert not caught.value.is_doubtful


def test_an_empty_page_with_a_token_is_not_the_last(stub, market):
    row = {"AssignmentId": "3A", "WorkerId": "AW", "HITId": HIT, "AssignmentStatus": "Submitted", "Answer": "<x/>"}
    wanted = {"HITId": HIT, "MaxResults": 100, "AssignmentStatuses": ["Submitted", "Approved", "Rejected"]}
    stub.add_response("list_assignments_for_hit", {"NextToken": "1", "Assignments": [row]}, wanted)
    stub.add_response("list_assignments_for_hit", {"NextToken": "2", "Assignments": []}, {**wanted, "NextToken": "1"})
    stub.add_response(
        "list_assignments_for_hit", {"Assignments": [{**row, "AssignmentId": "3B"}]}, {**wanted, "NextToken": "2"}
    )
    found = list(market.list_assignments(HIT))
    assert [one.assignment_id for one in found] == ["3A", "3B"]
    assert found[0].whole == {"AssignmentId": "3A", "HITId": HIT, "AssignmentStatus": "Submitted"}


def test_money_goes_out_as_text_with_two_places(stub, market):
    expected = {
        "Title": "T", "Description": "D", "Keywords": "", "Reward": "0.30", "AssignmentDurationInSeconds": 60,
        "AutoApprovalDelayInSeconds": 0, "QualificationRequirements": [],
    }  # fmt: skip
    stub.add_response("create_hit_type", {"HITTypeId": "3TYPE"}, expected)
    assert market.create_type(TaskType("T", "D", "", 30, 60, 0, [])) == "3TYPE"
    stub.add_response("get_account_balance", {"AvailableBalance": "10000.00", "OnHoldBalance": "0.05"})
    assert (market.balance().available, market.balance) != (0, None)
    stub.add_response("get_account_balance", {"AvailableBalance": "0.5"})
    assert market.balance().available == 50


def test_a_bonus_and_an_expiry_twice_are_once(stub, market):
    turk_error(stub, "send_bonus", "DuplicateRequest", "The token was used, request 1.")
    market.send_bonus("3A", worker_id="AW", cents=5, reason="r", token="t")
    turk_error(stub, "update_expiration_for_hit", "Other", "has already been processed")
    market.set_expiry(HIT, dt.datetime(2026, 1, 1, tzinfo=dt.UTC))


def test_a_qualification_is_found_by_its_exact_name(stub, market):
    rows = [
        {"Name": "Pyramid judges 2", "QualificationTypeId": "3Q2"},
        {"Name": "Pyramid judges", "QualificationTypeId": "3Q1"},
    ]
    stub.add_response("list_qualification_types", {"QualificationTypes": rows})
    assert market.find_qualification("Pyramid judges") == "3Q1"


def test_ids_in_messages():
    assert id_in(f"x {HIT} y (1763400000000)") == HIT
    assert id_in("nothing") == ""
    assert id_in(f"{HIT} and 3LOCAL000000000000000000000002") == ""


def test_backoff_gives_up_in_the_end():
    def call() -> None:
        raise Busy("no")

    pauses: list[float] = []
    with pytest.raises(Busy):
        with_backoff(call, sleep=pauses.append, tries=4, longest=1.0)
    assert len(pauses) == 3
    assert max(pauses) <= 1.0


def test_endpoint_and_region_are_always_told(settings, monkeypatch):
    monkeypatch.setenv("EXCHANGE_KEY_ID", "k")
    monkeypatch.setenv("EXCHANGE_SECRET", "s")
    client = connect(environment("exchange")).client
    assert client.meta.endpoint_url == f"{settings.PUBLIC_URL}/exchange/api/"
    assert client.meta.region_name == "us-east-1"


def test_without_keys_the_message_names_the_variables(monkeypatch):
    monkeypatch.delenv("EXCHANGE_KEY_ID", raising=False)
    with pytest.raises(NoEnvironment, match="EXCHANGE_KEY_ID and EXCHANGE_SECRET"):
        connect(environment("exchange"))


def test_confirmation_is_for_other_markets(settings, monkeypatch):
    monkeypatch.setitem(
        settings.CROWD_ENVIRONMENTS, "lab", {"endpoint_url": "https://x.example.org", "region": "us-east-1"}
    )
    assert confirmation_words(environment("exchange"), "Title", 10_800) == ""
    assert confirmation_words(environment("lab"), "Title", 10_800) == "Title $108.00"


def test_requirements_as_the_protocol_takes_them():
    wanted = (
        Requirement("percent_approved", 99), Requirement("number_approved", 5001), Requirement("locale", places=("US",)),
        Requirement("locale", places=("US-NY", "GB")), Requirement(NAMED, name="j"), Requirement(NAMED, 80, name="j"),
    )  # fmt: skip
    found = as_protocol(wanted, {"j": "3Q"})
    assert [one["Comparator"] for one in found] == [
        "GreaterThanOrEqualTo", "GreaterThanOrEqualTo", "EqualTo", "In", "Exists", "GreaterThanOrEqualTo"
    ]  # fmt: skip
    assert found[3]["LocaleValues"] == [{"Country": "US", "Subdivision": "NY"}, {"Country": "GB"}]
    assert for_exchange(wanted, name="Pyramid judges") == (*wanted[4:], Requirement(NAMED, name="Pyramid judges"))
    assert for_exchange(wanted[4:], name="Pyramid judges") == wanted[4:]
