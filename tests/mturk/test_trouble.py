"""What goes wrong between people, the market and us: nobody is wronged, no money is lost, and there is a way out."""

from __future__ import annotations

import datetime as dt

import pytest

from annotation import models as annotation
from mturk.market import Missing, NoFunds, Refused, Unclear, WrongAccount
from mturk.models import CrowdAssignment, CrowdBatch, CrowdBonus, CrowdHit, PaidAction
from mturk.requirements import NAMED, Requirement
from mturk.services import deciding, reconciling
from mturk.services.collecting import Collected, collect_batch, collect_hit, held_back, store_raw
from mturk.services.crowd_job import poll, synchronise
from mturk.services.deciding import carry_out, plan_bonus, preview_top_up, wish_approval, wish_rejection
from mturk.services.ending import CannotEnd, align, delete_copied, extend, reopen, resume, stop
from mturk.services.figures import list_crowd_batches
from mturk.services.money import PERSON, pause, record_decision, reserved_in_rows, set_cap
from mturk.services.planning import CannotPublish, confirm, dry_run, wish_of
from mturk.services.polling import claim_due
from mturk.services.publishing import PublishStopped, publish_batch, retry_failed
from mturk.services.reconciling import reconcile
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.judging import judged_project
from tests.mturk.crowds import answer, confirmed, drafted, wish, work_all
from tests.mturk.fakes import FakeMarket, Killed

pytestmark = pytest.mark.django_db

REASON = "Every statement has the same answer, the fillers too."


@pytest.fixture
def market() -> FakeMarket:
    return FakeMarket()


