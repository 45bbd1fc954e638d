"""IMPORT of CSV: a folder of tables (what the export writes), or one sheet with a row per example (docs/formats.md)."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.csv_cells import restore
from annotation.readers.fields import MAX_TEXT, BadRow, parse_example, parse_fold, parse_system
from annotation.readers.jsonl import load_strictly
from annotation.readers.sources import Source, UnreadableSource, text_lines
from annotation.records import Problems, Record

MANIFEST = "manifest.json"
SHEET_COLUMNS = "id, document, reference (or reference:1, reference:2 …) and summary:NAME for each system"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a CSV file by column, and the line on which it begins."""

    line: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the folder form: its columns, and how a row becomes a part of an example."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    part: Callable[[dict[str, str]], dict[str, Any]]


# --- cells -------------------------------------------------------------------------------------------------------


def number(cell: str, column: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise BadRow(f"{column} must be a whole number, not {cell!r:.40}.") from None


def numbers(cells: dict[str, str], *columns: str) -> dict[str, int]:
    """The given columns as numbers, blank ones left out."""
    return {column: number(cells[column], column) for column in columns if cells.get(column)}


def texts(cells: dict[str, str], *columns: str) -> dict[str, str]:
    return {column: cells[column] for column in columns if cells.get(column)}


def json_cell(cell: str, column: str) -> Any:
    try:
        return load_strictly(cell)
    except BadRow as error:
        raise BadRow(f"{column} {error}") from None


def sentence_cells(cells: dict[str, str]) -> dict[str, Any]:
    if not cells.get("sentence"):
        return {}
    revision = number(cells.get("sentence_revision") or "1", "sentence_revision")
    return {"sentence": [revision, number(cells["sentence"], "sentence")]}


# --- tables ------------------------------------------------------------------------------------------------------


def reference_part(cells: dict[str, str]) -> dict[str, Any]:
    return {"id": cells["reference"], "text": cells["text"]}


def sentence_part(cells: dict[str, str]) -> dict[str, Any]:
    revision = number(cells.get("revision") or "1", "revision")
    span = [number(cells["start"], "start"), number(cells["end"], "end"), revision]
    return {"reference": cells["reference"], "span": span}


def summary_part(cells: dict[str, str]) -> dict[str, Any]:
    return {"system": cells["system"], "text": cells["text"]}


def unit_part(cells: dict[str, str]) -> dict[str, Any]:
    return {
        "id": cells["unit"],
        "text": cells["text"],
        **numbers(cells, "weight", "revision", "position"),
        **texts(cells, "kind", "reference", "provenance", "guideline_version", "author"),
        **texts(cells, "created_at", "superseded_at", "trashed_at"),
        **sentence_cells(cells),
    }


def contributor_part(cells: dict[str, str]) -> dict[str, Any]:
    span = [number(cells["start"], "start"), number(cells["end"], "end")] if cells.get("start") else None
    contributor = {
        "reference": cells["reference"],
        "text": cells.get("text", ""),
        "span": span,
        **sentence_cells(cells),
    }
    return {"unit": unit_identity(cells), "contributor": contributor}


def label_part(cells: dict[str, str]) -> dict[str, Any]:
    present = number(cells["present"], "present")
    return {
        "unit": unit_identity(cells),
        "rule": cells.get("rule") or "imported",
        "system": cells["system"],
        "present": present,
    }


def unit_identity(cells: dict[str, str]) -> list[Any]:
    return [cells.get("kind") or "scu", cells["unit"], number(cells.get("revision") or "1", "revision")]


def mix_part(cells: dict[str, str]) -> dict[str, Any]:
    return {"name": cells["mix"], "reference": cells["reference"], "texts": json_cell(cells["texts"], "texts")}


TABLES = {
    "references.csv": Table(("example", "reference", "text"), (), reference_part),
    "sentences.csv": Table(("example", "reference", "start", "end"), ("revision", "position", "text"), sentence_part),
    "summaries.csv": Table(("example", "system", "text"), (), summary_part),
    "units.csv": Table(
        ("example", "unit", "text"),
        (
            "kind", "revision", "position", "weight", "reference", "sentence", "sentence_revision", "provenance",
            "guideline_version", "author", "created_at", "superseded_at", "trashed_at",
        ),
        unit_part,
    ),
    "contributors.csv": Table(
        ("example", "unit", "reference"),
        ("kind", "revision", "text", "start", "end", "sentence", "sentence_revision"),
        contributor_part,
    ),
    "labels.csv": Table(("example", "unit", "system", "present"), ("kind", "revision", "rule"), label_part),
    "mixes.csv": Table(("example", "mix", "reference", "texts"), (), mix_part),
}  # fmt: skip
EXAMPLES, SYSTEMS, FOLDS = "examples.csv", "systems.csv", "folds.csv"
EXAMPLE_COLUMNS = (("example",), ("document", "trashed_at"))
SYSTEM_COLUMNS = (("system",), ("trashed_at",))
FOLD_COLUMNS = (("axis", "fold", "members"), ())


def read_tables(source: Source, problems: Problems) -> Iterator[Record]:
    names = source.names()
    if len(names) == 1 and names[0] != EXAMPLES:
        return SheetReader(source, names[0], problems).read()
    if EXAMPLES not in names:
        raise UnreadableSource(
            f"{source.label} holds no {EXAMPLES}. A CSV corpus is one sheet, or a folder with {EXAMPLES}, "
            f"{', '.join(TABLES)}. It holds: {', '.join(names[:6])}."
        )
    return TablesReader(source, problems).read()


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
        header = next(reader, None)
        if not header:
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
        problems.add(name, start, f"begins a row that is not CSV ({error}). Is a quote left open, or a text too long?")


def check_header(name: str, header: list[str], required: tuple[str, ...], optional: tuple[str, ...] | None) -> None:
    for column in required:
        if column not in header:
            raise UnreadableSource(f"{name} has no column {column!r}. Its first line names: {', '.join(header)[:200]}.")
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


class SheetReader:
    """One sheet with a row per example: the form in which people keep such data in a spreadsheet."""

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


class TablesReader:
    """A folder of tables. Rows may stand in any order, so they are sorted on disk first, not in memory."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.names = source.names()
        # Only our own export neutralises cells; in anybody else's file an apostrophe is an apostrophe.
        self.decode = restore if MANIFEST in self.names and self._is_ours() else str

    def _is_ours(self) -> bool:
        with self.source.open(MANIFEST) as file:
            try:
                manifest = json.loads(file.read(1_000_000))
            except (ValueError, RecursionError):
                return False
        return isinstance(manifest, dict) and manifest.get("format") == "csv"

    def read(self) -> Iterator[Record]:
        for name in self.names:
            if name.endswith(".csv") and name not in {*TABLES, EXAMPLES, SYSTEMS, FOLDS}:
                self.problems.add(
                    name, None, f"is no table of a corpus. Known: {', '.join(TABLES)}, {SYSTEMS}, {FOLDS}."
                )
        with Parts() as parts:
            for name in TABLES:
                if name in self.names:
                    self._gather(name, TABLES[name], parts)
            yield from self._systems()
            yield from self._examples(parts)
        yield from self._folds()

    def _rows(self, name: str, required: tuple[str, ...], optional: tuple[str, ...]) -> Iterator[Row]:
        for row in read_rows(self.source, name, self.problems, required=required, optional=optional):
            yield Row(row.line, {column: self.decode(cell) for column, cell in row.cells.items()})

    def _gather(self, name: str, table: Table, parts: Parts) -> None:
        for row in self._rows(name, table.required, table.optional):
            try:
                parts.add(row.cells["example"], name, row.line, table.part(row.cells))
            except BadRow as error:
                self.problems.add(name, row.line, str(error))

    def _examples(self, parts: Parts) -> Iterator[Record]:
        found = False
        for row in self._rows(EXAMPLES, *EXAMPLE_COLUMNS):
            found = True
            key = row.cells["example"]
            fields: dict[str, Any] = {"id": key, **texts(row.cells, "trashed_at")}
            if "document" in row.cells:
                fields["document"] = row.cells["document"]
            try:
                yield parse_example(fields | assemble(parts.take(key)), file=EXAMPLES, line=row.line)
            except BadRow as error:
                self.problems.add(EXAMPLES, row.line, str(error))
        if not found and not self.problems:
            raise UnreadableSource(f"{EXAMPLES} has column names but no row. There is nothing to import.")
        for name, line, example in parts.left():
            self.problems.add(name, line, f"names the example {example!r}, which is not in {EXAMPLES}.")

    def _systems(self) -> Iterator[Record]:
        if SYSTEMS in self.names:
            for row in self._rows(SYSTEMS, *SYSTEM_COLUMNS):
                fields = {"name": row.cells["system"], **texts(row.cells, "trashed_at")}
                try:
                    yield parse_system(fields, file=SYSTEMS, line=row.line)
                except BadRow as error:
                    self.problems.add(SYSTEMS, row.line, str(error))

    def _folds(self) -> Iterator[Record]:
        if FOLDS in self.names:
            for row in self._rows(FOLDS, *FOLD_COLUMNS):
                try:
                    members = json_cell(row.cells["members"], "members")
                    fields = {"axis": row.cells["axis"], "name": row.cells["fold"], "members": members}
                    yield parse_fold(fields, file=FOLDS, line=row.line)
                except BadRow as error:
                    self.problems.add(FOLDS, row.line, str(error))


def assemble(parts: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The parts of one example as the fields of its JSON line, so that one parser checks both formats."""
    by_table: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, part in parts:
        by_table[name].append(part)
    references = {part["id"]: part for part in by_table["references.csv"]}
    if len(references) < len(by_table["references.csv"]):
        raise BadRow("a reference stands twice in references.csv.")
    for part in by_table["sentences.csv"]:
        if part["reference"] not in references:
            raise BadRow(f"sentences.csv names reference {part['reference']!r}, which is not in references.csv.")
        references[part["reference"]].setdefault("sentences", []).append(part["span"])
    units = {(unit.get("kind", "scu"), unit["id"], unit.get("revision", 1)): unit for unit in by_table["units.csv"]}
    if len(units) < len(by_table["units.csv"]):
        raise BadRow("a unit stands twice in units.csv.")
    for part in by_table["contributors.csv"]:
        _owner(units, part, "contributors.csv").setdefault("contributors", []).append(part["contributor"])
    for part in by_table["labels.csv"]:
        by_system = _owner(units, part, "labels.csv").setdefault("labels", {}).setdefault(part["rule"], {})
        if part["system"] in by_system:
            raise BadRow(f"labels.csv labels unit {part['unit'][1]!r} twice for system {part['system']!r}.")
        by_system[part["system"]] = part["present"]
    summaries = {part["system"]: part["text"] for part in by_table["summaries.csv"]}
    if len(summaries) < len(by_table["summaries.csv"]):
        raise BadRow("a system stands twice in summaries.csv.")
    mixes: dict[str, dict[str, Any]] = {}
    for part in by_table["mixes.csv"]:
        mixes.setdefault(part["name"], {})[part["reference"]] = part["texts"]
    return {
        "references": list(references.values()),
        "summaries": summaries,
        "units": list(units.values()),
        "mixes": mixes,
    }


def _owner(units: dict[tuple[str, str, int], dict[str, Any]], part: dict[str, Any], name: str) -> dict[str, Any]:
    identity = (part["unit"][0], part["unit"][1], part["unit"][2])
    if identity not in units:
        raise BadRow(f"{name} names the unit {identity[1]!r} ({identity[0]}), which is not in units.csv.")
    return units[identity]


class Parts:
    """Rows by example, in a private SQLite file in the temporary folder that vanishes when it is closed."""

    def __init__(self) -> None:
        self.database = sqlite3.connect("", isolation_level=None)
        self.database.execute("PRAGMA journal_mode = OFF")
        self.database.execute("PRAGMA synchronous = OFF")
        self.database.execute("CREATE TABLE part (example TEXT, name TEXT, line INTEGER, data TEXT)")
        self.is_indexed = False

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def add(self, example: str, name: str, line: int, data: dict[str, Any]) -> None:
        self.database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (example, name, line, json.dumps(data)))

    def take(self, example: str) -> list[tuple[str, dict[str, Any]]]:
        """The parts of an example in the order of their files; they are gone afterwards."""
        if not self.is_indexed:
            self.database.execute("CREATE INDEX part_example ON part (example)")
            self.is_indexed = True
        rows = self.database.execute(
            "SELECT name, data FROM part WHERE example = ? ORDER BY rowid", (example,)
        ).fetchall()
        self.database.execute("DELETE FROM part WHERE example = ?", (example,))
        return [(name, json.loads(data)) for name, data in rows]

    def left(self) -> Iterator[tuple[str, int, str]]:
        """Where an example is named that does not exist: the first row for each."""
        yield from self.database.execute(
            "SELECT name, MIN(line), example FROM part GROUP BY name, example ORDER BY name"
        )
