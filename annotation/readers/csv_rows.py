"""Rows of CSV files, with the line on which each begins. Ragged and broken rows become problems."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.readers.fields import MAX_TEXT
from annotation.readers.sources import Source, UnreadableSource, text_lines
from annotation.records import Problems


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a CSV file by column, and the line on which it begins."""

    line: int
    cells: dict[str, str]


def read_rows(
    source: Source, name: str, problems: Problems, *, required: tuple[str, ...], optional: tuple[str, ...] | None
) -> Iterator[Row]:
    """The rows of one CSV file; ragged ones become problems. `optional` None lets any further column pass."""
    lines = Lines(source, name, problems)
    # One field may be as long as a text; the module's own limit of 128 KB would refuse long summaries.
    csv.field_size_limit(MAX_TEXT)
    reader = csv.reader(lines, strict=True)
    start = 1  # the line on which the row at hand begins
    try:
        header = [column.strip() for column in next(reader, [])]
        if not any(header):
            raise UnreadableSource(f"{name} is empty. Its first line must name the columns: {', '.join(required)}.")
        check_header(name, header, required, optional)
        start = reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != len(header):
                problems.add(name, start, f"has {len(cells)} cells; the first line names {len(header)} columns.")
            elif cells:
                yield Row(start, dict(zip(header, cells, strict=True)))
            start = reader.line_num + 1
    except csv.Error as error:
        problems.add(name, start, f"begins a row that is not CSV: {_plain(error)}.")


def _plain(error: csv.Error) -> str:
    """What the csv module means, in words for people."""
    if "new-line" in str(error):
        return "a carriage return outside quotes. Save the file with LF or CRLF line ends"
    if "field larger" in str(error):
        return f"a text of more than {MAX_TEXT:,} characters"
    return "a quote is left open, or text follows a closing quote"


def check_header(name: str, header: list[str], required: tuple[str, ...], optional: tuple[str, ...] | None) -> None:
    for column in required:
        if column not in header:
            hint = " Separate the columns by commas." if len(header) == 1 and {";", "\t"} & set(header[0]) else ""
            named = ", ".join(header)[:200]
            raise UnreadableSource(f"{name} has no column {column!r} (small letters). It has: {named}.{hint}")
    if len(set(header)) < len(header):
        raise UnreadableSource(f"{name} names a column twice in its first line.")
    unknown = [column for column in header if optional is not None and column not in (*required, *optional)]
    if unknown:
        known = ", ".join((*required, *(optional or ())))
        raise UnreadableSource(f"{name} has the unknown column {unknown[0]!r}. Known: {known}.")


class Lines:
    """Lines with their line breaks, as the csv module wants them. A bad line ends the file: rows would shift."""

    def __init__(self, source: Source, name: str, problems: Problems) -> None:
        self.lines = text_lines(source, name, problems, keep_ends=True)

    def __iter__(self) -> Iterator[str]:
        for _, text in self.lines:
            if text is None:
                return
            yield text
