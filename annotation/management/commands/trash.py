"""manage.py trash PROJECT: put a project, an example or a system into the trash, or restore it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management.plain_command import PlainCommand
from annotation.models import Example, Project, System
from annotation.services.trashing import move_to_trash, restore_from_trash


class Command(PlainCommand):
    help = "Move a project, or one example or system of it, to the trash; --restore brings it back. Nothing is deleted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or slug of the project")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--example", help="id of an example")
        what.add_argument("--system", help="name of a system")
        parser.add_argument("--restore", action="store_true")

    def handle(self, *, project: str, example: str | None, system: str | None, restore: bool, **options: Any) -> None:
        found = Project.objects.filter(name=project).first() or Project.objects.filter(slug=project).first()
        row: Project | Example | System | None = found
        if example is not None:
            row = Example.objects.filter(project=found, key=example).first()
        elif system is not None:
            row = System.objects.filter(project=found, name=system).first()
        if found is None or row is None:
            raise CommandError("There is nothing of that name. Check it.")
        moved = (restore_from_trash if restore else move_to_trash)(row, now=timezone.now())
        where = "restored" if restore else "in the trash"
        self.stdout.write(f"{row} is {where}." if moved else f"{row} was {where} already; nothing changed.")
