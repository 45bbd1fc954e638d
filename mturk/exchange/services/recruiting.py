"""How people become workers: with an account of ours, by a link with a participant id, or as simulated ones."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from collections.abc import Iterable

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from annotation.models import User
from annotation.services.auditing import record_audit
from mturk.exchange.ids import new_id, new_worker_id
from mturk.exchange.models import (
    OPEN_REQUESTS,
    LinkKind,
    Qualification,
    QualificationRequest,
    QualificationType,
    QualificationTypeStatus,
    RecruitmentLink,
    Requester,
    Worker,
)

# Names under which panels send their participants' ids; the first is Prolific's.
PARTICIPANT_NAMES = ("PROLIFIC_PID", "participant", "participantId", "participant_id", "workerId", "sona_id")
_PARTICIPANT = re.compile(r"[\w.@-]{1,200}", re.ASCII)


class BadLink(ValueError):
    """A link that does not make workers: unknown, withdrawn, or without a participant id."""


def find_link(token: str) -> RecruitmentLink:
    """A link that counts."""
    link = RecruitmentLink.objects.filter(
        token=token, revoked_at__isnull=True, requester__revoked_at__isnull=True
    ).select_related("requester", "qualification_type").first()  # fmt: skip
    if link is None:
        raise BadLink("unknown")
    return link


def check_participant(text: str) -> str:
    """A participant id as panels make them."""
    participant = text.strip()
    if not _PARTICIPANT.fullmatch(participant):
        raise BadLink("no_participant")
    return participant


def worker_of(user: AbstractBaseUser) -> Worker | None:
    return Worker.objects.filter(user=user).first()  # type: ignore[misc]


@transaction.atomic
def enrol_user(user: AbstractBaseUser, *, now: dt.datetime, link: RecruitmentLink | None = None) -> Worker:
    """Make somebody with an account a worker, once."""
    worker = worker_of(user)
    if worker is None:
        try:
            with transaction.atomic():
                worker = Worker.objects.create(worker_id=new_worker_id(), user=user, link=link, created_at=now)  # type: ignore[misc]
        except IntegrityError:  # by two clicks at once
            worker = Worker.objects.get(user=user)  # type: ignore[misc]
    grant_by_link(worker, link, now=now)
    return worker


@transaction.atomic
def enrol_participant(
    link: RecruitmentLink, participant: str, *, now: dt.datetime, is_simulated: bool = False
) -> Worker:
    """Make a worker of whoever comes with this id by this link; the same one whenever they come again."""
    who = {"link": link, "participant": check_participant(participant)}
    worker = Worker.objects.filter(**who).first()
    if worker is None:
        try:
            with transaction.atomic():
                worker = Worker.objects.create(
                    worker_id=new_worker_id(is_simulated=is_simulated), created_at=now, is_simulated=is_simulated, **who
                )
        except IntegrityError:
            worker = Worker.objects.get(**who)
    grant_by_link(worker, link, now=now)
    return worker


def grant_by_link(worker: Worker, link: RecruitmentLink | None, *, now: dt.datetime) -> None:
    """Give what a link promises. Whoever had it and lost it does not get it back by the link."""
    if link is not None and link.qualification_type is not None:
        Qualification.objects.get_or_create(
            qualification_type=link.qualification_type, worker=worker, defaults={"value": 1, "granted_at": now}
        )


@transaction.atomic
def create_link(
    requester: Requester,
    *,
    kind: str,
    now: dt.datetime,
    name: str = "",
    completion_code: str = "",
    qualification_type: QualificationType | None = None,
    actor: User | None = None,
) -> RecruitmentLink:
    """A new link. One for participants has a code at its end; without one given, a drawn one."""
    code = (completion_code or secrets.token_hex(4).upper()) if kind == LinkKind.PARTICIPANT else ""
    record_audit("create link", None, target=requester.name, now=now, actor=actor, detail={"name": name, "kind": kind})
    return RecruitmentLink.objects.create(
        token=secrets.token_urlsafe(24), requester=requester, kind=kind, name=name, created_at=now,
        completion_code=code, qualification_type=qualification_type,
    )  # fmt: skip


@transaction.atomic
def revoke_link(link: RecruitmentLink, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Withdraw a link: nobody comes by it any more, and who came by it works no more."""
    revoked = RecruitmentLink.objects.filter(pk=link.pk, revoked_at__isnull=True).update(revoked_at=now)
    if revoked:
        record_audit("revoke link", None, target=link.requester.name, now=now, actor=actor, detail={"name": link.name})
    return bool(revoked)


def simulated_link(
    requester: Requester, qualification_type: QualificationType | None, *, now: dt.datetime
) -> RecruitmentLink:
    """The link by which simulated workers come to a requester; one for each qualification that they get."""
    name = "Simulated workers"
    there = requester.links.filter(name=name, qualification_type=qualification_type, revoked_at__isnull=True).first()
    if there is not None:
        return there
    return create_link(
        requester, kind=LinkKind.PARTICIPANT, name=name, qualification_type=qualification_type, now=now
    )  # fmt: skip


def enrol_simulated(link: RecruitmentLink, participants: Iterable[str], *, now: dt.datetime) -> list[Worker]:
    """Workers that are marked as simulated wherever people see them."""
    return [enrol_participant(link, name, now=now, is_simulated=True) for name in participants]


@transaction.atomic
def ask_for_qualification(worker: Worker, kind: QualificationType, *, now: dt.datetime) -> bool:
    """Ask for a qualification. Says whether the worker has it now; asking twice is asking once."""
    if kind.status != QualificationTypeStatus.ACTIVE or kind.test or kind.deleted_at is not None:
        return False
    if kind.auto_granted:
        value = 1 if kind.auto_granted_value is None else kind.auto_granted_value
        held, _is_new = Qualification.objects.get_or_create(
            qualification_type=kind, worker=worker, defaults={"value": value, "granted_at": now}
        )
        return held.revoked_at is None
    asked = QualificationRequest.objects.filter(qualification_type=kind, worker=worker)
    last = asked.order_by("-pk").first()
    if last is not None and not may_ask_again(last, kind, now=now):
        return False
    QualificationRequest.objects.create(
        qualification_type=kind, worker=worker, request_id=new_id(), submitted_at=now
    )  # fmt: skip
    return False


def may_ask_again(last: QualificationRequest, kind: QualificationType, *, now: dt.datetime) -> bool:
    """Whether somebody may ask again: after an answer, and after the delay that the type names."""
    if last.state in OPEN_REQUESTS or kind.retry_delay_s is None:
        return False
    return last.submitted_at + dt.timedelta(seconds=kind.retry_delay_s) <= now
