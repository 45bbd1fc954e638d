"""manage.py add_member PROJECT USERNAME --role …: let somebody work in a project."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.plain_command import PlainCommand
from annotation.models import Role, User
from annotation.services.projects import add_member


class Command(PlainCommand):
    help = "Give a user a role in a project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project")
        parser.add_argument("username")
        parser.add_argument("--role", required=True, choices=Role.values)

    def handle(self, *, project: str, username: str, role: str, **options: Any) -> None:
        found = self.get_project(project)
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username!r}. Check the name.")
        try:
            add_member(found, user, role=role, now=timezone.now())
        except ValidationError as error:
            raise CommandError(f"{username} is a member of {found.name!r} already.") from error
        self.stdout.write(f"{username} is now {role} in {found.name!r}.")
