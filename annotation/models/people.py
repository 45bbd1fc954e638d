"""Who works here: users, their membership in projects, and the names under which work is credited."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken

from annotation.models.kept import Kept, KeptQuerySet, Trashable, not_empty, one_of


class Theme(models.TextChoices):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class User(AbstractUser):  # type: ignore[django-manager-missing]
    """An account. Ours from the first migration, so that fields can be added without pain."""

    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.SYSTEM)

    class Meta(AbstractUser.Meta):
        constraints = [one_of("theme", Theme, "annotation_user_theme_known")]


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A key for programs that act as a user. Only a hash of it is stored; revoking deletes the row."""

    name = models.CharField(max_length=100)

    class Meta:
        constraints = [not_empty("name", "annotation_apitoken_has_name")]

    def __str__(self) -> str:
        return self.name


class ProjectQuerySet(KeptQuerySet["Project"]):
    def visible_to(self, user: User | AnonymousUser) -> ProjectQuerySet:
        """The one place that says who sees a project: its active members, and staff. The trash is seen by nobody."""
        if not user.is_authenticated:
            return self.none()
        live = self.filter(trashed_at__isnull=True)
        if user.is_staff:
            return live
        return live.filter(pk__in=Membership.objects.filter(user=user, left_at__isnull=True).values("project"))

    def restorable_by(self, user: User | AnonymousUser) -> ProjectQuerySet:
        """Projects in the trash that a user may bring back: those they lead; staff all of them."""
        trashed = self.filter(trashed_at__isnull=False) if user.is_authenticated else self.none()
        if user.is_staff:
            return trashed
        led = Membership.objects.filter(user__username=user.get_username(), role=Role.LEAD, left_at__isnull=True)
        return trashed.filter(pk__in=led.values("project"))


class Project(Trashable):
    """One corpus with its people, plan and scores. Everything else is reached through it."""

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    created_at = models.DateTimeField()

    # The role of the person who asked for this project, set by access.py; no column.
    viewer_role: str = ""

    objects = ProjectQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Trashable.Meta):
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="annotation_project_name_once"),
            models.UniqueConstraint(fields=["slug"], name="annotation_project_slug_once"),
            not_empty("name", "annotation_project_has_name"),
            not_empty("slug", "annotation_project_has_slug"),
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    LEAD = "lead", _("lead")
    ANNOTATOR = "annotator", _("annotator")
    ADJUDICATOR = "adjudicator", _("adjudicator")
    VIEWER = "viewer", _("viewer")


class Membership(Kept):
    """A user's role in a project. Leaving closes the row; the credit for finished work stays."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    joined_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user"], condition=Q(left_at__isnull=True), name="annotation_membership_one_active"
            ),
            one_of("role", Role, "annotation_membership_role_known"),
            models.CheckConstraint(
                condition=Q(left_at__isnull=True) | Q(left_at__gte=models.F("joined_at")),
                name="annotation_membership_left_after_joined",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} in {self.project}"


class Person(Kept):
    """The name under which work is credited in a project: a member, or a worker known by a pseudonym alone."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="people")
    key = models.CharField(max_length=200)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="people")
    # False for a row of a file that does not tell whose it is: each such row is a person of its own.
    is_linked = models.BooleanField(default=True, db_default=True)

    class Meta(Kept.Meta):
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="annotation_person_key_once"),
            models.UniqueConstraint(fields=["project", "user"], name="annotation_person_user_once"),
            not_empty("key", "annotation_person_has_key"),
        ]

    def __str__(self) -> str:
        return self.key


class Invitation(Kept):
    """A link that lets somebody join a project, once and for some days. Only a hash of it is stored."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role.choices)
    note = models.CharField(max_length=200, blank=True)  # for whom it is meant
    token_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations_sent")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="invitations_used")
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["token_hash"], name="annotation_invitation_token_once"),
            one_of("role", Role, "annotation_invitation_role_known"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("created_at")), name="annotation_invitation_expires_later"
            ),
            models.CheckConstraint(
                condition=Q(used_by__isnull=True, used_at__isnull=True)
                | Q(used_by__isnull=False, used_at__isnull=False, revoked_at__isnull=True),
                name="annotation_invitation_used_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} in {self.project}"
