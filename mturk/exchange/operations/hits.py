"""Calls about HITs."""

from __future__ import annotations

import datetime as dt
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Count, F, Q, QuerySet

from mturk.exchange.errors import Refused
from mturk.exchange.models import TAKEN, AssignmentState, Hit, HitType, QualificationType, QualificationTypeStatus
from mturk.exchange.money import cents_of
from mturk.exchange.operations.calling import Call, listed, own_hit, own_hit_type, page_of
from mturk.exchange.operations.presenting import show_hits
from mturk.exchange.qualifying import SYSTEM_TYPES, requirement_problem
from mturk.exchange.question_checks import check_question
from mturk.exchange.rules import DEFAULT_AUTO_APPROVAL_S, YEAR_S
from mturk.exchange.services import hits, tokens

NOT_OFFERED = ("AssignmentReviewPolicy", "HITReviewPolicy")
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def create_hit_type(call: Call) -> dict[str, Any]:
    return {"HITTypeId": find_type(call).hit_type_id}


def create_hit(call: Call) -> dict[str, Any]:
    """Make a HIT with a type of these values. The token comes first: a call that is sent again changes nothing."""
    refuse_used_token(call)
    check_hit(call)
    return publish(call, find_type(call))


def create_hit_with_type(call: Call) -> dict[str, Any]:
    refuse_used_token(call)
    hit_type = own_hit_type(call)
    check_hit(call)
    return publish(call, hit_type)


def refuse_used_token(call: Call) -> None:
    token = call.params.get("UniqueRequestToken")
    made = tokens.result_of(call.requester, "CreateHIT", token, now=call.now) if token else None
    if made:
        raise Refused("HitAlreadyExists", id=made, token=token)


def check_hit(call: Call) -> None:
    for name in NOT_OFFERED:
        if name in call.params:
            raise Refused("NotImplemented", operation=name, why="approve and reject by calls instead.")
    if "HITLayoutId" in call.params or "HITLayoutParameters" in call.params:
        raise Refused("NotImplemented", operation="HITLayoutId", why="it keeps no layouts; send a Question.")
    if "Question" not in call.params:
        raise Refused("MissingParameter", name="Question")
    own = urlsplit(settings.PUBLIC_URL)
    plain = LOOPBACK | ({own.hostname} if own.scheme == "http" and own.hostname else set())
    check_question(call.params["Question"], plain_http=plain)


def publish(call: Call, hit_type: HitType) -> dict[str, Any]:
    hit = hits.create_hit(
        call.requester,
        hit_type,
        question=call.params["Question"],
        max_assignments=call.params.get("MaxAssignments", 1),
        lifetime_s=call.params["LifetimeInSeconds"],
        annotation=call.params.get("RequesterAnnotation", ""),
        now=call.now,
    )
    if token := call.params.get("UniqueRequestToken"):
        tokens.remember(call.requester, "CreateHIT", token, hit.hit_id, now=call.now)
    return {"HIT": show_hits([hit], now=call.now)[0]}


def find_type(call: Call) -> HitType:
    requirements = call.params.get("QualificationRequirements", [])
    check_requirements(requirements)
    values = hits.TypeValues(
        title=call.params["Title"],
        description=call.params["Description"],
        keywords=call.params.get("Keywords", ""),
        reward_cents=read_amount(call.params["Reward"], "Reward"),
        duration_s=call.params["AssignmentDurationInSeconds"],
        auto_approval_s=call.params.get("AutoApprovalDelayInSeconds", DEFAULT_AUTO_APPROVAL_S),
        requirements=requirements,
    )
    return hits.find_hit_type(call.requester, values, now=call.now)


def read_amount(amount: str, name: str) -> int:
    try:
        return cents_of(amount)
    except ValueError as error:
        raise Refused("InvalidParameterValue", value=amount[:40], name=name, why=str(error)) from None


def check_requirements(requirements: list[dict[str, Any]]) -> None:
    """Refuse requirements that make no sense or name a type that is not there."""
    for requirement in requirements:
        type_id = requirement["QualificationTypeId"]
        if problem := requirement_problem(requirement):
            raise Refused("InvalidParameterValue", value=type_id, name="QualificationRequirements", why=problem)
        if type_id in SYSTEM_TYPES:
            continue
        kind = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at__isnull=True).first()
        if kind is None:
            raise Refused("QualificationTypeDoesNotExist", id=type_id)
        if kind.status != QualificationTypeStatus.ACTIVE:
            raise Refused("InvalidQualificationState", thing="QualificationType", state=kind.status, allowed="Active")


