"""manage.py reset_link USERNAME: a link with which somebody sets a new password."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotation.management.plain_command import PlainCommand
from annotation.models import User


class Command(PlainCommand):
    help = "Print a link that works once, for three days, to hand to somebody who forgot the password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {username!r}. Check the name.")
        code = urlsafe_base64_encode(force_bytes(user.pk))
        link = reverse("password-reset", args=[code, default_token_generator.make_token(user)])
        self.stdout.write(f"{settings.PUBLIC_URL}{link}")
