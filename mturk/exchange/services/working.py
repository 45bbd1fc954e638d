"""What workers do with HITs: find, accept, hand in, return. Each act settles first what is due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from mturk.exchange.answer_xml import Answer, answer_fields, write_answers, write_form_answers
from mturk.exchange.ids import new_id
from mturk.exchange.models import (
    HANDED_IN,
    TAKEN,
    AssignmentState,
    Block,
    Hit,
    HitAssignment,
    HitType,
    Qualification,
    QualificationType,
    Requester,
    Worker,
)
from mturk.exchange.qualifying import NUMBER_APPROVED, PERCENT_APPROVED, Profile, guards, may, meets, percent_approved
from mturk.exchange.queries import hit_state
from mturk.exchange.services.ledger import level_hold, lock_requester
from mturk.exchange.services.settling import late_assignments, settle
from mturk.exchange.showing import read_question

MOST_HELD = 25  # HITs that one worker may hold at a time, as on MTurk
MOST_ANSWER = 1_000_000  # characters of all fields of a form together


class CannotWork(Exception):
    """Why a worker cannot do this now, in a word that the pages explain."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True)
class Group:
    """HITs of one type as one line of the list, and what keeps the worker from them."""

    hit_type: HitType
    number: int
    may_preview: bool
    may_accept: bool
    missing: tuple[Mapping[str, Any], ...]  # requirements that the worker does not meet


class Outcome(StrEnum):
    HANDED_IN = "handed_in"
    AGAIN = "again"  # it was handed in before; nothing changes
    LATE = "late"
    RETURNED = "returned"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    ELSEWHERE = "elsewhere"  # the questions are the site's to ask, and so are the answers
    UNKNOWN = "unknown"


def profile_of(worker: Worker) -> Profile:
    """What the exchange knows of a worker, for requirements."""
    held = Qualification.objects.filter(
        worker=worker, revoked_at__isnull=True, qualification_type__deleted_at__isnull=True
    )
    values = dict(held.values_list("qualification_type__qualification_type_id", "value"))
    decided = dict(worker.assignments.order_by().values_list("state").annotate(number=Count("pk")))
    approved, rejected = decided.get(AssignmentState.APPROVED, 0), decided.get(AssignmentState.REJECTED, 0)
    values[NUMBER_APPROVED] = approved
    values[PERCENT_APPROVED] = percent_approved(approved, rejected)
    return Profile(values, worker.locale)


def open_hits(worker: Worker, *, now: dt.datetime) -> QuerySet[Hit]:
    """HITs that have an assignment left for somebody who has not taken one, of requesters who do not block them."""
    of_hit = HitAssignment.objects.filter(hit=OuterRef("pk"), state__in=TAKEN)
    taken = of_hit.order_by().values("hit").annotate(number=Count("pk")).values("number")
    blocked = Block.objects.filter(worker=worker, requester=OuterRef("requester"))
    return (
        Hit.objects.filter(is_open=True, disposed_at__isnull=True, expires_at__gt=now)
        .filter(requester__revoked_at__isnull=True)
        .filter(~Exists(of_hit.filter(worker=worker)), ~Exists(blocked))
        .alias(taken=Coalesce(Subquery(taken), 0))
        .filter(taken__lt=F("max_assignments"))
    )


def find_groups(worker: Worker, *, now: dt.datetime) -> list[Group]:
    """Every group with something left for the worker: what they may accept first, then the newest."""
    settle(now=now)
    rows = open_hits(worker, now=now).order_by().values_list("hit_type")
    numbers = {key: (number, newest) for key, number, newest in rows.annotate(n=Count("pk"), m=Max("created_at"))}
    types = HitType.objects.filter(pk__in=numbers).select_related("requester")
    profile = profile_of(worker)
    groups = [make_group(kind, numbers[kind.pk][0], profile) for kind in types]
    seen = [group for group in groups if may("discover", group.hit_type.requirements, profile)]
    newest = {group.hit_type.pk: (group.may_accept, numbers[group.hit_type.pk][1]) for group in seen}
    return sorted(seen, key=lambda group: (*newest[group.hit_type.pk], group.hit_type.pk), reverse=True)


