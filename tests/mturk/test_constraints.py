"""Every rule that the database holds for the crowd, broken once."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from annotation.models import HardDeleteRefused
from mturk.models import CrowdAssignment, CrowdBatch, CrowdBonus, CrowdHit, CrowdQualification, PaidAction
from tests.conftest import NOW
from tests.factories import PersonFactory, ReferenceFactory, SheetFactory, UserFactory
from tests.mturk.crowds import confirmed

BATCH, HIT, WORK, BONUS = CrowdBatch, CrowdHit, CrowdAssignment, CrowdBonus
BREAKS = {
    "mturk_crowdbatch_number_once": lambda w: copy(w["batch"], key="other", batch=SheetFactory().batch),
    "mturk_crowdbatch_key_once": lambda w: copy(w["batch"], number=9, batch=SheetFactory().batch),
    "mturk_crowdbatch_one_published_per_batch": lambda w: copy(w["batch"], number=9, key="other"),
    "mturk_crowdbatch_kind_known": lambda w: change(w["batch"], kind="dance"),
    "mturk_crowdbatch_template_known": lambda w: change(w["batch"], template="paper"),
    "mturk_crowdbatch_state_known": lambda w: change(w["batch"], state="lost"),
    "mturk_crowdbatch_has_title": lambda w: change(w["batch"], title=""),
    "mturk_crowdbatch_has_key": lambda w: change(w["batch"], key=""),
    "mturk_crowdbatch_within_cap": lambda w: change(w["batch"], reserved_cents=10**9),
    "mturk_crowdbatch_target_fits_kind": lambda w: change(w["batch"], kind="writing"),
    "mturk_crowdbatch_published_is_confirmed": lambda w: change(w["batch"], confirmed_at=None),
    "mturk_crowdbatch_paused_has_reason": lambda w: change(w["batch"], state="paused"),
    "mturk_crowdbatch_assignments_from_1": lambda w: change(w["batch"], assignments=0),
    "mturk_crowdbatch_times_in_range": lambda w: change(w["batch"], duration_s=29),
    "mturk_crowdbatch_approval_in_range": lambda w: change(w["batch"], auto_approval_s=2_592_001),
    "mturk_crowdhit_task_once": lambda w: copy(w["hit"], token="t", annotation="a", sheet=SheetFactory()),
    "mturk_crowdhit_sheet_once": lambda w: copy(w["hit"], token="t", annotation="a", task=99),
    "mturk_crowdhit_reference_once": lambda w: twice_reference(w["hit"]),
    "mturk_crowdhit_token_once": lambda w: copy(w["hit"], annotation="a", task=99, sheet=SheetFactory()),
    "mturk_crowdhit_annotation_once": lambda w: copy(w["hit"], token="t", task=99, sheet=SheetFactory()),
    "mturk_crowdhit_hit_id_once": lambda w: HIT.objects.update(hit_id="3SAME"),
    "mturk_crowdhit_state_known": lambda w: change(w["hit"], state="lost"),
    "mturk_crowdhit_has_token": lambda w: change(w["hit"], token=""),
    "mturk_crowdhit_has_annotation": lambda w: change(w["hit"], annotation=""),
    "mturk_crowdhit_has_one_target": lambda w: change(w["hit"], sheet=None),
    "mturk_crowdhit_live_has_id": lambda w: change(w["hit"], state="live"),
    "mturk_crowdhit_sent_has_time": lambda w: change(w["hit"], state="sending"),
    "mturk_crowdhit_assignments_from_1": lambda w: change(w["hit"], assignments=0),
    "mturk_crowdhit_revision_from_1": lambda w: change(w["hit"], revision=0),
    "mturk_crowdassignment_id_once": lambda w: copy(w["work"]),
    "mturk_crowdassignment_status_known": lambda w: change(w["work"], status="lost"),
    "mturk_crowdassignment_wish_known": lambda w: change(w["work"], wish="maybe"),
    "mturk_crowdassignment_has_id": lambda w: change(w["work"], assignment_id=""),
    "mturk_crowdassignment_reject_by_a_person": lambda w: change(w["work"], wish="reject", wish_reason="because"),
    "mturk_crowdassignment_active_from_0": lambda w: change(w["work"], active_s=-1),
    "mturk_crowdbonus_once_per_purpose": lambda w: copy(w["bonus"], token="other"),
    "mturk_crowdbonus_token_once": lambda w: copy(w["bonus"], purpose="other"),
    "mturk_crowdbonus_state_known": lambda w: change(w["bonus"], state="lost"),
    "mturk_crowdbonus_has_reason": lambda w: change(w["bonus"], reason=""),
    "mturk_crowdbonus_has_purpose": lambda w: change(w["bonus"], purpose=""),
    "mturk_crowdbonus_from_1_cent": lambda w: change(w["bonus"], cents=0),
    "mturk_crowdbonus_sent_has_time": lambda w: change(w["bonus"], state="sent"),
    "mturk_paidaction_once": lambda w: paid(w, "t"),
    "mturk_paidaction_kind_known": lambda w: paid(w, "u", kind="gift"),
    "mturk_paidaction_has_token": lambda w: paid(w, ""),
    "mturk_crowdqualification_name_once": lambda w: qualification("judges", "3Q2"),
    "mturk_crowdqualification_has_name": lambda w: qualification("", "3Q2"),
    "mturk_crowdqualification_has_id": lambda w: qualification("others", ""),
}


def change(row, **given):
    type(row).objects.filter(pk=row.pk).update(**given)


def copy(row, **given):
    row.pk = None
    for name, value in given.items():
        setattr(row, name, value)
    row.save(force_insert=True)


def twice_reference(hit):
    reference = ReferenceFactory()
    HIT.objects.filter(crowd_batch=hit.crowd_batch).update(sheet=None, reference=reference)


def paid(world, token, kind="approve"):
    PaidAction.objects.create(crowd_batch=world["batch"], kind=kind, token=token, cents=1, at=NOW)


def qualification(name, type_id):
    CrowdQualification.objects.create(environment="exchange", name=name, type_id=type_id, created_at=NOW)


@pytest.fixture
def world(db):
    batch = confirmed()
    hit = CrowdHit.objects.first()
    work = CrowdAssignment.objects.create(
        hit=hit, assignment_id="3A", worker=PersonFactory(project=batch.project), status="submitted", first_seen_at=NOW
    )
    bonus = CrowdBonus.objects.create(assignment=work, purpose="p", cents=1, reason="r", token="t", created_at=NOW)
    qualification("judges", "3Q")
    world = {"batch": batch, "hit": hit, "work": work, "bonus": bonus, "user": UserFactory()}
    paid(world, "t")
    return world


@pytest.mark.parametrize("name", sorted(BREAKS))
def test_the_database_refuses(world, name):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        BREAKS[name](world)
    text = str(caught.value)
    # SQLite names the columns of a unique constraint, not the constraint.
    assert name in text or "UNIQUE constraint failed" in text


def test_every_constraint_is_broken_once():
    own = {
        constraint.name for model in apps.get_app_config("mturk").get_models() for constraint in model._meta.constraints
    }
    assert own == set(BREAKS)


def test_lines_of_money_cannot_be_changed_and_work_cannot_be_deleted(world):
    with pytest.raises(HardDeleteRefused):
        PaidAction.objects.update(cents=0)
    for row in (world["batch"], world["hit"], world["work"], world["bonus"]):
        with pytest.raises(HardDeleteRefused):
            row.delete()
