"""Inviting and joining, in real browsers of two people."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Membership
from tests.browser.test_first_pages import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_lead_invites_and_a_newcomer_joins(page: Page, browser: Browser, demo: str, settings):
    settings.PUBLIC_URL = demo
    sign_in(page, demo, "lena")
    page.goto(f"{demo}/projects/demo-twelve-stories/members/")
    page.get_by_label("For whom").fill("Ada Finch")
    page.get_by_label("Role", exact=True).select_option("viewer")
    page.get_by_role("button", name="Make an invitation link").click()
    link = page.get_by_label(re.compile("Send this link")).input_value()
    assert link.startswith(f"{demo}/join/")

    newcomer = browser.new_page()
    newcomer.goto(link)
    newcomer.get_by_label("Username").fill("ada")
    newcomer.get_by_label("Password", exact=True).fill("lighthouse-keeper-7")
    newcomer.get_by_label("Password confirmation").fill("lighthouse-keeper-7")
    newcomer.keyboard.press("Enter")
    newcomer.wait_for_url("**/projects/demo-twelve-stories/")
    expect(newcomer.get_by_role("heading", name="Demo: twelve stories", exact=True)).to_be_visible()
    assert Membership.objects.get(user__username="ada").role == "viewer"

    page.reload()
    page.locator("summary", has_text="Remove ada").click()
    page.get_by_role("button", name="Remove ada").click()
    expect(page.get_by_text("ada was removed. Finished work stays, with its credit.")).to_be_visible()
    newcomer.reload()
    expect(newcomer.get_by_role("heading", name="Not found")).to_be_visible()
    newcomer.close()


def test_on_a_phone_the_menu_leads_to_the_members(page: Page, demo: str):
    page.set_viewport_size({"width": 360, "height": 800})
    sign_in(page, demo, "viktor")
    page.goto(f"{demo}/projects/demo-twelve-stories/")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Members").click()
    expect(page.get_by_role("heading", name="Members")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.get_by_text("Invite somebody")).to_have_count(0)
