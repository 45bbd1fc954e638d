"""What a HIT's page shows, as plain values: the same for a page of ours in a frame and for one that a HIT carries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

MOST_STATEMENTS = 17  # 16 units and a filler
WRITTEN_STATEMENTS = 8  # as many as LitePyramid asked for
CONSENT_VERSION = "2026-11"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"

Kind = Literal["presence", "writing"]
PRESENCE: Final = "presence"
WRITING: Final = "writing"


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One HIT: a text, and statements to look for in it or empty lines to write statements of it.

    `seconds` is how long it takes an average worker, None where nobody knows. Own words about consent, one paragraph an
    item, replace ours together with `consent_version`.
    """

    kind: Kind
    text: str
    statements: tuple[str, ...]
    reward_cents: int
    seconds: int | None
    asker: str
    contact: str = ""
    days_to_pay: int = 3
    consent: tuple[str, ...] = ()
    consent_version: str = CONSENT_VERSION
    written: int = WRITTEN_STATEMENTS

    def __post_init__(self) -> None:
        if self.kind == PRESENCE and not 1 <= len(self.statements) <= MOST_STATEMENTS:
            raise ValueError(f"A HIT asks 1 to {MOST_STATEMENTS} statements, not {len(self.statements)}.")

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its questions, in their order on the page."""
        if self.kind == PRESENCE:
            return tuple(f"u{place}" for place in range(1, len(self.statements) + 1))
        return tuple(f"s{place}" for place in range(1, self.written + 1))

    @property
    def hourly_cents(self) -> int | None:
        """What an hour of it pays, rounded down to a cent: never more than it is."""
        return math.floor(self.reward_cents * 3600 / self.seconds) if self.seconds else None


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page of ours was called by the market: for a look, or to be answered and sent to `action`."""

    assignment_id: str = ""
    action: str = ""

    @property
    def is_preview(self) -> bool:
        return not self.assignment_id
