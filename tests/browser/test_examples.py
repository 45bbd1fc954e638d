"""Looking through a corpus in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Project
from annotation.services.decomposing import decompose_project
from annotation.spacy_parser import load_parser
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_the_list_to_an_example_and_on_to_the_next(page: Page, demo: str):
    sign_in(page, demo, "anton")
    page.goto(f"{demo}/projects/demo-twelve-stories/")
    page.get_by_role("link", name="Examples", exact=True).click()
    page.get_by_label("Search ids and references").fill("otter")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="otter-cubs").click()
    expect(page.get_by_role("heading", name="Example 2: otter-cubs")).to_be_visible()
    expect(page.get_by_role("heading", name="Reference 3")).to_be_visible()
    page.get_by_role("link", name="later example").click()
    expect(page.get_by_role("heading", name="Example 3: turbine-factory")).to_be_visible()


def test_pointing_at_a_unit_shows_its_words_in_the_sentence(page: Page, demo: str):
    decompose_project(Project.objects.get(), load_parser(), now=NOW, progress=lambda *_: None)
    sign_in(page, demo, "anton")
    page.goto(f"{demo}/projects/demo-twelve-stories/examples/12/")
    unit = page.locator("[data-spans]").first
    shown = "[...(CSS.highlights.get('unit') ?? [])].map(range => range.toString()).join(' … ')"
    assert page.evaluate(shown) == ""
    unit.focus()
    words = page.evaluate(shown)
    assert words
    assert all(word in page.locator(".sentence-text").first.inner_text() for word in words.split(" … "))
    page.keyboard.press("Shift+Tab")
    unit.hover()
    assert page.evaluate(shown) == words
    page.mouse.move(0, 0)
    assert page.evaluate(shown) == ""
