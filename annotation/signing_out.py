"""What happens when somebody signs out: their tasks go back to the others, their drafts stay."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.utils import timezone

from annotation.models import User
from annotation.services.queue import release_all


@receiver(user_logged_out)
def give_tasks_back(sender: Any, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        release_all(user, now=timezone.now())
