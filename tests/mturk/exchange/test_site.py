"""The worker site: who sees what, every act once, and answers that arrive without a cookie."""

from __future__ import annotations

import datetime as dt
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from mturk.answers import read_answers
from mturk.exchange import models
from mturk.exchange.services import recruiting, working
from mturk.exchange.services.ledger import check_balance, deposit, level_hold
from mturk.exchange.showing import frame_url, read_question
from mturk.questions import external_question, html_question
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.mturk.exchange.rows import (
    HitFactory,
    HitTypeFactory,
    QualificationTypeFactory,
    RequesterFactory,
    WorkerFactory,
    submitted,
)

pytestmark = pytest.mark.django_db

HTML = html_question(
    "<!doctype html><html><head><title>t</title></head><body><form><input name='u1'></form></body></html>"
)
EXTERNAL = external_question("https://tasks.example.org/t/1?x=1#top")


def offer(number: int = 2, *, requester=None, question: str = EXTERNAL, requirements=(), assignments: int = 2, **kind):
    """A group of HITs that are open now."""
    requester = deposit(requester or RequesterFactory(), 100_000, at=NOW)
    hit_type = HitTypeFactory(requester=requester, requirements=list(requirements), **kind)
    now = timezone.now()
    values = {
        "question": question,
        "created_at": now,
        "expires_at": now + dt.timedelta(days=1),
        "max_assignments": assignments,
    }
    hits = [HitFactory(requester=requester, hit_type=hit_type, **values) for _ in range(number)]
    for hit in hits:
        level_hold(requester, hit, assignments, at=now)
    return hits


@pytest.fixture
def link():
    return recruiting.create_link(
        RequesterFactory(name="Lindhavn Lab"), kind="participant", completion_code="C0DE42", now=NOW
    )


@pytest.fixture
def at_work(client, link):
    """A participant who came by the link."""
    client.post(reverse("exchange:join", args=[link.token]), {"participant": "p1"})
    return models.Worker.objects.get()


def needs(kind, *, comparator: str = "Exists", guarded: str = "Accept", **values):
    return {"QualificationTypeId": kind, "Comparator": comparator, "ActionsGuarded": guarded, **values}


def accept(client, hit) -> models.HitAssignment:
    answer = client.post(reverse("exchange:accept", args=[hit.hit_id]))
    assert answer.status_code == 302
    return models.HitAssignment.objects.filter(hit=hit).latest("pk")


def send(client, assignment, **fields):
    return client.post(reverse("exchange:submit"), {"assignmentId": assignment.assignment_id, **fields})


# --- coming in


def test_strangers_see_the_door_and_nothing_else(client):
    (hit,) = offer(1)
    assert "With a link" in client.get(reverse("exchange:work")).text
    for name, key in (
        ("preview", hit.hit_id),
        ("accept", hit.hit_id),
        ("group", hit.hit_type.hit_type_id),
        ("assignment", "3X"),
        ("earnings", None),
    ):
        answer = client.generic(
            "POST" if name == "accept" else "GET", reverse(f"exchange:{name}", args=[key] if key else [])
        )
        assert answer.headers["Location"] == reverse("exchange:work")
    assert not models.Worker.objects.exists()


def test_an_account_becomes_a_worker_once(client):
    user = UserFactory()
    client.force_login(user)
    assert "Begin to work" in client.get(reverse("exchange:work")).text
    assert not models.Worker.objects.exists(), "looking makes nobody a worker"
    for _ in range(2):
        client.post(reverse("exchange:start"))
    worker = models.Worker.objects.get()
    assert worker.user == user
    assert re.fullmatch("ALOCAL[A-Z0-9]{14}", worker.worker_id)
    assert "Find work" in client.get(reverse("exchange:work")).text


@pytest.mark.parametrize("name", recruiting.PARTICIPANT_NAMES)
def test_a_participant_comes_by_a_link_and_stays_the_same(client, link, name):
    address = reverse("exchange:join", args=[link.token])
    shown = client.get(address, {name: "5f3a-Pi.d"})
    assert "5f3a-Pi.d" in shown.text
    assert "Lindhavn Lab" in shown.text
    assert not models.Worker.objects.exists(), "a mail filter that looks at the link is no worker"
    for visitor in (client, Client()):
        visitor.post(address, {"participant": "5f3a-Pi.d"})
        assert "Find work" in visitor.get(reverse("exchange:work")).text
    assert models.Worker.objects.get().participant == "5f3a-Pi.d"
    client.post(reverse("exchange:leave"))
    assert "With a link" in client.get(reverse("exchange:work")).text


