"""IMPORT of one CSV sheet with a row per example: the form in which people keep such data in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.readers.csv_rows import read_rows
from annotation.readers.fields import BadRow, parse_example
from annotation.readers.sources import Source, UnreadableSource
from annotation.records import Problems, Record

SHEET_COLUMNS = "id, document, reference (or reference:1, reference:2 …) and summary:NAME for each system"


class SheetReader:
    """Reads `id`, `document`, `reference…` and `summary:NAME` columns."""

    def __init__(self, source: Source, name: str, problems: Problems) -> None:
        self.source, self.name, self.problems = source, name, problems

    def read(self) -> Iterator[Record]:
        found = False
        for row in read_rows(self.source, self.name, self.problems, required=("id",), optional=None):
            found = True
            try:
                yield parse_example(self._example(row.cells), file=self.name, line=row.line)
            except BadRow as error:
                self.problems.add(self.name, row.line, str(error))
        if not found and not self.problems:
            raise UnreadableSource(f"{self.name} has column names but no row. There is nothing to import.")

    @staticmethod
    def _example(cells: dict[str, str]) -> dict[str, Any]:
        references, summaries = [], {}
        for column, cell in cells.items():
            name, _, rest = column.partition(":")
            if name == "summary" and rest:
                summaries[rest] = cell
            elif name == "reference":
                # A blank further reference means that this example has fewer than others.
                references += [{"id": rest or "1", "text": cell}] if cell.strip() or not rest else []
            elif column not in {"id", "document"}:
                raise UnreadableSource(f"the sheet has the unknown column {column!r}. Known: {SHEET_COLUMNS}.")
        document = {"document": cells["document"]} if "document" in cells else {}
        return {"id": cells["id"], "references": references, "summaries": summaries, **document}
