"""What time does, seen by whoever looks: deadlines, approval by itself, expiry, disposal."""

from __future__ import annotations

import datetime as dt

from mturk.exchange.models import AssignmentState, Hit, HitAssignment
from mturk.exchange.services import clock, settling
from mturk.exchange.services.settling import settle
from tests.mturk.exchange.walking import DAY, accept, counts, hit_of, money, publish, refused, submit


def test_a_deadline_that_passes_gives_the_assignment_back(mturk):
    hit_id = publish(mturk, MaxAssignments=1)
    held = accept(hit_id)
    clock.advance(599)
    assert counts(hit_of(mturk, hit_id)) == ("Unassignable", 0, 1, 0)
    clock.advance(2)
    assert counts(hit_of(mturk, hit_id)) == ("Assignable", 1, 0, 0)
    held.refresh_from_db()
    assert held.state == AssignmentState.ABANDONED
    assert money(mturk) == ("99.80", "0.20")
    assert submit(hit_id, held.worker)  # whoever abandoned may take it again


def test_work_is_approved_and_paid_by_itself_at_its_time(mturk, worker):
    assignment_id = submit(publish(mturk, AutoApprovalDelayInSeconds=3600), worker)
    clock.advance(3599)
    assert mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"] == "Submitted"
    clock.advance(DAY)
    shown = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert shown["AssignmentStatus"] == "Approved"
    assert shown["ApprovalTime"] == shown["AutoApprovalTime"]  # not when somebody looked
    assert money(mturk) == ("99.40", "0.40")
    with refused("InvalidAssignmentState"):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="too late")


def test_a_delay_of_nothing_approves_at_once(mturk):
    assignment_id = submit(publish(mturk, AutoApprovalDelayInSeconds=0))
    assert mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"] == "Approved"


def test_two_assignments_of_one_hit_are_paid_together(mturk):
    hit_id = publish(mturk, AutoApprovalDelayInSeconds=60)
    first, _second = submit(hit_id), submit(hit_id)
    clock.advance(120)
    assert money(mturk) == ("99.40", "0.20")
    assert Hit.objects.get(hit_id=hit_id).held_cents == 20
    assert mturk.get_assignment(AssignmentId=first)["Assignment"]["AssignmentStatus"] == "Approved"


def test_expiry_frees_what_nobody_took(mturk):
    hit_id = publish(mturk, LifetimeInSeconds=300)
    accept(hit_id)
    submit(hit_id)
    clock.advance(301)
    assert counts(hit_of(mturk, hit_id)) == ("Unassignable", 0, 1, 0)
    assert money(mturk) == ("99.60", "0.40")
    clock.advance(600)  # the one who accepted does not come back
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 0)
    assert money(mturk) == ("99.80", "0.20")


def test_what_was_accepted_in_time_is_handed_in_after_expiry(mturk):
    hit_id = publish(mturk, LifetimeInSeconds=300, MaxAssignments=1)
    held = accept(hit_id)
    clock.advance(400)
    settle(now=clock.now())
    now = clock.now()
    HitAssignment.objects.filter(pk=held.pk).update(
        state="submitted", submitted_at=now, auto_approve_at=now + dt.timedelta(days=1), answer="<a/>"
    )
    assert counts(hit_of(mturk, hit_id)) == ("Reviewable", 0, 0, 0)
    mturk.approve_assignment(AssignmentId=held.assignment_id)
    assert money(mturk) == ("99.80", "0.00")


def test_a_hit_that_nobody_touches_is_disposed_of(mturk):
    hit_id = publish(mturk, LifetimeInSeconds=300, MaxAssignments=1, AutoApprovalDelayInSeconds=10 * DAY)
    submit(hit_id)
    kept = publish(mturk, LifetimeInSeconds=100 * DAY)
    clock.advance(120 * DAY)  # after expiry, but not after the approval
    assert hit_of(mturk, hit_id)["HITStatus"] == "Reviewable"
    clock.advance(11 * DAY)
    with refused("HITDoesNotExist"):
        mturk.get_hit(HITId=hit_id)
    assert [hit["HITId"] for hit in mturk.list_hits()["HITs"]] == [kept]


def test_what_is_due_is_settled_in_pieces(mturk, monkeypatch):
    monkeypatch.setattr(settling, "PIECE", 2)
    for _hit in range(5):
        submit(publish(mturk, AutoApprovalDelayInSeconds=60, LifetimeInSeconds=60, MaxAssignments=1))
    clock.advance(DAY)
    settle(now=clock.now())
    assert set(HitAssignment.objects.values_list("state", flat=True)) == {"approved"}
    assert money(mturk) == ("99.00", "0.00")


def test_settling_twice_changes_nothing(mturk):
    submit(publish(mturk, AutoApprovalDelayInSeconds=60, LifetimeInSeconds=60))
    clock.advance(DAY)
    settle(now=clock.now())
    before = money(mturk)
    settle(now=clock.now())
    assert money(mturk) == before == ("99.80", "0.00")


def test_settling_nothing_costs_three_look_ups(mturk, django_assert_num_queries):
    submit(publish(mturk))
    now = clock.now()
    with django_assert_num_queries(3):
        settle(now=now)


def test_without_control_the_clock_is_the_real_one(mturk, settings):
    clock.advance(DAY)
    settings.EXCHANGE_CONTROL_TOKEN = ""
    assert clock.offset_s() == 0
