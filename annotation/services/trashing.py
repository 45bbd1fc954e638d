"""The trash: nothing that carries human work is deleted, and everything in the trash can be restored."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from annotation.models import Example, Project, System, Unit, User
from annotation.services.auditing import record_audit

TrashableRow = Project | Example | System | Unit


@transaction.atomic
def move_to_trash(row: TrashableRow, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Hide a row from work, lists and scores. False if it was in the trash already."""
    moved = type(row).objects.filter(pk=row.pk, trashed_at__isnull=True).update(trashed_at=now)
    return _record("trash", row, moved, now, actor)


@transaction.atomic
def restore_from_trash(row: TrashableRow, *, now: dt.datetime, actor: User | None = None) -> bool:
    """Bring a row back as it was. False if it was not in the trash."""
    moved = type(row).objects.filter(pk=row.pk, trashed_at__isnull=False).update(trashed_at=None)
    return _record("restore", row, moved, now, actor)


def _record(action: str, row: TrashableRow, moved: int, now: dt.datetime, actor: User | None) -> bool:
    row.refresh_from_db(fields=["trashed_at"])
    if moved:
        record_audit(action, _project_of(row), target=f"{row._meta.model_name} {row}", actor=actor, now=now)
    return bool(moved)


def _project_of(row: TrashableRow) -> Project:
    if isinstance(row, Project):
        return row
    return row.example.project if isinstance(row, Unit) else row.project
