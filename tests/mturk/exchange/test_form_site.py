"""QuestionForms on the worker site: shown as text, answered without script, mended without loss."""

from __future__ import annotations

import datetime as dt
from html import escape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from mturk.answers import read_answers
from mturk.exchange import models
from mturk.exchange.services import working
from tests.mturk.exchange.form_xml import SMALL, WHOLE, ask, choose, form, overview, text
from tests.mturk.exchange.test_question_form import FILM, GOOD, IMAGE
from tests.mturk.exchange.test_site import accept, at_work, link, offer, send
from tests.mturk.exchange.walking import publish, refused

__all__ = ["at_work", "link"]
pytestmark = pytest.mark.django_db


def page_of(assignment) -> str:
    return reverse("exchange:assignment", args=[assignment.assignment_id])


def hold(client, question: str = WHOLE) -> models.HitAssignment:
    return accept(client, offer(1, question=question)[0])


def test_a_preview_shows_the_questions_and_takes_no_answers(client, at_work):
    (hit,) = offer(1, question=WHOLE)
    page = client.get(reverse("exchange:preview", args=[hit.hit_id]))
    assert page.status_code == 200
    for part in ("<h2", "Two facts", "Be brief", "Which colour is the sky?", "Seen today", "The moon", " disabled"):
        assert part in page.text
    assert "<iframe" not in page.text
    assert "Hand in" not in page.text
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert client.post(reverse("exchange:preview", args=[hit.hit_id])).status_code == 405


def test_every_kind_of_question_has_its_control(client, at_work):
    shown = client.get(page_of(hold(client))).text
    assert shown.count('type="radio" name="q1"') == 3, "required, so there is no way to leave it"
    assert shown.count('type="checkbox" name="q2"') == 3
    assert '<input class="input" id="q2-other" name="q2-other"' in shown
    assert '<select class="select" id="q3" name="q3"' in shown
    assert '<textarea class="textarea" id="q4" name="q4" rows="4"' in shown
    assert 'id="q5" name="q5" type="text" value="" dir="auto" autocomplete="off" inputmode="decimal"' in shown
    for name in ("q2-other", "q3", "q4", "q5"):
        assert f'<label for="{name}"' in shown
    assert shown.count("<legend") == 3, "one of the form, one for each group of choices"
    assert "style=" not in shown
    assert "<iframe" not in shown


def test_answers_are_handed_in_as_the_protocol_says(client, at_work):
    own = hold(client)
    answer = client.post(page_of(own), GOOD)
    assert answer.headers["Location"] == reverse("exchange:done", args=[own.assignment_id])
    own.refresh_from_db()
    assert own.state == "submitted"
    assert read_answers(own.answer) == {
        "sky": "blue", "seen": "sun|rain|hail", "place": "DE", "why": "clear air", "age": "41"
    }  # fmt: skip
    assert "<SelectionIdentifier>blue</SelectionIdentifier>" in own.answer
    assert "<OtherSelectionText>hail</OtherSelectionText>" in own.answer
    again = client.post(page_of(own), {**GOOD, "q1": "green"})
    assert again.headers["Location"] == reverse("exchange:done", args=[own.assignment_id])
    kept = own.answer
    own.refresh_from_db()
    assert own.answer == kept, "what is handed in stays"


def test_what_was_given_is_still_there_when_something_is_missing(client, at_work):
    own = hold(client)
    given = {"q1": "green", "q2": ["moon"], "q2-other": "fog & <b>", "q4": "é\r\n\"]]>'", "q5": "seven"}
    answer = client.post(page_of(own), given)
    assert answer.status_code == 422
    shown = answer.text
    assert "2 answers have to be mended" in shown
    assert 'href="#q3-question"' in shown
    assert "This question needs an answer." in shown
    assert "Write a number in figures" in shown
    assert 'value="green" checked' in shown
    assert 'value="moon" checked' in shown
    assert 'value="fog &amp; &lt;b&gt;"' in shown
    assert escape("é\r\n\"]]>'") in shown
    assert 'value="seven"' in shown
    assert 'aria-describedby="q5-error"' in shown
    own.refresh_from_db()
    assert (own.state, own.answer) == ("accepted", "")
    client.post(page_of(own), {**given, "q3": "FR", "q5": "7e1"})
    assert models.HitAssignment.objects.get().state == "accepted"
    client.post(page_of(own), {**given, "q3": "FR", "q5": "70"})
    own.refresh_from_db()
    assert read_answers(own.answer)["why"] == "é\r\n\"]]>'"


def test_a_form_of_which_nothing_is_answered_is_not_handed_in(client, at_work):
    own = hold(client, form(ask("a", text())))
    shown = client.post(page_of(own), {"q1": " "})
    assert "No question is answered" in shown.text
    assert "longer than this exchange takes" in client.post(page_of(own), {"q1": "x" * 1_000_001}).text
    assert models.HitAssignment.objects.get().state == "accepted"


