"""Requester keys and pay: the services and the pages for staff."""

from __future__ import annotations

import csv

import pytest
from django.urls import reverse

from annotation.models import AuditEntry
from mturk.exchange.models import CallLog, LedgerLine, Requester
from mturk.exchange.services import calls, clock
from mturk.exchange.services.ledger import check_balance, deposit
from mturk.exchange.services.payouts import NotOwed, list_owed, mark_paid
from mturk.exchange.services.requesters import create_requester, revoke_requester
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.mturk.exchange.conftest import connect, in_process
from tests.mturk.exchange.walking import publish, submit

KEYS = "exchange:keys"


@pytest.fixture
def staff(client, requester):
    client.force_login(UserFactory(username="keeper", is_staff=True))
    return client


def test_a_deposit_is_a_line_and_an_audit_entry(requester):
    deposit(requester, 250, at=NOW)
    assert list(LedgerLine.objects.values_list("kind", "cents")) == [("deposit", 10_000), ("deposit", 250)]
    balance = check_balance(requester, now=NOW)
    assert (balance.available, balance.deposits, balance.differences) == (10_250, 10_250, [])
    for cents in (0, -5, 10**16):
        with pytest.raises(ValueError, match=r"at least|more than"):
            deposit(requester, cents, at=NOW)
    assert AuditEntry.objects.filter(action="deposit").count() == 1  # of the requester's making


def test_a_tampered_account_does_not_balance(requester):
    Requester.objects.filter(pk=requester.pk).update(balance_cents=9_999)
    assert len(check_balance(requester, now=NOW).differences) == 2
    Requester.objects.filter(pk=requester.pk).update(balance_cents=10_000)


def test_a_key_is_revoked_once(requester):
    assert revoke_requester(requester, now=NOW)
    assert not revoke_requester(requester, now=NOW)


def test_a_new_key_works_and_its_secret_is_shown_once(staff):
    answer = staff.post(reverse(KEYS), {"name": "Summarisation lab", "deposit": "12.50"})
    made = Requester.objects.get(name="Summarisation lab")
    assert answer.status_code == 200
    assert made.secret in answer.content.decode()
    assert str(made.owner) == "keeper"
    assert in_process(connect(made)).get_account_balance()["AvailableBalance"] == "12.50"
    page = staff.get(reverse(KEYS)).content.decode()
    assert made.key_id in page
    assert made.secret not in page
    assert "$12.50" in page


@pytest.mark.parametrize(
    "form",
    [
        {"name": ""},
        {"name": "Lab", "deposit": "0"},
        {"name": "Lab", "deposit": "1.005"},
        {"name": "Lab", "deposit": "x"},
    ],
)
def test_a_wrong_form_makes_nothing(staff, form):
    before = Requester.objects.count()
    assert staff.post(reverse(KEYS), form).status_code == 422
    assert Requester.objects.count() == before


def test_deposit_and_revoke_by_page(staff, requester, mturk):
    page = staff.post(reverse("exchange:deposit", args=[requester.pk]), {"deposit": "5.05"}, follow=True)
    assert "$5.05 were noted for Lab." in page.content.decode()
    assert mturk.get_account_balance()["AvailableBalance"] == "105.05"
    page = staff.post(reverse("exchange:deposit", args=[requester.pk]), {"deposit": "much"}, follow=True)
    assert "Nothing was noted." in page.content.decode()
    page = staff.post(reverse("exchange:revoke-key", args=[requester.pk]), follow=True)
    assert "The key of Lab is revoked." in page.content.decode()
    with pytest.raises(Exception, match="UnrecognizedClientException"):
        mturk.get_account_balance()
    assert AuditEntry.objects.filter(action="revoke requester", actor__username="keeper").count() == 1


def test_names_are_shown_as_text(staff):
    create_requester("<script>alert(1)</script>", now=NOW)
    assert "<script>alert(1)" not in staff.get(reverse(KEYS)).content.decode()


