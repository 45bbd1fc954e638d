"""WCAG 2.2 AA, checked with axe on every page, in both themes, on a phone and on a desk."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from annotation import models
from annotation.services import jobs
from annotation.services.drafts import change_draft
from annotation.services.freezing import freeze_plan
from annotation.services.queue import claim_next
from annotation.services.trashing import move_to_trash
from scoring.options import checked_options
from scoring.services.score_job import request_score
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW
from tests.factories import FlagFactory, RankingFactory, RunFactory
from tests.judging import always, answer_sheet, open_batch
from tests.planning import write_next
from tests.test_injection import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


def complaints(page: Page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{page.url} {item['id']}: {item['help']} {[node['target'] for node in item['nodes']][:3]}" for item in found
    ]


def one_of_each(addresses: list[str]) -> list[str]:
    """Examples, summaries and units look alike: the second of each. Every run is another page."""
    shapes: dict[str, list[str]] = {}
    for address in addresses:
        shapes.setdefault(address if "/runs/" in address else re.sub(r"\d+", "N", address), []).append(address)
    return [alike[min(1, len(alike) - 1)] for alike in shapes.values()]


@pytest.fixture
def busy(demo: str) -> str:
    """The demo with something on every page."""
    project = models.Project.objects.get()
    move_to_trash(models.Example.objects.get(position=12), now=NOW)
    counts = {"file": {"examples": 1}, "new": {"examples": 1}, "problems": [{"file": "a", "line": 1, "message": "b"}]}
    done = {"project": project, "started_at": NOW, "ended_at": NOW}
    RunFactory(
        **done, state="done", parameters={"dry_run": True, "upload": "x/y"}, counts={**counts, "problem_count": 1}
    )
    RunFactory(**done, state="done", parameters={"dry_run": True, "upload": "x/y"}, counts={**counts, "problems": []})
    RunFactory(**done, state="failed", error="no")
    RunFactory(
        **done, stage="export", state="done", parameters={"format": "csv"}, counts={"examples": 1, "left_out": {"x": 1}}
    )
    RunFactory(project=project)
    for number, sentence in enumerate(models.Sentence.objects.order_by("pk")):
        RankingFactory(sentence=sentence, easiness=number % 10 / 10)
    change_draft(project, assumptions={"budget": "20", "judging_reward": "0.05"}, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    lena, anton = (models.User.objects.get(username=name) for name in ("lena", "anton"))
    write_next(project, lena, "The mill shut.")
    write_next(project, anton, "The mill shut down.", "It was an old mill.", now=timezone.now())
    FlagFactory(task=claim_next(project, lena, "write", now=timezone.now()))
    claim_next(project, lena, "review", now=timezone.now())
    open_batch(project, votes=2, with_fillers=True)
    for judge, says in ((lena, "present"), (anton, "not_present")):
        answer_sheet(project, judge, always(says), now=timezone.now())
    claim_next(project, lena, "judge", now=timezone.now())
    options = checked_options({"metric": "lite2", "judge": "human"})
    jobs.run_job(request_score(project, options, now=NOW).pk)
    return demo


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_keeps_the_rules(page: Page, busy: str, scheme: str, width: int):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(busy)
    found = complaints(page)
    sign_in(page, busy, "lena")
    project = models.Project.objects.get()
    pages = [
        address
        for address in addresses(project)
        if not re.search("/api/|progress|/state/|/exchange/(keys|links|pay)/", address)
    ]
    pages = one_of_each(pages)
    leased = project.tasks.filter(state="leased").exclude(kind="judge").values_list("pk", flat=True)
    pages += [reverse("annotation:write-task", args=[project.slug, task]) for task in leased]
    for address in (*pages, reverse("annotation:examples", args=[project.slug]) + "?q=zzz"):
        page.goto(busy + address)
        found += complaints(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    assert found == []
