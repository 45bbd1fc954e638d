"""The writing page in a real browser: keys alone, and nothing typed is ever lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.sessions.models import Session
from django.db.models.functions import Now
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation import models
from annotation.services.drafts import change_draft
from annotation.services.freezing import freeze_plan
from annotation.services.text_checks import TextFinding, store_findings
from annotation.writing.checks import check_unit, uncovered_words
from tests.browser.test_first_pages import sign_in
from tests.conftest import NOW
from tests.factories import WorkerFactory
from tests.planning import plannable
from tests.workers import ROOT, database_url
from workbench import processes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FIRST = "The mill number 0 of place 0 shut."
SECOND = "A mill shut in the year 1900."


@pytest.fixture
def project(demo: str) -> models.Project:
    """A project with sentences to write, and Anton who writes them."""
    project = plannable(examples=2, sentences=2)
    for name, role in (("anton", "annotator"), ("aisha", "annotator")):
        user = models.User.objects.get(username=name)
        models.Membership.objects.create(project=project, user=user, role=role, joined_at=NOW)
    change_draft(project, share=0, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    models.Task.objects.update(arm="after")
    return project


def open_task(page: Page, demo: str, project: models.Project, name: str = "anton") -> models.Task:
    sign_in(page, demo, name)
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    expect(page.get_by_role("button", name="Take the next sentence")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_be_focused()
    return models.Task.objects.get(holder__username=name)


def saved(page: Page) -> None:
    """Everything that is on the page has reached the server."""
    expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    page.wait_for_timeout(600)  # longer than the pause before a save
    expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))


def written(project: models.Project):
    return models.Unit.objects.filter(kind="scu", example__project=project)


def stored(task: models.Task) -> list[str]:
    newest = models.DraftVersion.objects.filter(task=task, is_late=False).order_by("-version").first()
    return [unit["text"] for unit in newest.content["units"]] if newest else []


def test_two_sentences_are_written_with_the_keyboard_alone(page: Page, demo: str, project):
    task = open_task(page, demo, project)
    keys = page.get_by_role("heading", name="Keys")
    expect(keys).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.get_by_label("Unit 1", exact=True).focus()
    page.keyboard.type(FIRST)
    page.keyboard.press("Enter")
    page.keyboard.type(SECOND)
    saved(page)
    assert stored(task) == [FIRST, SECOND]
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    units = list(written(project).order_by("position"))
    assert [unit.text for unit in units] == [FIRST, SECOND]
    assert {unit.author.user.username for unit in units} == {"anton"}
    assert models.Task.objects.get(pk=task.pk).state == "done"
    page.keyboard.type("The mill number 0 and place 1 shut.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-save]")).to_contain_text("Not handed in")  # “and”, and nobody has kept it
    page.keyboard.press("Alt+KeyK")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    assert models.WrittenUnit.objects.get(unit__text__contains=" and ").overrides == ["and"]


def test_what_is_typed_before_the_script_is_there_stays(page: Page, demo: str, project):
    late: list[Route] = []
    page.route("**/js/write.js", lambda route: late.append(route))
    sign_in(page, demo, "anton")
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    page.get_by_role("button", name="Take the next sentence").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Unit 1", exact=True).fill(FIRST)
    page.get_by_label("Another unit").nth(0).focus()
    page.keyboard.type("A mill in the year 1900.")
    for _ in range(len("in the year 1900.")):
        page.keyboard.press("ArrowLeft")
    late[0].continue_()
    expect(page.get_by_label("Unit 2", exact=True)).to_be_focused()
    page.keyboard.type("shut ")
    saved(page)
    assert stored(models.Task.objects.get(holder__username="anton")) == [FIRST, SECOND]


def test_undo_split_copy_and_extend(page: Page, demo: str, project):
    task = open_task(page, demo, project)
    page.keyboard.type("The mill shut and the place was number 0.")
    for _ in range(len(" and the place was number 0.")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_label("Unit 2", exact=True)).to_have_value("the place was number 0.")
    page.keyboard.press("Alt+KeyE")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("The mill shut and the place was number 0.")
    page.keyboard.press("Control+y")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("The mill shut")
    page.get_by_label("Unit 2", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.evaluate(
        """() => { const text = document.querySelector("[data-sentence]"); const range = new Range();
        const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT); walker.nextNode();
        range.selectNodeContents(text); getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    page.keyboard.press("Alt+KeyC")
    whole = models.Sentence.objects.get(pk=task.sentence_id)
    expect(page.get_by_label("Unit 2", exact=True)).to_have_value(whole.text)
    saved(page)
    newest = models.DraftVersion.objects.filter(task=task).order_by("-version").first()
    assert newest.content["units"][1]["spans"] == [[whole.start, whole.end]]