def test_what_is_owed_is_listed_and_noted_as_paid(staff, requester, mturk, worker):
    assert "Nobody is owed anything." in staff.get(reverse("exchange:pay")).content.decode()
    assignment_id = submit(publish(mturk), worker)
    mturk.approve_assignment(AssignmentId=assignment_id)
    mturk.send_bonus(WorkerId=worker.worker_id, AssignmentId=assignment_id, BonusAmount="1.00", Reason="r")
    page = staff.get(reverse("exchange:pay")).content.decode()
    assert worker.worker_id in page
    assert "$1.20" in page
    form = {"requester": requester.pk, "worker": worker.pk, "cents": 120}
    assert "$1.20 to" in staff.post(reverse("exchange:pay"), form, follow=True).content.decode()
    assert list_owed() == []
    assert "Nothing was noted" in staff.post(reverse("exchange:pay"), form, follow=True).content.decode()
    assert worker.payouts.get().cents == 120
    assert check_balance(requester, now=clock.now()).owed == 0


def test_what_was_earned_since_stays_owed(requester, mturk, worker):
    mturk.approve_assignment(AssignmentId=submit(publish(mturk), worker))
    seen = list_owed()[0].cents
    mturk.approve_assignment(AssignmentId=submit(publish(mturk), worker))
    mark_paid(requester, worker, seen, now=NOW)
    assert [row.cents for row in list_owed(requester)] == [20]
    for cents in (21, 0, -1):
        with pytest.raises(NotOwed):
            mark_paid(requester, worker, cents, now=NOW)


def test_each_requester_owes_its_own(requester, mturk, worker):
    other = create_requester("Other", now=clock.now(), deposit_cents=500)
    mturk.approve_assignment(AssignmentId=submit(publish(mturk), worker))
    theirs = in_process(connect(other))
    theirs.approve_assignment(AssignmentId=submit(publish(theirs, Reward="0.30"), worker))
    assert [(row.requester, row.cents) for row in list_owed()] == [(requester, 20), (other, 30)]


def test_what_is_owed_comes_as_a_list_that_no_spreadsheet_runs(staff, requester, mturk, worker):
    type(worker).objects.update(participant='=HYPERLINK("x")')
    mturk.approve_assignment(AssignmentId=submit(publish(mturk), worker))
    told = list(csv.DictReader(staff.get(reverse("exchange:pay-list")).content.decode().splitlines()))
    assert told == [
        {
            "worker": worker.worker_id, "person": "'=HYPERLINK(\"x\")", "simulated": "0", "requester": requester.name,
            "dollars": "0.20",
        }
    ]  # fmt: skip


def test_the_log_of_calls_does_not_grow_for_ever(requester, monkeypatch):
    monkeypatch.setattr(calls, "KEEP", 5)
    monkeypatch.setattr(calls, "PRUNE_EVERY", 1)
    for number in range(12):
        calls.record(requester, "CreateHIT", {"Question": "x" * number}, status=200, error="", at=NOW)
    assert [row.request["Question"] for row in CallLog.objects.all()] == [f"({n} characters)" for n in range(11, 6, -1)]


def test_a_lost_key_is_renewed_and_the_account_stays(staff, requester, mturk):
    hit_id = publish(mturk)
    before = requester.key_id
    page = staff.post(reverse("exchange:renew-key", args=[requester.pk])).content.decode()
    requester.refresh_from_db()
    assert requester.key_id != before
    assert requester.secret in page
    assert requester.secret not in staff.get(reverse(KEYS)).content.decode()
    with pytest.raises(Exception, match="UnrecognizedClientException"):
        mturk.get_account_balance()
    renewed = in_process(connect(requester))
    assert [hit["HITId"] for hit in renewed.list_hits()["HITs"]] == [hit_id]
    (entry,) = AuditEntry.objects.filter(action="renew key")
    assert entry.detail == {"key": requester.key_id, "before": before}
    revoke_requester(requester, now=NOW)
    assert staff.post(reverse("exchange:renew-key", args=[requester.pk])).status_code == 404
