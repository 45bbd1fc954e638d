"""All operations of the service: those that read, those that change something, and those that are refused."""

from __future__ import annotations

from mturk.exchange.operations import assignments, hits, people
from mturk.exchange.operations.calling import Handler

READING: dict[str, Handler] = {
    "GetAccountBalance": assignments.get_account_balance,
    "GetAssignment": assignments.get_assignment,
    "GetHIT": hits.get_hit,
    "GetQualificationScore": people.get_qualification_score,
    "GetQualificationType": people.get_qualification_type,
    "ListAssignmentsForHIT": assignments.list_assignments,
    "ListBonusPayments": assignments.list_bonus_payments,
    "ListHITs": hits.list_hits,
    "ListHITsForQualificationType": hits.list_hits_for_qualification_type,
    "ListQualificationRequests": people.list_qualification_requests,
    "ListQualificationTypes": people.list_qualification_types,
    "ListReviewableHITs": hits.list_reviewable_hits,
    "ListWorkerBlocks": people.list_worker_blocks,
    "ListWorkersWithQualificationType": people.list_workers_with_qualification_type,
}

# Each runs in a transaction that holds the requester's row.
CHANGING: dict[str, Handler] = {
    "AcceptQualificationRequest": people.accept_qualification_request,
    "ApproveAssignment": assignments.approve_assignment,
    "AssociateQualificationWithWorker": people.associate_qualification,
    "CreateAdditionalAssignmentsForHIT": hits.create_additional_assignments,
    "CreateHIT": hits.create_hit,
    "CreateHITType": hits.create_hit_type,
    "CreateHITWithHITType": hits.create_hit_with_type,
    "CreateQualificationType": people.create_qualification_type,
    "CreateWorkerBlock": people.create_worker_block,
    "DeleteHIT": hits.delete_hit,
    "DeleteQualificationType": people.delete_qualification_type,
    "DeleteWorkerBlock": people.delete_worker_block,
    "DisassociateQualificationFromWorker": people.disassociate_qualification,
    "NotifyWorkers": people.notify_workers,
    "RejectAssignment": assignments.reject_assignment,
    "RejectQualificationRequest": people.reject_qualification_request,
    "SendBonus": assignments.send_bonus,
    "UpdateExpirationForHIT": hits.update_expiration,
    "UpdateHITReviewStatus": hits.update_review_status,
    "UpdateHITTypeOfHIT": hits.update_hit_type,
    "UpdateQualificationType": people.update_qualification_type,
}

# Operations that the exchange does not offer, and what to do instead.
REFUSED: dict[str, str] = {
    "GetFileUploadURL": "questions with uploads are not shown here.",
    "ListReviewPolicyResultsForHIT": "there are no review policies; approve and reject by calls.",
    "SendTestEventNotification": "it sends no notifications; ask with ListAssignmentsForHIT.",
    "UpdateNotificationSettings": "it sends no notifications; ask with ListAssignmentsForHIT.",
}

HIT_MAKING = ("CreateHIT", "CreateHITWithHITType")
PAGED = frozenset(name for name in READING if name.startswith("List"))
