"""What a person may set for themselves: the theme, and keys for programs."""

from __future__ import annotations

import datetime as dt

import axes.utils
from django.db import transaction

from annotation.models import ApiToken, User
from annotation.services.auditing import record_audit


def set_theme(user: User, theme: str) -> None:
    User.objects.filter(pk=user.pk).update(theme=theme)


@transaction.atomic
def set_password(user: User, password: str, *, now: dt.datetime) -> User:
    """Set a new password; sessions and reset links made with the old one end."""
    user.set_password(password)
    user.save(update_fields=["password"])
    axes.utils.reset(username=user.username)  # whoever was locked out for too many tries may try the new one
    record_audit("set password", None, target=user.username, actor=user, now=now)
    return user


@transaction.atomic
def create_token(user: User, *, name: str, now: dt.datetime) -> str:
    """A new key for programs of a user. It is returned once; only a hash of it is stored."""
    token, key = ApiToken.objects.create(user=user, name=name)
    record_audit("create token", None, target=token.name, actor=user, now=now)
    return str(key)


@transaction.atomic
def revoke_token(user: User, token_key: str, *, now: dt.datetime) -> bool:
    """Make a key useless at once. False if there is none of that name."""
    tokens = ApiToken.objects.filter(user=user, token_key=token_key)
    name = tokens.values_list("name", flat=True).first()
    if name is None:
        return False
    tokens.delete()
    record_audit("revoke token", None, target=name, actor=user, now=now)
    return True
