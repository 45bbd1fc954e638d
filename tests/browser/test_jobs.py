"""Importing and exporting in a real browser, from the first page to the downloaded file."""

from __future__ import annotations

import zipfile

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation import models
from annotation.services import jobs
from tests.browser.test_first_pages import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LINE = '{"id": "mill", "reference": "The mill closed.", "summaries": {"atlas": "It shut."}}\n'


@pytest.fixture(autouse=True)
def nobody_sends(monkeypatch):
    """The test does the jobs itself, when it wants."""
    monkeypatch.setattr("annotation.views.runs.send_run", lambda run: None)


def do_last_run() -> models.Run:
    run = models.Run.objects.order_by("-pk").first()
    jobs.run_job(run.pk)
    run.refresh_from_db()
    return run


def test_a_lead_makes_a_project_imports_and_exports(page: Page, demo: str, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(LINE)
    sign_in(page, demo, "lena")
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name").fill("Coastline news")
    page.keyboard.press("Enter")
    page.get_by_label("File", exact=True).set_input_files(corpus)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    expect(page.get_by_text("No worker has answered for 30 seconds.")).to_be_visible()
    do_last_run()
    # Nobody reloads: the page finds out by itself, and stops asking.
    expect(page.get_by_text("Nothing is wrong with this file.")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2500)
    assert asked == []

    page.get_by_role("button", name="Import 1 example").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    do_last_run()
    page.get_by_role("link", name="Look through the examples").click()
    expect(page.get_by_role("link", name="mill")).to_be_visible()

    page.get_by_role("link", name="Export", exact=True).click()
    page.get_by_role("button", name="Make the export").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    do_last_run()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert any(name.endswith("manifest.json") for name in archive.namelist())


def test_without_script_the_same_works(browser: Browser, demo: str, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(LINE + "oops\n")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, demo, "lena")
    page.goto(f"{demo}/projects/demo-twelve-stories/import/")
    page.get_by_label("File", exact=True).set_input_files(corpus)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    do_last_run()
    expect(page.get_by_text("Mend the file and upload it again.")).to_be_visible(timeout=10_000)
    context.close()


def test_a_waiting_run_is_cancelled_and_tried_again(page: Page, demo: str, tmp_path):
    sign_in(page, demo, "lena")
    page.goto(f"{demo}/projects/demo-twelve-stories/export/")
    page.get_by_role("button", name="Make the export").click()
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.get_by_text("It was cancelled. Nothing of it was written.")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    assert do_last_run().state == "done"
    expect(page.get_by_role("link", name="Download the zip")).to_be_visible()


def test_a_login_that_ended_takes_the_page_to_the_door_and_back(page: Page, demo: str):
    sign_in(page, demo, "lena")
    page.goto(f"{demo}/projects/demo-twelve-stories/export/")
    page.get_by_role("button", name="Make the export").click()
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()
    page.context.clear_cookies()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("User name").fill("lena")
    page.get_by_label("Password").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Waiting for a worker.")).to_be_visible()


def test_the_chosen_theme_wins_over_the_system(page: Page, demo: str):
    page.emulate_media(color_scheme="light")
    sign_in(page, demo, "anton")
    page.goto(f"{demo}/account/")
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Use this theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 23, 21)"


def test_the_documentation_of_the_api_works_under_the_same_policy(page: Page, demo: str):
    sign_in(page, demo, "viktor")
    page.goto(f"{demo}/api/v1/docs/")
    expect(page.get_by_text("/api/v1/projects/{slug}/units/")).to_be_visible()
    page.get_by_role("button", name="GET /api/v1/projects/", exact=True).click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.get_by_text("Demo: twelve stories").first).to_be_visible()
