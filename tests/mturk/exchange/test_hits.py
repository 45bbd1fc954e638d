"""HITs: limits, types, tokens, expiry, more assignments, review, deletion."""

from __future__ import annotations

import datetime as dt

import pytest

from mturk.exchange.models import CallLog, Hit
from mturk.exchange.services import clock
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.rows import QualificationTypeFactory
from tests.mturk.exchange.walking import (
    DAY,
    HIT,
    QUESTION,
    TYPE,
    accept,
    counts,
    hit_of,
    money,
    publish,
    refused,
    submit,
)

LIMITS = {
    "LifetimeInSeconds": (29, 31_536_001),
    "AssignmentDurationInSeconds": (29, 31_536_001),
    "AutoApprovalDelayInSeconds": (-1, 2_592_001),
    "MaxAssignments": (0, 1_000_000_001),
    "Title": ("", "t" * 129),
    "Description": ("", "d" * 2001),
    "Keywords": ("k" * 1001,),
    "RequesterAnnotation": ("a" * 256,),
    "Reward": ("$1", "0.123", "1,00", "0.15\n", "99999999999999999999.00"),
    "UniqueRequestToken": ("t" * 65,),
    "Question": (QUESTION + " " * (65_536 - len(QUESTION)), "not xml", "<HTMLQuestion/>"),
    "QualificationRequirements": ([{"QualificationTypeId": "00000000000000000040", "Comparator": "Exists"}] * 11,),
}
BOUNDS = {
    "LifetimeInSeconds": (30, 31_536_000),
    "AssignmentDurationInSeconds": (30, 31_536_000),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "Title": ("t", "ü" * 128),
    "Description": ("d" * 2000,),
    "Keywords": ("k" * 1000,),
    "RequesterAnnotation": ("a" * 255,),
    "Reward": ("0.00", "1", "1.", "0.5"),
    "UniqueRequestToken": ("t" * 64,),
    "Question": (QUESTION + " " * (65_535 - len(QUESTION)),),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in LIMITS.items() for value in values])
def test_a_value_out_of_its_limits_is_refused(mturk, name, value):
    with refused("ParameterValidationError") as answer:
        publish(mturk, **{name: value})
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert answer["Error"]["Message"].endswith(" s)")
    assert Hit.objects.count() == 0


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BOUNDS.items() for value in values])
def test_a_value_at_its_limit_is_taken(mturk, name, value):
    assert hit_of(mturk, publish(mturk, **{name: value}))["HITStatus"] == "Assignable"


def test_a_question_is_measured_in_bytes(mturk):
    padding = "ü" * ((65_535 - len(QUESTION)) // 2 + 1)
    with refused("ParameterValidationError", "bytes"):
        publish(mturk, Question=QUESTION + f"<!--{padding}-->")


def test_what_the_client_does_not_check_is_checked_here(mturk):
    with refused("ParameterValidationError", "one of"):
        publish(
            mturk, QualificationRequirements=[{"QualificationTypeId": "00000000000000000040", "Comparator": "Equals"}]
        )
    with refused("ParameterValidationError", "between 1 and 100"):
        mturk.list_hits(MaxResults=101)
    place = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "USA"}],
    }
    with refused("ParameterValidationError", "Country"):
        publish(mturk, QualificationRequirements=[place])


def test_a_question_is_needed_and_layouts_are_not_kept_here(mturk):
    with refused("ParameterValidationError", "Required parameters include Question"):
        publish(mturk, Question=None)
    with refused("NotImplemented", "layouts"):
        publish(mturk, HITLayoutId="3LAYOUT")
    with refused("NotImplemented", "HITReviewPolicy"):
        publish(mturk, HITReviewPolicy={"PolicyName": "SimplePlurality/2011-09-01"})


