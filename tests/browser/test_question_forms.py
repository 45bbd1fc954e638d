"""QuestionForms in a real browser: on a phone and on a desk, without script, and without a barrier."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from mturk.answers import read_answers
from mturk.exchange import models
from mturk.exchange.services import recruiting
from tests.browser.test_axe import complaints
from tests.conftest import NOW
from tests.mturk.exchange.form_xml import ask, choose, form, overview, text
from tests.mturk.exchange.key_xml import KEY, TEST
from tests.mturk.exchange.rows import QualificationTypeFactory, RequesterFactory
from tests.mturk.exchange.test_site import offer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WEATHER = form(
    overview(
        "<Title>The weather where you are</Title><Text>It takes about a minute.</Text><List><ListItem>Be brief</ListItem>"
        "<ListItem>Say what you saw</ListItem></List><FormattedContent><![CDATA[<p>See <a href='https://maps.example.org/'>"
        "the map</a> and <b>look well</b>.</p>]]></FormattedContent>"
    ),
    ask("sky", choose("blue", "green", other=True), required=True, content="<Text>Which colour is the sky?</Text>"),
    ask("seen", choose("sun", "moon", most=2), name="Seen today"),
    ask("place", choose("DE", "FR", style="dropdown"), required=True, content="<Text>Where are you?</Text>"),
    ask("why", text('<Length maxLength="200"/>', lines=4), content="<Text>Why do you think so?</Text>"),
    ask("age", text('<IsNumeric minValue="18"/>'), required=True, content="<Text>How old are you?</Text>"),
)


def come_in(page: Page, address: str) -> None:
    lab = RequesterFactory(name="Lindhavn Lab")
    link = recruiting.create_link(lab, kind="participant", completion_code="C", now=NOW)
    page.goto(f"{address}/exchange/work/join/{link.token}/?PROLIFIC_PID=p1")
    page.locator("main button").first.click()


def look(page: Page, name: str) -> list[str]:
    """What is wrong with a page, on a desk and on a phone."""
    wrong = []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        if folder := os.environ.get("PYRAMID_SHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
        wrong += complaints(page)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(f"{name} is wider than {width}")
    return wrong


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A browser without script."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_with_questions_have_no_barrier(browser, live_server, scheme):
    page = browser.new_page(
        color_scheme=scheme
    )  # not the fixture: a form that has to be mended is an error to the console
    come_in(page, live_server.url)
    (hit,) = offer(1, question=WEATHER, title="Five questions about the weather where you live")
    kind = QualificationTypeFactory(name="Watchers", test=TEST, answer_key=KEY, test_duration_s=600)
    page.goto(f"{live_server.url}/exchange/work/hits/{hit.hit_id}/")
    wrong = look(page, f"preview-{scheme}")
    page.get_by_role("button", name="Accept").click()
    wrong += look(page, f"asked-{scheme}")
    page.get_by_label("How old are you?").fill("seven")
    page.get_by_role("button", name="Hand in").click()
    wrong += look(page, f"mend-{scheme}")
    page.goto(f"{live_server.url}/exchange/work/qualifications/{kind.qualification_type_id}/")
    wrong += look(page, f"qualification-{scheme}")
    page.get_by_role("button", name="Begin the test").click()
    wrong += look(page, f"test-{scheme}")
    page.close()
    assert wrong == []


def test_questions_are_answered_without_script(plain_page, live_server):
    page = plain_page
    come_in(page, live_server.url)
    (hit,) = offer(1, question=WEATHER)
    page.goto(f"{live_server.url}/exchange/work/hits/{hit.hit_id}/")
    assert page.get_by_label("How old are you?").is_disabled()
    page.get_by_role("button", name="Accept").click()
    page.get_by_label("The blue").check()
    page.get_by_label("The moon").check()
    page.get_by_label("Why do you think so?").fill("I looked.\nTwice.")
    page.get_by_role("button", name="Hand in").click()
    assert page.get_by_role("alert").inner_text().startswith("Not handed in: 2 answers")
    assert page.get_by_label("The blue").is_checked()
    assert page.get_by_label("Why do you think so?").input_value() == "I looked.\nTwice."
    page.get_by_label("Where are you?").select_option("FR")
    page.get_by_label("How old are you?").fill("41")
    page.get_by_role("button", name="Hand in").click()
    assert page.get_by_role("heading", name="Handed in").is_visible()
    assert read_answers(models.HitAssignment.objects.get().answer) == {
        "sky": "blue", "seen": "moon", "place": "FR", "why": "I looked.\r\nTwice.", "age": "41"
    }  # fmt: skip


def test_the_time_left_is_shown_beside_a_test(page, live_server):
    come_in(page, live_server.url)
    kind = QualificationTypeFactory(name="Watchers", test=TEST, answer_key=KEY, test_duration_s=600)
    page.goto(f"{live_server.url}/exchange/work/qualifications/{kind.qualification_type_id}/")
    page.get_by_role("button", name="Begin the test").click()
    expect(page.get_by_role("timer")).to_contain_text("min left")
    page.get_by_label("The blue").check()
    page.get_by_label("The moon").check()
    page.get_by_role("button", name="Hand in the test").click()
    assert page.get_by_text("You have “Watchers” now, with the value 100.").is_visible()
    assert models.Qualification.objects.get().value == 100