def make_group(hit_type: HitType, number: int, profile: Profile) -> Group:
    wanted = hit_type.requirements
    missing = tuple(one for one in wanted if "accept" in guards(one) and not meets(one, profile))
    return Group(hit_type, number, may("preview", wanted, profile), not missing, missing)


def group_of(worker: Worker, hit_type: HitType, *, now: dt.datetime) -> Group | None:
    """One line of the list; None for a group that the worker may not know of."""
    profile = profile_of(worker)
    if not may("discover", hit_type.requirements, profile):
        return None
    return make_group(hit_type, open_hits(worker, now=now).filter(hit_type=hit_type).count(), profile)


def next_hit(worker: Worker, hit_type: HitType, *, now: dt.datetime) -> Hit | None:
    """The oldest HIT of a group for the worker: one they have not returned before, if there is one."""
    hits = open_hits(worker, now=now).filter(hit_type=hit_type).order_by("pk").select_related("hit_type__requester")
    tried = HitAssignment.objects.filter(hit=OuterRef("pk"), worker=worker)
    return hits.filter(~Exists(tried)).first() or hits.first()


def accept(worker: Worker, hit: Hit, *, now: dt.datetime) -> HitAssignment:
    """Take an assignment. One that the worker holds already is given again: two clicks take one."""
    free_late(now, hit.requester_id)
    try:
        with transaction.atomic():
            return take(worker, hit, now=now)
    except IntegrityError as error:  # by the other of two clicks
        raise CannotWork("gone") from error


def accept_next(worker: Worker, hit_type: HitType, *, now: dt.datetime) -> HitAssignment:
    """Take the next HIT of a group; another one if somebody was faster."""
    free_late(now, hit_type.requester_id)
    for _attempt in range(5):
        try:
            with transaction.atomic():
                hit = next_hit(worker, hit_type, now=now)
                if hit is None:
                    break
                return take(worker, hit, now=now)
        except IntegrityError:
            continue
        except CannotWork as error:
            if error.why != "gone":
                raise
    raise CannotWork("none_left")


def take(worker: Worker, hit: Hit, *, now: dt.datetime) -> HitAssignment:
    """Take an assignment, inside a transaction. Whoever takes the last one of a HIT holds the HIT's row."""
    locked = Hit.objects.select_for_update(of=("self",)).select_related("hit_type").get(pk=hit.pk)
    taken = dict(locked.assignments.filter(state__in=TAKEN).values_list("worker_id", "state"))
    if taken.get(worker.pk) == AssignmentState.ACCEPTED:
        return locked.assignments.get(worker=worker, state=AssignmentState.ACCEPTED)
    is_open = locked.is_open and locked.disposed_at is None and locked.expires_at > now
    if worker.pk in taken or not is_open or len(taken) >= locked.max_assignments:
        raise CannotWork("gone")
    if Requester.objects.filter(
        Q(revoked_at__isnull=False) | Q(blocks__worker=worker), pk=locked.requester_id
    ).exists():
        raise CannotWork("gone")
    if worker.assignments.filter(state=AssignmentState.ACCEPTED).count() >= MOST_HELD:
        raise CannotWork("too_many")
    wanted = locked.hit_type.requirements
    if wanted and not may("accept", wanted, profile_of(worker)):
        raise CannotWork("not_qualified")
    deadline = now + dt.timedelta(seconds=locked.hit_type.duration_s)
    return HitAssignment.objects.create(
        hit=locked, worker=worker, assignment_id=new_id(), accepted_at=now, deadline=deadline
    )


def free_late(now: dt.datetime, requester_id: int) -> None:
    """Free what was accepted and not handed in in time. One look when there is nothing."""
    if late_assignments(now).filter(hit__requester_id=requester_id).exists():
        settle(now=now, requester_id=requester_id)


