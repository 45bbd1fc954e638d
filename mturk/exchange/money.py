"""Money in integer cents, and what each kind of ledger line does to which account."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_CENTS = 10**15  # a sum that every account can hold


def cents_of(amount: str) -> int:
    """Cents of an amount that has MTurk's form: "0.15", "3", "3.", "0.5". A number without form is a ValueError."""
    dollars, _, rest = amount.partition(".")
    if not (dollars.isascii() and dollars.isdecimal() and (rest == "" or (rest.isascii() and rest.isdecimal()))):
        raise ValueError(f"{amount!r} is no amount of dollars.")
    if len(rest) > 2:
        raise ValueError(f"{amount!r} has parts of a cent.")
    cents = int(dollars[:20]) * 100 + int(rest.ljust(2, "0")) if len(dollars) <= 20 else MOST_CENTS + 1
    if cents > MOST_CENTS:
        raise ValueError(f"{amount!r} is more than the exchange can hold.")
    return cents


def dollars_of(cents: int) -> str:
    """An amount as the API writes it: "0.15"."""
    return f"{cents // 100}.{cents % 100:02d}"


@dataclass(frozen=True)
class Effect:
    """How often a line's signed cents count in each account."""

    available: int = 0
    held: int = 0
    owed: int = 0  # to the worker


# A hold has cents below 0: it takes from what is available and adds to what is held. Pay leaves the hold for a worker.
EFFECTS = {
    "deposit": Effect(available=1),
    "hold": Effect(available=1, held=-1),
    "release": Effect(available=1, held=-1),
    "pay": Effect(held=1, owed=-1),
    "fee": Effect(held=1),
    "bonus": Effect(available=1, owed=-1),
    "payout": Effect(owed=1),
}


@dataclass(frozen=True)
class Accounts:
    """What a requester has free and on hold, and owes to workers."""

    available: int = 0
    held: int = 0
    owed: int = 0


def add_up(lines: Iterable[tuple[str, int]]) -> Accounts:
    """The accounts after lines of (kind, cents)."""
    available = held = owed = 0
    for kind, cents in lines:
        effect = EFFECTS[kind]
        available += effect.available * cents
        held += effect.held * cents
        owed += effect.owed * cents
    return Accounts(available, held, owed)
