"""Each assignment once, nothing lost, everybody paid what was decided and no more."""

from __future__ import annotations

import datetime as dt

import pytest

from annotation import models as annotation
from annotation.services.quality import judge_list
from annotation.services.votes import read_tallies
from mturk.market import Unclear
from mturk.models import CrowdAssignment, CrowdBatch, CrowdBonus, CrowdHit, PaidAction
from mturk.pricing import OverCap
from mturk.services import collecting, deciding, ending
from mturk.services.collecting import Collected, collect_batch, read_waiting
from mturk.services.deciding import CannotDecide, carry_out, plan_bonus, plan_top_up, preview_top_up
from mturk.services.ending import align, delete_copied, reopen, resume, stop
from mturk.services.money import PERSON, pause, reserved_in_rows, set_cap
from mturk.services.publishing import PublishStopped, publish_batch
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.judging import judged_project
from tests.mturk.crowds import answer, confirmed, work_all, xml
from tests.mturk.fakes import FakeMarket, Killed, Trouble

pytestmark = pytest.mark.django_db


def published(**given) -> tuple[CrowdBatch, FakeMarket]:
    batch, market = confirmed(**given), FakeMarket()
    publish_batch(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    return batch, market


def collect(batch: CrowdBatch, market: FakeMarket, **given) -> Collected:
    done = collect_batch(batch.pk, market, clock=market.clock, **given)
    batch.refresh_from_db()
    assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents
    return done


def pay(batch: CrowdBatch, market: FakeMarket):
    done = carry_out(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents
    return done


def test_answers_become_judgements_of_pseudonyms():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "not_present"})
    done = collect(batch, market)
    assert (done.new, done.stored, done.problems) == (8, 8, 0)
    assert annotation.Assignment.objects.filter(origin="crowd").count() == 8
    assert annotation.Judgement.objects.count() == 8 * 3
    assert {(tally.present, tally.absent) for tally in read_tallies(batch.project).values()} == {(1, 1)}
    judges = set(annotation.Judgement.objects.values_list("judge__key", flat=True))
    assert len(judges) == 2
    assert all(key.startswith("w-") for key in judges)
    assert set(annotation.WorkerIdentity.objects.values_list("name", flat=True)) == {"AWORKER1", "AWORKER2"}
    assert annotation.Task.objects.filter(state="done").count() == 8


def test_collecting_again_changes_nothing():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    done = collect(batch, market)
    assert (done.new, done.stored, done.asked) == (0, 0, 0)
    every = collect(batch, market, every=True)
    assert (every.new, every.stored, every.asked) == (0, 0, 4)
    assert CrowdAssignment.objects.count() == annotation.Assignment.objects.count() == 4


def test_an_answer_that_cannot_be_read_is_kept_and_said():
    batch, market = published()
    hit = CrowdHit.objects.first()
    bomb = '<!DOCTYPE a [<!ENTITY x "y">]><QuestionFormAnswers>&x;</QuestionFormAnswers>'
    for worker, text in (("AWORKER1", bomb), ("AWORKER2", "")):
        market.work(hit.hit_id, worker, text)
    done = collect(batch, market)
    assert (done.new, done.stored, done.problems) == (2, 0, 2)
    kept = CrowdAssignment.objects.get(raw=bomb)
    assert "not read" in kept.problem
    assert (kept.checks, kept.answers, kept.stored) == (["unreadable"], None, None)
    assert set(deciding.failing(batch)) == set(CrowdAssignment.objects.all())
    # Once the reader can do more, they are read without asking the market.
    CrowdAssignment.objects.filter(pk=kept.pk).update(raw=answer(hit))
    read_waiting(batch, again := Collected(), clock=market.clock, again=True)
    assert again.stored == 1


def test_raw_answers_are_stored_before_anybody_reads_them(monkeypatch):
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})

    def dies(*_given, **_more):
        raise Killed

    monkeypatch.setattr(collecting, "read_answers", dies)
    with pytest.raises(Killed):
        collect(batch, market)
    assert CrowdAssignment.objects.exclude(raw="").count() == 4
    monkeypatch.undo()
    assert collect(batch, market).stored == 4


