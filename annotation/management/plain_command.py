"""A command that ends with a plain sentence, never with a traceback, when the world around it is not ready."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from annotation.models import Project
from annotation.services.migrating import count_waiting_migrations
from annotation.services.projects import BadProjectName, ProjectInTrash, find_project


class PlainCommand(BaseCommand):
    """Base of the commands that need a prepared database."""

    def execute(self, *arguments: Any, **options: Any) -> str | None:
        try:
            refuse_unprepared_database()
            return super().execute(*arguments, **options)
        except OperationalError as error:
            raise CommandError(_plain(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. Nothing was written.", returncode=130) from None
        except (ProjectInTrash, BadProjectName) as error:
            raise CommandError(str(error)) from error

    def get_project(self, name: str) -> Project:
        project = find_project(name, by_slug=True)
        if project is None:
            raise CommandError(f"There is no project {name!r}. Check the name.")
        return project


def refuse_unprepared_database() -> None:
    if count_waiting_migrations():
        raise CommandError("The database is not prepared for this version. Run: .venv/bin/python manage.py migrate")


def _plain(error: OperationalError) -> str:
    if "locked" in str(error):
        return "The database is busy with another long write, such as an import. Try again when it is done."
    return f"The database cannot be reached ({str(error).strip().splitlines()[0]}). Check DATABASE_URL and the server."


def printable(text: str) -> str:
    """Text for a terminal: control characters of a corpus must not steer it."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