def submit(assignment_id: str, pairs: Iterable[tuple[str, str]], *, now: dt.datetime) -> Outcome:
    """Hand in the fields of a form for an assignment, once, in time. Whoever knows its id may."""
    fields = answer_fields(pairs)
    assignment = (
        HitAssignment.objects.filter(assignment_id=assignment_id).select_related("hit__hit_type", "worker").first()
    )
    if assignment is None:
        return Outcome.UNKNOWN
    if assignment.state in HANDED_IN:
        return Outcome.AGAIN
    if read_question(assignment.hit.question).form is not None:
        return Outcome.ELSEWHERE
    if not fields:
        return Outcome.EMPTY
    if sum(len(name) + len(text) for name, text in fields.items()) > MOST_ANSWER:
        return Outcome.TOO_LARGE
    accepted_at = began(assignment, fields.get("seconds", ""), now=now)
    return hand_in(assignment, write_answers(fields), accepted_at=accepted_at, now=now)


def submit_form(
    assignment: HitAssignment, answers: Iterable[Answer], *, now: dt.datetime, seconds: str = ""
) -> Outcome:
    """Hand in the answers to a QuestionForm, which were checked against it. `seconds` is for simulated workers."""
    given = list(answers)
    if assignment.state in HANDED_IN:
        return Outcome.AGAIN
    if not given:
        return Outcome.EMPTY
    if sum(len(one.text or "") + len(one.other) for one in given) > MOST_ANSWER:
        return Outcome.TOO_LARGE
    accepted_at = began(assignment, seconds, now=now)
    return hand_in(assignment, write_form_answers(given), accepted_at=accepted_at, now=now)


def hand_in(assignment: HitAssignment, answer: str, *, accepted_at: dt.datetime, now: dt.datetime) -> Outcome:
    """Keep an answer, if the assignment is still held and its time not over."""
    approve_at = now + dt.timedelta(seconds=assignment.hit.hit_type.auto_approval_s)
    waiting = HitAssignment.objects.filter(pk=assignment.pk, state=AssignmentState.ACCEPTED, deadline__gt=now)
    if waiting.update(
        state=AssignmentState.SUBMITTED, submitted_at=now, auto_approve_at=approve_at, answer=answer,
        accepted_at=accepted_at,
    ):  # fmt: skip
        return Outcome.HANDED_IN
    settle(now=now, requester_id=assignment.hit.requester_id)
    assignment.refresh_from_db(fields=["state"])
    if assignment.state in HANDED_IN:  # by the other of two at once
        return Outcome.AGAIN
    return Outcome.RETURNED if assignment.state == AssignmentState.RETURNED else Outcome.LATE


def began(assignment: HitAssignment, seconds: str, *, now: dt.datetime) -> dt.datetime:
    """When the work began. A simulated worker does not wait: its work lasted as long as it says."""
    if not assignment.worker.is_simulated or not seconds.isdecimal():
        return assignment.accepted_at
    lasted = dt.timedelta(seconds=min(int(seconds), assignment.hit.hit_type.duration_s))
    return min(assignment.accepted_at, now - lasted)


def return_(assignment: HitAssignment, *, now: dt.datetime) -> bool:
    """Give an assignment back. Says whether it was still held; what is handed in stays so."""
    settle(now=now, requester_id=assignment.hit.requester_id)
    with transaction.atomic():
        requester = lock_requester(assignment.hit.requester_id)
        held = HitAssignment.objects.filter(pk=assignment.pk, state=AssignmentState.ACCEPTED)
        if not held.update(state=AssignmentState.RETURNED):
            return False
        hit = Hit.objects.select_related("hit_type").get(pk=assignment.hit_id)
        # An expired HIT offers it to nobody again, so its money is free.
        level_hold(requester, hit, hit_state(hit, now=now).may_cost, at=now)
        return True


def held_by(worker: Worker) -> QuerySet[HitAssignment]:
    """What a worker has accepted and neither handed in nor returned."""
    held = worker.assignments.filter(state=AssignmentState.ACCEPTED)
    return held.select_related("hit__hit_type__requester").order_by("deadline")


def has_handed_in(worker: Worker) -> bool:
    return worker.assignments.filter(state__in=HANDED_IN).exists()


def names_of(type_ids: Iterable[str]) -> dict[str, QualificationType]:
    """Requesters' own qualifications by their ids."""
    found = QualificationType.objects.filter(Q(qualification_type_id__in=set(type_ids)), deleted_at__isnull=True)
    return {kind.qualification_type_id: kind for kind in found}