@pytest.mark.parametrize("participant", ["", " ", "a b", "<script>", "x" * 201, "é"])
def test_a_link_without_a_sound_id_opens_nothing(client, link, participant):
    answer = client.get(reverse("exchange:join", args=[link.token]), {"PROLIFIC_PID": participant})
    assert answer.status_code == 410
    assert client.post(reverse("exchange:join", args=[link.token]), {"participant": participant}).status_code == 410
    assert not models.Worker.objects.exists()


def test_a_withdrawn_link_ends_the_session_too(client, link, at_work):
    models.RecruitmentLink.objects.update(revoked_at=NOW)
    assert client.get(reverse("exchange:join", args=[link.token]), {"PROLIFIC_PID": "p"}).status_code == 410
    assert "With a link" in client.get(reverse("exchange:work")).text


def test_an_in_house_link_gives_a_qualification(client):
    kind = QualificationTypeFactory()
    link = recruiting.create_link(kind.requester, kind="in_house", qualification_type=kind, now=NOW)
    address = reverse("exchange:join", args=[link.token])
    assert client.get(address).headers["Location"].startswith(reverse("login"))
    client.force_login(UserFactory())
    assert client.get(address).status_code == 200
    for _ in range(2):
        client.post(address)
    assert models.Qualification.objects.get().worker == models.Worker.objects.get()


# --- finding


def test_groups_are_one_line_each_with_what_is_left(client, at_work):
    first = offer(3, title="Judge summaries")
    offer(1, title="Write facts", reward_cents=50)
    shown = client.get(reverse("exchange:work")).text
    assert "Judge summaries" in shown
    assert ", 3 HITs" in shown
    assert "$0.50" in shown
    accept(client, first[0])
    shown = client.get(reverse("exchange:work")).text
    assert ", 2 HITs" in shown
    assert "You hold 1 HIT" in shown


def test_full_expired_disposed_and_blocked_hits_are_not_offered(at_work):
    now = timezone.now()
    full, expired, disposed, blocked, revoked = (
        offer(1, title=name)[0] for name in ("full", "old", "gone", "no", "left")
    )
    for _ in range(2):
        submitted(hit=full, auto_approve_at=now + dt.timedelta(days=1))
    models.Hit.objects.filter(pk=expired.pk).update(expires_at=now)
    models.Hit.objects.filter(pk=disposed.pk).update(disposed_at=now, held_cents=0)
    models.Block.objects.create(requester=blocked.requester, worker=at_work, reason="x", created_at=now)
    models.Requester.objects.filter(pk=revoked.requester_id).update(revoked_at=now)
    assert working.find_groups(at_work, now=now) == []
    for hit in (full, expired, disposed, blocked, revoked):
        with pytest.raises(working.CannotWork, match="gone"):
            working.accept(at_work, hit, now=now)


@pytest.mark.parametrize(
    ("guarded", "seen", "preview"),
    [("Accept", True, True), ("PreviewAndAccept", True, False), ("DiscoverPreviewAndAccept", False, False)],
)
def test_requirements_guard_what_they_say(client, at_work, guarded, seen, preview):
    kind = QualificationTypeFactory(name="Trained judges")
    (hit,) = offer(1, title="Guarded", requirements=[needs(kind.qualification_type_id, guarded=guarded)])
    shown = client.get(reverse("exchange:work")).text
    assert ("Guarded" in shown) is seen
    assert ("Trained judges" in shown) is seen
    answer = client.get(reverse("exchange:preview", args=[hit.hit_id]))
    assert (answer.status_code == 200) is preview
    client.post(reverse("exchange:accept", args=[hit.hit_id]))
    client.post(reverse("exchange:accept-next", args=[hit.hit_type.hit_type_id]))
    assert not models.HitAssignment.objects.exists()
    models.Qualification.objects.create(qualification_type=kind, worker=at_work, granted_at=NOW)
    accept(client, hit)
    assert models.HitAssignment.objects.count() == 1


def test_system_qualifications_come_from_the_record(at_work):
    for _ in range(3):
        submitted(worker=at_work, state="approved", decided_at=NOW)
    submitted(worker=at_work, state="rejected", decided_at=NOW)
    values = working.profile_of(at_work).values
    assert values["00000000000000000040"] == 3
    assert values["000000000000000000L0"] == 100, "a newcomer counts as without a fault"


