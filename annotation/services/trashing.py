"""The trash: nothing that carries human work is deleted, and everything in the trash can be restored."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Example, Project, System, Unit, User
from annotation.services.auditing import record_audit
from annotation.services.routes import forget_routes

TrashableRow = Project | Example | System | Unit
# Kinds of rows that a project's page of the trash lists and restores, by the word in its addresses.
TRASHABLE: dict[str, type[Example] | type[System] | type[Unit]] = {"example": Example, "system": System, "unit": Unit}
LISTED = 500


@dataclass(frozen=True, slots=True)
class TrashedRow:
    """One line of the trash: what it is, and what hangs on it."""

    kind: str
    pk: int
    name: str
    note: str
    trashed_at: dt.datetime


def list_trash(project: Project) -> list[TrashedRow]:
    """What lies in the trash of a project, newest first, the last few hundred."""
    examples = Example.objects.filter(project=project, trashed_at__isnull=False)
    systems = System.objects.filter(project=project, trashed_at__isnull=False)
    units = Unit.objects.filter(example__project=project, trashed_at__isnull=False).select_related("example")
    rows = [
        *(_line("example", row, row.key, "") for row in examples.order_by("-trashed_at")[:LISTED]),
        *(_line("system", row, row.name, "") for row in systems.order_by("-trashed_at")[:LISTED]),
        *(_line("unit", row, row.text, row.example.key) for row in units.order_by("-trashed_at")[:LISTED]),
    ]
    return sorted(rows, key=lambda row: row.trashed_at, reverse=True)[:LISTED]  # the page says that it is cut


def _line(kind: str, row: Example | System | Unit, name: str, note: str) -> TrashedRow:
    assert row.trashed_at is not None, "only rows in the trash are listed"
    return TrashedRow(kind, row.pk, name, note, row.trashed_at)


def find_trashable(project: Project, kind: str, pk: int) -> Example | System | Unit | None:
    """A row of a project by its kind; None if there is none, or if it belongs to another project."""
    model = TRASHABLE.get(kind)
    if model is None:
        return None
    in_project = {"example__project": project} if model is Unit else {"project": project}
    return model.objects.filter(pk=pk, **in_project).first()


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
        forget_routes(_project_of(row))
        record_audit(action, _project_of(row), target=f"{row._meta.model_name} {row}", actor=actor, now=now)
    return bool(moved)


def _project_of(row: TrashableRow) -> Project:
    if isinstance(row, Project):
        return row
    return row.example.project if isinstance(row, Unit) else row.project
