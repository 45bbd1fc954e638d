"""Rows that carry human work are kept: they go to the trash and come back, they are never deleted."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model, covariant=True)


class HardDeleteRefused(Exception):
    """Somebody tried to delete rows that may carry human work."""


class KeptQuerySet(models.QuerySet[Row]):
    """A queryset that cannot delete. Foreign keys to kept rows are PROTECT, so the database refuses as well."""

    def delete(self) -> NoReturn:
        raise HardDeleteRefused(f"{self.model.__name__} rows are kept. Put them into the trash instead.")

    def live(self) -> KeptQuerySet[Row]:
        return self.filter(trashed_at__isnull=True)


class Kept(models.Model):
    """A row that is never deleted."""

    objects = KeptQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"  # or Model._base_manager would be a way around

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise HardDeleteRefused(f"{type(self).__name__} rows are kept. Put them into the trash instead.")


class Trashable(Kept):
    """A kept row that a person can put into the trash and restore."""

    trashed_at = models.DateTimeField(null=True, blank=True)

    class Meta(Kept.Meta):
        abstract = True


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """A queryset of rows that are written once."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise HardDeleteRefused(f"{self.model.__name__} rows are written once and never changed.")

    def delete(self) -> NoReturn:
        raise HardDeleteRefused(f"{self.model.__name__} rows are written once and never deleted.")


class AppendOnly(models.Model):
    """A row that is written once: history."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise HardDeleteRefused(f"{type(self).__name__} rows are written once and never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise HardDeleteRefused(f"{type(self).__name__} rows are written once and never deleted.")


def one_of(field: str, choices: type[models.TextChoices], name: str) -> models.CheckConstraint:
    """Hold the choices of a state in the database, where no code path can forget them."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": choices.values}), name=name)


def not_empty(field: str, name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=~models.Q(**{field: ""}), name=name)
