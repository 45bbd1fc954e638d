"""Simulated workers see only pages, answer alike for the same seed, and are right as often as they should."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from mturk import task_html, task_links
from mturk.answers import read_answers
from mturk.exchange import models, simulating
from mturk.exchange.services import recruiting, working
from mturk.exchange.simulating import Crowd, Profile, SimulatedWorker, simulate
from mturk.exchange.visiting import read_page
from mturk.questions import external_question, html_question
from mturk.task_pages import Frame
from tests.mturk.exchange.form_xml import WHOLE
from tests.mturk.exchange.test_site import offer
from tests.mturk.hits import STATEMENTS, SUMMARY, crowd_hit, presence_page, writing_page

KEY = {statement: "present" if number % 2 else "not_present" for number, statement in enumerate(STATEMENTS)}


def key(text: str, statement: str) -> str:
    assert text == SUMMARY
    return KEY[statement]


# --- without a server


def test_a_page_is_read_as_a_person_reads_it():
    page = read_page(
        "http://x.example/a/?hitId=3H&b=%20c", 200, task_html.render_task(presence_page(), Frame("3A", "/sub"))
    )
    (form,) = page.forms
    assert form.action == "http://x.example/sub"
    assert form.values == {"assignmentId": "3A", "consent": "2026-11", "seconds": "", "comment": ""}
    assert list(form.choices) == [f"u{n}" for n in range(1, 7)]
    assert form.choices["u1"] == ["present", "not_present", "unsure"]
    assert tuple(form.labels.values()) == STATEMENTS
    assert page.text == SUMMARY
    assert (page.parameter("hitId"), page.parameter("b"), page.parameter("none")) == ("3H", " c", "")
    writing = read_page("http://x.example/", 200, task_html.render_task(writing_page(), Frame("3A", "/sub")))
    assert writing.forms[0].lines == [f"s{n}" for n in range(1, 9)]


def test_a_crowd_is_the_same_for_the_same_seed():
    crowd = Crowd(200, seed=7, accuracy=0.85, spam=0.1)
    assert crowd.profiles() == crowd.profiles()
    assert crowd.profiles() != Crowd(200, seed=8, accuracy=0.85, spam=0.1).profiles()
    profiles = crowd.profiles()
    kinds = Counter(profile.kind for profile in profiles)
    assert sum(kinds[kind] for kind in simulating.SPAM) == 20
    assert sum(profile.accuracy for profile in profiles) / 200 == pytest.approx(0.85, abs=0.02)
    assert all(0 <= profile.accuracy <= 1 for profile in profiles)
    assert len({profile.name for profile in profiles}) == 200


def answers_of(profile: Profile, number: int = 400) -> Counter[str]:
    worker = SimulatedWorker(profile, join="http://x.example/join/t/", key=lambda text, statement: "present", seed=1)
    page = read_page("http://x.example/", 200, task_html.render_task(presence_page(), Frame("3A", "/s")))
    counted: Counter[str] = Counter()
    for draw in range(number):
        rng = simulating.random.Random(draw)
        counted.update(worker.answer(page, page.forms[0], rng).values())
    return counted


def test_careful_workers_are_right_as_often_as_they_should():
    counted = answers_of(Profile("p", accuracy=0.8))
    votes = counted["present"] + counted["not_present"]
    assert counted["present"] / votes == pytest.approx(0.8, abs=0.02)
    assert counted["unsure"] / (votes + counted["unsure"]) == pytest.approx(simulating.UNSURE_SHARE, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("all_yes", {"present"}),
        ("all_no", {"not_present"}),
        ("first", {"present"}),
        ("random", {"present", "not_present", "unsure"}),
    ],
)
def test_careless_workers_do_not_read(kind, said):
    assert set(answers_of(Profile("p", kind=kind), 20)) == said


def test_a_key_from_a_file(tmp_path):
    path = tmp_path / "key.json"
    path.write_text(json.dumps([{"text": "a \n b", "statement": "c", "answer": "present"}]), encoding="utf-8")
    read = simulating.read_key(path)
    assert read("a b", "c") == "present"
    assert read("a b", "d") == simulating.skimming_key("a b", "d") == "not_present"


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("The mill shut in 1900.", "present"),
        ("A MILL was shut", "present"),
        ("A whale was seen off the coast", "not_present"),
        ("", "not_present"),
    ],
)
def test_a_key_for_texts_that_nobody_has_judged_looks_for_the_words(statement, answer):
    assert simulating.skimming_key("In 1900 the old mill shut for good.", statement) == answer


# --- through the worker pages


@pytest.fixture
def site(live_server, settings):
    settings.PUBLIC_URL = live_server.url
    return live_server.url


@pytest.fixture
def hits(site):
    """Three HITs by address and two that carry their page, for two workers each."""
    row = crowd_hit()
    address = site + reverse("mturk:task", args=[task_links.task_token(row.pk, "presence")])
    by_address = offer(3, question=external_question(address), title="By address")
    carried = html_question(task_html.self_contained(presence_page()))
    return by_address + offer(2, requester=by_address[0].requester, question=carried, title="Carried")


def join_of(site: str, requester, profiles) -> str:
    link = recruiting.simulated_link(requester, None, now=timezone.now())
    recruiting.enrol_simulated(link, [profile.name for profile in profiles], now=timezone.now())
    return site + reverse("exchange:join", args=[link.token])


@pytest.mark.django_db(transaction=True)
def test_a_crowd_does_all_hits_through_the_pages(site, hits):
    profiles = [Profile("one", 1.0), Profile("two", 1.0), Profile("three", 1.0)]
    tally = simulate(profiles, join=join_of(site, hits[0].requester, profiles), key=key, seed=3)
    assert (tally.handed_in, tally.refused, len(tally.given)) == (10, 0, 60)
    assert models.HitAssignment.objects.filter(state="submitted").count() == 10
    assert models.Worker.objects.filter(is_simulated=True).count() == 3
    names = {worker.worker_id: worker.participant for worker in models.Worker.objects.all()}
    stored = set()
    for own in models.HitAssignment.objects.select_related("worker", "hit"):
        found = read_answers(own.answer)
        assert found["consent"] == "2026-11"
        assert int(found["seconds"]) > 0
        stored |= {(names[own.worker.worker_id], own.hit.hit_id, f"u{n}", found[f"u{n}"]) for n in range(1, 7)}
    assert stored == {(one.worker, one.hit_id, one.question, one.answer) for one in tally.given}
    right = sum(one.answer in (KEY[STATEMENTS[int(one.question[1:]) - 1]], "unsure") for one in tally.given)
    assert right == len(tally.given)
    assert tally.requests < 10 * 4 + 3 * 12, "four requests for an assignment, and a few to come in"


@pytest.mark.django_db(transaction=True)
def test_some_return_some_forget_and_the_rest_is_done(site, hits):
    profiles = [Profile("returner", returns=1.0), Profile("forgets", abandons=1.0), Profile("works")]
    join = join_of(site, hits[0].requester, profiles)
    first = simulate(profiles, join=join, seed=5)
    assert first.returned
    assert first.abandoned
    states = Counter(models.HitAssignment.objects.values_list("state", flat=True))
    assert states["submitted"] == first.handed_in
    assert states["returned"] == first.returned
    models.HitAssignment.objects.filter(state="accepted").update(deadline=timezone.now())
    patient = [Profile(f"late{n}") for n in range(3)]
    simulate(patient, join=join, seed=6, threads=2)
    assert models.HitAssignment.objects.filter(state="submitted").count() == 10


@pytest.mark.django_db(transaction=True)
def test_the_command_marks_them_as_simulated_and_stops_in_time(site, hits, capsys):
    call_command("exchange_workers", workers=3, seed=1, most=4, url=site, json=True)
    lines = capsys.readouterr().out.splitlines()
    assert 4 <= json.loads(lines[-1])["handed_in"] <= 6
    assert "simulated workers" in lines[0]
    assert set(models.Worker.objects.values_list("is_simulated", flat=True)) == {True}
    call_command("exchange_workers", workers=3, seed=1, url=site)
    assert models.Worker.objects.count() == 3, "the same seed, the same workers"
    assert models.RecruitmentLink.objects.count() == 1


@pytest.mark.django_db
def test_the_command_says_what_is_missing(hits_of_two):
    with pytest.raises(CommandError, match="Lab one, Lab two"):
        call_command("exchange_workers")
    with pytest.raises(CommandError, match="no qualification 'x'"):
        call_command("exchange_workers", requester="Lab one", qualification="x")
    with pytest.raises(CommandError, match="No exchange answers"):
        call_command("exchange_workers", requester="Lab one", url="http://127.0.0.1:9", workers=1)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("exchange_workers", requester="Lab one", key=Path("/no/such/file"), workers=1)


@pytest.fixture
def hits_of_two(db):
    for name in ("Lab one", "Lab two"):
        models.Requester.objects.create(name=name, key_id=name, secret="x", created_at=timezone.now())


@pytest.mark.django_db
def test_a_worker_marked_as_simulated_stays_so(client, hits_of_two):
    link = recruiting.simulated_link(models.Requester.objects.first(), None, now=timezone.now())
    recruiting.enrol_simulated(link, ["sim-1"], now=timezone.now())
    client.post(reverse("exchange:join", args=[link.token]), {"participant": "sim-1"})
    assert models.Worker.objects.get().is_simulated
    assert "Simulated worker" in client.get(reverse("exchange:work")).text
    assert working.find_groups(models.Worker.objects.get(), now=timezone.now()) == []


@pytest.mark.django_db(transaction=True)
def test_questions_of_a_form_are_left_to_people(live_server, settings):
    settings.PUBLIC_URL = live_server.url
    (hit,) = offer(1, question=WHOLE)
    link = recruiting.create_link(hit.requester, kind="participant", now=timezone.now())
    tally = simulate(
        Crowd(1, seed=1).profiles(), join=live_server.url + reverse("exchange:join", args=[link.token]), seed=1
    )
    assert tally.handed_in == 0
    assert set(models.HitAssignment.objects.values_list("state", flat=True)) == {"returned"}
