"""What tells work that was done from work that was clicked through. Reasons to look, never reasons to reject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.judging.answers import ANSWERS

FASTEST_S = 1.0
"""Seconds for a statement: nobody reads one in less."""


def failed_checks(
    kind: str, page: Mapping[str, Any], answers: Mapping[str, str], *, seconds: float | None
) -> list[str]:
    """Names of the checks that an answer fails: unanswered, attention, fast, all_unsure, or few for writing."""
    if kind == "writing":
        written = [answers.get(f"s{place}", "").strip() for place in range(1, int(page.get("statements", 8)) + 1)]
        texts = {text.casefold() for text in written if text}
        return ["few"] if len(texts) < len(written) else []
    rows = page["rows"]
    given = [answers.get(f"u{place}", "") for place in range(1, len(rows) + 1)]
    failed = []
    if any(answer not in ANSWERS for answer in given):
        failed.append("unanswered")
    if any(row["unit"] is None and answer == "present" for row, answer in zip(rows, given, strict=True)):
        failed.append("attention")
    if seconds is not None and seconds < FASTEST_S * len(rows):
        failed.append("fast")
    if given and all(answer == "unsure" for answer in given):
        failed.append("all_unsure")
    return failed
