"""The one module that knows boto3: MTurk's protocol, spoken to whatever endpoint the environment names."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from mturk.environments import Environment
from mturk.market import (
    AssignmentFacts,
    Balance,
    Busy,
    HitFacts,
    MarketError,
    Missing,
    NoFunds,
    NotVisibleYet,
    Passing,
    Refused,
    Repeated,
    TaskType,
    Unclear,
    id_in,
    with_backoff,
)
from mturk.pricing import amount, read_cents

logger = logging.getLogger(__name__)

CONNECT_SECONDS, READ_SECONDS = 5, 30
PAGE = 100
THROTTLES = ("throttl", "toomanyrequests", "requestlimitexceeded", "rate exceeded", "slowdown")
STATUSES = ["Submitted", "Approved", "Rejected"]


@lru_cache(maxsize=8)
def _boto3_client(endpoint: str, region: str, key: str, secret: str, read_seconds: float) -> Any:
    import boto3
    from botocore.config import Config

    # Our own loop retries, so that each failure is seen and sorted once; botocore's would hide the first ones.
    config = Config(
        connect_timeout=CONNECT_SECONDS, read_timeout=read_seconds, retries={"total_max_attempts": 1},
        max_pool_connections=10,
    )  # fmt: skip
    session = boto3.session.Session(aws_access_key_id=key, aws_secret_access_key=secret, region_name=region)
    return session.client("mturk", endpoint_url=endpoint, region_name=region, config=config)


def connect(
    place: Environment,
    *,
    tries: int = 6,
    read_seconds: float = READ_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
) -> BotoMarket:
    """A market to talk to. Endpoint and region are always told: botocore would guess Amazon's."""
    key, secret = place.keys()
    return BotoMarket(_boto3_client(place.endpoint, place.region, key, secret, read_seconds), tries=tries, sleep=sleep)


def sort_error(error: Exception) -> MarketError:
    """What a failure of the library means for us. The text of the market is kept; keys and headers are never in it."""
    from botocore.exceptions import BotoCoreError, ClientError

    if isinstance(error, ClientError):
        return _sort_answer(error.response)
    if isinstance(error, BotoCoreError):
        return _sort_library(error)
    return Unclear(f"The market’s answer cannot be read ({type(error).__name__}).")


def _sort_library(error: Exception) -> MarketError:
    from botocore.exceptions import HTTPClientError, NoCredentialsError, ParamValidationError

    if isinstance(error, ParamValidationError | NoCredentialsError):
        return Refused(str(error), type(error).__name__)  # it never left the house
    if isinstance(error, HTTPClientError):
        return Unclear(f"No answer from the market ({type(error).__name__}).", type(error).__name__)
    return Unclear(f"The market’s answer cannot be read ({type(error).__name__}).", type(error).__name__)


def _sort_answer(response: dict[str, Any]) -> MarketError:
    told = response.get("Error", {})
    # The useful code stands beside the error; codes outside of the model come as the error itself.
    code = str(response.get("TurkErrorCode") or told.get("Code") or "")
    message = str(response.get("Message") or told.get("Message") or code)
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)
    low, text = code.lower(), message.lower()
    if any(word in low or word in text for word in THROTTLES) or status == 429:
        return Busy(message, code)
    if "insufficientfunds" in low:
        return NoFunds(message, code)
    if low.endswith("hitalreadyexists") or "already been processed" in text or "duplicaterequest" in low:
        return Repeated(message, code, id_in(message))
    if "status of: null" in text:
        return NotVisibleYet(message, code)
    if low.endswith("doesnotexist"):
        return Missing(message, code)
    if status >= 500 or "servicefault" in low or low == "requesttimeout":
        return Unclear(message, code)
    return Refused(message, code)


