"""Names for people that tell nobody who they are, and are the same for the same person every time."""

from __future__ import annotations

import hmac
import json
import re
from hashlib import sha256

PSEUDONYM = re.compile(r"w-[0-9a-f]{16}")
ROW = re.compile(r"row-[0-9a-f]{12}")


def pseudonym(secret: bytes, project: str, name: str) -> str:
    """HMAC-SHA256 of a name: "w-" and 16 hex digits.

    Without the secret nobody can try out names; the same name in two projects gives two pseudonyms, so that people
    cannot be followed from one to the other.
    """
    message = json.dumps([project, name])  # so that no two pairs give one message
    return "w-" + hmac.new(secret, message.encode(), sha256).hexdigest()[:16]


def row_pseudonym(assignment: str) -> str:
    """The name of whoever answered a row that does not tell whose it is."""
    return "row-" + sha256(assignment.encode()).hexdigest()[:12]


def is_pseudonym(name: str) -> bool:
    return bool(PSEUDONYM.fullmatch(name) or ROW.fullmatch(name))


def is_row(name: str) -> bool:
    """Whether a name stands for one row alone, so that it links no two of them."""
    return bool(ROW.fullmatch(name))
