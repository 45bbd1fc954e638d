"""Qualification tests: begun once, handed in within their time, scored by their key or left to the requester."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.db import IntegrityError, transaction

from mturk.exchange.answer_keys import parse_key, score
from mturk.exchange.answer_xml import Answer, write_form_answers
from mturk.exchange.errors import Refused
from mturk.exchange.ids import new_id
from mturk.exchange.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    QualificationTypeStatus,
    RequestState,
    Worker,
)
from mturk.exchange.question_form import QuestionForm, parse_form
from mturk.exchange.services.qualifications import grant
from mturk.exchange.services.recruiting import may_ask_again
from mturk.exchange.services.working import MOST_ANSWER


class CannotTest(Exception):
    """Why a worker cannot begin a test, in a word that the pages explain."""


class Result(StrEnum):
    GRANTED = "granted"
    WAITS = "waits"  # for the requester
    AGAIN = "again"
    LATE = "late"
    GONE = "gone"
    TOO_LARGE = "too_large"


@dataclass(frozen=True)
class Standing:
    """Where a worker stands with a qualification that has a test."""

    why: str  # why they cannot begin the test now; "" if they can
    again_at: dt.datetime | None = None
    open: QualificationRequest | None = None  # the test that they are at
    value: int | None = None  # of the qualification, if they have it


def form_of(test: str) -> QuestionForm | None:
    """The questions of a test; None for one that came before tests were read, and cannot be."""
    try:
        return parse_form(test)
    except Refused:
        return None


def standing_of(worker: Worker, kind: QualificationType, *, now: dt.datetime) -> Standing:
    held = Qualification.objects.filter(qualification_type=kind, worker=worker, revoked_at__isnull=True).first()
    value = held.value if held else None
    lapse(worker, kind, now=now)
    last = QualificationRequest.objects.filter(qualification_type=kind, worker=worker).order_by("-pk").first()
    if last is not None and last.state == RequestState.TESTING:
        return Standing("", open=last, value=value)
    is_active = kind.status == QualificationTypeStatus.ACTIVE and kind.deleted_at is None
    if not is_active or form_of(kind.test) is None:
        return Standing("gone", value=value)
    if last is None or may_ask_again(last, kind, now=now):
        return Standing("", value=value)
    if last.state == RequestState.PENDING:
        return Standing("waits", value=value)
    if kind.retry_delay_s is None:
        return Standing("once", value=value)
    return Standing("early", last.submitted_at + dt.timedelta(seconds=kind.retry_delay_s), value=value)


def lapse(worker: Worker, kind: QualificationType, *, now: dt.datetime) -> None:
    """Close a test whose time is over. It counts as one that was taken."""
    late = QualificationRequest.objects.filter(state=RequestState.TESTING, deadline__lte=now)
    late.filter(qualification_type=kind, worker=worker).update(state=RequestState.LAPSED)


def begin_test(worker: Worker, kind: QualificationType, *, now: dt.datetime) -> QualificationRequest:
    """Begin a test; its time runs from now. One that is begun already is given again: two clicks begin one."""
    standing = standing_of(worker, kind, now=now)
    if standing.open is not None:
        return standing.open
    if standing.why or kind.test_duration_s is None:
        raise CannotTest(standing.why or "gone")
    try:
        with transaction.atomic():
            return QualificationRequest.objects.create(
                qualification_type=kind,
                worker=worker,
                request_id=new_id(),
                test=kind.test,
                answer_key=kind.answer_key,
                state=RequestState.TESTING,
                submitted_at=now,
                deadline=now + dt.timedelta(seconds=kind.test_duration_s),
            )
    except IntegrityError:  # by the other of two clicks
        return QualificationRequest.objects.get(qualification_type=kind, worker=worker, state=RequestState.TESTING)


@transaction.atomic
def hand_in_test(
    request: QualificationRequest, answers: Iterable[Answer], *, now: dt.datetime
) -> tuple[Result, int | None]:
    """Hand in a test, once, in time. With a key it is scored and the qualification given at once, with its value.

    Whoever lost the qualification does not get it back by a test alone: then the requester decides.
    """
    given, kind = list(answers), request.qualification_type
    if sum(len(one.text or "") + len(one.other) for one in given) > MOST_ANSWER:
        return Result.TOO_LARGE, None
    if kind.deleted_at is not None:
        return Result.GONE, None
    lost = Qualification.objects.filter(qualification_type=kind, worker=request.worker, revoked_at__isnull=False)
    is_scored = bool(request.answer_key) and not lost.exists()
    at_test = QualificationRequest.objects.filter(pk=request.pk, state=RequestState.TESTING, deadline__gt=now)
    if not at_test.update(
        state=RequestState.GRANTED if is_scored else RequestState.PENDING,
        answer=write_form_answers(given),
        submitted_at=now,
        decided_at=now if is_scored else None,
    ):
        lapse(request.worker, kind, now=now)
        request.refresh_from_db(fields=["state"])
        return (Result.LATE if request.state == RequestState.LAPSED else Result.AGAIN), None
    if not is_scored:
        return Result.WAITS, None
    value = score(parse_key(request.answer_key), given)
    grant(kind, request.worker, value, now=now)
    return Result.GRANTED, value
