"""EXPORT to Lite2-3Pyramid folders, byte for byte as published: LF between lines, none at the end (docs/formats.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from annotation.readers.lite23 import (
    DOCUMENTS,
    FOLD_SUFFIXES,
    IDS,
    LABEL,
    MIX,
    REFERENCES,
    SCUS,
    STUS,
    SUMMARY,
    WEIGHTS,
)
from annotation.records import IMPORTED, ExampleRecord, FoldRecord, SystemRecord, UnitRecord

FOLD_FOLDERS = {axis: (folder, suffix) for folder, (suffix, axis) in FOLD_SUFFIXES.items()}
REFUSALS_KEPT = 20


class LineFile:
    """A file of lines without a final line break, which knows whether any of them said something."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self.path = path
        self.file: TextIO = path.open("w", encoding="utf-8", newline="\n")
        self.lines = 0
        self.says_something = False

    def add(self, line: str) -> None:
        self.file.write(f"\n{line}" if self.lines else line)
        self.lines += 1
        self.says_something = self.says_something or line != ""

    def drop(self) -> None:
        self.file.close()
        self.path.unlink()


class Lite23Writer:
    """One line per example in every file. What the format cannot hold is refused, not bent."""

    def __init__(self, directory: Path, name: str, systems: list[SystemRecord]) -> None:
        self.directory = directory
        self.refusals: list[str] = []
        self.files = {name: LineFile(directory / name) for name in (IDS, REFERENCES, DOCUMENTS, SCUS, STUS, WEIGHTS)}
        self.systems = sorted(system.name for system in systems if not system.trashed_at)
        for system in self.systems:
            if "/" in system or "\\" in system or system.startswith("."):
                self._refuse(f"system {system!r} has a name that cannot be a file name")
        usable = self.systems if not self.refusals else []
        self.summaries = {system: LineFile(directory / "summaries" / (system + SUMMARY)) for system in usable}
        self.labels = {system: LineFile(directory / "labels" / (system + LABEL)) for system in usable}
        self.label_counts = dict.fromkeys(usable, 0)
        self.mixes: dict[str, LineFile] = {}
        self.scus = 0
        self.has_weights = False

    def write_example(self, example: ExampleRecord) -> None:
        if example.trashed_at:
            return
        if len(example.references) != 1:
            self._refuse(f"example {example.key!r} has {len(example.references)} references; the format holds one")
            return
        units = [unit for unit in example.units if not unit.trashed_at and not unit.superseded_at]
        scus = sorted((unit for unit in units if unit.kind == "scu"), key=lambda unit: unit.position)
        stus = sorted((unit for unit in units if unit.kind == "stu"), key=lambda unit: unit.position)
        reference = example.references[0]
        self.files[IDS].add(self._line(example.key, f"id {example.key!r}"))
        self.files[REFERENCES].add(self._line(reference.text, f"the reference of {example.key!r}"))
        self.files[DOCUMENTS].add(self._line(example.document or "", f"the document of {example.key!r}"))
        self.files[SCUS].add(self._cells([unit.text for unit in scus], f"an SCU of {example.key!r}"))
        self.files[STUS].add(self._cells([unit.text for unit in stus], f"an STU of {example.key!r}"))
        self.files[WEIGHTS].add("\t".join(str(unit.weight) for unit in scus))
        self.has_weights = self.has_weights or any(unit.weight != 1 for unit in scus)
        self.scus += len(scus)
        texts = {summary.system: summary.text for summary in example.summaries}
        for system, file in self.summaries.items():
            if system not in texts:
                self._refuse(f"system {system!r} has no summary of {example.key!r}; every line needs one")
            file.add(self._line(texts.get(system, ""), f"the summary of {example.key!r} by {system!r}"))
        self._write_labels(scus)
        self._write_mixes(example)

    def _write_labels(self, scus: list[UnitRecord]) -> None:
        labels = [
            {label.system: "1" if label.present else "0" for label in unit.labels if label.rule == IMPORTED}
            for unit in scus
        ]
        for system, file in self.labels.items():
            cells = [by_system[system] for by_system in labels if system in by_system]
            self.label_counts[system] += len(cells)
            file.add("\t".join(cells))

    def _write_mixes(self, example: ExampleRecord) -> None:
        line = self.files[IDS].lines
        for mix in example.mixes:
            if not MIX.fullmatch(f"{mix.name}.txt"):
                self._refuse(f"mix {mix.name!r} has a name that the format does not know")
                continue
            if mix.name not in self.mixes:
                self.mixes[mix.name] = LineFile(self.directory / f"{mix.name}.txt")
            file = self.mixes[mix.name]
            while file.lines < line - 1:
                file.add("")
            file.add(self._cells(list(mix.texts), f"mix {mix.name!r} of {example.key!r}"))

    def finish(self, folds: list[FoldRecord]) -> None:
        for system, count in self.label_counts.items():
            if count == 0:
                self.labels[system].drop()
            elif count < self.scus:
                self._refuse(
                    f"system {system!r} has labels for {count} of {self.scus} SCUs; the format holds all or none"
                )
        for name in (DOCUMENTS, SCUS, STUS):
            if not self.files[name].says_something:
                self.files[name].drop()
        if not self.has_weights:
            self.files[WEIGHTS].drop()
        for file in self.mixes.values():
            while file.lines < self.files[IDS].lines:
                file.add("")
        for fold in folds:
            folder, suffix = FOLD_FOLDERS[fold.axis]
            file = LineFile(self.directory / folder / (fold.name + suffix))
            for member in fold.members:
                file.add(member)
            file.file.close()
        self.close()
        for name in ("summaries", "labels"):
            folder_path = self.directory / name
            if folder_path.exists() and not any(folder_path.iterdir()):
                folder_path.rmdir()

    def close(self) -> None:
        for files in (self.files, self.summaries, self.labels, self.mixes):
            for file in files.values():
                file.file.close()

    def _line(self, text: str, what: str) -> str:
        if "\n" in text or text.endswith("\r") or text.startswith("\ufeff"):
            self._refuse(f"{what} has a line break; the format holds one line")
        return text

    def _cells(self, texts: list[str], what: str) -> str:
        if any("\t" in text for text in texts):
            self._refuse(f"{what} has a tab; the format separates units by tabs")
        return self._line("\t".join(texts), what)

    def _refuse(self, reason: str) -> None:
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append(reason)
