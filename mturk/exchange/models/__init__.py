"""The rows of the exchange: requesters and their money, HITs, the people who work on them, and who may."""

from mturk.exchange.models.control import Clock, Fault, FaultKind
from mturk.exchange.models.hits import (
    HANDED_IN,
    TAKEN,
    AssignmentState,
    Bonus,
    Hit,
    HitAssignment,
    HitType,
    ReviewStatus,
)
from mturk.exchange.models.ledger import INCOMING, TO_WORKERS, LedgerLine, LineKind, Payout
from mturk.exchange.models.qualifications import (
    OPEN_REQUESTS,
    Qualification,
    QualificationRequest,
    QualificationType,
    QualificationTypeStatus,
    RequestState,
)
from mturk.exchange.models.requesters import CallLog, Requester, RequestToken
from mturk.exchange.models.workers import Block, LinkKind, Message, RecruitmentLink, Worker

__all__ = [
    "HANDED_IN",
    "INCOMING",
    "OPEN_REQUESTS",
    "TAKEN",
    "TO_WORKERS",
    "AssignmentState",
    "Block",
    "Bonus",
    "CallLog",
    "Clock",
    "Fault",
    "FaultKind",
    "Hit",
    "HitAssignment",
    "HitType",
    "LedgerLine",
    "LineKind",
    "LinkKind",
    "Message",
    "Payout",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "QualificationTypeStatus",
    "RecruitmentLink",
    "RequestState",
    "RequestToken",
    "Requester",
    "ReviewStatus",
    "Worker",
]
