"""What happened in a project: its runs and its audit log, newest first, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from annotation.access import READERS
from annotation.models import AuditEntry, Project, Run, Stage

PAGE = 50

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class HistoryPage(Generic[Row]):
    """Rows, newest first, and the id that leads to older ones; None where there are none."""

    rows: list[Row]
    older: int | None


def list_runs(project: Project, *, before: int | None = None) -> HistoryPage[Run]:
    return _page(Run.objects.filter(project=project).select_related("started_by", "project"), before)


def list_audit(project: Project, *, before: int | None = None) -> HistoryPage[AuditEntry]:
    return _page(AuditEntry.objects.filter(project=project).select_related("actor"), before)


def _page(rows: QuerySet[Row], before: int | None) -> HistoryPage[Row]:
    older = rows if before is None else rows.filter(pk__lt=before)
    batch = list(older.order_by("-pk")[: PAGE + 1])
    return HistoryPage(batch[:PAGE], batch[PAGE - 1].pk if len(batch) > PAGE else None)


# What a score run tells everybody: its size, and nothing of what a machine has said.
OPEN_COUNTS = frozenset({"examples", "units", "systems", "pairs", "new_pairs", "left_out", "refused"})


def hide_verdicts(run: Run, role: str | None) -> Run:
    """A run as somebody of that role may see it: whoever judges presence learns nothing of the judge's verdicts."""
    if run.stage == Stage.SCORE and role not in READERS:
        run.counts = {name: value for name, value in run.counts.items() if name in OPEN_COUNTS}
        run.signature = ""
        run.error = _("It failed. A lead can see why.") if run.error else ""
    return run
