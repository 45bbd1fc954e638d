"""Rows as the API shows them. None is left out of an answer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from mturk.exchange.hit_states import HitState
from mturk.exchange.models import (
    AssignmentState,
    Bonus,
    Hit,
    HitAssignment,
    Qualification,
    QualificationRequest,
    QualificationType,
    QualificationTypeStatus,
    Requester,
)
from mturk.exchange.money import dollars_of
from mturk.exchange.qualifying import SystemType
from mturk.exchange.queries import states_of

Shown = dict[str, Any]


def show_hits(hits: Iterable[Hit], *, now: dt.datetime) -> list[Shown]:
    shown = list(hits)
    states = states_of(shown, now=now)
    return [show_hit(hit, states[hit.pk]) for hit in shown]


def show_hit(hit: Hit, state: HitState) -> Shown:
    kind = hit.hit_type
    return {
        "HITId": hit.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_type_id,  # HITs of one type are one group
        "CreationTime": hit.created_at,
        "Title": kind.title,
        "Description": kind.description,
        "Question": hit.question,
        "Keywords": kind.keywords or None,
        "HITStatus": state.status,
        "MaxAssignments": hit.max_assignments,
        "Reward": dollars_of(kind.reward_cents),
        "AutoApprovalDelayInSeconds": kind.auto_approval_s,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": kind.duration_s,
        "RequesterAnnotation": hit.annotation or None,
        "QualificationRequirements": kind.requirements,
        "HITReviewStatus": hit.review_status,
        "NumberOfAssignmentsPending": state.pending,
        "NumberOfAssignmentsAvailable": state.available,
        "NumberOfAssignmentsCompleted": state.completed,
    }


def show_assignment(assignment: HitAssignment) -> Shown:
    state = AssignmentState(assignment.state)
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": assignment.worker.worker_id,
        "HITId": assignment.hit.hit_id,
        "AssignmentStatus": state.value.capitalize(),
        "AutoApprovalTime": assignment.auto_approve_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.decided_at if state == AssignmentState.APPROVED else None,
        "RejectionTime": assignment.decided_at if state == AssignmentState.REJECTED else None,
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.feedback or None,
    }


def show_bonus(bonus: Bonus) -> Shown:
    return {
        "WorkerId": bonus.worker.worker_id,
        "BonusAmount": dollars_of(bonus.cents),
        "AssignmentId": bonus.assignment.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }


def show_type(kind: QualificationType, reader: Requester) -> Shown:
    """A type as its owner sees it. Others are not told its test and its key: they could take it."""
    is_own = kind.requester_id == reader.pk
    return {
        "QualificationTypeId": kind.qualification_type_id,
        "CreationTime": kind.created_at,
        "Name": kind.name,
        "Description": kind.description,
        "Keywords": kind.keywords or None,
        "QualificationTypeStatus": kind.status,
        "Test": (kind.test or None) if is_own else None,
        "TestDurationInSeconds": kind.test_duration_s,
        "AnswerKey": (kind.answer_key or None) if is_own else None,
        "RetryDelayInSeconds": kind.retry_delay_s,
        "IsRequestable": kind.status == QualificationTypeStatus.ACTIVE,
        "AutoGranted": kind.auto_granted,
        "AutoGrantedValue": kind.auto_granted_value,
    }


def show_system_type(kind: SystemType) -> Shown:
    return {
        "QualificationTypeId": kind.type_id,
        "Name": kind.name,
        "Description": kind.description,
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def show_qualification(qualification: Qualification) -> Shown:
    return {
        "QualificationTypeId": qualification.qualification_type.qualification_type_id,
        "WorkerId": qualification.worker.worker_id,
        "GrantTime": qualification.granted_at,
        "IntegerValue": qualification.value,
        "Status": "Revoked" if qualification.revoked_at else "Granted",
    }


def show_request(request: QualificationRequest) -> Shown:
    return {
        "QualificationRequestId": request.request_id,
        "QualificationTypeId": request.qualification_type.qualification_type_id,
        "WorkerId": request.worker.worker_id,
        "Test": request.test or None,
        "Answer": request.answer or None,
        "SubmitTime": request.submitted_at,
    }
