"""Pages about the people of a project."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import EVERYBODY, LEADS, project_view
from annotation.forms import InviteForm, JoinForm, RoleForm
from annotation.models import Invitation, Membership, Project, Role, User
from annotation.services import inviting


@project_view("GET", "HEAD", roles=EVERYBODY)
def members(request: HttpRequest, project: Project) -> HttpResponse:
    return show_members(request, project, InviteForm(initial={"role": Role.ANNOTATOR}))


def show_members(
    request: HttpRequest, project: Project, form: InviteForm, *, new_link: str = "", status: int = 200
) -> HttpResponse:
    now = timezone.now()
    leads = project.viewer_role == Role.LEAD
    memberships = Membership.objects.filter(project=project, left_at__isnull=True).select_related("user")
    invitations = Invitation.objects.filter(project=project, used_at__isnull=True, revoked_at__isnull=True)
    context = {
        "project": project,
        "page": "members",
        "memberships": memberships.order_by("role", "user__username"),
        "invitations": invitations.filter(expires_at__gt=now) if leads else [],
        "form": form,
        "roles": Role.choices,
        "valid_days": inviting.VALID_DAYS,
        "new_link": new_link,
    }
    return render(request, "annotation/members.html", context, status=status)


@project_view("POST", roles=LEADS)
def invite(request: HttpRequest, project: Project) -> HttpResponse:
    form = InviteForm(request.POST)
    if not form.is_valid():
        return show_members(request, project, form, status=422)
    assert isinstance(request.user, User)
    _invitation, token = inviting.invite(project, **form.cleaned_data, actor=request.user, now=timezone.now())
    # Shown in this answer and never again: only a hash of it is stored.
    link = settings.PUBLIC_URL + reverse("annotation:join", args=[token])
    return show_members(request, project, InviteForm(initial={"role": Role.ANNOTATOR}), new_link=link)


@project_view("POST", roles=LEADS)
def revoke_invitation(request: HttpRequest, project: Project, invitation_id: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation, project=project, pk=invitation_id)
    assert isinstance(request.user, User)
    if inviting.revoke_invitation(invitation, actor=request.user, now=timezone.now()):
        messages.success(request, _("The invitation was taken back. Its link no longer works."))
    return redirect("annotation:members", project.slug)


@project_view("POST", roles=LEADS)
def change_role(request: HttpRequest, project: Project, membership_id: int) -> HttpResponse:
    membership = get_object_or_404(Membership, project=project, pk=membership_id, left_at__isnull=True)
    form = RoleForm(request.POST)
    assert isinstance(request.user, User)
    try:
        if form.is_valid():
            role = form.cleaned_data["role"]
            inviting.change_role(membership, role=role, actor=request.user, now=timezone.now())
            messages.success(
                request, _("%(name)s is now %(role)s.") % {"name": membership.user, "role": Role(role).label}
            )
        else:
            messages.error(request, _("That is no role. Choose one of the list."))
    except (inviting.LastLead, inviting.MembershipChanged) as error:
        messages.error(request, str(error))
    return redirect("annotation:members", project.slug)


@project_view("POST", roles=LEADS)
def remove_member(request: HttpRequest, project: Project, membership_id: int) -> HttpResponse:
    membership = get_object_or_404(Membership, project=project, pk=membership_id, left_at__isnull=True)
    assert isinstance(request.user, User)
    try:
        inviting.remove_member(membership, actor=request.user, now=timezone.now())
    except (inviting.LastLead, inviting.MembershipChanged) as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, _("%(name)s was removed. Finished work stays, with its credit.") % {"name": membership.user}
        )
    return redirect("annotation:members", project.slug)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation, with the account one is signed in with, or with a new one."""
    now = timezone.now()
    form = JoinForm(request.POST or None) if not request.user.is_authenticated else None
    try:
        invitation = inviting.find_invitation(token, now=now)
        inviting.refuse_members(invitation, request.user)
        if request.method == "POST" and form is None:
            assert isinstance(request.user, User)
            inviting.accept_invitation(token, request.user, now=now)
            return redirect("project-home", invitation.project.slug)
        if request.method == "POST" and form is not None and form.is_valid():
            name, password = form.cleaned_data["username"], form.cleaned_data["password1"]
            try:
                user = inviting.join_as_new_user(token, username=name, password=password, now=now)
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
                return redirect("project-home", invitation.project.slug)
            except inviting.NameTaken:
                form.add_error("username", _("Somebody has just taken that name. Choose another, or sign in."))
    except inviting.InvitationUnusable as error:
        return render(request, "annotation/join.html", {"problem": str(error)}, status=410)
    status = 422 if form is not None and form.errors else 200
    return render(
        request, "annotation/join.html", {"invitation": invitation, "form": form, "token": token}, status=status
    )
