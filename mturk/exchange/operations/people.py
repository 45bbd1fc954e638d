"""Calls about workers and their qualifications."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from mturk.exchange.errors import Refused
from mturk.exchange.models import Qualification, QualificationRequest, QualificationType, RequestState
from mturk.exchange.operations.calling import Call, known_worker, listed, own_qualification_type, page_of
from mturk.exchange.operations.presenting import show_qualification, show_request, show_system_type, show_type
from mturk.exchange.qualifying import SYSTEM_TYPES
from mturk.exchange.services import qualifications, workers

# Parameters of a qualification type, and the columns that keep them.
TYPE_COLUMNS = {
    "Name": "name",
    "Description": "description",
    "Keywords": "keywords",
    "QualificationTypeStatus": "status",
    "RetryDelayInSeconds": "retry_delay_s",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_duration_s",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


def type_values(call: Call) -> dict[str, Any]:
    return {column: call.params[name] for name, column in TYPE_COLUMNS.items() if name in call.params}


def create_qualification_type(call: Call) -> dict[str, Any]:
    made = qualifications.create_type(call.requester, type_values(call), now=call.now)
    return {"QualificationType": show_type(made, call.requester)}


def update_qualification_type(call: Call) -> dict[str, Any]:
    kind = own_qualification_type(call)
    qualifications.update_type(kind, type_values(call))
    return {"QualificationType": show_type(kind, call.requester)}


def delete_qualification_type(call: Call) -> dict[str, Any]:
    qualifications.delete_type(own_qualification_type(call), now=call.now)
    return {}


def get_qualification_type(call: Call) -> dict[str, Any]:
    """A type, which everybody may know."""
    type_id = call.params["QualificationTypeId"]
    if type_id in SYSTEM_TYPES:
        return {"QualificationType": show_system_type(SYSTEM_TYPES[type_id])}
    kind = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at__isnull=True).first()
    if kind is None:
        raise Refused("QualificationTypeDoesNotExist", id=type_id)
    return {"QualificationType": show_type(kind, call.requester)}


def list_qualification_types(call: Call) -> dict[str, Any]:
    """Types of requesters. Those of the system are not listed, as workers cannot ask for them."""
    rows = QualificationType.objects.filter(deleted_at__isnull=True)
    if call.params.get("MustBeOwnedByCaller", False):
        rows = rows.filter(requester=call.requester)
    if call.params["MustBeRequestable"]:
        rows = rows.filter(status="Active")
    if query := call.params.get("Query", "").strip():
        rows = rows.filter(Q(name__icontains=query) | Q(description__icontains=query) | Q(keywords__icontains=query))
    page, next_token = page_of(call, rows)
    return listed("QualificationTypes", [show_type(row, call.requester) for row in page], next_token)


def associate_qualification(call: Call) -> dict[str, Any]:
    qualifications.grant(
        own_qualification_type(call),
        known_worker(call),
        call.params.get("IntegerValue", 1),
        now=call.now,
        notify=call.params.get("SendNotification", True),
    )
    return {}


def disassociate_qualification(call: Call) -> dict[str, Any]:
    qualifications.revoke(
        own_qualification_type(call), known_worker(call), reason=call.params.get("Reason", ""), now=call.now
    )
    return {}


def get_qualification_score(call: Call) -> dict[str, Any]:
    kind = own_qualification_type(call)
    found = Qualification.objects.filter(qualification_type=kind, worker__worker_id=call.params["WorkerId"])
    qualification = found.select_related("qualification_type", "worker").first()
    if qualification is None:
        raise Refused("QualificationDoesNotExist")
    return {"Qualification": show_qualification(qualification)}


def list_workers_with_qualification_type(call: Call) -> dict[str, Any]:
    is_granted = call.params.get("Status", "Granted") == "Granted"
    rows = Qualification.objects.filter(qualification_type=own_qualification_type(call), revoked_at__isnull=is_granted)
    page, next_token = page_of(call, rows.select_related("qualification_type", "worker"))
    return listed("Qualifications", [show_qualification(row) for row in page], next_token)


def list_qualification_requests(call: Call) -> dict[str, Any]:
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester,
        qualification_type__deleted_at__isnull=True,
        state=RequestState.PENDING,
    )
    if "QualificationTypeId" in call.params:
        rows = rows.filter(qualification_type=own_qualification_type(call))
    page, next_token = page_of(call, rows.select_related("qualification_type", "worker"))
    return listed("QualificationRequests", [show_request(row) for row in page], next_token)


def accept_qualification_request(call: Call) -> dict[str, Any]:
    qualifications.accept_request(own_request(call), call.params.get("IntegerValue", 1), now=call.now)
    return {}


def reject_qualification_request(call: Call) -> dict[str, Any]:
    qualifications.reject_request(own_request(call), call.params.get("Reason", ""), now=call.now)
    return {}


def own_request(call: Call) -> QualificationRequest:
    request_id = call.params["QualificationRequestId"]
    found = QualificationRequest.objects.filter(request_id=request_id, qualification_type__requester=call.requester)
    found = found.exclude(state__in=(RequestState.TESTING, RequestState.LAPSED))  # nothing was asked for yet
    request = found.select_related("qualification_type__requester", "worker").first()
    if request is None:
        raise Refused("QualificationRequestDoesNotExist", id=request_id[:64])
    return request


def create_worker_block(call: Call) -> dict[str, Any]:
    workers.block(call.requester, known_worker(call), call.params["Reason"], now=call.now)
    return {}


def delete_worker_block(call: Call) -> dict[str, Any]:
    workers.unblock(call.requester, known_worker(call))
    return {}


def list_worker_blocks(call: Call) -> dict[str, Any]:
    page, next_token = page_of(call, call.requester.blocks.select_related("worker"))
    rows = [{"WorkerId": block.worker.worker_id, "Reason": block.reason} for block in page]
    return listed("WorkerBlocks", rows, next_token)


def notify_workers(call: Call) -> dict[str, Any]:
    failures = workers.notify(
        call.requester,
        call.params["WorkerIds"],
        subject=call.params["Subject"],
        text=call.params["MessageText"],
        now=call.now,
    )
    statuses = [
        {"NotifyWorkersFailureCode": "HardFailure", "NotifyWorkersFailureMessage": why, "WorkerId": key}
        for key, why in failures.items()
    ]
    return {"NotifyWorkersFailureStatuses": statuses}
