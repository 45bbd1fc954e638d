"""Under which name a judge stands in files: a pseudonym, whoever they are."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.utils.crypto import salted_hmac

from annotation.models import Person, Project
from annotation.pseudonyms import is_pseudonym, pseudonym

SALT = "annotation.pseudonyms"


@lru_cache(maxsize=4)
def _secret(key: str) -> bytes:
    # A key of its own: what leaves the house must not be made with the one that signs sessions.
    return salted_hmac(SALT, "worker", secret=key, algorithm="sha256").digest()


def name_worker(project: Project | int, name: str) -> str:
    """The pseudonym in a project of somebody who is known elsewhere by a name, such as a WorkerId."""
    return pseudonym(_secret(settings.SECRET_KEY), str(_pk(project)), name)


def name_judge(person: Person) -> str:
    """The name of a judge in every export. One that is a pseudonym already stays, if no account hides behind it."""
    return exported_name(person.project_id, person.key, has_account=person.user_id is not None)


def exported_name(project: Project | int, key: str, *, has_account: bool) -> str:
    if is_pseudonym(key) and not has_account:
        return key
    # "user/": a worker elsewhere who is called like one of ours is somebody else.
    return name_worker(project, f"user/{key}")


def _pk(project: Project | int) -> int:
    return project if isinstance(project, int) else project.pk
