"""The crowd's pages in a real browser: in their frame, on a phone, without script, and shut in where they must be."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, FrameLocator, Page, expect

from mturk import task_html, task_links
from mturk.answers import read_answers
from mturk.exchange import models
from mturk.exchange.services import recruiting
from mturk.questions import external_question, html_question
from tests.browser.test_axe import complaints
from tests.mturk.exchange.rows import QualificationTypeFactory, RequesterFactory
from tests.mturk.exchange.test_site import needs, offer
from tests.mturk.hits import crowd_hit, presence_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A page that came with a HIT and tries everything that it must not do.
BREAKOUT = """<!doctype html><html lang="en"><head><title>t</title></head><body><p id="out">working</p><script>
const tries = {
  parent: () => parent.document.title,
  top: () => { top.location = "/stolen"; return top.location.href; },
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  frame: () => frameElement && frameElement.id,
};
const got = {};
for (const [name, work] of Object.entries(tries)) { try { got[name] = String(work()); } catch (error) { got[name] = "refused"; } }
fetch("MAIN/exchange/work/earnings/", { credentials: "include" }).then(() => { got.fetch = "answered"; }, () => { got.fetch = "refused"; })
  .then(() => { document.getElementById("out").textContent = JSON.stringify(got); });
</script></body></html>"""


@pytest.fixture
def site(live_server, settings) -> str:
    settings.PUBLIC_URL = live_server.url
    return live_server.url


def external(site: str, kind: str = "presence") -> str:
    row = crowd_hit(kind)
    return external_question(site + reverse("mturk:task", args=[task_links.task_token(row.pk, kind)]))


def carried() -> str:
    return html_question(task_html.self_contained(presence_page()))


def come_in(page: Page, site: str, participant: str = "pid-1") -> None:
    lab = models.Requester.objects.first() or RequesterFactory()
    link = lab.links.first() or recruiting.create_link(
        lab, kind="participant", completion_code="C0DE42", now=timezone.now()
    )
    page.goto(f"{site}{reverse('exchange:join', args=[link.token])}?PROLIFIC_PID={participant}")
    page.get_by_role("button", name="Show me the tasks").click()
    expect(page.get_by_role("heading", name="Find work")).to_be_visible()


def take(page: Page) -> FrameLocator:
    page.get_by_role("button", name="Accept").first.click()
    expect(page.locator("iframe")).to_be_visible()
    return page.frame_locator("iframe")


def last_answers() -> dict[str, str]:
    return read_answers(models.HitAssignment.objects.filter(state="submitted").latest("pk").answer)


@pytest.mark.parametrize("question", [external, lambda site: carried()], ids=["by address", "carried"])
def test_a_hit_is_done_by_keys_alone_and_the_next_one_comes(page: Page, site: str, question):
    offer(2, question=question(site))
    come_in(page, site)
    frame = take(page)
    expect(frame.locator("[data-now]")).to_contain_text("Marit Vind ran aground")
    frame.locator("#text-head").click()
    for key in "jkuj":
        page.keyboard.press(key)
    expect(frame.locator("[data-count]")).to_have_text("4 of 6 answered")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Handed in")).to_have_count(0)  # two are missing
    frame.locator("[data-ask]").nth(4).click(position={"x": 5, "y": 5})
    for key in "kj":
        page.keyboard.press(key)
    expect(frame.get_by_role("button", name="Hand in the answers")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Handed in")).to_be_visible()
    found = last_answers()
    assert [found[f"u{n}"] for n in range(1, 7)] == [
        "present",
        "not_present",
        "unsure",
        "present",
        "not_present",
        "present",
    ]
    assert found["consent"] == "2026-11"
    assert found["seconds"].isdecimal()
    assert "assignmentId" not in found
    expect(page.get_by_role("button", name="Take the next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.frame_locator("iframe").locator("[data-now]")).to_be_visible()
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_text("no effect on your record")).to_be_visible()


def test_a_preview_cannot_be_answered(page: Page, site: str):
    offer(1, question=carried(), title="Carried")
    come_in(page, site)
    page.get_by_role("link", name="Look at Carried").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("This is a preview. Accept the HIT to answer.")).to_be_visible()
    expect(frame.get_by_role("button", name="Hand in")).to_be_disabled()
    expect(frame.get_by_role("radio").first).to_be_disabled()
    page.get_by_role("button", name="Accept for").click()
    expect(page.frame_locator("iframe").get_by_role("button", name="Hand in")).to_be_enabled()
    expect(page.frame_locator("iframe").get_by_text("This is a preview")).to_be_hidden()


def test_facts_are_written_by_hand(page: Page, site: str):
    offer(1, question=external(site, "writing"))
    come_in(page, site)
    frame = take(page)
    frame.get_by_label("Statement 1").fill("A ferry hit rocks; jk & <b>.")
    frame.get_by_label("Statement 2").fill("One man broke his arm.")
    expect(frame.locator("[data-count]")).to_have_text("2 of 8 answered")
    frame.get_by_role("button", name="Hand in the statements").click()
    expect(page.get_by_role("heading", name="Handed in")).to_be_visible()
    found = last_answers()
    assert (found["s1"], found["s2"], found["s3"]) == ("A ferry hit rocks; jk & <b>.", "One man broke his arm.", "")


def test_on_a_phone_the_text_stays_in_view_and_the_buttons_fit_a_thumb(page: Page, site: str):
    page.set_viewport_size({"width": 360, "height": 640})
    offer(1, question=external(site))
    come_in(page, site)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    frame = take(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    inner = page.frames[1]
    assert inner.evaluate("document.documentElement.scrollWidth") <= 360
    frame.locator("[data-ask]").nth(4).scroll_into_view_if_needed()
    for ask in (1, 4):
        for label in frame.locator("[data-ask]").nth(ask).locator("label").all():
            assert label.bounding_box()["height"] >= 48
    held = frame.locator(".held").bounding_box()
    assert held["y"] < 120, "the summary has not gone"
    assert frame.get_by_role("button", name="Hand in").bounding_box()["height"] >= 48
    for n in range(1, 7):
        frame.locator(f"label:has([name=u{n}][value=unsure])").click()
    frame.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Handed in")).to_be_visible()


def test_without_script_everything_works(browser: Browser, site: str):
    offer(2, question=external(site))
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 640})
    page = context.new_page()
    come_in(page, site)
    frame = take(page)
    for n in range(1, 7):
        frame.locator(f"label:has([name=u{n}][value=not_present])").click()
    frame.get_by_role("button", name="Hand in").click()
    expect(frame.get_by_text("Your answers are in")).to_be_visible()
    page.get_by_role("link", name="Handed in? Go on").click()
    expect(page.get_by_role("button", name="Take the next")).to_be_visible()
    assert {last_answers()[f"u{n}"] for n in range(1, 7)} == {"not_present"}
    page.get_by_role("link", name="Stop and get my code").click()
    expect(page.get_by_text("C0DE42")).to_be_visible()
    context.close()


def test_a_page_that_came_with_a_hit_reaches_nothing(context, site: str):
    page = context.new_page()  # what it tries is told on the console
    offer(1, question=html_question(BREAKOUT.replace("MAIN", site)))
    come_in(page, site)
    frame = take(page)
    out = frame.locator("#out")
    expect(out).to_contain_text("fetch")
    got = out.inner_text()
    assert set(re.findall(r'"(\w+)":"([^"]*)"', got)) == {
        ("parent", "refused"), ("top", "refused"), ("cookie", "refused"), ("storage", "refused"), ("frame", "null"), ("fetch", "refused"),
    }  # fmt: skip
    assert "/exchange/work/assignments/" in page.url
    assert page.frames[1].url.split("/exchange/")[0] != site, "it has another origin"


def test_a_hit_page_does_not_send_answers_to_strangers(context, site: str):
    page = context.new_page()
    page.goto(f"{site}/sign-in/")
    html = task_html.self_contained(presence_page())
    page.route("**/carried*", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"{site}/carried?assignmentId=3A&turkSubmitTo=https%3A%2F%2Fevil.example")
    expect(page.get_by_text("strange address for the answers")).to_be_visible()
    expect(page.get_by_role("button", name="Hand in")).to_be_disabled()
    page.goto(f"{site}/carried?assignmentId=3A&amp;turkSubmitTo={quote(site + '/exchange/work', safe='')}")
    expect(page.get_by_role("button", name="Hand in")).to_be_enabled()
    assert page.locator("form").get_attribute("action") == f"{site}/exchange/work/mturk/externalSubmit"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_of_the_worker_site_keeps_the_rules(page: Page, site: str, scheme: str, width: int):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 700})
    trained = QualificationTypeFactory(name="Trained judges")
    (hit,) = offer(1, question=external(site), title="Judge")
    offer(1, question=carried(), title="Guarded", requirements=[needs(trained.qualification_type_id)])
    page.goto(site + reverse("exchange:work"))
    found = complaints(page)
    come_in(page, site)
    found += complaints(page)
    page.goto(site + reverse("exchange:preview", args=[hit.hit_id]))
    expect(page.frame_locator("iframe").get_by_role("button", name="Hand in")).to_be_visible()
    found += complaints(page)
    page.get_by_role("button", name="Accept for").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("[data-now]")).to_be_visible()
    found += complaints(page)
    for n in range(1, 7):
        frame.locator(f"label:has([name=u{n}][value=present])").click()
    frame.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Handed in")).to_be_visible()
    found += complaints(page)
    for name in ("earnings", "finish", "work"):
        page.goto(site + reverse(f"exchange:{name}"))
        found += complaints(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The pages inside the frame by themselves, as a screen reader meets them.
    for kind in ("presence", "writing"):
        row = crowd_hit(kind)
        address = site + reverse("mturk:task", args=[task_links.task_token(row.pk, kind)])
        for tail in ("", f"?assignmentId=3A&turkSubmitTo={site}/exchange/work"):
            page.goto(address + tail)
            found += complaints(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert found == []
