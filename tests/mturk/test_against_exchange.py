"""The requester against the exchange over real connections: faults and kills at random, then the books are compared."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from django.conf import settings as django_settings

from annotation import models as annotation
from mturk import client as mturk_client
from mturk.client import BotoMarket, connect
from mturk.environments import environment
from mturk.exchange.models import Hit, HitAssignment, Requester
from mturk.exchange.services import clock, faults, working
from mturk.exchange.services.ledger import check_balance
from mturk.exchange.services.requesters import create_requester, deposit
from mturk.exchange.services.settling import settle
from mturk.market import MarketError
from mturk.models import CrowdAssignment, CrowdBatch, CrowdBonus, CrowdHit, PaidAction
from mturk.requirements import Requirement
from mturk.services import deciding
from mturk.services.collecting import collect_batch
from mturk.services.deciding import carry_out
from mturk.services.ending import align, delete_copied, resume, stop
from mturk.services.money import reserved_in_rows
from mturk.services.planning import confirm, dry_run
from mturk.services.publishing import PublishStopped, publish_batch
from mturk.services.qualifying import grant, make_qualification
from tests.judging import judged_project
from tests.mturk.crowds import answer, confirmed, drafted, wish
from tests.mturk.exchange.rows import WorkerFactory
from tests.mturk.fakes import Killed
from tests.workers import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)
YEAR = 31_536_000


@pytest.fixture
def requester(live_server, settings, monkeypatch) -> Requester:
    """A requester with fifty dollars, whose keys and address are those of the environment."""
    settings.EXCHANGE_CONTROL_TOKEN = "for-tests"
    settings.PUBLIC_URL = live_server.url
    requester = create_requester("Lab", now=clock.now(), deposit_cents=5_000)
    monkeypatch.setitem(
        settings.CROWD_ENVIRONMENTS, "exchange",
        {
            **settings.CROWD_ENVIRONMENTS["exchange"], "endpoint_url": f"{live_server.url}/exchange/api/",
            "key_id": requester.key_id, "secret": requester.secret,
        },
    )  # fmt: skip
    mturk_client._boto3_client.cache_clear()
    yield requester
    # A connection that is kept open keeps a thread of the server, and its connection to the database.
    market().client.close()
    mturk_client._boto3_client.cache_clear()
    faults.cancel_all()
    assert_books_agree(requester)


def market(tries: int = 3) -> BotoMarket:
    return connect(environment("exchange"), tries=tries, sleep=lambda seconds: None)


def assert_books_agree(requester: Requester) -> None:
    """What we think is owed is what the exchange holds and has paid, to the cent, and its own accounts balance."""
    now = clock.now()
    settle(now=now)
    assert check_balance(requester, now=now).differences == []
    requester.refresh_from_db()
    for batch in CrowdBatch.objects.all():
        assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents


def spent(requester: Requester) -> int:
    """Held and paid, from the exchange's side."""
    requester.refresh_from_db()
    deposits = sum(requester.lines.filter(kind="deposit").values_list("cents", flat=True))
    return deposits - requester.balance_cents


def work(batch: CrowdBatch, worker, says: str, most: int = 100) -> int:
    """A worker does what is open to them, through the exchange's own rules."""
    done = 0
    for hit in CrowdHit.objects.filter(crowd_batch=batch).exclude(hit_id=""):
        there = Hit.objects.filter(hit_id=hit.hit_id).first()
        if there is None or done >= most:
            continue
        try:
            taken = working.accept(worker, there, now=clock.now())
        except working.CannotWork:
            continue
        # Somebody who reads takes a minute.
        begun = taken.accepted_at - dt.timedelta(seconds=60)
        HitAssignment.objects.filter(pk=taken.pk).update(accepted_at=begun)
        rows = hit.page["rows"]
        fields = [(f"u{place}", says if row["unit"] else "not_present") for place, row in enumerate(rows, start=1)]
        working.submit(taken.assignment_id, [*fields, ("consent", "2026-11"), ("seconds", "40")], now=clock.now())
        done += 1
    return done


