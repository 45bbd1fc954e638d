"""What the first pages tell of a project."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from annotation.models import Example, Label, Membership, Project, Sentence, System, Unit, UnitKind, User


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """Counts of what is live in a project, and the role of the person who looks."""

    project: Project
    role: str
    examples: int
    sentences: int
    systems: int
    scus: int
    stus: int
    labels: int
    people: int


def list_projects(user: User | AnonymousUser) -> list[ProjectOverview]:
    """The projects that a user may see, by name."""
    return [describe_project(project, user) for project in Project.objects.visible_to(user).order_by("name")]


def describe_project(project: Project, user: User | AnonymousUser) -> ProjectOverview:
    members = Membership.objects.filter(project=project, left_at__isnull=True)
    role = members.filter(user__username=user.get_username()).values_list("role", flat=True).first()
    units = Unit.objects.current().filter(example__project=project, example__trashed_at__isnull=True)
    return ProjectOverview(
        project=project,
        role=role or "",
        examples=Example.objects.live().filter(project=project).count(),
        sentences=Sentence.objects.filter(
            reference__example__project=project, reference__example__trashed_at__isnull=True, revision=1
        ).count(),
        systems=System.objects.live().filter(project=project).count(),
        scus=units.filter(kind=UnitKind.SCU).count(),
        stus=units.filter(kind=UnitKind.STU).count(),
        labels=Label.objects.filter(unit__in=units).count(),
        people=members.count(),
    )
