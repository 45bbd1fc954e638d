"""EXPORT to Lite2-3Pyramid folders, byte for byte as published: LF between lines, none at the end (docs/formats.md)."""

from __future__ import annotations

from collections import Counter
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
from annotation.records import IMPORTED, Counts, ExampleRecord, FoldRecord, SystemRecord, UnitRecord

FOLD_FOLDERS = {axis: (folder, suffix) for folder, (suffix, axis) in FOLD_SUFFIXES.items()}
REFUSALS_KEPT = 20


class LineFile:
    """A file of lines without a final line break."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self.path = path
        self.file: TextIO = path.open("w", encoding="utf-8", newline="\n")
        self.lines = 0

    def add(self, line: str) -> None:
        self.file.write(f"\n{line}" if self.lines else line)
        self.lines += 1

    def drop(self) -> None:
        self.file.close()
        self.path.unlink()


def is_file_name(name: str) -> bool:
    """Whether a name from a corpus can be a file name: it must never lead out of the folder."""
    return bool(name) and not name.startswith(".") and not {"/", "\\", "\0"} & set(name) and len(name.encode()) <= 200


class Lite23Writer:
    """One line per example in every file. What the format cannot hold is refused, not bent."""

    def __init__(self, directory: Path, name: str, systems: list[SystemRecord]) -> None:
        self.directory = directory
        self.refusals: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.counts = Counts()
        self.files = {name: LineFile(directory / name) for name in (IDS, REFERENCES, DOCUMENTS, SCUS, STUS, WEIGHTS)}
        live = sorted(system.name for system in systems if not system.trashed_at)
        self.left_out["systems in the trash"] += len(systems) - len(live)
        for system in live:
            if not is_file_name(system):
                self._refuse(f"system {system!r} has a name that cannot be a file name")
        self.systems = [system for system in live if is_file_name(system)]
        self.summaries = {system: LineFile(directory / "summaries" / (system + SUMMARY)) for system in self.systems}
        self.labels = {system: LineFile(directory / "labels" / (system + LABEL)) for system in self.systems}
        self.label_counts = dict.fromkeys(self.systems, 0)
        self.mixes: dict[str, LineFile] = {}
        self.trashed: set[str] = set()
        self.has_documents = self.has_weights = False

    def write_example(self, example: ExampleRecord) -> None:
        if example.trashed_at:
            self.left_out["examples in the trash"] += 1
            self.trashed.add(example.key)
            return
        if len(example.references) != 1:
            self._refuse(f"example {example.key!r} has {len(example.references)} references; the format holds one")
            return
        reference = example.references[0]
        self.files[IDS].add(self._line(example.key, f"id {example.key!r}"))
        self.files[REFERENCES].add(self._line(reference.text, f"the reference of {example.key!r}"))
        self.files[DOCUMENTS].add(self._line(example.document or "", f"the document of {example.key!r}"))
        self.has_documents = self.has_documents or example.document is not None
        self.counts.examples += 1
        self.counts.references += 1
        self.counts.sentences += sum(sentence.revision == 1 for sentence in reference.sentences)
        self.left_out["sentences of later splits"] += sum(sentence.revision != 1 for sentence in reference.sentences)
        self._write_units(example)
        self._write_summaries(example)
        self._write_mixes(example)

    def _write_units(self, example: ExampleRecord) -> None:
        current = [unit for unit in example.units if not unit.trashed_at and not unit.superseded_at]
        self.left_out["units superseded or in the trash"] += len(example.units) - len(current)
        self.left_out["authors of units"] += sum(bool(unit.author) for unit in current)
        self.left_out["contributors"] += sum(len(unit.contributors) for unit in current)
        scus, stus = (
            sorted((unit for unit in current if unit.kind == kind), key=lambda unit: (unit.position, unit.key))
            for kind in ("scu", "stu")
        )
        own = [
            unit for units in (scus, stus) for place, unit in enumerate(units, 1) if unit.key != f"{unit.kind}-{place}"
        ]
        self.left_out["ids of units (an import numbers them anew)"] += len(own)
        self.left_out["weights of STUs"] += sum(unit.weight != 1 for unit in stus)
        self.files[SCUS].add(self._cells([unit.text for unit in scus], f"an SCU of {example.key!r}"))
        self.files[STUS].add(self._cells([unit.text for unit in stus], f"an STU of {example.key!r}"))
        self.files[WEIGHTS].add("\t".join(str(unit.weight) for unit in scus))
        self.has_weights = self.has_weights or any(unit.weight != 1 for unit in scus)
        self.counts.scus += len(scus)
        self.counts.stus += len(stus)
        self._write_labels(scus)
        for unit in current:
            others = [label for label in unit.labels if label.rule != IMPORTED or unit.kind == "stu"]
            self.left_out["labels of STUs or by other rules than 'imported'"] += len(others)

    def _write_labels(self, scus: list[UnitRecord]) -> None:
        labels = [
            {label.system: "1" if label.present else "0" for label in unit.labels if label.rule == IMPORTED}
            for unit in scus
        ]
        for system, file in self.labels.items():
            cells = [by_system[system] for by_system in labels if system in by_system]
            self.label_counts[system] += len(cells)
            file.add("\t".join(cells))

    def _write_summaries(self, example: ExampleRecord) -> None:
        texts = {summary.system: summary.text for summary in example.summaries}
        for system, file in self.summaries.items():
            if system not in texts:
                self._refuse(f"system {system!r} has no summary of {example.key!r}; every line needs one")
            file.add(self._line(texts.get(system, ""), f"the summary of {example.key!r} by {system!r}"))
        self.counts.summaries += len(self.summaries)

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
            self.counts.mixes += 1

    def finish(self, folds: list[FoldRecord]) -> None:
        self._finish_labels()
        if not self.has_documents:
            self.files[DOCUMENTS].drop()
        if not self.counts.scus:
            self.files[SCUS].drop()
        if not self.counts.stus:
            self.files[STUS].drop()
        if not self.has_weights:
            self.files[WEIGHTS].drop()
        for file in self.mixes.values():
            while file.lines < self.files[IDS].lines:
                file.add("")
        for fold in folds:
            self._write_fold(fold)
        self.close()
        for name in ("summaries", "labels"):
            folder = self.directory / name
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
        self.counts.systems = len(self.systems)
        self.left_out = +self.left_out  # without the zeros

    def _finish_labels(self) -> None:
        for system, count in self.label_counts.items():
            if count == 0:
                self.labels[system].drop()
            elif count < self.counts.scus:
                self._refuse(
                    f"system {system!r} has labels for {count} of {self.counts.scus} SCUs; the format holds all or none"
                )
            self.counts.labels += count

    def _write_fold(self, fold: FoldRecord) -> None:
        if not is_file_name(fold.name):
            self._refuse(f"fold {fold.name!r} has a name that cannot be a file name")
            return
        folder, suffix = FOLD_FOLDERS[fold.axis]
        gone = self.trashed if fold.axis == "examples" else set(fold.members) - set(self.systems)
        file = LineFile(self.directory / folder / (fold.name + suffix))
        for member in fold.members:
            if member in gone:
                self.left_out["members of folds in the trash"] += 1
            else:
                file.add(member)
        file.file.close()
        self.counts.folds += 1

    def close(self) -> None:
        for files in (self.files, self.summaries, self.labels, self.mixes):
            for file in files.values():
                file.file.close()

    def _line(self, text: str, what: str) -> str:
        if "\n" in text or text.endswith("\r"):
            self._refuse(f"{what} has a line break; the format holds one line")
        if text.startswith("\ufeff"):
            self._refuse(f"{what} begins with a byte order mark, which a reader would drop")
        return text

    def _cells(self, texts: list[str], what: str) -> str:
        if any("\t" in text for text in texts):
            self._refuse(f"{what} has a tab; the format separates units by tabs")
        return self._line("\t".join(texts), what)

    def _refuse(self, reason: str) -> None:
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append(reason)
