"""Invitations: once, for some days, for one role; and what becomes of members."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotation import models
from annotation.services import inviting
from annotation.services.inviting import InvitationUnusable, LastLead, MembershipChanged
from tests.conftest import NOW
from tests.factories import MembershipFactory, ProjectFactory, UnitFactory, UserFactory

pytestmark = pytest.mark.django_db
LATER = NOW + dt.timedelta(days=8)


@pytest.fixture
def lead() -> models.Membership:
    return MembershipFactory(role="lead")


def invite(lead: models.Membership, role: str = "annotator") -> tuple[models.Invitation, str]:
    return inviting.invite(lead.project, role=role, note="Ada", actor=lead.user, now=NOW)


def test_a_link_lets_one_person_in_with_its_role(lead):
    _, token = invite(lead, "adjudicator")
    membership = inviting.accept_invitation(token, UserFactory(), now=NOW)
    assert (membership.project, membership.role) == (lead.project, "adjudicator")
    with pytest.raises(InvitationUnusable, match="has been used"):
        inviting.accept_invitation(token, UserFactory(), now=NOW)
    assert set(models.AuditEntry.objects.values_list("action", flat=True)) == {"invite", "add member"}


def test_the_token_is_stored_nowhere(lead):
    invitation, token = invite(lead)
    assert len(token) >= 40
    assert token not in str(models.Invitation.objects.filter(pk=invitation.pk).values())


def test_links_that_do_not_work_say_why(lead):
    invitation, token = invite(lead)
    with pytest.raises(InvitationUnusable, match="is not known"):
        inviting.find_invitation(token + "x", now=NOW)
    with pytest.raises(InvitationUnusable, match="has expired"):
        inviting.find_invitation(token, now=LATER)
    with pytest.raises(InvitationUnusable, match=r"a member of .* already"):
        inviting.accept_invitation(token, lead.user, now=NOW)
    assert inviting.revoke_invitation(invitation, actor=lead.user, now=NOW)
    assert not inviting.revoke_invitation(invitation, actor=lead.user, now=NOW)
    with pytest.raises(InvitationUnusable, match="was taken back"):
        inviting.find_invitation(token, now=NOW)


def test_a_new_account_is_made_only_if_the_link_works(lead):
    _, token = invite(lead)
    with pytest.raises(InvitationUnusable):
        inviting.join_as_new_user(token, username="ada", password="p", now=LATER)
    assert not models.User.objects.filter(username="ada").exists()
    user = inviting.join_as_new_user(token, username="ada", password="p", now=NOW)
    assert user.check_password("p")
    assert models.Membership.objects.get(user=user).role == "annotator"


@pytest.mark.django_db(transaction=True)
def test_two_who_use_one_link_at_once_do_not_both_join():
    lead = MembershipFactory(role="lead")
    _, token = invite(lead)

    def accept(user: models.User) -> bool:
        try:
            inviting.accept_invitation(token, user, now=NOW)
        except InvitationUnusable:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        joined = list(pool.map(accept, [UserFactory() for _ in range(4)]))
    assert sum(joined) == 1
    assert models.Membership.objects.filter(project=lead.project).count() == 2


def test_a_removed_member_loses_access_and_keeps_the_credit(lead):
    member = MembershipFactory(project=lead.project)
    person = models.Person.objects.create(project=lead.project, key="ada", user=member.user)
    unit = UnitFactory(author=person)
    inviting.remove_member(member, actor=lead.user, now=NOW)
    assert list(models.Project.objects.visible_to(member.user)) == []
    unit.refresh_from_db()
    assert unit.author.user == member.user


def test_a_new_role_is_a_new_membership(lead):
    member = MembershipFactory(project=lead.project)
    assert inviting.change_role(member, role=member.role, actor=lead.user, now=NOW) == member
    changed = inviting.change_role(member, role="viewer", actor=lead.user, now=NOW)
    assert changed.role == "viewer"
    assert list(models.Membership.objects.filter(user=member.user).order_by("pk").values_list("role", "left_at")) == [
        ("annotator", NOW),
        ("viewer", None),
    ]


def test_the_last_lead_stays(lead):
    with pytest.raises(LastLead):
        inviting.remove_member(lead, actor=lead.user, now=NOW)
    with pytest.raises(LastLead):
        inviting.change_role(lead, role="viewer", actor=lead.user, now=NOW)
    MembershipFactory(project=ProjectFactory(), role="lead")  # of another project: does not count
    with pytest.raises(LastLead):
        inviting.remove_member(lead, actor=lead.user, now=NOW)
    other = MembershipFactory(project=lead.project, role="lead")
    inviting.remove_member(lead, actor=other.user, now=NOW)
    lead.refresh_from_db()
    assert lead.left_at == NOW


def test_a_page_that_is_out_of_date_changes_nobody(lead):
    """Somebody else was quicker: the member is gone, or has another role, and neither comes back by an old click."""
    stale = MembershipFactory(project=lead.project)
    inviting.remove_member(models.Membership.objects.get(pk=stale.pk), actor=lead.user, now=NOW)
    before = list(models.Membership.objects.order_by("pk").values())
    entries = models.AuditEntry.objects.count()
    for act in (
        lambda: inviting.change_role(stale, role="viewer", actor=lead.user, now=NOW),
        lambda: inviting.remove_member(stale, actor=lead.user, now=NOW),
    ):
        with pytest.raises(MembershipChanged, match="Load the page again"):
            act()
    assert list(models.Membership.objects.order_by("pk").values()) == before
    assert models.AuditEntry.objects.count() == entries


@pytest.mark.parametrize("act", ["remove", "demote"])
def test_links_of_somebody_who_leads_no_more_end_with_that(lead, act):
    other = MembershipFactory(project=lead.project, role="lead")
    _, own = inviting.invite(lead.project, role="lead", note="", actor=other.user, now=NOW)
    _, kept = invite(lead)
    if act == "remove":
        inviting.remove_member(other, actor=lead.user, now=NOW)
    else:
        inviting.change_role(other, role="viewer", actor=lead.user, now=NOW)
    with pytest.raises(InvitationUnusable, match="was taken back"):
        inviting.find_invitation(own, now=NOW)
    assert inviting.find_invitation(kept, now=NOW)


def test_a_name_that_was_just_taken_is_told(lead):
    _, token = invite(lead)
    UserFactory(username="ada")
    with pytest.raises(inviting.NameTaken):
        inviting.join_as_new_user(token, username="ada", password="p", now=NOW)
    assert inviting.find_invitation(token, now=NOW)
