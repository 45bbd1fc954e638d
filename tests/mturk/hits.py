"""HITs of the requester's side for tests of what workers see."""

from __future__ import annotations

from mturk.models import CrowdBatch, CrowdHit
from mturk.task_pages import TaskPage
from tests.conftest import NOW
from tests.factories import ReferenceFactory, SheetFactory

SUMMARY = (
    "A ferry with more than 200 people on board hit rocks near the island of Sandholm on Tuesday night when its steering "
    "failed in a storm. The captain and her crew brought everyone to the top deck. Three passengers were treated for cold. "
    "One man broke his arm."
)
STATEMENTS = (
    "The ferry Marit Vind ran aground off Sandholm.",
    "14 crew members moved passengers to the upper deck.",
    "The seas were heavy.",
    "One man broke his wrist.",
    "The Marit Vind carried 212 passengers.",
    "Kystlinjen has suspended the route.",
)


def presence_page(**given) -> TaskPage:
    values = {"kind": "presence", "text": SUMMARY, "statements": STATEMENTS, "reward_cents": 42, "seconds": 95}
    return TaskPage(**{**values, "asker": "Reading study, Lindhavn University", "contact": "lab@example.org", **given})


def writing_page(**given) -> TaskPage:
    return presence_page(**{"kind": "writing", "statements": (), "reward_cents": 50, "seconds": 300, **given})


def crowd_hit(kind: str = "presence", **given) -> CrowdHit:
    """A planned HIT with its batch."""
    sheet = SheetFactory() if kind == "presence" else None
    reference = None if sheet else ReferenceFactory()
    project = sheet.batch.project if sheet else reference.example.project
    number = CrowdBatch.objects.count() + 1
    batch = CrowdBatch.objects.create(
        project=project, number=number, batch=sheet.batch if sheet else None, key=f"k{number}", kind=kind,
        environment="exchange", endpoint="http://127.0.0.1/exchange/api/", title="Does the summary say this?",
        description="Read", assignments=3, duration_s=1800, lifetime_s=86400, auto_approval_s=3 * 86400, expected_s=95,
        cap_cents=1000, created_at=NOW,
    )  # fmt: skip
    rows = [{"unit": None, "text": text} for text in STATEMENTS]
    page = {"text": SUMMARY, "rows": rows} if sheet else {"text": SUMMARY, "statements": 8}
    values = {"task": 1, "token": f"t{number}", "annotation": f"a{number}", "page": page, "reward_cents": 42}
    return CrowdHit.objects.create(
        crowd_batch=batch, sheet=sheet, reference=reference, assignments=3, **{**values, **given}
    )
