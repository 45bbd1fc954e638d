"""The second look in a real browser: one key for each decision, and nothing lost."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation import models
from annotation.services.drafts import change_draft
from tests.browser.test_first_pages import sign_in
from tests.browser.test_writing import saved, stored, written
from tests.conftest import NOW
from tests.planning import freeze, plannable, write_next

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHUT, YEAR, PLACE = "The mill number 0 shut.", "The mill shut in the year 1900.", "Place 0 had a mill."
OTHER_YEAR = "The mill in the year 1900 shut."


def members(project: models.Project) -> dict[str, models.User]:
    found = {}
    for name in ("anton", "aisha", "lena"):
        found[name] = models.User.objects.get(username=name)
        role = "lead" if name == "lena" else "annotator"
        models.Membership.objects.create(project=project, user=found[name], role=role, joined_at=NOW)
    return found


@pytest.fixture
def project(demo: str) -> models.Project:
    """One sentence that two people have written."""
    project = plannable(examples=1, sentences=1)
    people = members(project)
    change_draft(project, share=0, assumptions={"writers": 2}, now=NOW)
    freeze(project)
    write_next(project, people["anton"], SHUT, YEAR, now=timezone.now())
    write_next(project, people["aisha"], OTHER_YEAR, PLACE, now=timezone.now())
    return project


def open_review(page: Page, demo: str, project: models.Project) -> models.Task:
    sign_in(page, demo, "lena")
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    page.get_by_role("button", name="Look at the next one").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Two writers, one set of units")).to_be_visible()
    return models.Task.objects.get(kind="review")


def test_two_sets_become_one_with_the_keyboard_alone(page: Page, demo: str, project):
    task = open_review(page, demo, project)
    page.keyboard.press("1")  # take A, and on to the next row
    page.keyboard.press("m")  # merge, in the box
    box = page.get_by_label("Row 2 in your words")
    expect(box).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The mill shut in 1900.")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("d")
    saved(page)
    assert stored(task) == [SHUT, "The mill shut in 1900."]
    page.keyboard.press("Control+z")
    page.keyboard.press("2")  # take B after all
    page.keyboard.press("n")
    page.keyboard.type("A mill is number 0.")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type("Put the year with the fact.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Write units")).to_be_visible()
    units = list(written(project).order_by("position"))
    assert [unit.text for unit in units] == [SHUT, "The mill shut in 1900.", PLACE, "A mill is number 0."]
    assert [unit.author.user.username for unit in units] == ["anton", "lena", "aisha", "lena"]
    assert len(units[1].written.origins) == 2
    assert models.Submission.objects.get(task=task).content["comment"] == "Put the year with the fact."


def test_a_key_before_the_script_is_there_counts_as_soon_as_it_is(page: Page, demo: str, project):
    late: list[Route] = []
    page.route("**/js/review.js", lambda route: late.append(route))
    task = open_review(page, demo, project)
    page.keyboard.press("1")
    page.keyboard.press("m")
    page.keyboard.press("x")
    expect(page.get_by_role("radio", name="Take A").first).not_to_be_checked()
    late[0].continue_()
    expect(page.get_by_role("radio", name="Take A").first).to_be_checked()
    expect(page.get_by_label("Row 2 in your words")).to_be_focused()
    expect(page.get_by_label("Row 2 in your words")).to_have_value(f"{YEAR}x")
    saved(page)
    assert stored(task) == [SHUT, f"{YEAR}x"]


def test_an_open_row_keeps_it_from_being_handed_in_and_a_reload_loses_nothing(
    context: BrowserContext, demo: str, project
):
    page = context.new_page()
    task = open_review(page, demo, project)
    page.keyboard.press("1")
    saved(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-save]")).to_contain_text("Decide on every text")
    assert models.Task.objects.get(pk=task.pk).state == "leased"
    page.reload()
    expect(page.get_by_role("radio", name="Take A").first).to_be_checked()
    page.keyboard.press("e")
    page.keyboard.type(" So it was")
    page.evaluate("navigator.sendBeacon = () => false")
    page.route("**/draft/", lambda route: route.abort())
    page.wait_for_timeout(600)
    page.unroute("**/draft/")
    page.reload()
    expect(page.get_by_label("Row 2 in your words")).to_have_value(f"{YEAR} So it was")


def test_the_page_works_without_scripts(browser: Browser, demo: str, project):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_review(page, demo, project)
    rows = page.locator("[data-row]")
    rows.nth(0).get_by_role("radio", name="Take A").check()
    rows.nth(1).get_by_role("radio", name="Take B").check()
    page.get_by_role("button", name="Hand in and next").click()
    expect(page.get_by_role("alert")).to_contain_text("1 are open")
    expect(rows.nth(1).get_by_role("radio", name="Take B")).to_be_checked()
    rows.nth(2).get_by_role("radio", name="Drop").check()
    page.get_by_role("button", name="Hand in and next").click()
    assert [unit.text for unit in written(project).order_by("position")] == [SHUT, OTHER_YEAR]
    context.close()


def test_what_was_handed_in_is_opened_again_from_the_history(page: Page, demo: str):
    project = plannable(examples=1, sentences=1, slug="one")
    people = members(project)
    change_draft(project, share=0, now=NOW)
    freeze(project)
    write_next(project, people["anton"], SHUT, now=timezone.now())
    sign_in(page, demo, "anton")
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    page.get_by_role("link", name="What you have handed in").click()
    page.get_by_role("button", name="Open it again").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value(SHUT)
    page.wait_for_load_state()  # the field is drawn anew by the page's script
    page.get_by_label("Unit 1", exact=True).focus()
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.type(" in 1900.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Write units")).to_be_visible()
    assert (
        models.Unit.objects.current().get(kind="scu", example__project=project).text
        == "The mill number 0 shut in 1900."
    )
    expect(page.get_by_text(re.compile("Everything is done")).first).to_be_visible()


def test_a_lead_keeps_tasks_for_somebody_and_settles_flags(page: Page, demo: str):
    project = plannable(examples=1, sentences=2, slug="kept")
    people = members(project)
    change_draft(project, share=0, now=NOW)
    freeze(project)
    models.Flag.objects.create(
        task=models.Task.objects.filter(project=project).first(),
        user=people["anton"],
        note="Is this English?",
        raised_at=NOW,
    )
    sign_in(page, demo, "lena")
    page.goto(demo + reverse("annotation:tasks", args=[project.slug]))
    page.get_by_role("checkbox").first.check()
    page.get_by_label("Keep the ticked ones for").select_option(value=str(people["anton"].pk))
    page.get_by_role("button", name="Reserve").click()
    expect(page.get_by_text("1 task is changed")).to_be_visible()
    assert models.Task.objects.filter(project=project, reserved_for=people["anton"]).count() == 1
    page.goto(demo + reverse("annotation:write-notes", args=[project.slug]))
    expect(page.get_by_text("Is this English?")).to_be_visible()
    page.get_by_role("button", name="Settled").click()
    expect(page.get_by_text("Nobody has raised a flag")).to_be_visible()
    assert models.Flag.objects.get().settled_by.username == "lena"