def test_asking_for_a_qualification(client, at_work):
    kind = QualificationTypeFactory(name="Readers")
    automatic = QualificationTypeFactory(name="Everybody", auto_granted=True, auto_granted_value=7)
    tested = QualificationTypeFactory(name="Tested", test="<x/>")
    offer(
        1,
        requirements=[
            needs(kind.qualification_type_id),
            needs(automatic.qualification_type_id),
            needs(tested.qualification_type_id),
        ],
    )
    shown = client.get(reverse("exchange:work")).text
    assert shown.count("Ask for it") == 2
    for _ in range(2):
        for one in (kind, automatic, tested):
            client.post(reverse("exchange:ask", args=[one.qualification_type_id]))
    assert models.QualificationRequest.objects.get().qualification_type == kind
    assert models.Qualification.objects.get().value == 7


# --- working


def test_the_frame_gets_the_four_parameters(client, at_work):
    (hit,) = offer(1)
    preview = client.get(reverse("exchange:preview", args=[hit.hit_id]))
    address = re.search(r'<iframe[^>]* src="([^"]+)" sandbox="([^"]+)"', preview.text)
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in address[1]
    assert "frame-src https://tasks.example.org" in preview.headers["Content-Security-Policy"]
    assert preview.headers["X-Frame-Options"] == "DENY"
    own = accept(client, hit)
    page = client.get(reverse("exchange:assignment", args=[own.assignment_id]))
    whole = re.search(r' src="([^"]+)" sandbox', page.text)[1].replace("&amp;", "&")
    parts = urlsplit(whole)
    assert parts.fragment == "top"
    assert parse_qs(parts.query) == {
        "x": ["1"], "assignmentId": [own.assignment_id], "hitId": [hit.hit_id], "workerId": [at_work.worker_id],
        "turkSubmitTo": ["http://testserver/exchange/work"],
    }  # fmt: skip
    assert "10 minutes" in page.text


def test_parameters_are_added_to_any_address():
    given = {"assignment_id": "3A", "hit_id": "3H", "worker_id": "A", "submit_to": "http://x"}
    assert frame_url("https://a.example/", **given).startswith("https://a.example/?assignmentId=3A&hitId=3H")
    assert frame_url("https://a.example/?b#c", **given).endswith("turkSubmitTo=http%3A%2F%2Fx#c")
    assert read_question(HTML).html.startswith("<!doctype html>")
    assert read_question(external_question("https://a.example/?b=1&c=2", 450)).height == 450


def test_accepting_twice_takes_one(client, at_work):
    (hit,) = offer(1)
    assert accept(client, hit) == accept(client, hit)
    answer = client.get(reverse("exchange:preview", args=[hit.hit_id]))
    assert answer.headers["Location"] == reverse(
        "exchange:assignment", args=[models.HitAssignment.objects.get().assignment_id]
    )


def test_only_as_many_as_are_wanted_take_a_hit(client, at_work):
    (hit,) = offer(1, assignments=2)
    now = timezone.now()
    for _ in range(2):
        working.accept(WorkerFactory(), hit, now=now)
    answer = client.post(reverse("exchange:accept", args=[hit.hit_id]), follow=True)
    assert "Somebody else took the last one" in answer.text
    assert hit.assignments.count() == 2


def test_nobody_hoards_hits(client, at_work):
    hits = offer(working.MOST_HELD + 1)
    for _ in hits:
        client.post(reverse("exchange:accept-next", args=[hits[0].hit_type.hit_type_id]))
    assert at_work.assignments.count() == working.MOST_HELD


def test_handing_in_needs_no_cookie_and_happens_once(client, at_work):
    (hit, _other) = offer(2)
    own = accept(client, hit)
    stranger = Client(enforce_csrf_checks=True)
    answer = send(
        stranger,
        own,
        u1="present",
        comment="a & b\r\n]]>",
        hitId="3X",
        workerId="A",
        turkSubmitTo="x",
        **{"amp;hitId": "y"},
    )
    assert answer.status_code == 200
    assert "Handed in" in answer.text
    assert not answer.cookies
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    again = send(stranger, own, u1="not_present")
    assert again.status_code == 200
    assert "nothing has changed" in again.text
    own.refresh_from_db()
    assert own.state == "submitted"
    assert read_answers(own.answer) == {"u1": "present", "comment": "a & b\r\n]]>"}
    assert own.auto_approve_at - own.submitted_at == dt.timedelta(days=1)
    told = client.get(reverse("exchange:state", args=[own.assignment_id])).json()
    assert told == {"state": "submitted", "next": reverse("exchange:done", args=[own.assignment_id])}
    assert "Take the next for $0.20" in client.get(told["next"]).text
    assert "$0.20" in client.get(reverse("exchange:earnings")).text


