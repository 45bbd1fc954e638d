"""An empty exchange, for tests."""

from __future__ import annotations

from django.apps import apps
from django.db import transaction

from mturk.exchange.models import (
    Block,
    Bonus,
    CallLog,
    Clock,
    Fault,
    Hit,
    HitAssignment,
    HitType,
    LedgerLine,
    Message,
    Payout,
    Qualification,
    QualificationRequest,
    QualificationType,
    RecruitmentLink,
    Requester,
    RequestToken,
    Worker,
)
from mturk.exchange.services.clock import is_controlled

# Each before those it points to.
ORDER = (
    Fault, Clock, CallLog, Payout, LedgerLine, RequestToken, Bonus, Message, Block, QualificationRequest,
    Qualification, HitAssignment, Hit, HitType, Worker, RecruitmentLink, QualificationType, Requester,
)  # fmt: skip


@transaction.atomic
def reset() -> None:
    """Delete every row of the exchange. Only where the control interface is on: rows carry work and money."""
    if not is_controlled():
        raise PermissionError("The exchange is emptied in tests only, where EXCHANGE_CONTROL_TOKEN is set.")
    assert set(ORDER) == set(apps.get_app_config("exchange").get_models())
    for model in ORDER:
        model._default_manager.all().delete()