def test_the_whole_way(requester):
    project = judged_project()
    lab = market()
    judges = make_qualification(project, "exchange", "Pyramid judges", "", lab, now=clock.now(), actor=None)
    asked = wish(project, requirements=(Requirement("percent_approved", 99),))
    assert "nobody could take a HIT" in dry_run(project, asked, lab).problems[0]
    workers = [WorkerFactory.create() for _ in range(3)]
    for worker in workers[:2]:
        grant(project, judges, worker.worker_id, lab, now=clock.now(), actor=None)
    found = dry_run(project, asked, lab)
    assert (found.problems, found.cost.total, found.balance_cents) == ([], 4 * 2 * 42, 5_000)
    batch = drafted(project, batch=asked.batch, requirements=asked.requirements)
    batch = confirm(batch, typed="", now=clock.now(), actor=None)
    publish_batch(batch.pk, lab, clock=clock.now)
    assert spent(requester) == 4 * 2 * 42
    assert [work(batch, worker, "present") for worker in workers] == [4, 4, 0]  # the third has no qualification
    assert collect_batch(batch.pk, lab, clock=clock.now).stored == 8
    assert annotation.Judgement.objects.count() == 24
    first = CrowdAssignment.objects.select_related("hit", "worker").first()
    deciding.wish_rejection(
        first, "Every statement was marked without reading.", now=clock.now(), actor=batch.created_by
    )
    deciding.wish_approval(deciding.passing(batch), batch, now=clock.now(), actor=None)
    second = CrowdAssignment.objects.last()
    deciding.plan_bonus(second, 5, "thanks", "Thank you for your comment.", now=clock.now(), actor=None)
    told = carry_out(batch.pk, lab, clock=clock.now)
    assert (told.approved, told.rejected, told.bonuses, told.errors) == (7, 1, 1, [])
    collect_batch(batch.pk, lab, clock=clock.now)
    batch.refresh_from_db()
    assert batch.reserved_cents == 7 * 42 + 5 == spent(requester)
    assert batch.state == "done"
    # Rejected by mistake: taken back, and paid.
    first.refresh_from_db()
    deciding.wish_approval([first], batch, now=clock.now(), actor=None)
    assert carry_out(batch.pk, lab, clock=clock.now).approved == 1
    assert spent(requester) == 8 * 42 + 5
    collect_batch(batch.pk, lab, clock=clock.now)
    assert delete_copied(batch.pk, lab, clock=clock.now) == 4
    assert not Hit.objects.filter(disposed_at__isnull=True).exists()
    assert CrowdAssignment.objects.exclude(raw="").count() == 8


def test_html_questions_are_taken(requester):
    batch = confirmed(template="html")
    publish_batch(batch.pk, market(), clock=clock.now)
    assert Hit.objects.filter(question__startswith="<HTMLQuestion").count() == 4


def test_without_funds_it_pauses_and_goes_on(requester):
    batch = confirmed(judged_project(examples=30), assignments=3, cap_cents=10_000)
    assert batch.reserved_cents == 60 * 3 * 42 > 5_000
    with pytest.raises(PublishStopped, match="insufficient funds"):
        publish_batch(batch.pk, market(), clock=clock.now)
    batch.refresh_from_db()
    assert (batch.state, batch.pause_reason) == ("paused", "funds")
    assert Hit.objects.count() == 5_000 // 126
    deposit(requester, 5_000, now=clock.now())
    resume(batch, now=clock.now(), actor=None)
    publish_batch(batch.pk, market(), clock=clock.now)
    assert Hit.objects.count() == 60
    assert spent(requester) == 60 * 126