@pytest.mark.parametrize("assignment_id", ["", "3NOSUCH", "'; drop table", "A" * 65])
def test_answers_for_nobody_are_refused(client, assignment_id):
    answer = client.post(reverse("exchange:submit"), {"assignmentId": assignment_id, "u1": "x"})
    assert answer.status_code == 400
    assert "no such assignment" in answer.text
    assert client.get(reverse("exchange:submit")).status_code == 405


def test_a_form_without_answers_is_not_handed_in(client, at_work):
    own = accept(client, offer(1)[0])
    assert send(client, own).status_code == 400
    assert send(client, own, comment="x" * (working.MOST_ANSWER + 1)).status_code == 413
    own.refresh_from_db()
    assert own.state == "accepted"


def test_after_the_deadline_it_is_somebody_elses(client, at_work):
    (hit,) = offer(1)
    own = accept(client, hit)
    models.HitAssignment.objects.update(deadline=timezone.now())
    assert send(client, own, u1="present").status_code == 409
    own.refresh_from_db()
    assert own.state == "abandoned"
    page = client.get(reverse("exchange:assignment", args=[own.assignment_id]), follow=True)
    assert "The time for this HIT is over" in page.text
    assert accept(client, hit) != own, "whoever was too slow may try again"


def test_an_expired_hit_can_still_be_handed_in_when_accepted_before(client, at_work):
    own = accept(client, offer(1)[0])
    models.Hit.objects.update(expires_at=timezone.now())
    assert send(client, own, u1="present").status_code == 200


def test_returning_has_no_effect_on_the_record(client, at_work):
    hits = offer(2)
    own = accept(client, hits[0])
    answer = client.post(reverse("exchange:return", args=[own.assignment_id]), follow=True)
    assert "no effect on your record" in answer.text
    assert send(client, own, u1="present").status_code == 409
    assert working.next_hit(at_work, hits[0].hit_type, now=timezone.now()) == hits[1], "not the same one at once"
    accept(client, hits[1])
    assert working.next_hit(at_work, hits[0].hit_type, now=timezone.now()) == hits[0], "but it may be taken again"


def test_money_of_an_expired_hit_is_free_when_it_is_returned(at_work):
    (hit,) = offer(1, assignments=1)
    now = timezone.now()
    own = working.accept(at_work, hit, now=now)
    models.Hit.objects.filter(pk=hit.pk).update(expires_at=now)
    assert check_balance(hit.requester, now=now).held == 20
    assert working.return_(own, now=now)
    assert not working.return_(own, now=now)
    balance = check_balance(hit.requester, now=now)
    assert (balance.available, balance.held, balance.differences) == (100_000, 0, [])


def test_what_is_handed_in_cannot_be_returned(client, at_work):
    own = accept(client, offer(1)[0])
    send(client, own, u1="present")
    answer = client.post(reverse("exchange:return", args=[own.assignment_id]))
    assert answer.headers["Location"] == reverse("exchange:done", args=[own.assignment_id])
    own.refresh_from_db()
    assert own.state == "submitted"


def test_other_peoples_assignments_do_not_exist(client, at_work):
    own = working.accept(WorkerFactory(), offer(1)[0], now=timezone.now())
    for name in ("assignment", "state", "done"):
        assert client.get(reverse(f"exchange:{name}", args=[own.assignment_id])).status_code == 404
    assert client.post(reverse("exchange:return", args=[own.assignment_id])).status_code == 404


def test_acts_of_the_site_need_its_own_form(link):
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("exchange:join", args=[link.token]), {"participant": "p"}).status_code == 403


def test_a_participant_gets_the_code_at_the_end_and_not_before(client, at_work):
    assert client.get(reverse("exchange:finish")).headers["Location"] == reverse("exchange:work")
    own = accept(client, offer(1)[0])
    send(client, own, u1="present")
    assert "Stop and get my code" in client.get(reverse("exchange:done", args=[own.assignment_id])).text
    assert "C0DE42" in client.get(reverse("exchange:finish")).text