def test_drafts_of_the_machine_come_after_the_first_own_unit(page: Page, demo: str, project):
    task = open_task(page, demo, project)
    stu = models.Unit.objects.get(kind="stu", sentence=task.sentence)
    expect(page.get_by_text("Drafts by the machine come after")).to_be_visible()
    expect(page.get_by_text(stu.text)).to_be_hidden()
    page.keyboard.press("Alt+1")  # not yet
    page.keyboard.type(FIRST)
    expect(page.get_by_text(stu.text)).to_be_visible()
    page.keyboard.press("Alt+1")
    expect(page.get_by_label("Unit 2", exact=True)).to_have_value(stu.text)
    page.keyboard.type(" It did so")
    saved(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    unit = written(project).get(provenance="edited")
    assert unit.written.source == stu


def test_a_control_sentence_has_no_draft_in_its_page(page: Page, demo: str, project):
    models.Task.objects.update(arm="none")
    task = open_task(page, demo, project)
    page.keyboard.type(FIRST)
    assert models.Unit.objects.get(kind="stu", sentence=task.sentence).text not in page.content()


def test_a_cut_network_loses_nothing(context: BrowserContext, demo: str, project):
    page = context.new_page()
    task = open_task(page, demo, project)
    page.keyboard.type("The mill")
    saved(page)
    context.set_offline(True)
    page.keyboard.type(" number 0 shut.")
    expect(page.locator("[data-save]")).to_contain_text("Kept on this device")
    page.keyboard.press("Control+Enter")
    assert page.url.endswith(f"/write/{task.pk}/")  # it does not move on
    context.set_offline(False)
    saved(page)
    assert stored(task) == ["The mill number 0 shut."]
    context.set_offline(True)
    page.keyboard.type(" Then it burnt.")
    expect(page.locator("[data-save]")).to_contain_text("Kept on this device")
    page.evaluate("navigator.sendBeacon = () => false")  # as if the browser were killed
    page.route("**/draft/", lambda route: route.abort())
    context.set_offline(False)
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    assert stored(task) == ["The mill number 0 shut."]
    page.unroute("**/draft/")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("The mill number 0 shut. Then it burnt.")
    saved(page)
    assert stored(task) == ["The mill number 0 shut. Then it burnt."]


def test_two_tabs_overwrite_nothing(context: BrowserContext, demo: str, project):
    one = context.new_page()
    task = open_task(one, demo, project)
    other = context.new_page()
    other.goto(one.url)
    one.get_by_label("Unit 1", exact=True).fill("From the first tab.")
    saved(one)
    other.get_by_label("Unit 1", exact=True).fill("From the second tab.")
    expect(other.locator("[data-save]")).to_contain_text("Another tab has a newer text")
    assert stored(task) == ["From the first tab."]
    late = models.DraftVersion.objects.get(task=task, is_late=True)
    assert late.content["units"][0]["text"] == "From the second tab."


def test_an_expired_login_loses_nothing(context: BrowserContext, demo: str, project):
    page = context.new_page()
    task = open_task(page, demo, project)
    page.keyboard.type("The mill")
    saved(page)
    Session.objects.all().delete()
    page.keyboard.type(" number 0 shut.")
    expect(page.locator("[data-save]")).to_contain_text("you are signed out")
    assert page.get_by_label("Unit 1", exact=True).input_value() == "The mill number 0 shut."
    door = context.new_page()
    sign_in(door, demo, "anton")
    page.bring_to_front()
    expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved"), timeout=10_000)
    assert stored(task) == ["The mill number 0 shut."]
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    assert written(project).get().text == "The mill number 0 shut."


def test_a_lease_that_went_elsewhere_keeps_the_late_text_for_the_lead(context: BrowserContext, demo: str, project):
    page = context.new_page()
    task = open_task(page, demo, project)
    page.keyboard.type("The mill")
    saved(page)
    aisha = models.User.objects.get(username="aisha")
    models.Task.objects.filter(pk=task.pk).update(holder=aisha, lease_token="1" * 32)
    page.keyboard.type(" number 0 shut.")
    expect(page.locator("[data-save]")).to_contain_text("kept for your lead")
    late = models.DraftVersion.objects.get(task=task, is_late=True)
    assert late.content["units"][0]["text"] == "The mill number 0 shut."


def test_the_page_works_without_scripts(browser: Browser, demo: str, project):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, demo, "anton")
    page.goto(demo + reverse("annotation:write", args=[project.slug]))
    page.get_by_role("button", name="Take the next sentence").click()
    page.get_by_label("Unit 1", exact=True).fill("No")
    page.get_by_role("button", name="Hand in and next").click()
    expect(page.get_by_role("alert")).to_contain_text("Some units need another look")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("No")
    page.get_by_label("Unit 1", exact=True).fill(FIRST)
    page.get_by_role("button", name="Hand in and next").click()
    assert written(project).get().text == FIRST
    context.close()


