"""The audit log: one line for every act worth answering for."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import AuditEntry, Project, User

# Acts as they are stored, and as people read them.
ACTS = {
    "add member": _("added a member"),
    "add system": _("added a system"),
    "cancel run": _("cancelled a run"),
    "create link": _("made a recruitment link"),
    "create project": _("created the project"),
    "create requester": _("made a requester key"),
    "create token": _("made a token"),
    "decompose": _("made STUs"),
    "deposit": _("noted a deposit"),
    "export": _("exported"),
    "freeze plan": _("froze a plan"),
    "import": _("imported"),
    "measure curve": _("measured a quality curve"),
    "pay out": _("noted a payout"),
    "pin": _("pinned sentences"),
    "unpin": _("took pins away"),
    "invite": _("invited"),
    "remove member": _("removed a member"),
    "restore": _("restored"),
    "retry run": _("tried a run again"),
    "revoke invitation": _("took an invitation back"),
    "revoke link": _("withdrew a recruitment link"),
    "revoke requester": _("revoked a requester key"),
    "revoke token": _("revoked a token"),
    "score": _("scored"),
    "reserve tasks": _("reserved tasks"),
    "skip task": _("skipped a task"),
    "submit task": _("handed in a task"),
    "flag task": _("flagged a task"),
    "open batch": _("opened a batch"),
    "close batch": _("closed a batch"),
    "submit sheet": _("judged a sheet"),
    "make labels": _("made labels"),
    "exclude judge": _("excluded a judge"),
    "count judge again": _("counted a judge again"),
    "ask one more judge": _("asked one more judge"),
    "import judgements": _("imported judgements"),
    "export judgements": _("exported judgements"),
    "hand to crowd": _("gave a batch to the crowd"),
    "draft crowd batch": _("drafted a crowd batch"),
    "confirm crowd batch": _("confirmed a crowd batch"),
    "pause crowd batch": _("paused a crowd batch"),
    "resume crowd batch": _("resumed a crowd batch"),
    "stop crowd batch": _("stopped a crowd batch"),
    "publish": _("published HITs"),
    "collect": _("collected from the crowd"),
    "raise cap": _("set a spending cap"),
    "approve crowd work": _("approved crowd work"),
    "reject crowd work": _("rejected crowd work"),
    "plan bonuses": _("planned bonuses"),
    "ask for more": _("asked for more assignments"),
    "reopen HITs": _("opened HITs again"),
    "expire surplus HIT": _("took a surplus HIT down"),
    "delete HITs": _("deleted copied HITs at the market"),
    "grant qualification": _("granted a qualification"),
    "revoke qualification": _("took a qualification away"),
    "make qualification": _("made a qualification"),
    "block worker": _("blocked a worker"),
    "unblock worker": _("unblocked a worker"),
    "take crowd units": _("took units that the crowd wrote"),
    "set password": _("set a password"),
    "trash": _("moved to the trash"),
}


def name_act(action: str) -> str:
    """An act for people. One that is not listed keeps its own word."""
    return str(ACTS.get(action, action))


def record_audit(
    action: str,
    project: Project | None,
    *,
    target: str,
    now: dt.datetime,
    actor: User | None = None,
    detail: dict[str, Any] | None = None,
) -> AuditEntry:
    """Write an entry. Call it inside the transaction of the act, so that neither exists without the other."""
    return AuditEntry.objects.create(
        project=project, action=action, target=target[:300], actor=actor, detail=detail or {}, at=now
    )