def test_checks_tell_what_to_read_and_reject_nobody():
    batch, market = published(judging={"with_fillers": False})
    hit = CrowdHit.objects.first()
    hit.page = {**hit.page, "rows": [*hit.page["rows"], {"unit": None, "text": "A filler."}]}
    hit.save()
    market.work(hit.hit_id, "AWORKER1", answer(hit, u4="present"))
    market.work(hit.hit_id, "AWORKER2", xml({"u1": "present", "u2": "unsure", "seconds": "1"}))
    collect(batch, market)
    first, second = CrowdAssignment.objects.order_by("pk")
    assert (first.checks, second.checks) == (["attention"], ["unanswered", "fast"])
    assert annotation.FillerAnswer.objects.get(assignment=first.stored).answer == "present"
    assert annotation.Judgement.objects.filter(assignment=second.stored).count() == 2  # what was answered counts
    assert set(CrowdAssignment.objects.values_list("status", "wish")) == {("submitted", "")}


def test_times_are_the_smaller_of_page_and_market():
    batch, market = published()
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", answer(hit, seconds="30"), seconds=3000)
    market.work(hit.hit_id, "AWORKER2", answer(hit, seconds="nonsense"), seconds=80)
    collect(batch, market)
    assert [row.worked_s for row in CrowdAssignment.objects.order_by("pk")] == [30, 80]


def test_where_two_differ_a_third_worker_is_asked_through_the_same_hit():
    batch, market = published(judging={"is_adaptive": True})
    hits = list(CrowdHit.objects.order_by("task"))
    for hit in hits:
        market.work(hit.hit_id, "AWORKER1", answer(hit, "present"))
        market.work(hit.hit_id, "AWORKER2", answer(hit, "present" if hit.task > 1 else "not_present"))
    assert collect(batch, market).more == 1
    assert batch.reserved_cents == (4 * 2 + 1) * 42
    done = publish_batch(batch.pk, market, clock=market.clock)
    assert done.added == 1
    assert market.get_hit(hits[0].hit_id).most == 3
    publish_batch(batch.pk, market, clock=market.clock)
    assert market.get_hit(hits[0].hit_id).most == 3  # once
    work_all(market, batch, {"AWORKER3": "present"})
    assert collect(batch, market).more == 0
    assert not annotation.Task.objects.filter(state="open").exists()
    tallies = read_tallies(batch.project)
    assert sorted({(tally.present, tally.absent) for tally in tallies.values()}) == [(2, 0), (2, 1)]


def test_a_third_vote_waits_where_the_cap_has_no_room():
    batch, market = published(judging={"is_adaptive": True}, cap_cents=8 * 42)
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "not_present"})
    done = collect(batch, market)
    assert (done.more, done.held_back) == (0, 4)
    set_cap(batch, 10 * 42, now=NOW, actor=None)
    assert collect(batch, market).more == 2


def test_more_assignments_are_asked_for_once_although_the_reply_was_lost():
    batch, market = published(judging={"is_adaptive": True})
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "not_present"})
    collect(batch, market)
    left = [Unclear("dropped")]

    def fault(operation: str, when: str) -> None:
        if (operation, when) == ("add_assignments", "after") and left:
            raise left.pop()

    market.fault = fault
    with pytest.raises(PublishStopped):
        publish_batch(batch.pk, market, clock=market.clock)
    market.now += dt.timedelta(hours=30)  # the token does not help any more, the figure does
    publish_batch(batch.pk, market, clock=market.clock)
    assert {hit.most for hit in market.hits.values()} == {3}


def test_approving_is_make_it_so():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "present"})
    collect(batch, market)
    lead = UserFactory()
    assert deciding.wish_approval(deciding.passing(batch), batch, now=NOW, actor=lead) == 8
    first = CrowdAssignment.objects.first()
    market.approve(first.assignment_id)  # somebody else was quicker
    done = pay(batch, market)
    assert (done.approved, done.errors) == (8, [])
    assert set(CrowdAssignment.objects.values_list("status", "wish")) == {("approved", "")}
    lines = PaidAction.objects.filter(kind="approve")
    assert sum(line.cents for line in lines) == 8 * 42 == batch.reserved_cents
    assert {line.actor for line in lines} == {lead}
    collect(batch, market)
    assert batch.state == "done"


def test_what_the_market_approves_by_itself_is_noticed():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    for row in CrowdAssignment.objects.all():
        market.approve(row.assignment_id)
    assert collect(batch, market).changed == 4
    assert set(CrowdAssignment.objects.values_list("status", flat=True)) == {"approved"}