def test_third_votes_and_stopping(requester):
    batch, lab = confirmed(judging={"is_adaptive": True}), market()
    publish_batch(batch.pk, lab, clock=clock.now)
    workers = [WorkerFactory.create() for _ in range(3)]
    work(batch, workers[0], "present")
    work(batch, workers[1], "not_present")
    assert collect_batch(batch.pk, lab, clock=clock.now).more == 4
    assert publish_batch(batch.pk, lab, clock=clock.now).added == 4
    assert spent(requester) == 4 * 3 * 42
    assert [work(batch, worker, "present", 2) for worker in (workers[0], workers[2])] == [0, 2]  # somebody else only
    batch.refresh_from_db()
    stop(batch, now=clock.now(), actor=None)
    align(batch.pk, lab, clock=clock.now)
    collect_batch(batch.pk, lab, clock=clock.now)
    batch.refresh_from_db()
    assert batch.reserved_cents == 10 * 42 == spent(requester)


class Kills:
    """Kills the caller before or after a call, at random."""

    def __init__(self, lab: BotoMarket, chance: random.Random, share: float) -> None:
        self.chance, self.share, self.count, self.lab = chance, share, 0, lab
        lab.client.meta.events.register("before-call.mturk", self.strike)
        lab.client.meta.events.register("after-call.mturk", self.strike)

    def strike(self, **_given) -> None:
        if self.chance.random() < self.share:
            self.count += 1
            raise Killed

    def end(self) -> None:
        self.lab.client.meta.events.unregister("before-call.mturk", self.strike)
        self.lab.client.meta.events.unregister("after-call.mturk", self.strike)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_and_faulted_at_random_the_books_agree(requester, seed):
    """Some hundreds of steps; days pass between them. Then: HITs as planned, each assignment once, money to the cent."""
    chance = random.Random(seed)
    batch = confirmed(judged_project(examples=4), judging={"is_adaptive": True}, lifetime_s=YEAR, cap_cents=8 * 3 * 42)
    workers = [WorkerFactory.create() for _ in range(4)]
    lab = market(tries=2)
    kills = Kills(lab, chance, 0.06)
    for number, kind in enumerate(("drop_before", "drop_after", "error_after", "throttle", "empty_page", "no_funds")):
        faults.order(kind, times=None, share=0.05, seed=10 * seed + number)
    for step in range(200):
        if step == 170:
            fired = sum(faults.fired().values())
            faults.cancel_all()
            kills.share = 0.0
        act = chance.choice(["publish", "publish", "work", "collect", "collect", "pay", "time"])
        with contextlib.suppress(Killed, PublishStopped, MarketError):
            _step(act, batch, lab, chance, workers)
        batch.refresh_from_db()
        if batch.state == "paused":
            resume(batch, now=clock.now(), actor=None)
        assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents
    kills.end()
    batch.refresh_from_db()
    if batch.state in ("publishing", "live"):
        publish_batch(batch.pk, lab, clock=clock.now)
    collect_batch(batch.pk, lab, clock=clock.now, every=True)
    batch.refresh_from_db()
    _check_whole(batch, requester)
    assert kills.count > 5
    assert fired > 5


def _step(act: str, batch: CrowdBatch, lab: BotoMarket, chance: random.Random, workers: list) -> None:
    if act == "publish":
        if batch.state != "done":
            publish_batch(batch.pk, lab, clock=clock.now)
    elif act == "work":
        work(batch, chance.choice(workers), chance.choice(["present", "not_present"]), most=3)
    elif act == "collect":
        collect_batch(batch.pk, lab, clock=clock.now)
    elif act == "pay":
        deciding.wish_approval(deciding.passing(batch)[:3], batch, now=clock.now(), actor=None)
        row = CrowdAssignment.objects.filter(bonuses__isnull=True).first()
        if row is not None and batch.cap_cents - batch.reserved_cents >= 2:
            deciding.plan_bonus(row, 2, "thanks", "Thank you for the care.", now=clock.now(), actor=None)
        carry_out(batch.pk, lab, clock=clock.now)
    elif chance.random() < 0.3:
        clock.advance(chance.choice([3_600, 90_000]))


