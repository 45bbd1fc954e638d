"""Adding a system with its summaries: all of them or nothing."""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Example, Project, Summary, System, User
from annotation.readers.fields import BadRow, key_of
from annotation.services.auditing import record_audit

SUMMARIES_PER_INSERT = 2000


class CannotAddSystem(Exception):
    """The system cannot be added as it is. The message says what to do."""


def example_keys(project: Project) -> list[str]:
    """Ids of the live examples, in their order."""
    return list(Example.objects.live().filter(project=project).order_by("position").values_list("key", flat=True))


@transaction.atomic
def add_system(
    project: Project, name: str, summaries: dict[str, str], *, now: dt.datetime, actor: User | None = None
) -> tuple[System, bool]:
    """A new system with a summary of every live example, and whether it is new.

    The same system with the same summaries is left alone, so that a request can be sent twice.
    """
    try:
        name = key_of(name, _("the name of the system"))
    except BadRow as error:
        raise CannotAddSystem(str(error)) from error
    Project.objects.select_for_update().get(pk=project.pk)  # imports take the same lock
    examples = dict(Example.objects.live().filter(project=project).values_list("key", "pk"))
    if not examples:
        raise CannotAddSystem(_("There are no examples yet. Import a corpus first."))
    if set(examples) != set(summaries):
        raise CannotAddSystem(_("The examples have changed meanwhile. Upload the file again."))
    found = System.objects.filter(project=project, name=name).first()
    if found is not None:
        if found.trashed_at:
            raise CannotAddSystem(_("A system of that name is in the trash. Restore it, or choose another name."))
        rows = Summary.objects.filter(system=found, example__trashed_at__isnull=True)
        stored = dict(rows.values_list("example", "text"))
        if stored == {examples[key]: text for key, text in summaries.items()}:
            return found, False
        raise CannotAddSystem(
            _("A system of that name is here with other summaries, which are never overwritten. Choose another name.")
        )
    system = System.objects.create(project=project, name=name)
    Summary.objects.bulk_create(
        (Summary(example_id=examples[key], system=system, text=text) for key, text in summaries.items()),
        batch_size=SUMMARIES_PER_INSERT,
    )
    record_audit("add system", project, target=name, actor=actor, now=now, detail={"summaries": len(summaries)})
    return system, True
