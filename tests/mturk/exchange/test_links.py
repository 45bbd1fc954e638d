"""Links by which workers come: staff make and withdraw them, and each act is in the audit log."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.urls import reverse

from annotation.models import AuditEntry
from mturk.exchange import models
from mturk.exchange.services import recruiting
from tests.conftest import NOW
from tests.factories import UserFactory
from tests.mturk.exchange.rows import QualificationTypeFactory, RequesterFactory, submitted

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(UserFactory(is_staff=True))
    return client


def test_without_a_requester_there_is_nobody_to_work_for(staff):
    assert "there is none" in staff.get(reverse("exchange:links")).text


def test_staff_make_and_withdraw_a_link(staff):
    kind = QualificationTypeFactory(name="Trained <judges>")
    given = {
        "requester": kind.requester_id,
        "kind": "participant",
        "name": "Prolific & co",
        "completion_code": "C0DE42",
        "qualification_type": kind.pk,
    }
    assert staff.post(reverse("exchange:links"), given).status_code == 302
    link = models.RecruitmentLink.objects.get()
    worker = recruiting.enrol_participant(link, "p1", now=NOW)
    submitted(worker=worker)
    assert models.Qualification.objects.get().qualification_type == kind
    shown = staff.get(reverse("exchange:links")).text
    assert f"{settings.PUBLIC_URL}/exchange/work/join/{link.token}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}" in shown
    assert "they get “Trained &lt;judges&gt;”" in shown
    assert "C0DE42" in shown
    for _ in range(2):
        staff.post(reverse("exchange:revoke-link", args=[link.pk]))
    shown = staff.get(reverse("exchange:links")).text
    assert link.token not in shown
    assert "withdrawn" in shown
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == ["create link", "revoke link"]
    assert link.token not in str(AuditEntry.objects.values())


def test_a_code_is_drawn_where_none_is_given(staff):
    requester = RequesterFactory()
    for kind in ("participant", "in_house"):
        staff.post(reverse("exchange:links"), {"requester": requester.pk, "kind": kind, "name": kind})
    codes = dict(models.RecruitmentLink.objects.values_list("kind", "completion_code"))
    assert len(codes["participant"]) == 8
    assert codes["in_house"] == ""


@pytest.mark.parametrize(
    "change", [{"kind": "x"}, {"requester": 0}, {"name": ""}, {"completion_code": "a b"}, {"completion_code": "x" * 65}]
)
def test_what_makes_no_sense_is_shown_again(staff, change):
    given = {"requester": RequesterFactory().pk, "kind": "participant", "name": "n", **change}
    answer = staff.post(reverse("exchange:links"), given)
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert not models.RecruitmentLink.objects.exists()


def test_another_requesters_qualification_is_not_given_away(staff):
    given = {
        "requester": RequesterFactory().pk,
        "kind": "in_house",
        "name": "n",
        "qualification_type": QualificationTypeFactory().pk,
    }
    assert staff.post(reverse("exchange:links"), given).status_code == 422