class BotoMarket:
    """A market behind an unmodified boto3 client."""

    def __init__(self, client: Any, *, tries: int = 6, sleep: Callable[[float], None] = time.sleep) -> None:
        self.client, self.tries, self.sleep = client, tries, sleep

    def _call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        return with_backoff(partial(self._once, operation, parameters), sleep=self.sleep, tries=self.tries)

    def _once(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: dict[str, Any] = getattr(self.client, operation)(**parameters)
            return answer
        except (BotoCoreError, ClientError, ValueError) as error:  # ValueError: an answer that is no JSON
            found = sort_error(error)
            if isinstance(found, Passing):
                logger.info("%s: %s (%s)", operation, type(found).__name__, found.code)
            raise found from error

    def _pages(self, operation: str, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list. A page may be empty and still not be the last one."""
        token: str | None = None
        while True:
            more = {"NextToken": token} if token else {}
            page = self._call(operation, MaxResults=PAGE, **parameters, **more)
            yield from page.get(name, [])
            token = page.get("NextToken")
            if not token:
                return

    # --- HITs -----------------------------------------------------------------------------------------------------

    def create_type(self, wanted: TaskType) -> str:
        answer = self._call(
            "create_hit_type", Title=wanted.title, Description=wanted.description, Keywords=wanted.keywords,
            Reward=amount(wanted.reward_cents), AssignmentDurationInSeconds=wanted.duration_s,
            AutoApprovalDelayInSeconds=wanted.auto_approval_s, QualificationRequirements=list(wanted.requirements),
        )  # fmt: skip
        return str(answer["HITTypeId"])

    def create_hit(
        self, type_id: str, *, question: str, assignments: int, lifetime_s: int, annotation: str, token: str
    ) -> str:
        """The id of the HIT, made now or by an earlier call with the same token. "" if the market does not tell it."""
        try:
            answer = self._call(
                "create_hit_with_hit_type", HITTypeId=type_id, Question=question, MaxAssignments=assignments,
                LifetimeInSeconds=lifetime_s, RequesterAnnotation=annotation, UniqueRequestToken=token,
            )  # fmt: skip
        except Repeated as done:
            return done.made
        return str(answer["HIT"]["HITId"])

    def get_hit(self, hit_id: str) -> HitFacts:
        return _hit(self._call("get_hit", HITId=hit_id)["HIT"])

    def list_hits(self) -> Iterator[HitFacts]:
        return (_hit(row) for row in self._pages("list_hits", "HITs"))

    def add_assignments(self, hit_id: str, number: int, *, token: str) -> None:
        self._make_so(
            "create_additional_assignments_for_hit", HITId=hit_id, NumberOfAdditionalAssignments=number,
            UniqueRequestToken=token,
        )  # fmt: skip

    def set_expiry(self, hit_id: str, at: dt.datetime) -> None:
        self._make_so("update_expiration_for_hit", HITId=hit_id, ExpireAt=at)

    def delete_hit(self, hit_id: str) -> None:
        self._call("delete_hit", HITId=hit_id)

    def _make_so(self, operation: str, **parameters: Any) -> None:
        """An act that the market refuses to do twice has been done if it says so."""
        try:
            self._call(operation, **parameters)
        except Repeated:
            return

    # --- assignments and money ------------------------------------------------------------------------------------

    def list_assignments(self, hit_id: str) -> Iterator[AssignmentFacts]:
        rows = self._pages("list_assignments_for_hit", "Assignments", HITId=hit_id, AssignmentStatuses=STATUSES)
        return (_assignment(row) for row in rows)

    def get_assignment(self, assignment_id: str) -> AssignmentFacts:
        return _assignment(self._call("get_assignment", AssignmentId=assignment_id)["Assignment"])

    def approve(self, assignment_id: str, *, feedback: str = "", override: bool = False) -> None:
        said = {"RequesterFeedback": feedback} if feedback else {}
        self._call("approve_assignment", AssignmentId=assignment_id, OverrideRejection=override, **said)

    def reject(self, assignment_id: str, *, feedback: str) -> None:
        self._call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=feedback)

    def send_bonus(self, assignment_id: str, *, worker_id: str, cents: int, reason: str, token: str) -> None:
        self._make_so(
            "send_bonus", AssignmentId=assignment_id, WorkerId=worker_id, BonusAmount=amount(cents), Reason=reason,
            UniqueRequestToken=token,
        )  # fmt: skip

    def list_bonuses(self, assignment_id: str) -> Iterator[tuple[int, str]]:
        rows = self._pages("list_bonus_payments", "BonusPayments", AssignmentId=assignment_id)
        return ((read_cents(row["BonusAmount"]), row.get("Reason", "")) for row in rows)

    def balance(self) -> Balance:
        answer = self._call("get_account_balance")
        held = answer.get("OnHoldBalance")
        return Balance(read_cents(answer["AvailableBalance"]), read_cents(held) if held else None)

    # --- people ---------------------------------------------------------------------------------------------------

    def find_qualification(self, name: str) -> str:
        """The id of our own qualification of exactly this name; "" if there is none."""
        rows = self._pages(
            "list_qualification_types", "QualificationTypes", Query=name, MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )  # fmt: skip
        return next((str(row["QualificationTypeId"]) for row in rows if row["Name"] == name), "")

    def create_qualification(self, name: str, description: str) -> str:
        answer = self._call(
            "create_qualification_type", Name=name, Description=description, QualificationTypeStatus="Active"
        )
        return str(answer["QualificationType"]["QualificationTypeId"])

    def count_holders(self, type_id: str, most: int = 100) -> int:
        rows = self._pages(
            "list_workers_with_qualification_type", "Qualifications", QualificationTypeId=type_id, Status="Granted"
        )
        return sum(1 for _row, _place in zip(rows, range(most), strict=False))

    def grant(self, type_id: str, worker_id: str, value: int = 1) -> None:
        self._call(
            "associate_qualification_with_worker", QualificationTypeId=type_id, WorkerId=worker_id, IntegerValue=value,
            SendNotification=False,
        )  # fmt: skip

    def revoke(self, type_id: str, worker_id: str, reason: str = "") -> None:
        said = {"Reason": reason} if reason else {}
        self._call("disassociate_qualification_from_worker", QualificationTypeId=type_id, WorkerId=worker_id, **said)

    def block(self, worker_id: str, reason: str) -> None:
        self._call("create_worker_block", WorkerId=worker_id, Reason=reason)

    def unblock(self, worker_id: str, reason: str = "") -> None:
        self._call("delete_worker_block", WorkerId=worker_id, **({"Reason": reason} if reason else {}))


def _hit(row: dict[str, Any]) -> HitFacts:
    return HitFacts(
        hit_id=row["HITId"], annotation=row.get("RequesterAnnotation", ""), status=row.get("HITStatus", ""),
        most=row.get("MaxAssignments", 0), available=row.get("NumberOfAssignmentsAvailable", 0),
        pending=row.get("NumberOfAssignmentsPending", 0), completed=row.get("NumberOfAssignmentsCompleted", 0),
        hit_type_id=row.get("HITTypeId", ""), created_at=row.get("CreationTime"), expires_at=row.get("Expiration"),
    )  # fmt: skip


def _assignment(row: dict[str, Any]) -> AssignmentFacts:
    own = {"Answer", "WorkerId"}
    return AssignmentFacts(
        assignment_id=row["AssignmentId"], hit_id=row.get("HITId", ""), worker_id=row["WorkerId"],
        status=row["AssignmentStatus"].lower(), answer=row.get("Answer") or "", accepted_at=row.get("AcceptTime"),
        submitted_at=row.get("SubmitTime"), auto_approve_at=row.get("AutoApprovalTime"),
        decided_at=row.get("ApprovalTime") or row.get("RejectionTime"), feedback=row.get("RequesterFeedback") or "",
        whole={name: str(value) for name, value in row.items() if name not in own},
    )  # fmt: skip
