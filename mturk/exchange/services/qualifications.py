"""Qualifications of requesters: their types, who has them, who asks for them.

Every function here runs inside the transaction of its call, with the requester's row held.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db.models import Q

from mturk.exchange.answer_keys import check_key, parse_key
from mturk.exchange.errors import Refused, not_allowed
from mturk.exchange.ids import new_id
from mturk.exchange.models import (
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    RequestState,
    Worker,
)
from mturk.exchange.question_form import parse_form
from mturk.exchange.rules import NAME_KEPT


def create_type(requester: Requester, values: dict[str, Any], *, now: dt.datetime) -> QualificationType:
    """Make a type. Its name is the requester's for as long as it lives, and two days more."""
    in_use = Q(deleted_at__isnull=True) | Q(deleted_at__gt=now - NAME_KEPT)
    if requester.qualification_types.filter(in_use, name=values["name"]).exists():
        raise Refused("QualificationTypeAlreadyExists")
    check_test(values)
    return QualificationType.objects.create(
        requester=requester, qualification_type_id=new_id(), created_at=now, **values
    )


def update_type(qualification_type: QualificationType, values: dict[str, Any]) -> None:
    """Change a type. A test is changed as a whole: one without a key has none from then on."""
    if "test" in values:
        if "test_duration_s" not in values:
            raise Refused("MissingParameter", name="TestDurationInSeconds")
        values = {"answer_key": "", **values}
    elif "answer_key" in values or "test_duration_s" in values:
        raise Refused("MissingParameter", name="Test")
    for name, value in values.items():
        setattr(qualification_type, name, value)
    check_test({name: getattr(qualification_type, name) for name in TEST_FIELDS}, is_new="test" in values)
    qualification_type.save(update_fields=list(values))


TEST_FIELDS = ("test", "answer_key", "test_duration_s", "auto_granted", "auto_granted_value")


def check_test(values: dict[str, Any], *, is_new: bool = True) -> None:
    """A test needs its time and is a QuestionForm; a qualification that is granted by itself has no test.

    One that is there already is not read again: whatever it is, its type can be described anew or switched off.
    """
    test, auto = values.get("test"), values.get("auto_granted")
    if test and not values.get("test_duration_s"):
        raise Refused("MissingParameter", name="TestDurationInSeconds")
    if values.get("answer_key") and not test:
        raise Refused("MissingParameter", name="Test")
    if test and is_new:
        form = parse_form(test, name="Test")
        if values.get("answer_key"):
            check_key(parse_key(values["answer_key"]), form)
    if test and auto:
        why = "A qualification with a test is not granted by itself."
        raise Refused("InvalidParameterValue", value="true", name="AutoGranted", why=why)
    if values.get("auto_granted_value") is not None and not auto:
        why = "It goes with AutoGranted only."
        raise Refused("InvalidParameterValue", value=values["auto_granted_value"], name="AutoGrantedValue", why=why)


def delete_type(qualification_type: QualificationType, *, now: dt.datetime) -> None:
    """Delete a type for everybody. Its rows stay, for what was done under it."""
    qualification_type.deleted_at = now
    qualification_type.save(update_fields=["deleted_at"])
    qualification_type.qualifications.filter(revoked_at__isnull=True).update(revoked_at=now)


def grant(
    qualification_type: QualificationType, worker: Worker, value: int, *, now: dt.datetime, notify: bool = False
) -> Qualification:
    """Give a qualification, or another value of one that the worker has."""
    qualification, _created = Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "granted_at": now, "revoked_at": None},
    )
    if notify:
        tell(qualification_type, worker, f"You have the qualification “{qualification_type.name}”.", now=now)
    return qualification


def revoke(qualification_type: QualificationType, worker: Worker, *, reason: str, now: dt.datetime) -> None:
    revoked = Qualification.objects.filter(
        qualification_type=qualification_type, worker=worker, revoked_at__isnull=True
    ).update(revoked_at=now)
    if not revoked:
        raise Refused("QualificationDoesNotExist")
    if reason:
        tell(qualification_type, worker, reason, now=now)


def tell(qualification_type: QualificationType, worker: Worker, text: str, *, now: dt.datetime) -> None:
    Message.objects.create(
        requester=qualification_type.requester, worker=worker, subject=qualification_type.name, text=text, sent_at=now
    )


def accept_request(request: QualificationRequest, value: int, *, now: dt.datetime) -> None:
    answer_request(request, RequestState.GRANTED, "", now=now)
    grant(request.qualification_type, request.worker, value, now=now)


def reject_request(request: QualificationRequest, reason: str, *, now: dt.datetime) -> None:
    answer_request(request, RequestState.REJECTED, reason, now=now)


def answer_request(request: QualificationRequest, state: RequestState, reason: str, *, now: dt.datetime) -> None:
    if request.state != RequestState.PENDING:
        state_now = RequestState(request.state).value.capitalize()
        raise not_allowed(
            "InvalidQualificationState", thing="QualificationRequest", state=state_now, allowed="Submitted"
        )
    request.state, request.decided_at, request.reason = state, now, reason
    request.save(update_fields=["state", "decided_at", "reason"])