def test_only_a_person_with_a_reason_rejects():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    row = CrowdAssignment.objects.select_related("hit", "worker").first()
    with pytest.raises(CannotDecide, match="Say why"):
        deciding.wish_rejection(row, "bad", now=NOW, actor=UserFactory())
    deciding.wish_rejection(row, "Every statement was marked, the filler too.", now=NOW, actor=UserFactory())
    done = pay(batch, market)
    assert done.rejected == 1
    assert market.get_assignment(row.assignment_id).feedback.startswith("Every statement")
    assert batch.reserved_cents == 7 * 42  # not owed any more
    with pytest.raises(CannotDecide, match="decided"):
        deciding.wish_rejection(row, "Every statement was marked, the filler too.", now=NOW, actor=UserFactory())
    # A rejection can be taken back, with its money.
    row.refresh_from_db()
    deciding.wish_approval([row], batch, now=NOW, actor=UserFactory())
    assert pay(batch, market).approved == 1
    assert batch.reserved_cents == 8 * 42


def test_bonuses_bring_pay_to_the_floor_once():
    batch, market = published(cap_cents=1_000)
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", answer(hit, seconds="110"), seconds=120)
    market.work(hit.hit_id, "AWORKER2", answer(hit, seconds="150"), seconds=160)
    collect(batch, market)
    deciding.wish_approval(deciding.passing(batch), batch, now=NOW, actor=None)
    found = preview_top_up(batch)
    assert (found.median_s, found.total) == (130, 2 * (55 - 42))
    with pytest.raises(CannotDecide, match="Look again"):
        plan_top_up(batch, expected=1, now=NOW, actor=None)
    assert plan_top_up(batch, expected=found.total, now=NOW, actor=None) == 2
    assert preview_top_up(batch).total == 0
    assert pay(batch, market).bonuses == 2
    assert pay(batch, market).bonuses == 0
    assert [cents for _id, cents, _reason, _token in market.bonuses] == [13, 13]
    assert batch.reserved_cents == 8 * 42 + 26
    assert PaidAction.objects.filter(kind="bonus").count() == 2


def test_a_bonus_beyond_the_cap_is_not_planned():
    batch, market = published(cap_cents=8 * 42)
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    row = CrowdAssignment.objects.first()
    with pytest.raises(OverCap):
        plan_bonus(row, 1, "thanks", "Thank you for the comment.", now=NOW, actor=None)
    assert not CrowdBonus.objects.exists()


@pytest.mark.parametrize("hours", [0, 30])
def test_a_bonus_whose_reply_was_lost_is_paid_once(hours):
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    plan_bonus(CrowdAssignment.objects.first(), 5, "thanks", "Thank you.", now=NOW, actor=None)
    left = [Killed()]

    def fault(operation: str, when: str) -> None:
        if (operation, when) == ("send_bonus", "after") and left:
            raise left.pop()

    market.fault = fault
    with pytest.raises(Killed):
        pay(batch, market)
    market.now += dt.timedelta(hours=hours)
    assert pay(batch, market).bonuses == 1
    assert len(market.bonuses) == 1


def test_stopping_takes_hits_down_and_still_pays_what_was_done():
    batch, market = published()
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", answer(hit))
    stop(batch, now=NOW, actor=None)
    assert align(batch.pk, market, clock=market.clock) == 4
    assert collect(batch, market).stored == 1
    assert batch.reserved_cents == 42
    with pytest.raises(PublishStopped):
        publish_batch(batch.pk, market, clock=market.clock)
    assert annotation.Batch.objects.get().closed_at is not None


def test_pausing_takes_hits_down_and_resuming_opens_them_with_their_money():
    batch, market = published()
    pause(batch.pk, PERSON, now=NOW, actor=None)
    align(batch.pk, market, clock=market.clock)
    collect(batch, market)
    assert batch.reserved_cents == 0
    resume(batch, now=NOW, actor=None)
    batch.refresh_from_db()
    assert batch.reserved_cents == 8 * 42 == reserved_in_rows(batch)
    align(batch.pk, market, clock=market.clock)
    assert all(market.get_hit(hit_id).available == 2 for hit_id in market.hits)
    collect(batch, market)
    assert batch.reserved_cents == 8 * 42


def test_hits_that_ran_out_are_opened_again_if_the_cap_allows():
    batch, market = published(cap_cents=8 * 42)
    market.now += dt.timedelta(days=30)
    collect(batch, market)
    assert batch.state == "done"
    assert reopen(batch, now=market.now, actor=None) == 8
    align(batch.pk, market, clock=market.clock)
    assert work_all(market, batch, {"AWORKER1": "present"}) == 4
    set_cap(batch, 9 * 42, now=NOW, actor=None)
    collect(batch, market)
    assert batch.state == "live"


