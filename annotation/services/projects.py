"""Projects and who belongs to them."""

from __future__ import annotations

import datetime as dt

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.models import Membership, Project, Role, User
from annotation.readers.fields import BadRow, key_of
from annotation.services.auditing import record_audit


class ProjectInTrash(Exception):
    """The project exists, in the trash."""


class ProjectExists(Exception):
    """There is a project of that name, perhaps in the trash or not for this user to see."""


class BadProjectName(Exception):
    """A name that no project can have. The message says why."""


def find_project(name: str, *, by_slug: bool = False) -> Project | None:
    """The project of a name, or of a slug if allowed; None if there is none. One in the trash is an error."""
    # Compared here, not in SQL: SQLite folds the case of ASCII letters only. A name wins over a slug.
    projects = list(Project.objects.all())
    wanted = checked_project_name(name).casefold()
    found = next((project for project in projects if project.name.casefold() == wanted), None)
    if found is None and by_slug:
        found = next((project for project in projects if project.slug == name), None)
    if found and found.trashed_at:
        raise ProjectInTrash(
            _("The project %(name)s is in the trash. Restore it first, or use another name.")
            % {"name": repr(found.name)}
        )
    return found


def checked_project_name(name: str) -> str:
    try:
        return key_of(name.strip(), "The name of the project")
    except BadRow as error:
        raise BadProjectName(str(error)) from None


def obtain_project(name: str, *, now: dt.datetime, lead: User | None = None) -> Project:
    """The project of a name, created if there is none. Two at once get the same one."""
    project = find_project(name)
    if project is None:
        try:
            with transaction.atomic():
                return create_project(name, now=now, lead=lead)
        except ProjectExists:
            # Somebody else has created it since we looked.
            project = find_project(name)
            if project is None:
                raise
    return project


@transaction.atomic
def create_project(name: str, *, now: dt.datetime, lead: User | None = None) -> Project:
    """Create a project; the user given becomes its lead."""
    name = checked_project_name(name)
    if any(other.casefold() == name.casefold() for other in Project.objects.values_list("name", flat=True)):
        raise ProjectExists(name)
    project = Project(name=name, slug=_free_slug(name), created_at=now)
    try:
        with transaction.atomic():
            project.full_clean()
            project.save()
    except (IntegrityError, ValidationError) as error:
        raise ProjectExists(name) from error
    record_audit("create project", project, target=name, actor=lead, now=now)
    if lead:
        add_member(project, lead, role=Role.LEAD, now=now, actor=lead)
    return project


@transaction.atomic
def add_member(project: Project, user: User, *, role: str, now: dt.datetime, actor: User | None = None) -> Membership:
    """Give a user a role in a project."""
    membership = Membership(project=project, user=user, role=role, joined_at=now)
    membership.full_clean()
    membership.save()
    record_audit("add member", project, target=user.username, actor=actor, now=now, detail={"role": role})
    return membership


def _free_slug(name: str) -> str:
    base = slugify(name)[:70] or "project"
    slugs = {"new"} | set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(slugs) + 3))
    return next(slug for slug in (base, *numbered) if slug not in slugs)
