"""The audit log: one line for every act worth answering for."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import AuditEntry, Project, User

# Acts as they are stored, and as people read them.
ACTS = {
    "add member": _("added a member"),
    "cancel run": _("cancelled a run"),
    "create project": _("created the project"),
    "create token": _("made a token"),
    "decompose": _("made STUs"),
    "export": _("exported"),
    "import": _("imported"),
    "invite": _("invited"),
    "remove member": _("removed a member"),
    "restore": _("restored"),
    "retry run": _("tried a run again"),
    "revoke invitation": _("took an invitation back"),
    "revoke token": _("revoked a token"),
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
