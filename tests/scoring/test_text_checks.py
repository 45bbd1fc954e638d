"""Badges of the writing page: what parser and judge say, who sees it, and what is told where nobody answers."""

from __future__ import annotations

import json

import pytest
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from annotation import models
from annotation.models import Queue
from annotation.services.drafts import change_draft
from annotation.services.jobs import has_worker
from annotation.services.queue import claim_next
from annotation.services.text_checks import TextFinding, known_findings, store_findings
from scoring.services.text_checks import check_texts
from scoring.tasks import ask_for_checks
from tests.conftest import NOW
from tests.factories import MembershipFactory, SentenceFactory, WorkerFactory
from tests.planning import freeze, plannable
from tests.workers import QUEUE, start_worker, wait_until
from workbench.celery import app

__all__ = ["start_worker", "wait_until"]

SENTENCE = "The mill at Barrow shut in 1900 after a fire destroyed its roof."
TRUE, FALSE, FRAGMENT = "The mill at Barrow shut in 1900.", "Zebras won the election in Peru.", "The old mill at Barrow"


@pytest.mark.django_db
def test_parser_and_judge_speak_once_for_each_text():
    sentence = SentenceFactory(text=SENTENCE, end=len(SENTENCE))
    assert check_texts(sentence.pk, [TRUE, FALSE, FRAGMENT, TRUE], now=NOW) == 3
    found = known_findings(sentence, [TRUE, FALSE, FRAGMENT])
    assert [found[text].has_verb for text in (TRUE, FALSE, FRAGMENT)] == [True, True, False]
    assert [found[text].is_doubtful for text in (TRUE, FALSE)] == [False, True]
    assert check_texts(sentence.pk, [TRUE, FALSE], now=NOW) == 0
    assert models.TextCheck.objects.values_list("checker", flat=True).distinct().get().startswith("embedded@")
    assert known_findings(SentenceFactory(), [TRUE]) == {}


@QUEUE[0]
@QUEUE[1]
def test_a_real_worker_answers(start_worker, wait_until):
    sentence = SentenceFactory(text=SENTENCE, end=len(SENTENCE))
    start_worker()
    wait_until(lambda: has_worker(Queue.NLP.value))  # as the page does: a message has a short life
    app.control.purge()  # other tests send messages as well meanwhile, and ours would not outlive a long queue
    ask_for_checks(sentence.pk, [TRUE])
    wait_until(models.TextCheck.objects.exists)  # it loads three models first
    assert known_findings(sentence, [TRUE])[TRUE].has_verb


@pytest.fixture
def asked(monkeypatch) -> list[tuple[int, list[str]]]:
    """What a worker was asked for, instead of the broker."""
    found: list[tuple[int, list[str]]] = []
    monkeypatch.setattr("scoring.views.checking.ask_for_checks", lambda *given: found.append(given))
    return found


@pytest.fixture
def task(client) -> models.Task:
    project = plannable(examples=1, sentences=1)
    change_draft(project, share=0, now=NOW)
    freeze(project)
    models.Task.objects.update(arm="after")
    writer = MembershipFactory(project=project, role="annotator").user
    client.force_login(writer)
    return claim_next(project, writer, "write", now=timezone.now())


def post(client, task, given, status: int = 200):
    address = reverse("scoring:unit-checks", args=[task.project.slug, task.pk])
    answer = client.post(
        address, given if isinstance(given, str) else json.dumps(given), content_type="application/json"
    )
    assert answer.status_code == status
    return answer.json() if status == 200 else None


@pytest.mark.django_db
def test_the_page_is_told_what_is_known_and_asks_for_the_rest_once(client, task, asked):
    WorkerFactory(seen_at=Now())
    store_findings(task.sentence, [TextFinding(FALSE, True, 0.01)], checker="x@1", now=NOW)
    told = post(client, task, {"texts": [TRUE, f" {FALSE} "], "ask": True})
    assert told == {"found": {FALSE: {"verb": True, "follows": False}}, "waiting": 1, "has_worker": True}
    post(client, task, {"texts": [TRUE]})
    assert asked == [(task.sentence_id, [TRUE])]


@pytest.mark.django_db
def test_without_a_worker_the_absence_is_told(client, task, asked):
    assert post(client, task, {"texts": [TRUE], "ask": True}) == {"found": {}, "waiting": 1, "has_worker": False}
    assert asked == []


@pytest.mark.django_db
def test_the_control_share_never_sees_what_the_judge_says(client, task):
    models.Task.objects.update(arm="none")
    store_findings(task.sentence, [TextFinding(TRUE, False, 0.9)], checker="x@1", now=NOW)
    assert post(client, task, {"texts": [TRUE]})["found"] == {TRUE: {"verb": False}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given", ["", "[]", "{}", '{"texts": "x"}', '{"texts": [1]}', json.dumps({"texts": ["x"] * 101})]
)
def test_what_no_page_sends_is_refused(client, task, given):
    post(client, task, given, status=400)


@pytest.mark.django_db
def test_only_the_holder_sends_work_to_a_worker(client, task, asked):
    WorkerFactory(seen_at=Now())
    client.force_login(MembershipFactory(project=task.project, role="annotator").user)
    post(client, task, {"texts": [TRUE], "ask": True})
    assert asked == []
