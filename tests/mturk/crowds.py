"""Crowd batches for tests: one of judging that is confirmed, and workers who answer."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from annotation import models
from mturk.models import CrowdBatch, CrowdHit
from mturk.services.planning import Wish, confirm, create_draft
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.judging import judged_project, open_batch
from tests.mturk.fakes import FakeMarket

ANSWERS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"


def wish(project: models.Project, **given: Any) -> Wish:
    if given.get("kind") != "writing" and "batch" not in given:
        given["batch"] = open_batch(project, **given.pop("judging", {})).number
    return Wish(
        **{
            "environment": "exchange",
            "title": "Are the facts in a text?",
            "description": "Read and judge.",
            "rewards": [{"name": "all", "systems": [], "cents": 42}],
            "assignments": 2,
            "expected_s": 100,
            "cap_cents": 100_000,
            **given,
        }
    )


def drafted(project: models.Project | None = None, **given: Any) -> CrowdBatch:
    project = project or judged_project()
    return create_draft(project, wish(project, **given), now=NOW, actor=UserFactory())


def confirmed(project: models.Project | None = None, **given: Any) -> CrowdBatch:
    batch = drafted(project, **given)
    return confirm(batch, typed="", now=NOW, actor=batch.created_by)


def xml(fields: dict[str, str]) -> str:
    inner = "".join(
        f"<Answer><QuestionIdentifier>{escape(name)}</QuestionIdentifier><FreeText>{escape(text)}</FreeText></Answer>"
        for name, text in fields.items()
    )
    return f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">{inner}</QuestionFormAnswers>'


def answer(hit: CrowdHit, says: str = "present", **more: str) -> str:
    """What a worker hands in for a HIT: the same of every unit; a filler is never present."""
    rows = hit.page["rows"]
    given = {f"u{place}": says if row["unit"] else "not_present" for place, row in enumerate(rows, start=1)}
    return xml({**given, "consent": "2026-11", "seconds": "50", **more})


def work_all(market: FakeMarket, batch: CrowdBatch, workers: dict[str, str]) -> int:
    """Every worker does every HIT that is open for them, saying always the same."""
    number = 0
    for hit in CrowdHit.objects.filter(crowd_batch=batch).exclude(hit_id=""):
        for worker, says in workers.items():
            there = market.hits[hit.hit_id]
            is_new = worker not in {one.worker_id for one in there.work}
            if is_new and not there.is_deleted and market.get_hit(hit.hit_id).available:
                market.work(hit.hit_id, worker, answer(hit, says))
                number += 1
    return number
