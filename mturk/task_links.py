"""Addresses of HIT pages. Everything in them is signed: nobody can list tasks or swap one for another."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.urls import reverse

from mturk.task_pages import PRESENCE, WRITING, Kind

_SIGNER = "mturk.task"


class BadTaskLink(ValueError):
    """A token that we have not signed."""


@dataclass(frozen=True, slots=True)
class TaskLink:
    """Which HIT of ours a page is for."""

    hit_row_id: int
    kind: Kind


def task_token(hit_row_id: int, kind: str) -> str:
    """The same for the same task at any time, so that a question that is sent again is the same question."""
    return signing.Signer(salt=_SIGNER).sign_object({"h": hit_row_id, "k": kind}).replace(":", ".")


def task_url(hit_row_id: int, kind: str) -> str:
    """The address that a HIT carries."""
    return settings.PUBLIC_URL + reverse("mturk:task", args=[task_token(hit_row_id, kind)])


def read(token: str) -> TaskLink:
    """What a token stands for, if it is ours."""
    try:
        value = signing.Signer(salt=_SIGNER).unsign_object(token.replace(".", ":"))
        hit_row_id, kind = value["h"], value["k"]
    except (signing.BadSignature, ValueError, TypeError, KeyError) as error:
        raise BadTaskLink("This is no address of a task.") from error
    if not isinstance(hit_row_id, int) or kind not in (PRESENCE, WRITING):
        raise BadTaskLink("This is no address of a task.")
    return TaskLink(hit_row_id, kind)
