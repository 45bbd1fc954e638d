"""Who may join a project: links that work once, for some days. There is no open sign-up."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets

from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.models import Invitation, Membership, Project, Role, User
from annotation.services.auditing import record_audit
from annotation.services.projects import add_member

VALID_DAYS = 7


class InvitationUnusable(Exception):
    """The link does not work. The message says why and what to do."""


class LastLead(Exception):
    """A project must keep a lead."""


class MembershipChanged(Exception):
    """The membership ended while somebody looked at it. The message says what to do."""


class NameTaken(Exception):
    """Somebody else has taken the user name in the meantime."""


def _hash(token: str) -> str:
    # The token is random and long, so a plain hash cannot be reversed.
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def invite(project: Project, *, role: str, note: str, actor: User, now: dt.datetime) -> tuple[Invitation, str]:
    """A new invitation and its token, which is shown now and never again."""
    token = secrets.token_urlsafe(32)
    invitation = Invitation(
        project=project,
        role=role,
        note=note,
        token_hash=_hash(token),
        created_by=actor,
        created_at=now,
        expires_at=now + dt.timedelta(days=VALID_DAYS),
    )
    invitation.full_clean()
    invitation.save()
    record_audit("invite", project, target=note or role, actor=actor, now=now, detail={"role": role})
    return invitation, token


def find_invitation(token: str, *, now: dt.datetime) -> Invitation:
    """The invitation of a token that can still be used."""
    invitation = Invitation.objects.select_related("project").filter(token_hash=_hash(token)).first()
    if invitation is None or invitation.project.trashed_at:
        raise InvitationUnusable(_("This link is not known. Check that it is whole, or ask for a new one."))
    if invitation.used_at:
        raise InvitationUnusable(_("This link has been used. Sign in, or ask for a new one."))
    if invitation.revoked_at:
        raise InvitationUnusable(_("This invitation was taken back. Ask the person who sent it."))
    if invitation.expires_at <= now:
        raise InvitationUnusable(_("This link has expired. Ask for a new one."))
    return invitation


def refuse_members(invitation: Invitation, user: User | AnonymousUser) -> None:
    """A link is wasted on somebody who is a member already."""
    members = Membership.objects.filter(project=invitation.project, left_at__isnull=True)
    if members.filter(user__username=user.get_username()).exists():
        raise InvitationUnusable(
            _("You are a member of %(project)s already. The link can go to somebody else.")
            % {"project": invitation.project.name}
        )


@transaction.atomic
def accept_invitation(token: str, user: User, *, now: dt.datetime) -> Membership:
    """Join the project of an invitation. Two who use one link at once: one joins, the other is told."""
    invitation = find_invitation(token, now=now)
    refuse_members(invitation, user)
    free = Invitation.objects.filter(pk=invitation.pk, used_at__isnull=True, revoked_at__isnull=True)
    if not free.update(used_at=now, used_by=user):
        raise InvitationUnusable(_("This link has been used. Sign in, or ask for a new one."))
    return add_member(invitation.project, user, role=invitation.role, now=now, actor=user)


@transaction.atomic
def join_as_new_user(token: str, *, username: str, password: str, now: dt.datetime) -> User:
    """Make an account and join with it: both or neither."""
    find_invitation(token, now=now)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, password=password)
    except IntegrityError as error:
        raise NameTaken from error
    accept_invitation(token, user, now=now)
    return user


@transaction.atomic
def revoke_invitation(invitation: Invitation, *, actor: User, now: dt.datetime) -> bool:
    """Take an invitation back. False if it was used or taken back before."""
    open_ones = Invitation.objects.filter(pk=invitation.pk, used_at__isnull=True, revoked_at__isnull=True)
    revoked = open_ones.update(revoked_at=now)
    if revoked:
        target = invitation.note or invitation.role
        record_audit("revoke invitation", invitation.project, target=target, actor=actor, now=now)
    return bool(revoked)


@transaction.atomic
def remove_member(membership: Membership, *, actor: User, now: dt.datetime) -> None:
    """End a membership. The work stays, with its credit; access ends with the next request."""
    current = _lock(membership)
    _keep_a_lead(current)
    _end(current, actor=actor, now=now)
    record_audit("remove member", current.project, target=current.user.username, actor=actor, now=now)


@transaction.atomic
def change_role(membership: Membership, *, role: str, actor: User, now: dt.datetime) -> Membership:
    """Give a member another role: the old membership ends, a new one begins, so that history stays true."""
    current = _lock(membership)
    if role == current.role:
        return current
    _keep_a_lead(current)
    _end(current, actor=actor, now=now)
    return add_member(current.project, current.user, role=role, now=now, actor=actor)


def _lock(membership: Membership) -> Membership:
    """The membership as it is now, under a lock on its project: two leads could change it, or each other, at once."""
    Project.objects.select_for_update().get(pk=membership.project_id)
    current = (
        Membership.objects.filter(pk=membership.pk, left_at__isnull=True).select_related("project", "user").first()
    )
    if current is None:
        raise MembershipChanged(_("Somebody else has just changed this member. Load the page again."))
    return current


def _end(membership: Membership, *, actor: User, now: dt.datetime) -> None:
    Membership.objects.filter(pk=membership.pk).update(left_at=now)
    # Whoever is no longer a lead must not come back by a link made while they were one.
    open_ones = Invitation.objects.filter(
        project=membership.project, created_by=membership.user, used_at__isnull=True, revoked_at__isnull=True
    )
    for invitation in open_ones:
        revoke_invitation(invitation, actor=actor, now=now)


def _keep_a_lead(membership: Membership) -> None:
    others = Membership.objects.filter(project=membership.project_id, role=Role.LEAD, left_at__isnull=True)
    if membership.role == Role.LEAD and not others.exclude(pk=membership.pk).exists():
        raise LastLead(_("The project would have no lead. Make somebody else lead first."))