def _check_whole(batch: CrowdBatch, requester: Requester) -> None:
    now = clock.now()
    settle(now=now)
    open_hits = Hit.objects.filter(expires_at__gt=now)
    assert open_hits.count() == CrowdHit.objects.filter(crowd_batch=batch).count() == 8
    assert set(open_hits.values_list("hit_id", flat=True)) == set(CrowdHit.objects.values_list("hit_id", flat=True))
    handed_in = HitAssignment.objects.filter(state__in=("submitted", "approved", "rejected"))
    assert set(handed_in.values_list("assignment_id", flat=True)) == set(
        CrowdAssignment.objects.values_list("assignment_id", flat=True)
    )
    assert annotation.Assignment.objects.filter(origin="crowd").count() == handed_in.count()
    sent = CrowdBonus.objects.filter(state="sent")
    assert sent.count() == PaidAction.objects.filter(kind="bonus").count()
    unsent = sum(CrowdBonus.objects.exclude(state__in=("sent", "failed")).values_list("cents", flat=True))
    waiting = sum((hit.assignments - hit.granted) * hit.unit_cents for hit in CrowdHit.objects.all())
    assert batch.reserved_cents == spent(requester) + unsent + waiting
    assert PaidAction.objects.filter(kind="create_hit").count() == 8
    assert PaidAction.objects.filter(kind="approve").exists()


def test_the_command_killed_with_kill_9_goes_on_where_it_was(requester, live_server, tmp_path):
    """A real process, a real SIGKILL, again and again at random moments, until it ends by itself."""
    batch = drafted(judged_project("killed", examples=20), cap_cents=10_000)
    faults.order("slow", operation="CreateHITWithHITType", times=None, seconds=0.05)
    faults.order("drop_after", operation="CreateHITWithHITType", times=None, share=0.1, seed=3)
    surroundings = {
        **os.environ, "DATABASE_URL": database_url(), "PYRAMID_VAR": str(django_settings.VAR_DIR),
        "SECRET_KEY": django_settings.SECRET_KEY, "PUBLIC_URL": live_server.url, "EXCHANGE_KEY_ID": requester.key_id,
        "EXCHANGE_SECRET": requester.secret,
    }  # fmt: skip
    command = [sys.executable, "manage.py", "publish_hits", "killed", str(batch.number)]
    chance, kills = random.Random(5), 0
    for attempt in range(12):
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=surroundings, stdout=log, stderr=log)
        before = Hit.objects.count()
        deadline = time.monotonic() + 60
        # Killed once it has published a few more, so that each round cuts it at another place.
        enough = before + chance.randrange(1, 8) if attempt < 5 else 10**6
        while process.poll() is None and Hit.objects.count() < enough and time.monotonic() < deadline:
            time.sleep(chance.uniform(0.001, 0.03))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        if process.returncode == 0:
            break
    assert process.returncode == 0, (tmp_path / "log").read_text()[-2000:]
    assert kills >= 3
    batch.refresh_from_db()
    assert batch.state == "live"
    assert Hit.objects.count() == CrowdHit.objects.filter(state="live").count() == 40
    assert spent(requester) == batch.reserved_cents == 40 * 84
    assert PaidAction.objects.filter(kind="create_hit").count() == 40


def test_the_page_that_workers_see_is_the_one_that_was_planned(requester, client):
    batch = confirmed()
    publish_batch(batch.pk, market(), clock=clock.now)
    hit = CrowdHit.objects.first()
    question = Hit.objects.get(hit_id=hit.hit_id).question
    address = question.split("<ExternalURL>")[1].split("<")[0]
    page = client.get(address.removeprefix(django_settings.PUBLIC_URL)).content.decode()
    assert all(row["text"] in page for row in hit.page["rows"])
    assert answer(hit)