def test_nothing_is_deleted_before_it_is_copied():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "present"})
    collect(batch, market)
    assert delete_copied(batch.pk, market, clock=market.clock) == 0  # not decided
    deciding.wish_approval(deciding.passing(batch), batch, now=NOW, actor=None)
    pay(batch, market)
    collect(batch, market)
    first = CrowdAssignment.objects.first()
    CrowdAssignment.objects.filter(pk=first.pk).update(raw="something else")
    assert delete_copied(batch.pk, market, clock=market.clock) == 3  # all but the one that differs
    assert CrowdHit.objects.filter(state="gone").count() == 3
    assert not market.hits[first.hit.hit_id].is_deleted
    batch.refresh_from_db()
    assert batch.reserved_cents == 8 * 42 == reserved_in_rows(batch)


def test_a_hit_that_the_market_has_lost_is_told_by_what_we_have():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})
    collect(batch, market)
    *lost, last = market.hits.values()
    for hit in lost:
        hit.is_deleted = True
    collect(batch, market)
    assert sorted(CrowdHit.objects.values_list("state", flat=True)) == ["gone", "gone", "gone", "live"]
    assert batch.reserved_cents == 3 * 42 + 2 * 42
    last.is_deleted = True  # nothing of it is there: only who stops the batch says that this is right
    stop(batch, now=NOW, actor=None)
    collect(batch, market)
    assert set(CrowdHit.objects.values_list("state", flat=True)) == {"gone"}
    assert batch.reserved_cents == 4 * 42


def test_what_the_crowd_writes_is_kept_for_a_person_to_take():
    project = judged_project()
    batch, market = published(project=project, kind="writing")
    hit = CrowdHit.objects.first()
    market.work(hit.hit_id, "AWORKER1", xml({f"s{place}": f"Fact {place}." for place in range(1, 9)}))
    market.work(hit.hit_id, "AWORKER2", xml({"s1": "Only one."}))
    assert collect(batch, market).stored == 2
    assert [row.checks for row in CrowdAssignment.objects.order_by("pk")] == [[], ["few"]]
    assert not annotation.Unit.objects.filter(author__isnull=False).exists()


@pytest.mark.parametrize("seed", range(4))
def test_killed_and_faulted_at_random_every_assignment_is_there_once(seed):
    """Publisher, workers, collector and payer take turns; whoever is in trouble begins again later."""
    batch = confirmed(judged_project(examples=3), judging={"is_adaptive": True}, cap_cents=6 * 3 * 42 + 200)
    trouble = Trouble(seed, share=0.15, kinds=("drop", "busy", "kill"))
    market = FakeMarket(fault=trouble)
    chance = trouble.chance
    for step in range(80):
        trouble.share = 0.0 if step > 65 else trouble.share
        act = chance.choice(["publish", "work", "collect", "collect", "pay"])
        try:
            if act == "publish":
                publish_batch(batch.pk, market, clock=market.clock)
            elif act == "work":
                worker = f"AWORKER{chance.randrange(5)}"
                work_all(market, batch, {worker: chance.choice(["present", "not_present"])})
            elif act == "collect":
                collect_batch(batch.pk, market, clock=market.clock)
            else:
                deciding.wish_approval(deciding.passing(batch), batch, now=market.now, actor=None)
                carry_out(batch.pk, market, clock=market.clock)
        except (Killed, PublishStopped, Unclear, Exception) as error:
            if (
                not isinstance(error, Killed | PublishStopped)
                and "Rate" not in str(error)
                and "closed" not in str(error)
            ):
                raise
        batch.refresh_from_db()
        assert batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents
        market.now += dt.timedelta(hours=chance.choice([0, 0, 1, 25]) if step < 40 else 0)
    there = [one for hit in market.hits.values() for one in hit.work]
    known = set(CrowdAssignment.objects.values_list("assignment_id", flat=True))
    collect(batch, market, every=True)
    assert {one.assignment_id for one in there} == set(CrowdAssignment.objects.values_list("assignment_id", flat=True))
    assert known <= {one.assignment_id for one in there}
    assert CrowdAssignment.objects.filter(stored__isnull=False).count() == len(there)
    paid = sum(market.hits[one.hit_id].reward for one in there if one.status == "approved")
    assert paid == sum(PaidAction.objects.filter(kind="approve").values_list("cents", flat=True))
    assert len({hit.annotation.split(":")[2] for hit in market.hits.values()}) <= 6
    assert ending.copy_digest(batch) == ending.copy_digest(batch)


def test_the_time_of_a_sheet_is_shared_by_its_statements_on_the_page_of_judges():
    batch, market = published()
    work_all(market, batch, {"AWORKER1": "present"})  # 50 seconds each, by the page's own clock
    collect(batch, market)
    (row,) = judge_list(batch.project).rows
    assert row.seconds == pytest.approx([50 / 3] * 12)
