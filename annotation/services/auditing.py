"""The audit log: one line for every act worth answering for."""

from __future__ import annotations

import datetime as dt
from typing import Any

from annotation.models import AuditEntry, Project, User


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
