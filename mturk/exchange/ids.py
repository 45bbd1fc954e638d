"""Ids of the exchange. Each says that it is local, so that it is never taken for one of Amazon's."""

from __future__ import annotations

import secrets
import string

SIMULATED = "ASIMULATED"
LETTERS = string.ascii_uppercase + string.digits


def new_id() -> str:
    """An id of a HIT, a HIT type, an assignment, a qualification …: 30 characters, as MTurk's."""
    return "3LOCAL" + draw(24)


def new_worker_id(*, is_simulated: bool = False) -> str:
    """An id of a worker. A requester knows workers by it alone, so a simulated one says what it is."""
    return SIMULATED + draw(10) if is_simulated else "ALOCAL" + draw(14)


def new_key_id() -> str:
    """The public half of a requester's key: 20 characters, as AWS's."""
    return "LOCAL" + draw(15)


def new_secret() -> str:
    return secrets.token_urlsafe(30)  # 40 characters, as AWS's


def draw(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))
