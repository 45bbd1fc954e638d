"""IMPORT: files become records. What is wrong with them is gathered with file and line, never raised one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from annotation.readers.jsonl import read_jsonl
from annotation.readers.lite23 import read_lite23
from annotation.readers.sources import Limits, Source, UnreadableSource, open_source
from annotation.readers.tables import read_tables
from annotation.records import Problems, Record

READERS: dict[str, Callable[[Source, Problems], Iterator[Record]]] = {
    "lite2-3pyramid": read_lite23,
    "jsonl": read_jsonl,
    "csv": read_tables,
}
FORMATS = tuple(READERS)

__all__ = ["FORMATS", "Limits", "Source", "UnreadableSource", "open_source", "read_corpus"]


def read_corpus(source: Source, corpus_format: str, problems: Problems) -> Iterator[Record]:
    """The records of a source in file order, with bounded memory."""
    return READERS[corpus_format](source, problems)
