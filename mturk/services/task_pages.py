"""The page of a HIT from its row."""

from __future__ import annotations

import math

from mturk.models import CrowdHit
from mturk.task_links import BadTaskLink, TaskLink
from mturk.task_pages import CONSENT_VERSION, PRESENCE, WRITING, WRITTEN_STATEMENTS, TaskPage

DAY_S = 86_400


def find_page(link: TaskLink) -> TaskPage:
    """What a signed address stands for."""
    hit = CrowdHit.objects.select_related("crowd_batch__project", "crowd_batch__created_by").filter(
        pk=link.hit_row_id, crowd_batch__kind=link.kind
    ).first()  # fmt: skip
    if hit is None:
        raise BadTaskLink("This HIT is not here any more.")
    return task_page(hit)


def task_page(hit: CrowdHit) -> TaskPage:
    """What workers see of a HIT: its texts as they were planned, its pay, and the words of its batch."""
    batch, page = hit.crowd_batch, hit.page
    own_consent = tuple(line.strip() for line in batch.consent.splitlines() if line.strip())
    return TaskPage(
        kind=PRESENCE if batch.kind == PRESENCE else WRITING,
        text=page["text"],
        statements=tuple(row["text"] for row in page.get("rows", [])),
        reward_cents=hit.reward_cents,
        seconds=batch.expected_s or None,
        asker=batch.project.name,
        contact=batch.created_by.email if batch.created_by else "",
        days_to_pay=max(1, math.ceil(batch.auto_approval_s / DAY_S)),
        consent=own_consent,
        consent_version=(batch.consent_version if own_consent else "") or CONSENT_VERSION,
        written=page.get("statements", WRITTEN_STATEMENTS),
    )
