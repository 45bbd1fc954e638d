"""The way through the results, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from annotation import models
from annotation.services import jobs
from scoring.options import checked_options
from scoring.services.score_job import request_score
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def scored(demo: str) -> str:
    """The demo with human scores."""
    options = checked_options({"metric": "lite2", "judge": "human"})
    run = request_score(models.Project.objects.get(), options, now=NOW)
    jobs.run_job(run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    return demo


def test_from_the_board_down_to_a_unit_and_back(page: Page, scored: str):
    sign_in(page, scored, "lena")
    page.get_by_role("link", name="Demo: twelve stories").first.click()
    page.get_by_role("link", name="Results", exact=True).click()
    rows = page.locator("table.table-board tbody tr")
    expect(rows.first.get_by_role("rowheader")).to_contain_text("atlas")
    expect(rows.first.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"95 % interval"))
    rows.nth(2).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("cobalt")
    page.get_by_role("link", name="harbour-bridge").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cobalt, example 1")
    page.locator(".units a").first.click()
    expect(page.get_by_text(re.compile(r"Found in \d of 5 summaries\."))).to_be_visible()
    page.get_by_role("link", name="Results", exact=True).first.click()
    page.get_by_label("Normalise length").check()
    page.get_by_role("button", name="Show").press("Enter")
    expect(page).to_have_url(re.compile("normalised=1"))
    expect(page.get_by_label("Normalise length")).to_be_checked()


def test_the_estimate_follows_what_is_chosen(page: Page, scored: str):
    sign_in(page, scored, "lena")
    page.goto(f"{scored}/projects/demo-twelve-stories/results/start/")
    expect(page.locator("#estimate")).to_contain_text("No pair needs the judge.")
    page.get_by_label("Judge").select_option("embedded")
    expect(page.locator("#estimate")).to_contain_text("At most 395 pairs")
    page.get_by_label("cobalt").uncheck()
    expect(page.locator("#estimate")).to_contain_text("At most 316 pairs")
    page.get_by_label("Metric").fill("lite9")
    page.get_by_label("Metric").press("Tab")
    expect(page.locator("#estimate")).to_contain_text("is no metric")


def test_a_system_is_added_by_upload_and_its_run_is_followed(page: Page, scored: str, tmp_path):
    sign_in(page, scored, "lena")
    page.goto(f"{scored}/projects/demo-twelve-stories/results/add-system/")
    path = tmp_path / "nova.txt"
    page.get_by_label("Name").fill("nova")
    path.write_text("\n".join(["The bridge is shut."] * 12), encoding="utf-8")
    page.get_by_label("Summaries").set_input_files(path)
    page.get_by_role("button", name="Add the system").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Score: lite2, human")
    expect(page.get_by_text("nova was added.")).to_be_visible()
    assert models.System.objects.filter(name="nova").exists()
