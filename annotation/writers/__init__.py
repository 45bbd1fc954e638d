"""EXPORT: records become files. Each writer mirrors the reader of its format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from annotation.records import Counts, ExampleRecord, FoldRecord, SystemRecord
from annotation.writers.jsonl import JsonlWriter
from annotation.writers.lite23 import Lite23Writer
from annotation.writers.tables import TablesWriter

__all__ = ["WRITERS", "CorpusWriter"]


class CorpusWriter(Protocol):
    """Takes the examples of a corpus one by one.

    `refusals` says what the format cannot hold without bending it, `left_out` what it has no place for, `counts` what
    was written.
    """

    refusals: list[str]
    left_out: Counter[str]
    counts: Counts

    def write_example(self, example: ExampleRecord) -> None: ...
    def finish(self, folds: list[FoldRecord]) -> None: ...
    def close(self) -> None: ...


WRITERS: dict[str, Callable[[Path, str, list[SystemRecord]], CorpusWriter]] = {
    "lite2-3pyramid": Lite23Writer,
    "jsonl": JsonlWriter,
    "csv": TablesWriter,
}