def get_hit(call: Call) -> dict[str, Any]:
    return {"HIT": show_hits([own_hit(call)], now=call.now)[0]}


def list_hits(call: Call) -> dict[str, Any]:
    return show_page(call, living(call))


def list_hits_for_qualification_type(call: Call) -> dict[str, Any]:
    """HITs that ask for a qualification. Few types do, so they are looked through here, not by the database."""
    type_id = call.params["QualificationTypeId"]
    if (
        type_id not in SYSTEM_TYPES
        and not QualificationType.objects.filter(qualification_type_id=type_id, deleted_at__isnull=True).exists()
    ):
        raise Refused("QualificationTypeDoesNotExist", id=type_id)
    asking = [
        kind.pk
        for kind in call.requester.hit_types.all()
        if any(requirement["QualificationTypeId"] == type_id for requirement in kind.requirements)
    ]
    return show_page(call, living(call).filter(hit_type__in=asking))


def list_reviewable_hits(call: Call) -> dict[str, Any]:
    rows = living(call).annotate(
        taken=Count("assignments", filter=Q(assignments__state__in=TAKEN)),
        pending=Count("assignments", filter=Q(assignments__state=AssignmentState.ACCEPTED)),
    )
    is_done = Q(taken__gte=F("max_assignments")) | Q(expires_at__lte=call.now)
    rows = rows.filter(is_done, pending=0, is_reviewing=call.params.get("Status", "Reviewable") == "Reviewing")
    if "HITTypeId" in call.params:
        rows = rows.filter(hit_type=own_hit_type(call))
    return show_page(call, rows)


def living(call: Call) -> QuerySet[Hit]:
    return Hit.objects.filter(requester=call.requester, disposed_at__isnull=True).select_related("hit_type")


def show_page(call: Call, rows: QuerySet[Hit]) -> dict[str, Any]:
    page, next_token = page_of(call, rows)
    return listed("HITs", show_hits(page, now=call.now), next_token)


def create_additional_assignments(call: Call) -> dict[str, Any]:
    token = call.params.get("UniqueRequestToken")
    made = tokens.result_of(call.requester, call.operation, token, now=call.now) if token else None
    if made:
        raise Refused("DuplicateRequest", id=made, token=token)
    hits.add_assignments(call.requester, own_hit(call), call.params["NumberOfAdditionalAssignments"], now=call.now)
    if token:
        tokens.remember(call.requester, call.operation, token, call.request_id, now=call.now)
    return {}


def update_expiration(call: Call) -> dict[str, Any]:
    """Change when a HIT expires. MTurk makes a token of HIT and time itself, and says so when both come again."""
    hit = own_hit(call)
    wanted = dt.datetime.fromtimestamp(call.params["ExpireAt"], dt.UTC)
    if wanted > call.now + dt.timedelta(seconds=YEAR_S):
        why = f"A HIT expires within {YEAR_S} seconds."
        raise Refused("InvalidParameterValue", value=wanted.isoformat(), name="ExpireAt", why=why)
    token = f"{hit.hit_id}{int(wanted.timestamp())}"
    is_so = hit.expires_at == wanted or (wanted <= call.now and hit.expires_at <= call.now)
    if is_so and tokens.result_of(call.requester, call.operation, token, now=call.now):
        raise Refused("TokenProcessed", token=f"{hit.hit_id}{wanted:%Y-%m-%dT%H:%M:%SZ}")
    hits.set_expiration(call.requester, hit, wanted, now=call.now)
    tokens.remember(call.requester, call.operation, token, call.request_id, now=call.now)
    return {}


def delete_hit(call: Call) -> dict[str, Any]:
    disposed = call.requester.hits.filter(hit_id=call.params["HITId"], disposed_at__isnull=False)
    if disposed.exists():
        raise Refused("InvalidHITState", thing="HIT", state="Disposed", allowed="Reviewing, Reviewable")
    hits.delete_hit(call.requester, own_hit(call), now=call.now)
    return {}


def update_review_status(call: Call) -> dict[str, Any]:
    hits.set_reviewing(own_hit(call), revert=call.params.get("Revert", False), now=call.now)
    return {}


def update_hit_type(call: Call) -> dict[str, Any]:
    hits.change_type(call.requester, own_hit(call), own_hit_type(call), now=call.now)
    return {}