def serve(port: int) -> subprocess.Popen[bytes]:
    """The product's own server on the database of this test."""
    command = [sys.executable, "-m", "gunicorn", "--config", "python:workbench.gunicorn_conf"]
    environment = {**os.environ, "DATABASE_URL": database_url(), "PYRAMID_VAR": str(settings.VAR_DIR)}
    environment["PUBLIC_URL"] = f"http://127.0.0.1:{port}"
    subprocess.run([sys.executable, "manage.py", "collectstatic", "--noinput"], cwd=ROOT, env=environment, check=True)
    server = processes.start(
        [*command, "--bind", f"127.0.0.1:{port}", "workbench.wsgi"],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while processes.port_is_free("127.0.0.1", port) and time.monotonic() < deadline:
        time.sleep(0.1)
    return server


def kill(server: subprocess.Popen[bytes]) -> None:
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def test_a_killed_server_loses_nothing(context: BrowserContext, project):
    # The quick passwords of tests are none to the product.
    models.User.objects.update(password=PBKDF2PasswordHasher().encode("secret", "a salt of its own"))
    port = processes.free_port()
    address = f"http://127.0.0.1:{port}"
    server = serve(port)
    try:
        page = context.new_page()
        task = open_task(page, address, project)
        page.keyboard.type("The mill")
        saved(page)
        kill(server)
        page.keyboard.type(" number 0 shut.")
        expect(page.locator("[data-save]")).to_contain_text("Kept on this device")
        page.keyboard.press("Control+Enter")
        expect(page.locator("[data-save]")).to_contain_text("Kept on this device")  # it does not move on
        assert stored(task) == ["The mill"]
        server = serve(port)
        expect(page.locator("[data-save]")).to_have_text(re.compile(r"^Saved"), timeout=15_000)
        assert stored(task) == ["The mill number 0 shut."]
        page.keyboard.press("Control+Enter")
        expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
        assert written(project).get().text == "The mill number 0 shut."
    finally:
        kill(server)


def test_where_no_worker_answers_the_page_says_so_and_lets_one_go_on(page: Page, demo: str, project):
    open_task(page, demo, project)
    page.keyboard.type(FIRST)
    expect(page.locator("[data-badges]")).to_contain_text("no worker answers")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    assert written(project).get().written.shown == []


def test_badges_arrive_and_what_was_shown_is_stored(page: Page, demo: str, project):
    task = open_task(page, demo, project)
    WorkerFactory(seen_at=Now())
    page.keyboard.type(FIRST)
    expect(page.locator("[data-badges]")).to_contain_text("on their way")
    store_findings(task.sentence, [TextFinding(FIRST, True, 0.02)], checker="x@1", now=NOW)  # as a worker would
    expect(page.get_by_text("not in this sentence?")).to_be_visible(timeout=10_000)
    expect(page.locator("[data-badges]")).to_have_text("")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Unit 1", exact=True)).to_have_value("")
    assert written(project).get().written.shown == ["follows:no"]


def test_evidence_is_lit_with_its_unit(page: Page, demo: str, project):
    open_task(page, demo, project)
    page.evaluate(
        """() => { const range = new Range(); range.selectNodeContents(document.querySelector("[data-sentence]"));
        getSelection().removeAllRanges(); getSelection().addRange(range); }"""
    )
    page.keyboard.press("Alt+KeyC")
    page.keyboard.press("Enter")
    lit = "() => [...CSS.highlights.get('evidence')].map(range => range.toString()).join('|')"
    assert page.evaluate(lit) == ""
    page.keyboard.press("Alt+ArrowUp")
    assert page.evaluate(lit) == page.locator("[data-sentence]").inner_text()


TEXTS = [
    "", "No", "The mill shut", "the MILL shut.", "He shut the mill and left.", "It’s a mill that shut",
    "A mill number one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
    "Zebras ate purple crayons yesterday", "and the mill shut and", "L'élève naïve a vu 3,5 km", "The mill shut in 1900",
    "The mill shut in 1901", "日本 の mill",
]  # fmt: skip


def test_the_browser_checks_as_the_server_does(page: Page, demo: str, project):
    open_task(page, demo, project)
    reference = "The mill number 0 shut in the year 1900. L'élève a vu la mill."
    for place, text in enumerate(TEXTS):
        others = [*TEXTS[:place], *TEXTS[place + 1 :]]
        ours = [(one.check, one.level, one.twin, list(one.words)) for one in check_unit(text, others, reference)]
        theirs = page.evaluate("([t, o, r]) => unitChecks.check(t, o, r)", [text, others, reference])
        assert [(one["check"], one["level"], one.get("twin", ""), one.get("words", [])) for one in theirs] == ours, text
    assert page.evaluate("([s, u]) => unitChecks.uncovered(s, u)", [reference, TEXTS[2:4]]) == uncovered_words(
        reference, TEXTS[2:4]
    )
