"""Constraints that several models have."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


def one_of(field: str, choices: type[models.TextChoices], name: str) -> models.CheckConstraint:
    """Hold the choices of a state in the database, where no code path can forget them."""
    return models.CheckConstraint(condition=Q(**{f"{field}__in": choices.values}), name=name)
