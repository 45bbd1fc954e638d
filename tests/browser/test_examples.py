"""Looking through a corpus in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_first_pages import sign_in

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
