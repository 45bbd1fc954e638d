"""Markup in every field of the worker site is text, and every text of it can be translated."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from mturk.exchange import models
from mturk.exchange.services import recruiting
from tests.factories import UserFactory
from tests.mturk.exchange.form_xml import ask, choose, form, overview
from tests.mturk.exchange.form_xml import text as line
from tests.mturk.exchange.rows import QualificationTypeFactory, RequesterFactory, submitted
from tests.mturk.exchange.test_question_form import IMAGE
from tests.mturk.exchange.test_site import needs, offer
from tests.test_translation import marked, unmarked

__all__ = ["marked"]
pytestmark = pytest.mark.django_db


def pages(text: str) -> dict[str, str]:
    """Every page of the worker site by its name, with a text in every field that a requester fills."""
    now = timezone.now()
    lab = RequesterFactory(name=text)
    kind = QualificationTypeFactory(requester=lab, name=text)
    link = recruiting.create_link(lab, kind="participant", name=text, completion_code="9", now=now)
    (free, done) = offer(2, requester=lab, title=text, description=text)
    (asked,) = offer(1, requester=lab, title=text, description=text, question=question_form(text), reward_cents=9)
    offer(1, requester=lab, title=text, description=text, requirements=[needs(kind.qualification_type_id)])
    client = Client()
    shown = {"door": client.get(reverse("exchange:work")).text}
    shown["join"] = client.get(reverse("exchange:join", args=[link.token]), {"PROLIFIC_PID": "9"}).text
    client.post(reverse("exchange:join", args=[link.token]), {"participant": "9"})
    worker = models.Worker.objects.get(participant="9")
    shown["preview"] = client.get(reverse("exchange:preview", args=[free.hit_id])).text
    client.post(reverse("exchange:accept", args=[free.hit_id]))
    own = worker.assignments.get()
    shown["work"] = client.get(reverse("exchange:work")).text
    shown["assignment"] = client.get(reverse("exchange:assignment", args=[own.assignment_id])).text
    for number in range(2):
        answer = client.post(reverse("exchange:submit"), {"assignmentId": own.assignment_id, "u1": text})
        shown[f"submitted {number}"] = answer.text
    shown["refused"] = client.post(reverse("exchange:submit"), {"assignmentId": "3"}).text
    shown["done"] = client.get(reverse("exchange:done", args=[own.assignment_id])).text
    submitted(hit=done, worker=worker, state="rejected", decided_at=now, feedback=text)
    models.Message.objects.create(requester=lab, worker=worker, subject=text, text=text, sent_at=now)
    shown["earnings"] = client.get(reverse("exchange:earnings")).text
    shown["finish"] = client.get(reverse("exchange:finish")).text
    shown |= asked_pages(client, worker, asked, lab, text)
    client.force_login(UserFactory(is_staff=True, username="9"))
    shown["links"] = client.get(reverse("exchange:links")).text
    return shown


def question_form(words: str) -> str:
    """A form with a text in every field, and every kind of question."""
    safe = escape(words)
    content = f"<Title>{safe}</Title><Text>{safe}</Text><List><ListItem>{safe}</ListItem></List>"
    numeric = '<IsNumeric minValue="1" maxValue="9"/><Length minLength="1" maxLength="9"/>'
    return form(
        overview(content),
        ask("1", choose("1", "2", "3", other=True).replace("The ", ""), content=content, name=words, required=True),
        ask("2", choose("1", "2", "3", least=2, most=3).replace("The ", ""), content=f"<Text>{safe}</Text>"),
        ask("3", choose("1", style="dropdown").replace("The ", ""), content=IMAGE.replace("A cat", safe)),
        ask("4", line(numeric, default=words, lines=3), content=f"<Text>{safe}</Text>"),
    ).replace("pictures.example", "9.9")


def asked_pages(client: Client, worker: models.Worker, hit: models.Hit, lab: models.Requester, text: str):
    """Pages with questions of a form: of a HIT, and of a qualification test."""
    shown = {"asked preview": client.get(reverse("exchange:preview", args=[hit.hit_id])).text}
    client.post(reverse("exchange:accept", args=[hit.hit_id]))
    address = reverse("exchange:assignment", args=[worker.assignments.latest("pk").assignment_id])
    shown["asked"] = client.get(address).text
    for number, given in enumerate(({"q2": "1", "q4": text}, {"q2": "7", "q4": "0"}, {"q1": ["1", "2"], "q4": "99"})):
        answer = client.post(address, given)
        assert answer.status_code == 422
        shown[f"mend {number}"] = answer.text
    for delay in (None, 60):
        kind = QualificationTypeFactory(
            requester=lab, name=f"{text} {delay or 1}", description=text, test=question_form(text), test_duration_s=60,
            retry_delay_s=delay,
        )  # fmt: skip
        type_id = kind.qualification_type_id
        shown[f"qualification {delay}"] = client.get(reverse("exchange:qualification", args=[type_id])).text
        test = client.post(reverse("exchange:begin-test", args=[type_id])).headers["Location"]
        shown[f"test {delay}"] = client.get(test).text
        shown[f"taken {delay}"] = client.post(test, {"q1": "1"}, follow=True).text
        models.QualificationRequest.objects.update(state="rejected")
        shown[f"refused {delay}"] = client.get(reverse("exchange:qualification", args=[type_id])).text
    return shown


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><svg onload=alert(1)>', "' autofocus onfocus='alert(1)"]
)
def test_markup_is_text_on_every_page_of_the_worker_site(evil):
    for name, shown in pages(evil).items():
        assert evil not in shown, name


def test_every_text_of_the_worker_site_can_be_translated(marked):
    stays = {"HIT", "PROLIFIC", "PID", "UTC", "ALOCAL"}
    left = {name: [word for word in unmarked(shown) if word not in stays] for name, shown in pages("Ωμέγα").items()}
    assert {name: words for name, words in left.items() if words} == {}