def test_earnings_add_up(client, at_work):
    first, second = offer(2)
    one = submitted(hit=first, worker=at_work, state="approved", decided_at=NOW, feedback="Thank you & well done")
    submitted(hit=second, worker=at_work, auto_approve_at=timezone.now() + dt.timedelta(days=1))
    lines = [("pay", -20), ("bonus", -5), ("payout", -15)]
    for kind, amount in lines:
        models.LedgerLine.objects.create(
            requester=one.hit.requester, worker=at_work, kind=kind, cents=amount, at=NOW, reference="x"
        )
    models.Bonus.objects.create(assignment=one, worker=at_work, cents=5, reason="quick", granted_at=NOW)
    models.Message.objects.create(
        requester=one.hit.requester, worker=at_work, subject="New HITs", text="a <b>", sent_at=NOW
    )
    shown = client.get(reverse("exchange:earnings")).text
    for part in ("$0.10", "$0.20", "$0.25", "$0.15", "Thank you &amp; well done", "New HITs", "a &lt;b&gt;"):
        assert part in shown


# --- pages that come with a HIT


def frame_of(client, hit) -> tuple[str, str]:
    page = client.get(reverse("exchange:preview", args=[hit.hit_id])).text
    found = re.search(r'<iframe[^>]* src="([^"]+)" sandbox="([^"]+)"', page)
    return found[1].replace("&amp;", "&"), found[2]


def test_a_page_of_a_hit_comes_from_a_second_origin_in_a_sandbox(client, at_work, settings):
    settings.EXCHANGE_FRAME_ORIGIN = "https://frames.example.org"
    settings.ALLOWED_HOSTS = ["testserver", "frames.example.org"]
    (hit,) = offer(1, question=HTML)
    address, sandbox = frame_of(client, hit)
    assert address.startswith("https://frames.example.org/exchange/work/frame/")
    assert sandbox == "allow-scripts allow-forms"
    parts = urlsplit(address)
    where = f"{parts.path}?{parts.query}"
    shown = Client().get(where, secure=True, headers={"host": "frames.example.org"})
    assert shown.text == read_question(HTML).html
    policy = shown.headers["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-forms;" in policy
    assert "allow-same-origin" not in policy
    assert "frame-ancestors http://testserver" in policy
    assert "form-action http://testserver" in policy
    assert not shown.cookies
    for host in ({"host": "testserver"}, {"host": "testserver:8001"}):
        refused = client.get(where, headers=host)
        assert refused.status_code == 400
        assert "<form" not in refused.text, "never at the address of the site"


def test_without_a_second_origin_it_is_not_shown(client, at_work):
    (hit,) = offer(1, question=HTML)
    page = client.get(reverse("exchange:preview", args=[hit.hit_id]))
    assert "<iframe" not in page.text
    assert "EXCHANGE_FRAME_ORIGIN" in page.text
    assert "frame-src 'none'" in page.headers["Content-Security-Policy"]


def test_on_a_laptop_the_other_name_of_the_machine_is_the_second_origin(client, at_work, settings):
    (hit,) = offer(1, question=HTML)
    page = client.get(reverse("exchange:preview", args=[hit.hit_id]), headers={"host": "localhost:8000"})
    address = re.search(r' src="(http://127.0.0.1:8000[^"]+)"', page.text)[1]
    path = urlsplit(address).path
    assert Client().get(path, headers={"host": "127.0.0.1:8000"}).status_code == 200
    for host in ("localhost:8000", "127.0.0.1:8001"):
        assert Client().get(path, headers={"host": host}).status_code == 400
    settings.PRODUCTION = True
    page = client.get(reverse("exchange:preview", args=[hit.hit_id]), headers={"host": "localhost:8000"})
    assert "<iframe" not in page.text


def test_only_signed_frames_are_shown(client):
    for token in ("x", "a.b", ""):
        if token:
            assert client.get(reverse("exchange:frame", args=[token])).status_code == 400


def test_a_page_of_our_own_has_no_origin_in_the_frame_either(client, at_work):
    (hit,) = offer(1, question=external_question("https://testserver/task/x/"))
    page = client.get(reverse("exchange:preview", args=[hit.hit_id]), secure=True)
    assert 'sandbox="allow-scripts allow-forms"' in page.text