def test_equal_values_are_one_type(mturk):
    first = mturk.create_hit_type(**TYPE)["HITTypeId"]
    assert mturk.create_hit_type(**TYPE)["HITTypeId"] == first
    assert hit_of(mturk, publish(mturk))["HITTypeId"] == first
    assert mturk.create_hit_type(**TYPE, AutoApprovalDelayInSeconds=2_592_000)["HITTypeId"] == first  # the default
    changes = (
        {"Title": "Is it there?"}, {"Description": "Else"}, {"Keywords": "news"}, {"Reward": "0.21"},
        {"AssignmentDurationInSeconds": 601}, {"AutoApprovalDelayInSeconds": 60},
        {"QualificationRequirements": [{"QualificationTypeId": "00000000000000000040", "Comparator": "Exists"}]},
    )  # fmt: skip
    others = {mturk.create_hit_type(**{**TYPE, **change})["HITTypeId"] for change in changes}
    assert len(others | {first}) == len(changes) + 1


def test_types_belong_to_their_requester(mturk):
    other = in_process(connect(create_requester("Other", now=clock.now(), deposit_cents=500)))
    mine = mturk.create_hit_type(**TYPE)["HITTypeId"]
    assert other.create_hit_type(**TYPE)["HITTypeId"] != mine
    with refused("HITTypeDoesNotExist"):
        other.create_hit_with_hit_type(HITTypeId=mine, LifetimeInSeconds=60, Question=QUESTION)
    hit_id = publish(mturk)
    for call in (other.get_hit, other.delete_hit, other.list_assignments_for_hit):
        with refused("HITDoesNotExist"):
            call(HITId=hit_id)


def test_a_hit_with_a_type_has_its_values(mturk):
    type_id = mturk.create_hit_type(**TYPE, Keywords="news, text")["HITTypeId"]
    hit = mturk.create_hit_with_hit_type(
        HITTypeId=type_id, LifetimeInSeconds=60, Question=QUESTION, RequesterAnnotation="batch 1, 7"
    )["HIT"]
    assert hit["HITTypeId"] == hit["HITGroupId"] == type_id
    assert (hit["Keywords"], hit["RequesterAnnotation"], hit["MaxAssignments"]) == ("news, text", "batch 1, 7", 1)
    assert hit["Expiration"] - hit["CreationTime"] == dt.timedelta(seconds=60)


def test_a_token_makes_one_hit_a_day_and_names_it(mturk):
    hit_id = publish(mturk, UniqueRequestToken="token-1")
    with refused("HitAlreadyExists", hit_id) as answer:
        publish(mturk, UniqueRequestToken="token-1")
    assert answer["Error"]["Code"] == "RequestError"
    type_id = hit_of(mturk, hit_id)["HITTypeId"]
    with refused("HitAlreadyExists", hit_id):
        mturk.create_hit_with_hit_type(
            HITTypeId=type_id, LifetimeInSeconds=60, Question=QUESTION, UniqueRequestToken="token-1"
        )
    assert Hit.objects.count() == 1
    clock.advance(DAY - 5)
    with refused("HitAlreadyExists", hit_id):
        publish(mturk, UniqueRequestToken="token-1")
    clock.advance(6)
    again = publish(mturk, UniqueRequestToken="token-1")  # why a token alone does not keep a publisher safe
    assert again != hit_id
    with refused("HitAlreadyExists", again):
        publish(mturk, UniqueRequestToken="token-1")


def test_a_refused_call_does_not_use_up_its_token(mturk):
    with refused("InsufficientFunds"):
        publish(mturk, MaxAssignments=501, UniqueRequestToken="token-1")
    assert publish(mturk, UniqueRequestToken="token-1")


def test_ids_say_that_they_are_local(mturk):
    hit = hit_of(mturk, publish(mturk))
    assert [len(hit["HITId"]), hit["HITId"][:6], hit["HITTypeId"][:6]] == [30, "3LOCAL", "3LOCAL"]


