"""The one way from a request to a project: who may do what is decided here, before a view begins."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_http_methods

from annotation.models import Membership, Project, Role

Parameters = ParamSpec("Parameters")

EVERYBODY = frozenset(Role.values)
LEADS = frozenset({Role.LEAD.value})
WRITERS = frozenset({Role.LEAD.value, Role.ANNOTATOR.value, Role.ADJUDICATOR.value})
# Whoever judges presence never sees what a machine says of it, so results are for those who do not judge.
READERS = frozenset({Role.LEAD.value, Role.VIEWER.value})


def role_in(project: Project, user: Any) -> str:
    """The role of a user in a project; staff act as leads everywhere. "" if there is none."""
    if user.is_staff:
        return Role.LEAD.value
    membership = Membership.objects.filter(project=project, user_id=user.pk, left_at__isnull=True).first()
    return str(membership.role) if membership else ""


def project_for(user: Any, slug: str, roles: frozenset[str]) -> Project:
    """The project of a slug. One that the user may not see does not exist; one without the needed role is refused."""
    project = Project.objects.visible_to(user).filter(slug=slug).first()
    if project is None:
        raise Http404
    project.viewer_role = role_in(project, user)
    if project.viewer_role not in roles:
        raise PermissionDenied
    return project


def may_create_projects(user: Any) -> bool:
    """Staff, and everybody who leads a project: no open door, and no need to ask the person with the server."""
    led = Membership.objects.filter(user_id=user.pk, role=Role.LEAD, left_at__isnull=True)
    return bool(user.is_authenticated and (user.is_staff or led.exists()))


def project_view(
    *methods: str, roles: frozenset[str]
) -> Callable[
    [Callable[Concatenate[HttpRequest, Project, Parameters], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, str, Parameters], HttpResponseBase],
]:
    """Turn a view of a project into a view of its slug: the methods and roles allowed, and nobody else."""

    def decorate(
        view: Callable[Concatenate[HttpRequest, Project, Parameters], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, str, Parameters], HttpResponseBase]:
        @require_http_methods(methods)
        @wraps(view)
        def guarded(
            request: HttpRequest, slug: str, *args: Parameters.args, **kwargs: Parameters.kwargs
        ) -> HttpResponseBase:
            return view(request, project_for(request.user, slug, roles), *args, **kwargs)

        return guarded

    return decorate
