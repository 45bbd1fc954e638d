"""The pages of requester keys and pay, in a real browser: they work, and axe finds nothing in them."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import User
from mturk.exchange.models import LineKind, Requester
from mturk.exchange.services import ledger
from tests.browser.test_axe import complaints
from tests.browser.test_first_pages import sign_in
from tests.mturk.exchange.rows import WorkerFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_a_key_is_made_filled_and_revoked(page: Page, demo: str, theme: str, width: int) -> None:
    User.objects.filter(username="lena").update(is_staff=True, theme=theme)
    page.set_viewport_size({"width": width, "height": 800})
    sign_in(page, demo, "lena")
    page.goto(f"{demo}/exchange/keys/")
    page.get_by_label("Name", exact=True).fill("Summarisation lab")
    page.get_by_role("button", name="Make a key").click()
    made = Requester.objects.get()
    expect(page.get_by_label("Secret")).to_have_value(made.secret)
    page.get_by_text("Deposit Summarisation lab").click()
    page.locator(f"#deposit-{made.pk}").fill("12.50")
    page.get_by_text("Revoke Summarisation lab").click()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Note the deposit").click()
    expect(page.get_by_text("$12.50 were noted for Summarisation lab.")).to_be_visible()
    made = Requester.objects.get()
    worker = WorkerFactory.create(participant="p-17")
    ledger.post(made, LineKind.BONUS, -75, at=timezone.now(), reference="3X", worker=worker)
    page.get_by_role("link", name="What workers are owed").click()
    expect(page.get_by_text("p-17")).to_be_visible()
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Note $0.75 as paid").click()
    expect(page.get_by_text("Nobody is owed anything.")).to_be_visible()
