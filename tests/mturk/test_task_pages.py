"""What workers see in the market's frame: readable before, answerable after, safe with any text, without cookie or script."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.urls import reverse
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mturk import questions, style_cutting, task_html, task_links, task_words
from mturk.services.task_pages import task_page
from mturk.task_pages import Frame, TaskPage
from mturk.views.task import is_known
from tests.mturk.hits import STATEMENTS, SUMMARY, crowd_hit, presence_page, writing_page

EVIL = "</script><script>alert(1)</script> ]]> <![CDATA[ &amp; & \" ' \x00\x0b <img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Fields, texts and addresses of a page, as a browser reads them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def get(client, hit, **parameters):
    address = reverse("mturk:task", args=[task_links.task_token(hit.pk, hit.crowd_batch.kind)])
    return client.get(address, parameters)


CALL = {
    "assignmentId": "3LOCALASSIGNMENT",
    "hitId": "3LOCALHIT",
    "workerId": "ALOCAL1",
    "turkSubmitTo": "http://testserver/exchange/work",
}


# --- the page itself


@pytest.mark.parametrize("page", [presence_page(), writing_page()], ids=["presence", "writing"])
def test_a_page_has_one_field_per_question_and_says_what_it_pays(page):
    shown = Page(task_html.render_task(page, Frame("3A", "https://x.example/mturk/externalSubmit")))
    names = [field["name"] for field in shown.all("input") + shown.all("textarea")]
    assert list(dict.fromkeys(names)) == ["assignmentId", "consent", "seconds", *page.fields, "comment"]
    text = " ".join(shown.texts)
    assert "an hour" in text
    assert "costs you nothing" in text
    assert "Version 2026-11" in text
    assert "lab@example.org" in text
    assert SUMMARY in text
    assert shown.all("form") == [
        {
            "id": "asks",
            "method": "post",
            "action": "https://x.example/mturk/externalSubmit",
            "accept-charset": "utf-8",
            "data-task": None,
        }
    ]


def test_presence_is_asked_by_plain_radio_groups():
    shown = Page(task_html.render_task(presence_page(), Frame("3A", "https://x.example/")))
    radios = [field for field in shown.all("input") if field.get("type") == "radio"]
    assert [(field["name"], field["value"]) for field in radios] == [
        (f"u{place}", value) for place in range(1, 7) for value in ("present", "not_present", "unsure")
    ]
    assert all("required" in field for field in radios)
    assert not any("disabled" in field for field in shown.all("fieldset"))


def test_a_preview_can_be_read_and_not_answered():
    shown = Page(task_html.render_task(presence_page(), Frame()))
    assert "disabled" in shown.all("fieldset")[0]
    assert "disabled" in shown.all("button")[0]
    assert "action" not in shown.all("form")[0]
    assert "This is a preview. Accept the HIT to answer." in "".join(shown.texts)
    assert STATEMENTS[0] in "".join(shown.texts)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (7, "10 seconds"),
        (44, "40 seconds"),
        (60, "1 minute"),
        (89, "1 minute"),
        (90, "1½ minutes"),
        (120, "2 minutes"),
        (400, "6½ minutes"),
        (3600, "60 minutes"),
    ],
)
def test_times_in_words(seconds, words):
    assert task_words.say_time(seconds) == words


def test_pay_is_never_promised_too_high():
    assert presence_page(reward_cents=15, seconds=91).hourly_cents == 593
    assert "an hour" not in task_words.say_pay(presence_page(seconds=None))


@pytest.mark.parametrize("number", [0, 18])
def test_a_hit_asks_up_to_16_units_and_a_filler(number):
    with pytest.raises(ValueError, match="1 to 17"):
        presence_page(statements=("x",) * number)


@given(st.text(), st.text())
@example(EVIL, EVIL)
@hypothesis_settings(max_examples=30, deadline=None)
def test_any_text_is_text_in_both_pages(text, statement):
    page = presence_page(text=text, statements=(statement, "b"), asker=text, consent=(statement,))
    harmless = presence_page(text="x", statements=("a", "b"), asker="x", consent=("y",))
    for make in (lambda page: task_html.render_task(page, Frame("3A", "https://x.example/")), task_html.self_contained):
        assert [tag for tag, _ in Page(make(page)).tags] == [tag for tag, _ in Page(make(harmless)).tags]
    assert questions.html_question(task_html.self_contained(page))


# --- the page that travels with its HIT


def test_a_page_inside_its_hit_needs_nothing_else():
    html = task_html.self_contained(presence_page())
    shown = Page(html)
    assert shown.all("link") == []
    assert all("src" not in attrs for tag, attrs in shown.tags)
    assert not re.search(
        r"url\(|@import|https?://(?!127\.0\.0\.1|localhost)", html.replace("http://www.w3.org/2000/svg", "")
    )
    assert shown.all("form")[0]["data-submit-to"].split() == task_html.submit_origins()
    assert "disabled" in shown.all("fieldset")[0], "until its script knows for whom it is"


def test_the_largest_hit_fits():
    longest = presence_page(
        text="word " * 300,
        statements=("A statement of some fifteen words that says who did what to whom and when.",) * 16,
    )
    assert len(questions.html_question(task_html.self_contained(longest)).encode()) < questions.MOST_BYTES * 0.8
    with pytest.raises(questions.QuestionTooLarge):
        questions.html_question(task_html.self_contained(presence_page(text="word " * 12_000)))


def test_the_script_can_stand_inside_a_page():
    script = (settings.BASE_DIR / "static" / "js" / "task.js").read_text()
    assert not re.search(r"</script|<!--|\]\]>", script, re.IGNORECASE)


def test_the_style_is_cut_to_what_a_page_can_use():
    css = """/* c */ .a, .b > p { color: red; } .gone { x: y } @media (min-width: 1px) { .b:hover { color : blue } .gone {} }
    @media print { .gone { a: b } } #x:not(.gone)::before { content: "a, b"; } [data-now] i { c: d } a[href]:is(.b, .c) { e: f }
    @container (max-width: 1px) { .b { a: b } } :root[data-theme="dark"] { --x: 1 }"""
    cut = style_cutting.cut_style(css, '<body><p class="b" id="x"></p><i></i></body>')
    assert (
        cut
        == '.b > p{color: red}@media (min-width: 1px){.b:hover{color : blue}}#x:not(.gone)::before{content: "a, b"}[data-now] i{c: d}'
    )


# --- the address


@pytest.mark.django_db
def test_the_page_of_a_hit_in_its_frame(client):
    hit = crowd_hit()
    answer = get(client, hit, **CALL)
    assert answer.status_code == 200
    shown = Page(answer.text)
    assert shown.all("form")[0]["action"] == "http://testserver/exchange/work/mturk/externalSubmit"
    assert next(field for field in shown.all("input") if field["name"] == "assignmentId")["value"] == "3LOCALASSIGNMENT"
    assert task_links.task_url(hit.pk, "presence").startswith(f"{settings.PUBLIC_URL}/task/")
    assert questions.external_question(task_links.task_url(hit.pk, "presence"))
    assert task_page(hit).statements == STATEMENTS


@pytest.mark.django_db
def test_the_page_of_a_writing_hit(client):
    answer = get(client, crowd_hit("writing"), **CALL)
    assert [field["name"] for field in Page(answer.text).all("input") if field["name"].startswith("s")] == [
        "seconds",
        *(f"s{n}" for n in range(1, 9)),
    ]


@pytest.mark.django_db
def test_only_markets_that_we_know_may_frame_it_and_no_cookie_is_set(client, settings):
    settings.TASK_HOSTS = ["https://*.mturk.com"]
    settings.PUBLIC_URL = "https://pyramid.example.org"
    answer = get(client, crowd_hit(), **CALL)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.endswith(f"frame-ancestors 'self' {settings.PUBLIC_URL} https://*.mturk.com")
    assert "form-action http://testserver;" in policy
    assert "default-src 'none'" in policy
    assert "X-Frame-Options" not in answer.headers
    assert not answer.cookies
    assert client.get(reverse("login")).headers["X-Frame-Options"] == "DENY"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {"amp;assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3"},
    ],
)
def test_without_an_assignment_it_is_a_preview(client, parameters):
    answer = get(client, crowd_hit(), **parameters)
    assert answer.status_code == 200
    assert "This is a preview" in answer.text
    assert "form-action 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_names_that_a_tool_has_not_decoded_are_read(client):
    answer = get(
        client, crowd_hit(), **{"assignmentId": "3A", "amp;turkSubmitTo": CALL["turkSubmitTo"], "amp;hitId": "3H"}
    )
    assert 'action="http://testserver/exchange/work/mturk/externalSubmit"' in answer.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"turkSubmitTo": "https://evil.example"}, {"turkSubmitTo": ""}, {"turkSubmitTo": "javascript:alert(1)//testserver"},
        {"turkSubmitTo": "http://testserver@evil.example/"}, {"turkSubmitTo": "http://testserver.evil.example"},
        {"turkSubmitTo": "https://testserver"}, {"turkSubmitTo": "//testserver"}, {"turkSubmitTo": "http://testserver/x?y"},
        {"turkSubmitTo": "http://[bad"}, {"assignmentId": "3A'><script>"}, {"assignmentId": "lower"}, {"assignmentId": "A" * 65},
    ],
)  # fmt: skip
def test_strange_calls_are_refused_and_show_no_form(client, change):
    answer = get(client, crowd_hit(), **{**CALL, **change})
    assert answer.status_code == 400
    assert "<form" not in answer.text
    assert "that costs nothing" in answer.text


@pytest.mark.django_db
def test_only_addresses_that_we_have_signed_show_a_task(client):
    hit = crowd_hit()
    token = task_links.task_token(hit.pk, "presence")
    for bad in (
        token[:-1],
        f"x{token}",
        task_links.task_token(hit.pk + 1, "presence"),
        task_links.task_token(hit.pk, "writing"),
        "7",
        "a.b",
    ):
        assert client.get(reverse("mturk:task", args=[bad])).status_code == 410
    assert token == task_links.task_token(hit.pk, "presence")
    assert client.post(reverse("mturk:task", args=[token])).status_code == 405


@pytest.mark.parametrize(
    ("address", "known", "is_ours"),
    [
        ("https://www.mturk.com/work", "https://*.mturk.com", True),
        ("https://mturk.com.evil.example", "https://*.mturk.com", False),
        ("https://evilmturk.com", "https://*.mturk.com", False),
        ("http://www.mturk.com", "https://*.mturk.com", False),
        ("https://a.example", "https://a.example", True),
        ("https://a.example:444", "https://a.example", False),
        ("https://a.example\\@b.example", "https://a.example", False),
        ("https://evil.example/\\x.mturk.com", "https://*.mturk.com", False),
    ],
)
def test_known_addresses(address, known, is_ours):
    assert is_known(address, known) is is_ours


def test_values_of_a_page_cannot_change():
    with pytest.raises(AttributeError):
        presence_page().text = "x"  # type: ignore[misc]
    assert isinstance(writing_page(), TaskPage)