def published(market: FakeMarket, **given) -> CrowdBatch:
    batch = confirmed(**given)
    publish_batch(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    return batch


def collected(market: FakeMarket, batch: CrowdBatch, says: str = "present") -> list[CrowdAssignment]:
    work_all(market, batch, {"AWORKER1": says})
    collect_batch(batch.pk, market, clock=market.clock)
    return list(CrowdAssignment.objects.select_related("hit").order_by("pk"))


def books_are_right(batch: CrowdBatch) -> bool:
    batch.refresh_from_db()
    return batch.reserved_cents == reserved_in_rows(batch) <= batch.cap_cents


# --- decisions -----------------------------------------------------------------------------------------------------


def test_a_rejection_that_is_taken_back_in_time_is_never_sent(market):
    batch = published(market)
    rows = collected(market, batch)
    for row in rows[:2]:
        wish_rejection(row, REASON, now=NOW, actor=UserFactory())

    def change_of_mind(operation: str, when: str) -> None:
        if (operation, when) == ("reject", "before"):
            market.fault = lambda operation, when: None
            wish_approval([rows[1]], batch, now=NOW + dt.timedelta(seconds=1), actor=None)

    market.fault = change_of_mind
    carry_out(batch.pk, market, clock=market.clock)
    assert [market.get_assignment(row.assignment_id).status for row in rows[:2]] == ["rejected", "approved"]
    assert books_are_right(batch)


def test_a_rejection_taken_back_while_it_is_sent_is_paid_by_the_next_turn(market):
    batch = published(market)
    row = collected(market, batch)[0]
    wish_rejection(row, REASON, now=NOW, actor=UserFactory())

    def change_of_mind(operation: str, when: str) -> None:
        market.fault = lambda operation, when: None
        wish_approval([row], batch, now=NOW + dt.timedelta(seconds=1), actor=None)

    market.fault = change_of_mind
    carry_out(batch.pk, market, clock=market.clock)
    row.refresh_from_db()
    assert (row.status, row.wish) == ("rejected", "approve")
    assert books_are_right(batch)
    carry_out(batch.pk, market, clock=market.clock)
    row.refresh_from_db()
    assert (row.status, row.wish) == ("approved", "")
    assert market.get_assignment(row.assignment_id).status == "approved"
    assert books_are_right(batch)


def test_two_rejections_of_one_hit_are_taken_back_with_their_money(market):
    batch = published(market, assignments=3)
    hit = CrowdHit.objects.order_by("pk").first()
    for worker in ("AWORKER1", "AWORKER2"):
        market.work(hit.hit_id, worker, answer(hit))
    collect_batch(batch.pk, market, clock=market.clock)
    for row in CrowdAssignment.objects.all():
        wish_rejection(row, REASON, now=NOW, actor=UserFactory())
    carry_out(batch.pk, market, clock=market.clock)
    assert wish_approval(deciding.rejected(batch), batch, now=NOW, actor=None) == 2
    assert books_are_right(batch)
    carry_out(batch.pk, market, clock=market.clock)
    assert books_are_right(batch)


def test_work_that_is_gone_does_not_keep_others_from_their_pay(market, monkeypatch):
    batch = published(market)
    rows = collected(market, batch)
    wish_approval(deciding.passing(batch), batch, now=NOW, actor=None)
    gone, real = rows[0].assignment_id, market.get_assignment

    def approve(assignment_id: str, **given) -> None:
        if assignment_id == gone:
            raise Missing("no assignment", "AssignmentDoesNotExist")
        FakeMarket.approve(market, assignment_id, **given)

    def get(assignment_id: str):
        if assignment_id == gone:
            raise Missing("no assignment", "AssignmentDoesNotExist")
        return real(assignment_id)

    monkeypatch.setattr(market, "approve", approve)
    monkeypatch.setattr(market, "get_assignment", get)
    done = carry_out(batch.pk, market, clock=market.clock)
    assert (done.approved, len(done.errors)) == (3, 1)
    rows[0].refresh_from_db()
    assert (rows[0].wish, rows[0].error) == ("", "no assignment")


def test_what_the_market_approved_by_itself_has_its_line(market):
    batch = published(market)
    for row in collected(market, batch):
        market.approve(row.assignment_id)
    collect_batch(batch.pk, market, clock=market.clock)
    lines = PaidAction.objects.filter(kind="approve")
    assert [(line.cents, line.actor, line.detail) for line in lines] == [(42, None, {"by": "the market"})] * 4
    assert list_crowd_batches(batch.project)[0].paid == 4 * 42
    collect_batch(batch.pk, market, clock=market.clock, every=True)
    assert lines.count() == 4


# --- money for bonuses and for opening again -----------------------------------------------------------------------


def no_funds(*operations: str):
    def fault(operation: str, when: str) -> None:
        if operation in operations and when == "before":
            raise NoFunds("This Requester has insufficient funds.", "InsufficientFunds")

    return fault


def test_without_money_for_a_bonus_answers_are_still_collected_and_the_batch_pauses(market):
    batch = published(market)
    row = collected(market, batch)[0]
    plan_bonus(row, 5, "bonus 1", "Thank you.", now=NOW, actor=None)
    work_all(market, batch, {"AWORKER2": "present"})
    market.fault = no_funds("send_bonus")
    done = synchronise(batch, market)
    assert (done.found.new, done.errors) == (4, ["This Requester has insufficient funds."])
    batch.refresh_from_db()
    assert (batch.state, batch.pause_reason) == ("paused", "funds")
    market.fault = lambda operation, when: None
    resume(batch, now=NOW, actor=None)
    assert synchronise(batch, market).told.bonuses == 1


def test_without_money_to_open_again_answers_are_still_collected(market):
    batch = published(market)
    extend(batch, now=NOW, actor=None)
    work_all(market, batch, {"AWORKER1": "present"})
    market.fault = no_funds("set_expiry")
    assert synchronise(batch, market).found.new == 4
    batch.refresh_from_db()
    assert batch.pause_reason == "funds"
    assert CrowdHit.objects.filter(status="Due").count() == 4


def test_a_bonus_that_is_refused_after_a_lost_reply_gives_its_money_back(market, monkeypatch):
    batch = published(market)
    row = collected(market, batch)[0]
    plan_bonus(row, 5, "bonus 1", "Thank you.", now=NOW, actor=None)

    def silent(*given, **named) -> None:
        raise Unclear("no answer")

    def refuse(*given, **named) -> None:
        raise Refused("The worker is gone.", "WorkerDoesNotExist")

    monkeypatch.setattr(market, "send_bonus", silent)
    with pytest.raises(Unclear):
        carry_out(batch.pk, market, clock=market.clock)
    assert CrowdBonus.objects.get().state == "unknown"
    monkeypatch.setattr(market, "send_bonus", refuse)
    carry_out(batch.pk, market, clock=market.clock)
    assert CrowdBonus.objects.get().state == "failed"
    assert books_are_right(batch)


def test_hits_stay_open_longer(market):
    batch = published(market)
    market.now += dt.timedelta(days=3)
    assert extend(batch, now=market.now, actor=None) == 4
    collect_batch(batch.pk, market, clock=market.clock)  # in between: the wish is not forgotten
    assert align(batch.pk, market, clock=market.clock) == 4
    until = market.now + dt.timedelta(seconds=batch.lifetime_s)
    assert {hit.expires_at for hit in market.hits.values()} == {until}
    assert set(CrowdHit.objects.values_list("status", "expires_at")) == {("Assignable", until)}
    assert books_are_right(batch)
    pause(batch.pk, PERSON, now=NOW, actor=None)
    with pytest.raises(CannotEnd):
        extend(batch, now=NOW, actor=None)


def test_resuming_opens_what_somebody_was_working_on(market):
    batch = published(market)
    hit = CrowdHit.objects.order_by("pk").first()
    market.hits[hit.hit_id].taken = 1
    pause(batch.pk, PERSON, now=NOW, actor=None)
    align(batch.pk, market, clock=market.clock)
    collect_batch(batch.pk, market, clock=market.clock)
    assert market.get_hit(hit.hit_id).available == 0
    resume(batch, now=market.now, actor=None)
    align(batch.pk, market, clock=market.clock)
    assert market.get_hit(hit.hit_id).available == 1
    assert books_are_right(batch)


# --- publishing ----------------------------------------------------------------------------------------------------


def test_a_page_that_no_hit_can_carry_is_a_problem_of_the_dry_run(market):
    project = judged_project()
    annotation.Summary.objects.filter(pk=annotation.Summary.objects.first().pk).update(text="Long. " * 20_000)
    asked = wish(project, template="html")
    (problem,) = dry_run(project, asked, market).problems
    assert "more than the 65,535 that a HIT carries" in problem


def test_a_page_that_grew_fails_alone_and_gives_its_money_back(market):
    batch = confirmed(template="html")
    first = CrowdHit.objects.order_by("pk").first()
    CrowdHit.objects.filter(pk=first.pk).update(page={**first.page, "text": "Long. " * 20_000})
    done = publish_batch(batch.pk, market, clock=market.clock)
    assert (done.live, done.failed) == (3, 1)
    first.refresh_from_db()
    assert (first.state, first.reserved_cents, first.first_sent_at) == ("failed", 0, None)
    assert "more than the 65,535" in first.error
    assert books_are_right(batch)


def test_plain_http_is_for_our_own_exchange(market, settings, monkeypatch):
    settings.PUBLIC_URL = "http://lab.example.org"
    project = judged_project()
    assert dry_run(project, wish(project), market).problems == []
    lab = {"endpoint_url": "https://turk.example.org/", "region": "r", "key_id_variable": "A", "secret_variable": "B"}
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", lab)
    (problem,) = dry_run(project, wish(project, batch=1, environment="lab"), market).problems
    assert "is not https" in problem


def test_pages_that_travel_need_a_second_address_in_production(market, settings):
    settings.PRODUCTION, settings.EXCHANGE_FRAME_ORIGIN = True, ""
    project = judged_project()
    asked = wish(project, template="html")
    assert "EXCHANGE_FRAME_ORIGIN" in dry_run(project, asked, market).problems[0]
    settings.EXCHANGE_FRAME_ORIGIN = "https://frames.example.org"
    assert dry_run(project, asked, market).problems == []


def test_a_market_that_tells_only_its_balance_is_not_checked(market, monkeypatch):
    def silent(name: str) -> str:
        raise Unclear("no answer")

    monkeypatch.setattr(market, "find_qualification", silent)
    batch = drafted(requirements=(Requirement(NAMED, name="Pyramid judges"),))
    found = dry_run(batch.project, wish_of(batch), market)
    assert not found.is_checked
    assert found.can_go


def test_other_fees_than_when_it_was_drafted_are_not_paid_unseen(market, settings, monkeypatch):
    batch = drafted()
    exchange = {**settings.CROWD_ENVIRONMENTS["exchange"], "fees": "amazon"}
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "exchange", exchange)
    with pytest.raises(CannotPublish, match="other fees"):
        confirm(batch, typed="", now=NOW, actor=None)


