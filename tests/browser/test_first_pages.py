"""Signing in and looking around, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()


def test_a_lead_signs_in_with_the_keyboard_and_reads_the_scores(page, demo):
    page.goto(demo)
    expect(page.get_by_label("User name")).to_be_focused()
    page.keyboard.type("lena")
    page.keyboard.press("Tab")
    page.keyboard.type("secret")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    page.get_by_role("link", name="Demo: twelve stories", exact=True).click()
    expect(page.get_by_role("heading", name="Demo: twelve stories")).to_be_visible()
    page.get_by_text("The numbers").click()
    systems = page.get_by_role("row").all_inner_texts()
    assert [row.split()[0] for row in systems[1:]] == ["atlas", "beacon", "cobalt", "drift", "ember"]


def test_a_wrong_password_keeps_the_name(page, demo):
    page.goto(demo)
    page.get_by_label("User name").fill("lena")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not match")
    expect(page.get_by_label("User name")).to_have_value("lena")
    expect(page.get_by_label("Password")).to_be_focused()


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(page, demo, width):
    page.set_viewport_size({"width": width, "height": 800})
    sign_in(page, demo, "viktor")
    home = "/projects/demo-twelve-stories/"
    for path in (
        "/",
        home,
        f"{home}members/",
        f"{home}examples/",
        f"{home}examples/1/",
        f"{home}examples/?q=zzz",
        f"{home}runs/",
        "/account/",
    ):
        page.goto(demo + path)
        expect(page.get_by_label("Your account, viktor")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_signing_out_ends_the_session(page, demo):
    sign_in(page, demo, "anton")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(demo)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
