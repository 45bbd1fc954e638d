"""What the crowd tells the pages that show several apps."""

from __future__ import annotations

from django.db.models import Count, Q, Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.cards import NextCard, StageCard
from annotation.models import Project, Role
from annotation.services.overview import ProjectOverview
from mturk.models import AssignmentStatus, BatchState, CrowdAssignment, CrowdBatch, CrowdHit, Wish


def stages(overview: ProjectOverview) -> list[StageCard]:
    """The stage that lives in this app."""
    project = overview.project
    is_lead = overview.role == Role.LEAD
    page = reverse("mturk:batches", args=[project.slug]) if is_lead else ""
    hits = CrowdHit.objects.filter(crowd_batch__project=project)
    told = hits.aggregate(n=Count("pk"), wanted=Sum("assignments"))
    if not told["n"]:
        return [StageCard("publish", "wait", _("no batches"), page if is_lead and overview.scus else "")]
    have = CrowdAssignment.objects.filter(hit__crowd_batch__project=project).count()
    words = ngettext("%(n)s HIT", "%(n)s HITs", told["n"]) % {"n": f"{told['n']:,}"}
    running = (BatchState.PUBLISHING, BatchState.LIVE, BatchState.PAUSED)
    is_out = CrowdBatch.objects.filter(project=project, state__in=running).exists()
    share = min(have / told["wanted"], 1.0) if told["wanted"] else 0.0
    return [StageCard("publish", "now" if is_out else "done", words, page, share)]


def next_steps(overview: ProjectOverview) -> list[NextCard]:
    """Workers wait for their money: reviewing comes before work of one's own."""
    if overview.role != Role.LEAD:
        return []
    found = _to_review(overview.project)
    return [found] if found else []


def _to_review(project: Project) -> NextCard | None:
    waiting = Q(hits__collected__status=AssignmentStatus.SUBMITTED, hits__collected__wish=Wish.NONE)
    rows = CrowdBatch.objects.filter(project=project).annotate(waits=Count("hits__collected", filter=waiting))
    batch = rows.filter(waits__gt=0).order_by("number").first()
    if batch is None:
        return None
    number = batch.waits
    title = ngettext("Review %(n)s assignment", "Review %(n)s assignments", number) % {"n": f"{number:,}"}
    text = _("Workers of crowd batch %(batch)s wait for their money.") % {"batch": batch.number}
    return NextCard(58, title, text, _("Review"), reverse("mturk:batch", args=[project.slug, batch.number]))
