"""Qualification tests: made by requesters, taken on the worker site in their time, scored or decided."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from mturk.answers import read_answers
from mturk.exchange import models
from mturk.exchange.services import clock, testing
from mturk.exchange.services.requesters import create_requester
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.form_xml import SMALL, ask, form, text
from tests.mturk.exchange.key_xml import KEY, TEST, key, right
from tests.mturk.exchange.rows import QualificationTypeFactory, WorkerFactory
from tests.mturk.exchange.test_flow import lab
from tests.mturk.exchange.test_people import TRAINED, make_type
from tests.mturk.exchange.test_site import at_work, link, needs
from tests.mturk.exchange.walking import publish, refused

__all__ = ["at_work", "lab", "link"]
pytestmark = pytest.mark.django_db

TESTED = {"Test": TEST, "TestDurationInSeconds": 600}
ALL_RIGHT = {"q1": "blue", "q2": "moon", "q3": "]]> & </script>"}


def begin(client, type_id: str) -> str:
    """Begin a test; the address of its page."""
    answer = client.post(reverse("exchange:begin-test", args=[type_id]))
    assert answer.status_code == 302
    return answer.headers["Location"]


def read_page(client, type_id: str) -> str:
    return client.get(reverse("exchange:qualification", args=[type_id])).text


# --- requesters


def test_a_type_with_a_test_is_shown_as_it_was_made(mturk):
    made = mturk.create_qualification_type(**TRAINED, **TESTED, AnswerKey=KEY)["QualificationType"]
    assert (made["Test"], made["AnswerKey"], made["TestDurationInSeconds"]) == (TEST, KEY, 600)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Test": TEST}, "TestDurationInSeconds"),
        ({"AnswerKey": KEY}, "Test"),
        ({**TESTED, "AutoGranted": True}, "AutoGranted"),
        ({**TESTED, "Test": "<QuestionForm/>"}, "not a QuestionForm"),
        ({**TESTED, "Test": form(ask("a", "<FileUploadAnswer/>"))}, "takes no files"),
        ({**TESTED, "AnswerKey": "<AnswerKey/>"}, "not an AnswerKey"),
        ({**TESTED, "AnswerKey": key(right("sky", (("red",), 1)))}, "offers no such choice"),
        ({**TESTED, "AnswerKey": key(right("why"))}, "texts cannot be scored"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(mturk, change, words):
    with refused("ParameterValidationError", words):
        make_type(mturk, **change)
    assert not models.QualificationType.objects.exists()


def test_another_requester_is_not_told_the_test_and_its_key(mturk):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    other = in_process(connect(create_requester("Other lab", now=clock.now())))
    told = [
        other.get_qualification_type(QualificationTypeId=type_id)["QualificationType"],
        *other.list_qualification_types(MustBeRequestable=False, Query="")["QualificationTypes"],
    ]
    own = [kind for kind in told if kind["QualificationTypeId"] == type_id]
    assert len(own) == 2
    assert all("Test" not in kind and "AnswerKey" not in kind for kind in own)
    assert {kind["TestDurationInSeconds"] for kind in own} == {600}


def test_a_type_whose_test_cannot_be_read_any_more_can_be_switched_off(mturk):
    type_id = make_type(mturk, **TESTED)
    models.QualificationType.objects.update(test="of old")
    mturk.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Inactive")
    assert models.QualificationType.objects.get().status == "Inactive"


def test_a_test_is_changed_as_a_whole(mturk):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    for part in ({"AnswerKey": KEY}, {"TestDurationInSeconds": 60}):
        with refused("ParameterValidationError", "Test"):
            mturk.update_qualification_type(QualificationTypeId=type_id, **part)
    with refused("ParameterValidationError", "TestDurationInSeconds"):
        mturk.update_qualification_type(QualificationTypeId=type_id, Test=TEST)
    with refused("ParameterValidationError", "AutoGranted"):
        mturk.update_qualification_type(QualificationTypeId=type_id, AutoGranted=True)
    same = mturk.update_qualification_type(QualificationTypeId=type_id, Description="d")["QualificationType"]
    assert same["AnswerKey"] == KEY
    changed = mturk.update_qualification_type(QualificationTypeId=type_id, Test=SMALL, TestDurationInSeconds=60)
    assert "AnswerKey" not in changed["QualificationType"]
    assert changed["QualificationType"]["Test"] == SMALL
    with refused("ParameterValidationError", "texts cannot be scored"):
        mturk.update_qualification_type(
            QualificationTypeId=type_id, Test=SMALL, TestDurationInSeconds=60, AnswerKey=KEY
        )


def test_a_type_without_a_test_may_get_one(mturk):
    type_id = make_type(mturk)
    assert "Test" in mturk.update_qualification_type(QualificationTypeId=type_id, **TESTED)["QualificationType"]


# --- workers


def test_a_test_with_a_key_is_scored_and_granted_at_once(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    wanted = needs(type_id, comparator="GreaterThanOrEqualTo", IntegerValues=[80])
    hit_id = publish(mturk, QualificationRequirements=[wanted])
    shown = client.get(reverse("exchange:work")).text
    assert reverse("exchange:qualification", args=[type_id]) in shown
    assert "Ask for it" not in shown
    page = read_page(client, type_id)
    assert "3 questions, to be answered within 10 minutes." in page
    assert "It can be taken once." in page
    assert not models.QualificationRequest.objects.exists(), "a look costs no time"
    address = begin(client, type_id)
    assert begin(client, type_id) == address, "two clicks begin one"
    assert "Which colour is the sky?" in client.get(address).text
    assert mturk.list_qualification_requests()["NumResults"] == 0, "not before it is handed in"
    answer = client.post(address, ALL_RIGHT, follow=True)
    assert "with the value 100." in answer.text
    score = mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=at_work.worker_id)["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (100, "Granted")
    assert mturk.list_qualification_requests()["NumResults"] == 0
    assert "It can be taken once." in read_page(client, type_id)
    assert client.post(reverse("exchange:accept", args=[hit_id])).headers["Location"] != reverse("exchange:work")
    client.post(address, {**ALL_RIGHT, "q1": "green"})
    client.post(reverse("exchange:begin-test", args=[type_id]))
    assert models.QualificationRequest.objects.count() == 1
    assert models.Qualification.objects.get().value == 100


def test_a_test_without_a_key_waits_for_the_requester(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED)
    client.post(begin(client, type_id), ALL_RIGHT)
    (row,) = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert row["Test"] == TEST
    assert row["WorkerId"] == at_work.worker_id
    assert read_answers(row["Answer"]) == {"sky": "blue", "seen": "moon", "why": "]]> & </script>"}
    assert "<SelectionIdentifier>blue</SelectionIdentifier>" in row["Answer"]
    assert "The requester decides." in read_page(client, type_id)
    assert not models.Qualification.objects.exists()
    mturk.accept_qualification_request(QualificationRequestId=row["QualificationRequestId"], IntegerValue=70)
    assert "with the value 70." in read_page(client, type_id)
    with refused("InvalidQualificationState"):
        mturk.reject_qualification_request(QualificationRequestId=row["QualificationRequestId"])


def test_a_rejected_test_may_be_taken_again_after_its_delay(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, RetryDelayInSeconds=3600)
    client.post(begin(client, type_id), ALL_RIGHT)
    (row,) = mturk.list_qualification_requests()["QualificationRequests"]
    mturk.reject_qualification_request(QualificationRequestId=row["QualificationRequestId"], Reason="No")
    assert "It can be taken again later." in read_page(client, type_id)
    assert begin(client, type_id) == reverse("exchange:qualification", args=[type_id])
    clock.advance(3601)
    assert begin(client, type_id).startswith("/exchange/work/tests/")
    assert models.QualificationRequest.objects.count() == 2


def test_a_second_try_gives_another_value(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY, RetryDelayInSeconds=0)
    client.post(begin(client, type_id), {**ALL_RIGHT, "q1": "green"})
    assert models.Qualification.objects.get().value == 50
    client.post(begin(client, type_id), ALL_RIGHT)
    assert models.Qualification.objects.get().value == 100


def test_time_is_held_by_the_server(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    address = begin(client, type_id)
    clock.advance(601)
    answer = client.post(address, ALL_RIGHT, follow=True)
    assert "The time for this test was over" in answer.text
    request = models.QualificationRequest.objects.get()
    assert (request.state, request.answer) == ("lapsed", "")
    assert not models.Qualification.objects.exists()
    assert "It can be taken once." in answer.text, "a test whose time ran out was taken"
    assert mturk.list_qualification_requests()["NumResults"] == 0
    with refused("QualificationRequestDoesNotExist"):
        mturk.accept_qualification_request(QualificationRequestId=request.request_id)


def test_a_forgotten_test_lapses_when_somebody_looks(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, RetryDelayInSeconds=0)
    address = begin(client, type_id)
    clock.advance(601)
    assert client.get(address).status_code == 302
    assert begin(client, type_id) != address


def test_what_was_given_is_still_there_when_something_is_missing(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    address = begin(client, type_id)
    answer = client.post(address, {"q2": "moon", "q3": "a <b>"})
    assert answer.status_code == 422
    assert 'value="moon" checked' in answer.text
    assert 'value="a &lt;b&gt;"' in answer.text
    assert models.QualificationRequest.objects.get().state == "testing"
    client.post(address, ALL_RIGHT)
    assert models.Qualification.objects.get().value == 100


def test_a_test_is_scored_as_it_was_when_it_began(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    address = begin(client, type_id)
    mturk.update_qualification_type(QualificationTypeId=type_id, Test=SMALL, TestDurationInSeconds=60)
    assert "What do you see at night?" in client.get(address).text
    client.post(address, ALL_RIGHT)
    assert models.Qualification.objects.get().value == 100


def test_whoever_lost_it_does_not_get_it_back_by_the_test_alone(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY, RetryDelayInSeconds=0)
    client.post(begin(client, type_id), ALL_RIGHT)
    mturk.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId=at_work.worker_id)
    client.post(begin(client, type_id), ALL_RIGHT)
    assert models.Qualification.objects.get().revoked_at is not None
    assert mturk.list_qualification_requests()["NumResults"] == 1


def test_a_test_that_is_gone_cannot_be_taken(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    address = begin(client, type_id)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert "does not exist any more" in client.post(address, ALL_RIGHT, follow=True).text
    assert client.get(reverse("exchange:qualification", args=[type_id])).status_code == 404
    closed = make_type(mturk, Name="Closed", **TESTED, QualificationTypeStatus="Inactive")
    assert begin(client, closed) == reverse("exchange:qualification", args=[closed])
    old = QualificationTypeFactory(test="<x/>", test_duration_s=60)
    assert begin(client, old.qualification_type_id).endswith(f"{old.qualification_type_id}/"), (
        "from before tests were read"
    )
    plain = QualificationTypeFactory()
    assert client.get(reverse("exchange:qualification", args=[plain.qualification_type_id])).status_code == 404
    assert not models.Qualification.objects.exists()


def test_a_test_is_its_workers(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    kind = models.QualificationType.objects.get(qualification_type_id=type_id)
    other = testing.begin_test(WorkerFactory(), kind, now=clock.now())
    address = reverse("exchange:test", args=[other.request_id])
    assert client.get(address).status_code == 404
    assert client.post(address, ALL_RIGHT).status_code == 404
    assert Client().post(address, ALL_RIGHT).headers["Location"] == reverse("exchange:work")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    assert strict.post(begin(client, type_id), ALL_RIGHT).status_code == 403


def test_answers_that_are_too_long_are_not_taken(mturk, client, at_work):
    address = begin(client, make_type(mturk, **TESTED))
    assert "Shorten them" in client.post(address, {**ALL_RIGHT, "q3": "x" * 1_000_001}).text
    assert models.QualificationRequest.objects.get().state == "testing"


def test_a_test_may_be_handed_in_without_an_answer(mturk, client, at_work):
    address = begin(client, make_type(mturk, Test=form(ask("a", text())), TestDurationInSeconds=60))
    client.post(address, {})
    (row,) = mturk.list_qualification_requests()["QualificationRequests"]
    assert read_answers(row["Answer"]) == {}


def test_asking_does_not_go_round_the_test(mturk, client, at_work):
    type_id = make_type(mturk, **TESTED)
    client.post(reverse("exchange:ask", args=[type_id]))
    assert not models.QualificationRequest.objects.exists()


@pytest.mark.parametrize("evil", ["</script><script>alert(1)</script>", "\"' onfocus=alert(1) x='"])
def test_texts_of_a_qualification_are_text(client, at_work, evil):
    kind = QualificationTypeFactory(name=evil, description=evil, test=TEST, test_duration_s=60)
    address = begin(client, kind.qualification_type_id)
    for shown in (read_page(client, kind.qualification_type_id), client.get(address).text):
        assert evil not in shown


@pytest.mark.django_db(transaction=True)
def test_boto3_over_a_real_connection(lab, live_server, client):
    mturk = connect(lab, live_server.url)
    type_id = make_type(mturk, **TESTED, AnswerKey=KEY)
    kind = models.QualificationType.objects.get(qualification_type_id=type_id)
    worker = WorkerFactory()
    begun = testing.begin_test(worker, kind, now=clock.now())
    assert testing.hand_in_test(begun, [], now=clock.now()) == ("granted", 5)
    score = mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)["Qualification"]
    assert score["IntegerValue"] == 5
    hit_id = publish(mturk, Question=SMALL)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["Question"] == SMALL
