"""EXPORT to CSV tables, one per kind of row, safe to open in a spreadsheet (docs/formats.md)."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any, TextIO

from annotation.csv_cells import neutralise
from annotation.records import Counts, ExampleRecord, FoldRecord, SystemRecord, UnitRecord

COLUMNS = {
    "examples": ("example", "document", "trashed_at"),
    "references": ("example", "reference", "text"),
    "sentences": ("example", "reference", "revision", "position", "start", "end", "text"),
    "systems": ("system", "trashed_at", "partial"),
    "summaries": ("example", "system", "text"),
    "units": (
        "example", "kind", "unit", "revision", "position", "text", "weight", "reference", "sentence_revision",
        "sentence", "provenance", "guideline_version", "rule", "spans", "author", "created_at", "superseded_at",
        "trashed_at",
    ),
    "contributors": (
        "example", "kind", "unit", "revision", "reference", "text", "start", "end", "sentence_revision", "sentence",
    ),
    "labels": ("example", "kind", "unit", "revision", "system", "rule", "present"),
    "mixes": ("example", "mix", "reference", "texts"),
    "folds": ("axis", "fold", "members"),
}  # fmt: skip


class TablesWriter:
    """Writes a CSV file per kind of row. Text is neutralised against formulas, numbers are written as numbers."""

    def __init__(self, directory: Path, name: str, systems: list[SystemRecord]) -> None:
        self.refusals: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.counts = Counts(systems=len(systems))
        self.files: list[TextIO] = []
        self.tables = {table: self._open(directory / f"{table}.csv", columns) for table, columns in COLUMNS.items()}
        for system in systems:
            self._row("systems", system.name, system.trashed_at, int(system.partial))

    def _open(self, path: Path, columns: tuple[str, ...]) -> Any:
        file = path.open("w", encoding="utf-8", newline="")
        self.files.append(file)
        # All text in quotes: a lone carriage return would otherwise end a row.
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        return writer

    def _row(self, table: str, *cells: str | int | None) -> None:
        self.tables[table].writerow(
            [neutralise(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in cells]
        )

    def write_example(self, example: ExampleRecord) -> None:
        key = example.key
        self.counts.add_example(example)
        self._row("examples", key, example.document, example.trashed_at)
        for reference in example.references:
            self._row("references", key, reference.key, reference.text)
            for item in reference.sentences:
                text = reference.text[item.start : item.end]
                self._row("sentences", key, reference.key, item.revision, item.position, item.start, item.end, text)
        for summary in example.summaries:
            self._row("summaries", key, summary.system, summary.text)
        for unit in example.units:
            self._write_unit(key, unit)
        for mix in example.mixes:
            self._row("mixes", key, mix.name, mix.reference, json.dumps(mix.texts, ensure_ascii=False))

    def _write_unit(self, example: str, unit: UnitRecord) -> None:
        self._row(
            "units", example, unit.kind, unit.key, unit.revision, unit.position, unit.text, unit.weight, unit.reference,
            *(unit.sentence or (None, None)), unit.provenance, unit.guideline_version, unit.rule,
            " ".join(f"{start}-{end}" for start, end in unit.spans), unit.author, unit.created_at, unit.superseded_at,
            unit.trashed_at,
        )  # fmt: skip
        for item in unit.contributors:
            sentence = item.sentence or (None, None)
            self._row(
                "contributors", example, unit.kind, unit.key, unit.revision, item.reference, item.text, item.start,
                item.end, *sentence,
            )  # fmt: skip
        for label in unit.labels:
            self._row(
                "labels", example, unit.kind, unit.key, unit.revision, label.system, label.rule, int(label.present)
            )

    def finish(self, folds: list[FoldRecord]) -> None:
        for fold in folds:
            self._row("folds", fold.axis, fold.name, json.dumps(fold.members, ensure_ascii=False))
        self.counts.folds = len(folds)

    def close(self) -> None:
        for file in self.files:
            file.close()