def test_after_the_deadline_answers_are_not_taken(client, at_work):
    own = hold(client, SMALL)
    models.HitAssignment.objects.update(deadline=timezone.now() - dt.timedelta(seconds=1))
    shown = client.post(page_of(own), {"q1": "blue"}, follow=True)
    assert "The time for this HIT is over" in shown.text
    own.refresh_from_db()
    assert (own.state, own.answer) == ("abandoned", "")
    assert working.submit_form(own, [], now=timezone.now()) == "empty"


def test_answers_come_by_the_page_alone_and_from_its_worker(client, at_work):
    own = hold(client, SMALL)
    assert "answered on its own page" in send(client, own, q1="blue").text
    assert Client().post(page_of(own), {"q1": "blue"}).headers["Location"] == reverse("exchange:work")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    assert strict.post(page_of(own), {"q1": "blue"}).status_code == 403
    own.refresh_from_db()
    assert own.state == "accepted"


def test_a_framed_hit_takes_no_answers_at_its_own_page(client, at_work):
    own = accept(client, offer(1)[0])
    assert client.post(page_of(own), {"q1": "x"}).status_code == 405


EVIL = [
    "</script><script>alert(1)</script>",
    "]]>",
    "\"' onfocus=alert(1) x='",
    "<svg onload=alert(1)>",
    "{{ 7|add:7 }}",
]


@pytest.mark.parametrize("evil", EVIL)
def test_texts_of_a_form_are_text(client, at_work, evil):
    safe = escape(evil)
    question = form(
        overview(f"<Title>{safe}</Title><Text>{safe}</Text><List><ListItem>{safe}</ListItem></List>"),
        overview(f"<FormattedContent>{escape(f'<p><b>{safe}</b></p>')}</FormattedContent>"),
        ask(
            evil, choose(evil, "b", other=True), content=f"<Text>{safe}</Text>{IMAGE.replace('A cat', safe)}", name=evil
        ),
        ask("d", choose(evil, style="dropdown")),
        ask("t", text(f'<AnswerFormatRegex regex="x" errorText="{safe}"/>', default=evil, lines=3)),
        ask("l", text(default=evil)),
    )
    own = hold(client, question)
    shown = client.get(page_of(own)).text
    bad = client.post(page_of(own), {"q1": "b", "q1-other": evil, "q2": evil, "q3": evil, "q4": evil})
    assert bad.status_code == 422
    for page in (shown, bad.text):
        assert "alert(1)<" not in page
        assert "<svg onload" not in page
        assert "' onfocus" not in page.replace("&#x27; onfocus", "")
        assert page.count("<script") == shown.count("<script")
        assert safe in page
    client.post(page_of(own), {"q1": evil, "q2": evil, "q3": evil, "q4": evil})
    own.refresh_from_db()
    assert read_answers(own.answer) == {evil: evil, "d": evil, "t": evil, "l": evil}


def test_markup_of_a_form_is_ours(client, at_work):
    content = (
        "<FormattedContent><![CDATA[<h3>Rules</h3><p class='x' style='color:red'>Read <b>all</b>, see "
        "<a href='https://a.example/?x=\"y'>there</a></p><ul><li>one</li><li>two</li></ul>]]></FormattedContent>"
    )
    shown = client.get(page_of(hold(client, form(overview(content), ask("a", text(), content=IMAGE + FILM))))).text
    assert "<strong>all</strong>" in shown
    assert 'href="https://a.example/?x=&quot;y" target="_blank" rel="noopener noreferrer nofollow">there</a>' in shown
    assert "at pictures.example" in shown
    assert "<img" not in shown.partition("<main")[2], "nothing is loaded from elsewhere"
    assert "color:red" not in shown
    assert "<video" not in shown


def test_an_optional_choice_can_be_taken_back(client, at_work):
    own = hold(client, form(ask("a", choose("x", "y")), ask("b", text())))
    assert "None of these" in client.get(page_of(own)).text
    client.post(page_of(own), {"q1": "", "q2": "words"})
    own.refresh_from_db()
    assert read_answers(own.answer) == {"b": "words"}


def test_boto3_publishes_a_form_and_reads_its_answers(mturk, client, at_work):
    hit_id = publish(mturk, Question=WHOLE)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["Question"] == WHOLE
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    second = mturk.create_hit_with_hit_type(HITTypeId=type_id, LifetimeInSeconds=600, Question=SMALL)["HIT"]["HITId"]
    for one, given in ((hit_id, GOOD), (second, {"q1": "blue"})):
        own = accept(client, models.Hit.objects.get(hit_id=one))
        client.post(page_of(own), given)
    (row,) = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert read_answers(row["Answer"])["seen"] == "sun|rain|hail"
    (row,) = mturk.list_assignments_for_hit(HITId=second)["Assignments"]
    assert read_answers(row["Answer"]) == {"sky": "blue"}
    with refused("ParameterValidationError", "This exchange takes no files"):
        publish(mturk, Question=form(ask("a", "<FileUploadAnswer/>")))
    with refused("ParameterValidationError", "There was an error parsing the XML question"):
        publish(mturk, Question=form(ask("a", "")))
    with refused("ParameterValidationError", "65535"):
        publish(mturk, Question=form(ask("a", text(default="é" * 33_000))))
