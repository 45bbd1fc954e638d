"""The judging page in a real browser: keys alone, a phone, no script, and no answer is ever lost."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation import models
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW
from tests.judging import judged_project, open_batch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(demo: str) -> models.Project:
    """A project with summaries to judge, and Anton who judges them."""
    project = judged_project(slug="judging")
    user = models.User.objects.get(username="anton")
    models.Membership.objects.create(project=project, user=user, role="annotator", joined_at=NOW)
    open_batch(project, votes=1)
    return project


@pytest.fixture
def page_that_may_complain(context: BrowserContext) -> Page:
    return context.new_page()


def open_sheet(page: Page, demo: str, project: models.Project) -> models.Task:
    sign_in(page, demo, "anton")
    page.goto(demo + reverse("annotation:judge", args=[project.slug]))
    expect(page.get_by_role("button", name="Take the next summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-where]")).to_have_text(re.compile("^1 of 3"))
    return models.Task.objects.get(holder__username="anton")


def at(page: Page, place: int) -> None:
    expect(page.locator("[data-where]")).to_have_text(re.compile(f"^{place} of 3"))


def saved(page: Page) -> None:
    """Everything that is on the page has reached the server."""
    expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    page.wait_for_timeout(600)  # longer than the pause before a save
    expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))


def stored(task: models.Task) -> dict[int, str]:
    newest = models.DraftVersion.objects.filter(task=task, is_late=False).order_by("-version").first()
    return {one["row"]: one["answer"] for one in newest.content["answers"]} if newest else {}


def test_a_sheet_is_judged_by_keys_alone(page: Page, demo: str, project):
    task = open_sheet(page, demo, project)
    page.keyboard.press("j")
    at(page, 2)
    page.keyboard.press("k")
    at(page, 3)
    page.keyboard.press("Backspace")
    at(page, 2)
    page.keyboard.press("u")
    at(page, 3)
    page.keyboard.press("j")
    expect(page.locator("[data-where]")).to_have_text(re.compile("^All answered"))
    expect(page.get_by_role("button", name="Hand in and next")).to_be_focused()
    page.keyboard.press("Enter")
    at(page, 1)
    assert page.url.endswith(f"/judge/{models.Task.objects.get(holder__username='anton').pk}/")
    assert models.Task.objects.get(pk=task.pk).state == "done"
    content = models.Submission.objects.get(task=task).content
    assert [one["answer"] for one in content["answers"]] == ["present", "unsure", "present"]
    assert sorted(models.Judgement.objects.values_list("answer", flat=True)) == ["present", "present", "unsure"]


def test_any_earlier_answer_can_be_changed_and_nothing_is_handed_in_half(page: Page, demo: str, project):
    task = open_sheet(page, demo, project)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-save]")).to_contain_text("no answer yet")
    page.keyboard.press("j")
    at(page, 2)
    page.get_by_role("link", name="Statement 1, present").click()
    at(page, 1)
    page.keyboard.press("k")
    at(page, 2)  # goes on where an answer is missing
    page.keyboard.press("k")
    page.keyboard.press("j")  # too fast: nobody has seen the next statement
    at(page, 3)
    page.keyboard.press("Backspace")
    at(page, 2)
    page.keyboard.press("j")
    at(page, 3)
    saved(page)
    assert stored(task) == {1: "not_present", 2: "present"}
    page.keyboard.press("j")
    expect(page.locator("[data-where]")).to_have_text(re.compile("^All answered"))
    # In the review every row can be changed by pointer as well.
    page.locator("[data-row='2'] label").filter(has_text="Unsure").click()
    saved(page)
    assert stored(task)[2] == "unsure"
    assert not models.Judgement.objects.exists()


def test_keys_are_none_in_the_note_and_a_flag_keeps_the_answers(page: Page, demo: str, project):
    task = open_sheet(page, demo, project)
    page.keyboard.press("j")
    at(page, 2)
    saved(page)
    page.keyboard.press("f")
    page.keyboard.type("junk, jk")
    assert stored(task) == {1: "present"}
    page.get_by_role("button", name="Flag to the lead").click()
    expect(page.get_by_text("Your lead will look at it")).to_be_visible()
    at(page, 2)
    assert models.Flag.objects.get().note == "junk, jk"


def test_a_cut_line_keeps_answers_on_the_device_and_sends_them_later(page_that_may_complain: Page, demo: str, project):
    page = page_that_may_complain
    task = open_sheet(page, demo, project)
    page.keyboard.press("j")
    at(page, 2)
    saved(page)
    page.route("**/draft/", lambda route: route.abort())
    page.keyboard.press("k")
    expect(page.locator("[data-save]")).to_contain_text("Kept on this device")
    page.keyboard.press("u")
    page.wait_for_timeout(500)
    assert stored(task) == {1: "present"}
    page.unroute("**/draft/")
    saved(page)
    assert stored(task) == {1: "present", 2: "not_present", 3: "unsure"}


def test_an_expired_login_asks_again_and_loses_nothing(page_that_may_complain: Page, demo: str, project):
    page = page_that_may_complain
    task = open_sheet(page, demo, project)
    Session.objects.all().delete()
    page.keyboard.press("j")
    expect(page.locator("[data-save]")).to_contain_text("signed out")
    other = page.context.new_page()
    sign_in(other, demo, "anton")
    saved(page)
    assert stored(task) == {1: "present"}
    page.reload()
    at(page, 2)


def test_two_tabs_are_safe(page: Page, demo: str, project):
    task = open_sheet(page, demo, project)
    other = page.context.new_page()
    other.goto(page.url)
    page.keyboard.press("j")
    saved(page)
    other.keyboard.press("k")
    expect(other.locator("[data-save]")).to_contain_text("Another tab has newer answers")
    assert stored(task) == {1: "present"}
    assert models.DraftVersion.objects.filter(task=task, is_late=True).exists(), "kept beside"


def test_without_script_the_form_is_enough(browser: Browser, demo: str, project):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, demo, "anton")
    page.goto(demo + reverse("annotation:judge", args=[project.slug]))
    page.get_by_role("button", name="Take the next summary").click()
    for row in range(1, 4):
        page.locator(f"[data-row='{row}']").get_by_role("radio", name="Not present").check(force=True)
    page.get_by_role("button", name="Hand in and next").click()
    expect(page.locator("[data-row='1']")).to_be_visible()
    assert models.Judgement.objects.filter(answer="not_present").count() == 3
    context.close()


def test_on_a_phone_the_buttons_fit_a_thumb(page: Page, demo: str, project):
    page.set_viewport_size({"width": 360, "height": 740})
    open_sheet(page, demo, project)
    for name in ("Present", "Not present"):
        box = page.locator("[data-row='1'] label").filter(has_text=re.compile(f"^\\s*\\w?\\s*{name}")).bounding_box()
        assert box["height"] >= 48, name
        assert box["y"] + box["height"] <= 740, "in view without scrolling"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("[data-row='1'] label").first.click()
    at(page, 2)
