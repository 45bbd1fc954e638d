"""WCAG 2.2 AA, checked with axe on every page, in both themes, on a phone and on a desk."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Page

from annotation import models
from annotation.services.trashing import move_to_trash
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW
from tests.factories import RunFactory
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
    pages = [address for address in addresses(project) if "/api/" not in address and "progress" not in address]
    pages = [
        address for address in pages if "/examples/" not in address or address.endswith(("examples/", "examples/2/"))
    ]
    for address in (*pages, reverse("annotation:examples", args=[project.slug]) + "?q=zzz"):
        page.goto(busy + address)
        found += complaints(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    assert found == []
