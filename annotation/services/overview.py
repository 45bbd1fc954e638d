"""What the first pages tell of a project."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Example, Label, Membership, Project, Role, Sentence, System, Unit, UnitKind, User


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """Counts of what is live in a project, and the role of the person who looks (staff act as leads)."""

    project: Project
    role: str
    examples: int
    sentences: int
    systems: int
    scus: int
    stus: int
    labels: int
    people: int
    examples_with_scus: int
    examples_with_stus: int

    @property
    def role_name(self) -> str:
        return str(Role(self.role).label)


def list_projects(user: User | AnonymousUser) -> list[ProjectOverview]:
    """The projects that a user may see, by name."""
    return describe_projects(list(Project.objects.visible_to(user).order_by("name")), user)


def describe_projects(projects: list[Project], user: User | AnonymousUser) -> list[ProjectOverview]:
    """The same number of queries for one project and for a hundred."""
    members = Membership.objects.filter(project__in=projects, left_at__isnull=True)
    roles = dict(members.filter(user__username=user.get_username()).values_list("project_id", "role"))
    units = Unit.objects.current().filter(example__project__in=projects, example__trashed_at__isnull=True)
    newer = Sentence.objects.filter(reference=OuterRef("reference"), revision__gt=OuterRef("revision"))
    sentences = Sentence.objects.filter(
        ~Exists(newer), reference__example__project__in=projects, reference__example__trashed_at__isnull=True
    )
    live = Q(unit__example__project__in=projects, unit__example__trashed_at__isnull=True)
    current = Q(unit__superseded_at__isnull=True, unit__trashed_at__isnull=True)
    labels = Label.objects.filter(live, current, summary__system__trashed_at__isnull=True)
    counts = {
        "examples": _per_project(Example.objects.live().filter(project__in=projects), "project"),
        "sentences": _per_project(sentences, "reference__example__project"),
        "systems": _per_project(System.objects.live().filter(project__in=projects), "project"),
        "scus": _per_project(units.filter(kind=UnitKind.SCU), "example__project"),
        "stus": _per_project(units.filter(kind=UnitKind.STU), "example__project"),
        "labels": _per_project(labels, "unit__example__project"),
        "people": _per_project(members, "project"),
        "examples_with_scus": _examples_per_project(units.filter(kind=UnitKind.SCU)),
        "examples_with_stus": _examples_per_project(units.filter(kind=UnitKind.STU)),
    }
    return [
        ProjectOverview(
            project=project,
            role=Role.LEAD.value if getattr(user, "is_staff", False) else roles.get(project.pk, ""),
            **{name: per_project.get(project.pk, 0) for name, per_project in counts.items()},
        )
        for project in projects
    ]


def _examples_per_project(units: QuerySet) -> dict[int, int]:  # type: ignore[type-arg]
    """How many examples have one of the units, by project."""
    return dict(units.order_by().values_list("example__project").annotate(Count("example", distinct=True)))


def _per_project(rows: QuerySet, path: str) -> dict[int, int]:  # type: ignore[type-arg]
    """Counts by project. `path` leads from a row to its project."""
    return dict(rows.order_by().values_list(path).annotate(Count("pk")))
