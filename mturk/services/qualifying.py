"""Who may work: qualifications by name, whose ids differ from market to market, and blocks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Project, User
from annotation.services.auditing import record_audit
from annotation.services.crowd import person_of_worker
from mturk.market import Market
from mturk.models import CrowdQualification
from mturk.requirements import MOST_REQUIREMENTS, NAMED, Requirement


def find_id(environment: str, name: str, market: Market) -> str:
    """The id of a qualification on a market: the one we know, or the one it tells; "" if there is none."""
    known = CrowdQualification.objects.filter(environment=environment, name=name).first()
    if known is not None:
        return known.type_id
    return market.find_qualification(name)


def resolve(environment: str, wanted: Sequence[Requirement], market: Market) -> dict[str, str]:
    """Ids of all named qualifications. Raises KeyError with the name of one that the market does not have."""
    found = {one.name: find_id(environment, one.name, market) for one in wanted if one.kind == NAMED}
    missing = [name for name, type_id in found.items() if not type_id]
    if missing:
        raise KeyError(missing[0])
    return found


def check_requirements(environment: str, wanted: Sequence[Requirement], market: Market) -> list[str]:
    """What is wrong with the requirements of a batch on a market: one that nobody there meets above all."""
    problems = []
    if len(wanted) > MOST_REQUIREMENTS:
        problems.append(_("A HIT may have at most %(n)s requirements.") % {"n": MOST_REQUIREMENTS})
    for one in wanted:
        if one.kind != NAMED:
            continue
        type_id = find_id(environment, one.name, market)
        if not type_id or not market.count_holders(type_id, most=1):
            problems.append(
                _("Nobody has the qualification “%(name)s” there, so nobody could take a HIT. Grant it first.")
                % {"name": one.name}
            )
    return problems


def make_qualification(
    project: Project, environment: str, name: str, description: str, market: Market, *, now: dt.datetime,
    actor: User | None,
) -> CrowdQualification:  # fmt: skip
    """A qualification of a name on a market: found there, or made. The same name twice is the same one."""
    name = " ".join(name.split())[:200]
    type_id = find_id(environment, name, market) or market.create_qualification(name, description or name)
    with transaction.atomic():
        found, is_new = CrowdQualification.objects.get_or_create(
            environment=environment, name=name,
            defaults={"type_id": type_id, "description": description, "created_at": now},
        )  # fmt: skip
        if is_new:
            target = f"{name} on {environment}"
            record_audit("make qualification", project, target=target, actor=actor, now=now)
    return found


def grant(
    project: Project, qualification: CrowdQualification, worker_id: str, market: Market, *, now: dt.datetime,
    actor: User | None, value: int = 1,
) -> None:  # fmt: skip
    market.grant(qualification.type_id, worker_id, value)
    _note("grant qualification", project, worker_id, now=now, actor=actor, detail={"name": qualification.name})


def revoke(
    project: Project, qualification: CrowdQualification, worker_id: str, market: Market, *, now: dt.datetime,
    actor: User | None, reason: str = "",
) -> None:  # fmt: skip
    market.revoke(qualification.type_id, worker_id, reason)
    _note("revoke qualification", project, worker_id, now=now, actor=actor, detail={"name": qualification.name})


def block(
    project: Project, worker_id: str, reason: str, market: Market, *, now: dt.datetime, actor: User | None
) -> None:
    """Keep a worker from all our HITs on a market. It counts against them there: a qualification is the milder way."""
    market.block(worker_id, reason)
    _note("block worker", project, worker_id, now=now, actor=actor, detail={"reason": reason})


def unblock(project: Project, worker_id: str, market: Market, *, now: dt.datetime, actor: User | None) -> None:
    market.unblock(worker_id)
    _note("unblock worker", project, worker_id, now=now, actor=actor, detail={})


@transaction.atomic
def _note(
    act: str, project: Project, worker_id: str, *, now: dt.datetime, actor: User | None, detail: dict[str, str]
) -> None:
    """Under the pseudonym: the log is read by others than those who may know the id."""
    worker = person_of_worker(project, worker_id)
    record_audit(act, project, target=worker.key, actor=actor, now=now, detail=detail)
