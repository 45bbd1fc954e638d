"""Projects and who belongs to them."""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.utils.text import slugify

from annotation.models import Membership, Project, Role, User
from annotation.services.auditing import record_audit


class ProjectInTrash(Exception):
    """The project exists, in the trash."""


def find_project(name: str) -> Project | None:
    """The project of a name or slug, None if there is none. One in the trash must be restored first."""
    # Compared here, not in SQL: SQLite folds the case of ASCII letters only. A name wins over a slug.
    projects = list(Project.objects.all())
    named = (project for project in projects if project.name.casefold() == name.casefold())
    project = next(named, None) or next((project for project in projects if project.slug == name), None)
    if project and project.trashed_at:
        raise ProjectInTrash(f"The project {project.name!r} is in the trash. Restore it first, or use another name.")
    return project


@transaction.atomic
def create_project(name: str, *, now: dt.datetime, lead: User | None = None) -> Project:
    """Create a project; the user given becomes its lead."""
    project = Project(name=name, slug=_free_slug(name), created_at=now)
    project.full_clean()
    project.save()
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
    slugs = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    return next(
        slug for slug in (base, *(f"{base}-{number}" for number in range(2, len(slugs) + 3))) if slug not in slugs
    )
