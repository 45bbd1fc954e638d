"""IMPORT of CSV: a folder of tables, which is what the export writes (docs/formats.md)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.csv_cells import restore
from annotation.readers.csv_rows import Row, read_rows
from annotation.readers.fields import (
    BadRow,
    key_of,
    parse_contributor,
    parse_example,
    parse_fold,
    parse_mixes,
    parse_reference,
    parse_system,
    parse_unit,
    present_of,
    span_of,
)
from annotation.readers.jsonl import load_strictly
from annotation.readers.sheet import SheetReader
from annotation.readers.sources import Source, UnreadableSource, few
from annotation.records import Problems, Record

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the folder form: its columns, and how a row becomes a part of an example."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    part: Callable[[dict[str, str]], dict[str, Any]]  # raises BadRow, so that a bad row is told with its own line


# --- cells -------------------------------------------------------------------------------------------------------


def number(cell: str, column: str) -> int:
    # int() alone would take other scripts' digits, spaces and underscores.
    if not re.fullmatch(r"-?[0-9]{1,18}", cell):
        raise BadRow(f"{column} must be a whole number, not {cell!r:.40}.")
    return int(cell)


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
    part = {"id": cells["reference"], "text": cells["text"]}
    parse_reference(part, position=1)
    return part


def sentence_part(cells: dict[str, str]) -> dict[str, Any]:
    span = span_of([number(cells["start"], "start"), number(cells["end"], "end")], "the sentence")
    return {"reference": cells["reference"], "span": [*span, number(cells.get("revision") or "1", "revision")]}


def summary_part(cells: dict[str, str]) -> dict[str, Any]:
    return {"system": key_of(cells["system"], "system"), "text": cells["text"]}


def unit_part(cells: dict[str, str]) -> dict[str, Any]:
    part = {
        "id": cells["unit"],
        "text": cells["text"],
        **numbers(cells, "weight", "revision", "position"),
        **texts(cells, "kind", "reference", "provenance", "guideline_version", "rule", "author"),
        **span_cells(cells),
        **texts(cells, "created_at", "superseded_at", "trashed_at"),
        **sentence_cells(cells),
    }
    parse_unit({"reference": "1", **part}, position=1)
    return part


def span_cells(cells: dict[str, str]) -> dict[str, Any]:
    """Spans as "0-5 9-12"."""
    text = cells.get("spans", "").strip()
    if not text:
        return {}
    if not all(re.fullmatch(r"[0-9]{1,9}-[0-9]{1,9}", span) for span in text.split()):
        raise BadRow(f"spans is {text!r}; write them as 0-5 9-12.")
    return {"spans": [[int(end) for end in span.split("-")] for span in text.split()]}


def contributor_part(cells: dict[str, str]) -> dict[str, Any]:
    span = [number(cells["start"], "start"), number(cells["end"], "end")] if cells.get("start") else None
    contributor = {
        "reference": cells["reference"],
        "text": cells.get("text", ""),
        "span": span,
        **sentence_cells(cells),
    }
    parse_contributor(contributor)
    return {"unit": unit_identity(cells), "contributor": contributor}


def label_part(cells: dict[str, str]) -> dict[str, Any]:
    present = number(cells["present"], "present")
    present_of(present, "present")
    return {
        "unit": unit_identity(cells),
        "rule": key_of(cells.get("rule") or "imported", "rule"),
        "system": key_of(cells["system"], "system"),
        "present": present,
    }


def unit_identity(cells: dict[str, str]) -> list[Any]:
    return [cells.get("kind") or "scu", cells["unit"], number(cells.get("revision") or "1", "revision")]


def mix_part(cells: dict[str, str]) -> dict[str, Any]:
    part = {"name": cells["mix"], "reference": cells["reference"], "texts": json_cell(cells["texts"], "texts")}
    parse_mixes({part["name"]: {part["reference"]: part["texts"]}})
    return part


TABLES = {
    "references.csv": Table(("example", "reference", "text"), (), reference_part),
    "sentences.csv": Table(("example", "reference", "start", "end"), ("revision", "position", "text"), sentence_part),
    "summaries.csv": Table(("example", "system", "text"), (), summary_part),
    "units.csv": Table(
        ("example", "unit", "text"),
        (
            "kind", "revision", "position", "weight", "reference", "sentence", "sentence_revision", "provenance",
            "guideline_version", "rule", "spans", "author", "created_at", "superseded_at", "trashed_at",
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
SYSTEM_COLUMNS = (("system",), ("trashed_at", "partial"))
FOLD_COLUMNS = (("axis", "fold", "members"), ())


def read_tables(source: Source, problems: Problems) -> Iterator[Record]:
    """One file is a sheet, several are tables."""
    names = source.names()
    if len(names) == 1 and names[0] != EXAMPLES:
        return SheetReader(source, names[0], problems).read()
    if EXAMPLES not in names:
        raise UnreadableSource(
            f"{source.label} holds no {EXAMPLES}. A CSV corpus is one sheet, or a folder with {EXAMPLES}, "
            f"{', '.join(TABLES)}, {SYSTEMS}, {FOLDS}. It holds: {few(names)}."
        )
    return TablesReader(source, problems).read()


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
            # A blank cell says nothing of the document; only JSONL can tell an empty one from none.
            fields: dict[str, Any] = {"id": key, **texts(row.cells, "trashed_at", "document")}
            assembly = Assembly(parts.take(key))
            for problem in assembly.problems:
                self.problems.add(*problem)
            try:
                yield parse_example(fields | assembly.fields, file=EXAMPLES, line=row.line)
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
                    partial = (
                        {"partial": bool(number(row.cells["partial"], "partial"))} if row.cells.get("partial") else {}
                    )
                    yield parse_system({**fields, **partial}, file=SYSTEMS, line=row.line)
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


class Assembly:
    """The parts of one example as the fields of its JSON line, so that one parser checks both formats.

    Rows that do not fit together are in `problems` as (file, line, message); the fields are then of no use.
    """

    def __init__(self, parts: list[tuple[str, int, dict[str, Any]]]) -> None:
        self.problems: list[tuple[str, int, str]] = []
        self.parts: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in TABLES}
        for name, line, part in parts:
            self.parts[name].append((line, part))
        references = self._references()
        units = self._units()
        self.fields = {
            "references": list(references.values()),
            "summaries": {
                part["system"]: part["text"] for part in self._once("summaries.csv", lambda part: part["system"])
            },
            "units": list(units.values()),
            "mixes": self._mixes(),
        }

    def _once(self, name: str, key_of: Callable[[dict[str, Any]], Any]) -> Iterator[dict[str, Any]]:
        """The parts of a table; one whose key came before is a problem."""
        seen = set()
        for line, part in self.parts[name]:
            key = key_of(part)
            if key in seen:
                words = ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
                self.problems.append((name, line, f"stands for the second time ({words}). Remove one of the rows."))
            else:
                seen.add(key)
                yield part

    def _references(self) -> dict[str, dict[str, Any]]:
        references = {part["id"]: part for part in self._once("references.csv", lambda part: part["id"])}
        for line, part in self.parts["sentences.csv"]:
            if part["reference"] in references:
                references[part["reference"]].setdefault("sentences", []).append(part["span"])
            else:
                message = f"names reference {part['reference']!r}, which is not in references.csv."
                self.problems.append(("sentences.csv", line, message))
        return references

    def _units(self) -> dict[tuple[str, str, int], dict[str, Any]]:
        def identity(part: dict[str, Any]) -> tuple[str, str, int]:
            return (part.get("kind", "scu"), part["id"], part.get("revision", 1))

        units = {identity(part): part for part in self._once("units.csv", identity)}
        for name in ("contributors.csv", "labels.csv"):
            for line, part in self.parts[name]:
                if tuple(part["unit"]) not in units:
                    message = f"names the unit {part['unit'][1]!r} ({part['unit'][0]}), which is not in units.csv."
                    self.problems.append((name, line, message))
        for _, part in self.parts["contributors.csv"]:
            if tuple(part["unit"]) in units:
                units[tuple(part["unit"])].setdefault("contributors", []).append(part["contributor"])
        for part in self._once("labels.csv", lambda part: (*part["unit"], part["rule"], part["system"])):
            if tuple(part["unit"]) in units:
                labels = units[tuple(part["unit"])].setdefault("labels", {})
                labels.setdefault(part["rule"], {})[part["system"]] = part["present"]
        return units

    def _mixes(self) -> dict[str, dict[str, Any]]:
        mixes: dict[str, dict[str, Any]] = {}
        for part in self._once("mixes.csv", lambda part: (part["name"], part["reference"])):
            mixes.setdefault(part["name"], {})[part["reference"]] = part["texts"]
        return mixes


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

    def take(self, example: str) -> list[tuple[str, int, dict[str, Any]]]:
        """The parts of an example in the order of their files; they are gone afterwards."""
        if not self.is_indexed:
            self.database.execute("CREATE INDEX part_example ON part (example)")
            self.is_indexed = True
        rows = self.database.execute(
            "SELECT name, line, data FROM part WHERE example = ? ORDER BY rowid", (example,)
        ).fetchall()
        self.database.execute("DELETE FROM part WHERE example = ?", (example,))
        return [(name, line, json.loads(data)) for name, line, data in rows]

    def left(self) -> Iterator[tuple[str, int, str]]:
        """Where an example is named that does not exist: the first row for each."""
        yield from self.database.execute(
            "SELECT name, MIN(line), example FROM part GROUP BY name, example ORDER BY name"
        )
