"""Names of judges for people."""

from __future__ import annotations


def short_judge(name: str) -> str:
    """A judge as pages name it: of a folder its last part, since nobody there needs to know our disk."""
    people, plus, machine = name.rpartition("+")
    return f"{people}{plus}{machine.rstrip('/').rpartition('/')[2] if machine.startswith(('/', '.', '~')) else machine}"