def test_a_hit_goes_through_its_states(mturk):
    hit_id = publish(mturk, MaxAssignments=2)
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 2, 0, 0)
    held = accept(hit_id)
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 1, 1, 0)
    second = submit(hit_id)
    assert counts(hit_of(mturk, hit_id)) == ("Unassignable", 0, 1, 0)
    held.state = "returned"
    held.save()
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 1, 0, 0)
    third = submit(hit_id)
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 0)  # submitted is not completed
    mturk.update_hit_review_status(HITId=hit_id)
    assert counts(hit_of(mturk, hit_id)) == ("Reviewing", 0, 0, 0)
    with refused("InvalidHITState", "'Reviewing'"):
        mturk.update_hit_review_status(HITId=hit_id)
    mturk.update_hit_review_status(HITId=hit_id, Revert=True)
    mturk.approve_assignment(AssignmentId=second)
    mturk.reject_assignment(AssignmentId=third, RequesterFeedback="empty")
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 2)
    mturk.delete_hit(HITId=hit_id)
    for call in (mturk.get_hit, mturk.list_assignments_for_hit, mturk.update_hit_review_status):
        with refused("HITDoesNotExist", f"Hit {hit_id} does not exist."):
            call(HITId=hit_id)
    assert mturk.list_hits()["HITs"] == []


def test_delete_refuses_in_the_words_that_contradict_themselves(mturk):
    hit_id = publish(mturk, MaxAssignments=1)
    with refused("InvalidHITState", "'Assignable'"):
        mturk.delete_hit(HITId=hit_id)
    assignment_id = submit(hit_id)
    with refused(
        "InvalidHITState", "'Reviewable'.  This operation can be called with a status of: Reviewing, Reviewable"
    ):
        mturk.delete_hit(HITId=hit_id)
    mturk.approve_assignment(AssignmentId=assignment_id)
    mturk.delete_hit(HITId=hit_id)
    with refused("InvalidHITState", "'Disposed'"):
        mturk.delete_hit(HITId=hit_id)


def test_more_assignments_stop_at_the_border_of_ten(mturk):
    hit_id = publish(mturk, MaxAssignments=8)
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    with refused("InvalidMaximumAssignmentsIncrease", "10"):
        mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert hit_of(mturk, hit_id)["MaxAssignments"] == 9
    large = publish(mturk, MaxAssignments=10)
    mturk.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=30)
    assert counts(hit_of(mturk, large)) == ("Assignable", 40, 0, 0)
    assert money(mturk) == ("90.20", "9.80")
    with refused("InsufficientFunds"):
        mturk.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=452)
    with refused("ParameterValidationError", "at most"):
        mturk.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=10**9)


def test_a_token_adds_assignments_once(mturk):
    hit_id = publish(mturk)
    add = {"HITId": hit_id, "NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "more"}
    request_id = mturk.create_additional_assignments_for_hit(**add)["ResponseMetadata"]["RequestId"]
    with refused("DuplicateRequest", request_id):
        mturk.create_additional_assignments_for_hit(**add)
    assert hit_of(mturk, hit_id)["MaxAssignments"] == 5


def test_more_assignments_bring_a_reviewable_hit_back(mturk):
    hit_id = publish(mturk, MaxAssignments=1)
    submit(hit_id)
    mturk.update_hit_review_status(HITId=hit_id)
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 1, 0, 0)


def test_expiry_by_call_ends_offering_and_extension_brings_it_back(mturk):
    hit_id = publish(mturk)
    held = accept(hit_id)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    assert counts(hit_of(mturk, hit_id)) == ("Unassignable", 0, 1, 0)
    assert money(mturk) == ("99.80", "0.20")  # what is accepted may still be handed in
    later = clock.now() + dt.timedelta(days=3)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=later)
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 2, 1, 0)
    assert money(mturk) == ("99.40", "0.60")
    assert abs(hit_of(mturk, hit_id)["Expiration"] - later) < dt.timedelta(seconds=1)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    held.state = "returned"
    held.save()
    # The worker site levels the hold when somebody returns; here the row alone was changed.
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=1)
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 0)
    assert money(mturk) == ("100.00", "0.00")


def test_the_same_expiry_again_was_already_processed(mturk):
    hit_id = publish(mturk)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    with refused(
        "InvalidParameterValue", f'The idempotency token "{hit_id}1970-01-01T00:00:00Z" has already been processed.'
    ):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    later = clock.now() + dt.timedelta(days=1)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=later)
    with refused("InvalidParameterValue", "already been processed"):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=later)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)  # it would change something, so it does
    assert hit_of(mturk, hit_id)["HITStatus"] == "Reviewable"
    with refused("ParameterValidationError", "within"):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=clock.now() + dt.timedelta(days=366))