def test_settings_that_the_market_refuses_pause_the_batch_in_its_words(market, monkeypatch):
    def refuse(wanted) -> str:
        raise Refused("Country XX is not known.", "ParameterValidationError")

    monkeypatch.setattr(market, "create_type", refuse)
    batch = confirmed()
    with pytest.raises(PublishStopped, match="Country XX is not known"):
        publish_batch(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    assert (batch.state, batch.pause_reason) == ("paused", "market")


def refuse_one(market: FakeMarket) -> None:
    left = [Refused("no", "ParameterValidationError")]

    def fault(operation: str, when: str) -> None:
        if operation == "create_hit" and when == "before" and left:
            raise left.pop()

    market.fault = fault


def test_what_failed_is_reserved_once_wherever_it_was_cut_off(market, monkeypatch):
    refuse_one(market)
    batch = confirmed()

    def kill(*given, **named) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("mturk.services.publishing.settle_hit", kill)
        publish_batch(batch.pk, market, clock=market.clock)
    assert books_are_right(batch)
    publish_batch(batch.pk, market, clock=market.clock)
    retry_failed(batch, now=NOW, actor=None)
    assert books_are_right(batch)
    publish_batch(batch.pk, market, clock=market.clock)
    assert (len(market.hits), batch.reserved_cents) == (4, 8 * 42)


def test_a_done_batch_sends_again_what_failed(market):
    refuse_one(market)
    batch = published(market)
    market.now += dt.timedelta(days=30)
    collect_batch(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    assert batch.state == "done"
    assert retry_failed(batch, now=market.now, actor=None) == 1
    publish_batch(batch.pk, market, clock=market.clock)
    assert len(market.hits) == 4
    assert books_are_right(batch)
    CrowdBatch.objects.update(state="stopped")
    CrowdHit.objects.filter(task=1).update(state="failed", reserved_cents=0)
    assert retry_failed(batch, now=market.now, actor=None) == 0


def test_a_hit_that_is_gone_takes_its_money_along(market):
    batch = published(market)
    hit = CrowdHit.objects.order_by("pk").first()
    market.hits[hit.hit_id].is_deleted = True
    collect_hit(hit, market, Collected(), clock=market.clock)
    hit.refresh_from_db()
    assert (hit.state, hit.reserved_cents) == ("gone", 0)
    assert books_are_right(batch)


# --- the same HIT twice --------------------------------------------------------------------------------------------


def lost_reply(market: FakeMarket) -> CrowdBatch:
    """A batch of which one HIT was sent a day ago, never got an answer, and was not made."""
    batch = published(market)
    first = CrowdHit.objects.order_by("pk").first()
    del market.hits[first.hit_id]
    CrowdHit.objects.filter(pk=first.pk).update(
        state="unknown", hit_id="", granted=0, first_sent_at=NOW - dt.timedelta(hours=30)
    )
    CrowdBatch.objects.update(state="publishing")
    return batch


def test_two_who_reconcile_begin_a_row_anew_once(market):
    lost_reply(market)
    row = CrowdHit.objects.get(state="unknown")
    assert reconciling._begin_anew(row.pk, now=NOW)
    CrowdHit.objects.filter(pk=row.pk).update(state="sending", first_sent_at=NOW, sent_at=NOW)  # the first sends it
    assert not reconciling._begin_anew(row.pk, now=NOW)
    row.refresh_from_db()
    assert row.revision == 2


def test_work_on_a_surplus_hit_is_collected_and_its_places_are_closed(market):
    batch = published(market)
    hit = CrowdHit.objects.order_by("pk").first()
    twin = market.create_hit(
        hit.hit_type_id, question="q", assignments=2, lifetime_s=600, annotation=f"{hit.annotation[:-1]}2", token="t2"
    )
    done = market.work(twin, "AWORKER9", answer(hit))
    reconcile(batch, market, now=market.now)
    assert market.get_hit(twin).available == 0
    collect_batch(batch.pk, market, clock=market.clock)
    row = CrowdAssignment.objects.get()
    assert (row.assignment_id, row.hit, row.stored is not None) == (done.assignment_id, hit, True)
    assert books_are_right(batch)


# --- further votes -------------------------------------------------------------------------------------------------


def test_the_preview_tells_what_further_votes_may_cost(market):
    project = judged_project()
    found = dry_run(project, wish(project, cap_cents=8 * 42), market)
    assert (found.cost.total, found.cost.most) == (8 * 42, 12 * 42)
    assert any("With a further vote on every sheet" in text for text in found.warnings)
    writing = dry_run(project, wish(project, kind="writing"), market)
    assert writing.cost.most == writing.cost.total


def test_votes_that_the_cap_holds_back_are_told_and_had_when_it_is_raised(market):
    batch = published(market, cap_cents=8 * 42)
    work_all(market, batch, {"AWORKER1": "present", "AWORKER2": "unsure"})
    synchronise(batch, market)
    wish_approval(deciding.all_work(batch), batch, now=NOW, actor=None)
    synchronise(batch, market)
    batch.refresh_from_db()
    assert (batch.state, held_back(batch)) == ("live", 4)
    set_cap(batch, 12 * 42, now=NOW, actor=None)
    synchronise(batch, market)
    assert held_back(batch) == 0
    assert work_all(market, batch, {"AWORKER3": "present"}) == 4
    assert books_are_right(batch)


# --- two at once, and changes in the middle ------------------------------------------------------------------------


def test_a_market_that_moved_is_not_asked_about_anybodys_work(market, settings, monkeypatch):
    lab = {"endpoint_url": "https://turk.example.org/", "region": "r", "key_id_variable": "A", "secret_variable": "B"}
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", lab)
    batch = confirm(drafted(environment="lab"), typed="Are the facts in a text? $6.00", now=NOW, actor=None)
    publish_batch(batch.pk, market, clock=market.clock)
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "lab", {**lab, "endpoint_url": "https://elsewhere.example.org/"})
    poll(batch.pk, connect_to=lambda batch: FakeMarket())
    assert set(CrowdHit.objects.values_list("state", flat=True)) == {"live"}
    batch.refresh_from_db()
    assert (batch.state, batch.pause_reason, batch.reserved_cents) == ("paused", "market", 400)


def test_our_own_exchange_is_the_same_at_another_address(market, settings, monkeypatch):
    batch = published(market)
    moved = {**settings.CROWD_ENVIRONMENTS["exchange"], "endpoint_url": "http://127.0.0.1:9999/exchange/api/"}
    monkeypatch.setitem(settings.CROWD_ENVIRONMENTS, "exchange", moved)
    assert synchronise(batch, market).found.hits == 4


def test_an_old_list_does_not_close_what_was_opened_meanwhile(market, monkeypatch):
    batch = published(market)
    market.now += dt.timedelta(days=30)
    collect_batch(batch.pk, market, clock=market.clock)
    CrowdBatch.objects.update(state="live")
    CrowdHit.objects.update(status="Assignable")  # as the slow one has read them
    old = list(market.list_hits())

    def slow_list():
        monkeypatch.undo()
        CrowdHit.objects.update(status="Reviewable")
        reopen(batch, now=market.now, actor=None)
        align(batch.pk, market, clock=market.clock)
        return iter(old)

    monkeypatch.setattr(market, "list_hits", slow_list)
    collect_batch(batch.pk, market, clock=market.clock)
    assert set(CrowdHit.objects.values_list("status", flat=True)) == {"Assignable"}
    batch.refresh_from_db()
    assert batch.state == "live"
    assert books_are_right(batch)


def test_an_old_page_of_assignments_does_not_undo_a_decision(market):
    batch = published(market)
    row = collected(market, batch)[0]
    old = market.get_assignment(row.assignment_id)
    wish_rejection(row, REASON, now=NOW, actor=UserFactory())
    carry_out(batch.pk, market, clock=market.clock)
    store_raw(row.hit, old, Collected(), now=market.now)
    row.refresh_from_db()
    assert row.status == "rejected"
    assert books_are_right(batch)


def test_stopping_gives_back_the_money_of_what_was_to_be_opened(market):
    batch = published(market)
    market.now += dt.timedelta(days=30)
    collect_batch(batch.pk, market, clock=market.clock)
    reopen(batch, now=market.now, actor=None)
    market.fault = no_funds("set_expiry")
    synchronise_at(market, batch)
    stop(batch, now=market.now, actor=None)
    synchronise_at(market, batch)
    batch.refresh_from_db()
    assert (batch.state, batch.reserved_cents) == ("stopped", 0)
    assert books_are_right(batch)


def synchronise_at(market: FakeMarket, batch: CrowdBatch) -> None:
    """The steps of a turn by the market's clock."""
    align(batch.pk, market, clock=market.clock)
    collect_batch(batch.pk, market, clock=market.clock)


def test_resuming_in_the_middle_of_a_pause_leaves_nothing_down(market):
    batch = published(market)
    pause(batch.pk, PERSON, now=NOW, actor=None)
    calls: list[str] = []

    def resume_during_the_second(operation: str, when: str) -> None:
        calls.append(operation)
        if calls.count("set_expiry") == 2:
            market.fault = lambda operation, when: None
            resume(batch, now=market.now, actor=None)

    market.fault = resume_during_the_second
    assert align(batch.pk, market, clock=market.clock) == 2
    synchronise_at(market, batch)
    assert all(market.get_hit(hit_id).available == 2 for hit_id in market.hits)
    assert books_are_right(batch)


def test_paused_for_funds_opens_nothing_by_itself(market):
    batch = published(market)
    extend(batch, now=NOW, actor=None)
    CrowdBatch.objects.update(state="paused", pause_reason="funds")
    assert align(batch.pk, market, clock=market.clock) == 0
    assert CrowdHit.objects.filter(status="Due").count() == 4


def test_a_decision_on_a_done_batch_is_told_again_if_the_first_try_failed(market):
    batch = published(market)
    rows = collected(market, batch)
    for row in rows:
        wish_rejection(row, REASON, now=NOW, actor=UserFactory())
    carry_out(batch.pk, market, clock=market.clock)
    market.now += dt.timedelta(days=9)
    collect_batch(batch.pk, market, clock=market.clock)
    batch.refresh_from_db()
    assert batch.state == "done"
    wish_approval([rows[0]], batch, now=market.now, actor=None)
    assert claim_due(now=market.now + dt.timedelta(hours=1)) == [batch.pk]


def test_nothing_is_deleted_while_a_decision_is_on_its_way(market):
    batch = published(market)
    rows = collected(market, batch)
    for row in rows:
        wish_rejection(row, REASON, now=NOW, actor=UserFactory())
    carry_out(batch.pk, market, clock=market.clock)
    market.now += dt.timedelta(days=9)
    collect_batch(batch.pk, market, clock=market.clock)
    wish_approval([rows[0]], batch, now=market.now, actor=None)
    assert delete_copied(batch.pk, market, clock=market.clock) == 3
    assert not market.hits[rows[0].hit.hit_id].is_deleted


def test_a_surplus_hit_has_its_own_places_and_is_deleted_with_the_other(market):
    batch = published(market)
    hit = CrowdHit.objects.order_by("pk").first()
    twin = market.create_hit(
        hit.hit_type_id, question="q", assignments=2, lifetime_s=600, annotation=f"{hit.annotation[:-1]}2", token="t2"
    )
    market.work(twin, "AWORKER9", answer(hit))
    reconcile(batch, market, now=market.now)
    collect_batch(batch.pk, market, clock=market.clock)
    hit.refresh_from_db()
    assert hit.reserved_cents == 3 * 42  # its own two places, and the work of the other
    market.now += dt.timedelta(days=30)
    for row in CrowdAssignment.objects.all():
        market.approve(row.assignment_id)
    collect_batch(batch.pk, market, clock=market.clock)
    assert delete_copied(batch.pk, market, clock=market.clock) == 4
    assert all(there.is_deleted for there in market.hits.values())


def test_a_top_up_leaves_out_what_is_to_be_rejected(market):
    batch = published(market)
    rows = collected(market, batch)
    CrowdAssignment.objects.update(active_s=500, accepted_at=NOW - dt.timedelta(seconds=500), submitted_at=NOW)
    assert preview_top_up(batch).total == 0  # nobody has looked at it yet
    wish_rejection(rows[0], REASON, now=NOW, actor=UserFactory())
    wish_approval(rows[1:], batch, now=NOW, actor=None)
    assert set(preview_top_up(batch).cents) == {row.pk for row in rows[1:]}


def test_a_line_that_is_there_already_is_no_error(market):
    batch = published(market)
    row = collected(market, batch)[0]
    for _twice in range(2):
        record_decision(row, "approved", now=NOW, actor=None)
    assert PaidAction.objects.filter(kind="approve").count() == 1


def test_a_look_with_anothers_keys_changes_nothing(market):
    batch = published(market)
    work_all(market, batch, {"AWORKER1": "present"})
    with pytest.raises(WrongAccount, match="none of the 4 HITs"):
        synchronise(batch, FakeMarket())
    batch.refresh_from_db()
    assert (batch.state, batch.reserved_cents) == ("live", 8 * 42)
    assert synchronise(batch, market).found.new == 4


def test_hits_that_are_there_after_all_come_back(market):
    batch = published(market)
    work_all(market, batch, {"AWORKER1": "present"})
    CrowdHit.objects.update(state="gone", reserved_cents=0)
    CrowdBatch.objects.update(state="done", reserved_cents=0)
    batch.refresh_from_db()
    assert collect_batch(batch.pk, market, clock=market.clock).new == 4
    batch.refresh_from_db()
    assert (batch.state, batch.reserved_cents) == ("live", 8 * 42)
    assert books_are_right(batch)