def test_extension_needs_the_money_again(mturk):
    hit_id = publish(mturk, MaxAssignments=300)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    publish(mturk, MaxAssignments=300)
    with refused("InsufficientFunds"):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=clock.now() + dt.timedelta(days=1))
    assert hit_of(mturk, hit_id)["HITStatus"] == "Reviewable"


def test_the_type_of_a_hit_changes_until_somebody_begins(mturk):
    hit_id = publish(mturk)
    dearer = mturk.create_hit_type(**{**TYPE, "Reward": "0.50"})["HITTypeId"]
    mturk.update_hit_type_of_hit(HITId=hit_id, HITTypeId=dearer)
    assert hit_of(mturk, hit_id)["Reward"] == "0.50"
    assert money(mturk) == ("98.50", "1.50")
    accept(hit_id)
    with refused("InvalidHITState"):
        mturk.update_hit_type_of_hit(HITId=hit_id, HITTypeId=mturk.create_hit_type(**TYPE)["HITTypeId"])


def test_reviewable_hits_are_listed_by_state_and_type(mturk):
    done, reviewing, open_one, expired = (publish(mturk, MaxAssignments=1, Title=title) for title in "abcd")
    submit(done)
    submit(reviewing)
    mturk.update_hit_review_status(HITId=reviewing)
    mturk.update_expiration_for_hit(HITId=expired, ExpireAt=0)
    half = publish(mturk, MaxAssignments=1, Title="e")
    accept(half)
    assert [hit["HITId"] for hit in mturk.list_reviewable_hits()["HITs"]] == [done, expired]
    assert [hit["HITId"] for hit in mturk.list_reviewable_hits(Status="Reviewing")["HITs"]] == [reviewing]
    type_id = hit_of(mturk, expired)["HITTypeId"]
    assert [hit["HITId"] for hit in mturk.list_reviewable_hits(HITTypeId=type_id)["HITs"]] == [expired]
    assert hit_of(mturk, open_one)["HITStatus"] == "Assignable"


def test_hits_are_found_by_their_qualification(mturk, requester):
    kind = QualificationTypeFactory(requester=requester)
    needs = [{"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists"}]
    asking = publish(mturk, QualificationRequirements=needs)
    publish(mturk)
    found = mturk.list_hits_for_qualification_type(QualificationTypeId=kind.qualification_type_id)["HITs"]
    assert [hit["HITId"] for hit in found] == [asking]
    assert found[0]["QualificationRequirements"] == needs
    with refused("QualificationTypeDoesNotExist"):
        mturk.list_hits_for_qualification_type(QualificationTypeId="3NONE")


def test_requirements_name_types_that_are_there_and_active(mturk, requester):
    with refused("QualificationTypeDoesNotExist", "3NONE"):
        publish(mturk, QualificationRequirements=[{"QualificationTypeId": "3NONE", "Comparator": "Exists"}])
    sleeping = QualificationTypeFactory(requester=requester, status="Inactive").qualification_type_id
    with refused("InvalidQualificationState", "Active"):
        publish(mturk, QualificationRequirements=[{"QualificationTypeId": sleeping, "Comparator": "Exists"}])


def test_every_call_that_changes_or_fails_is_logged_without_texts(mturk):
    publish(mturk, RequesterAnnotation="batch 1")
    mturk.list_hits()
    with refused("HITDoesNotExist"):
        mturk.get_hit(HITId="3NONE")
    made, failed = CallLog.objects.order_by("pk")
    assert (made.operation, made.status, made.request["RequesterAnnotation"]) == ("CreateHIT", 200, "batch 1")
    assert made.request["Question"] == f"({len(QUESTION)} characters)"
    assert (failed.operation, failed.status, failed.error) == ("GetHIT", 400, "AWS.MechanicalTurk.HITDoesNotExist")


def test_a_null_is_a_parameter_that_was_left_out(mturk):
    assert mturk.create_hit(**HIT)["HIT"].get("Keywords") is None
