"""IMPORT of Lite2-3Pyramid folders: one example a line, line i of every file is the same example (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from annotation.readers.fields import BadRow, key_of, text_of
from annotation.readers.sources import Source, UnreadableSource, few, text_lines
from annotation.records import (
    ExampleRecord,
    FoldRecord,
    LabelRecord,
    MixRecord,
    Problems,
    Record,
    ReferenceRecord,
    SummaryRecord,
    UnitRecord,
)
from annotation.splitting import UnbalancedTags, marked_sentences

IDS, REFERENCES, DOCUMENTS, SCUS, STUS, WEIGHTS = (
    "ids.txt",
    "references.txt",
    "documents.txt",
    "SCUs.txt",
    "STUs.txt",
    "weights.txt",
)
MANIFEST = "manifest.json"  # of our own exports
SUMMARY, LABEL = ".summary", ".label"
MIX = re.compile(r"STUs_SCUs_percentage\d+\.txt")
FOLD_SUFFIXES = {"by_examples": (".id", "examples"), "by_systems": (".sys", "systems")}


@dataclass(frozen=True, slots=True)
class Layout:
    """Which file plays which part."""

    texts: frozenset[str]
    mixes: tuple[str, ...]
    summaries: dict[str, str]  # system → file
    labels: dict[str, str]
    folds: tuple[str, ...]


def find_layout(source: Source, problems: Problems) -> Layout:
    names = source.names()
    layout = Layout(
        texts=frozenset(name for name in names if name in {IDS, REFERENCES, DOCUMENTS, SCUS, STUS, WEIGHTS}),
        mixes=tuple(sorted(name for name in names if MIX.fullmatch(name))),
        summaries=_by_stem(names, "summaries", SUMMARY),
        labels=_by_stem(names, "labels", LABEL),
        folds=tuple(sorted(name for name in names if _is_fold(name))),
    )
    known = {*layout.texts, *layout.mixes, *layout.folds, *layout.summaries.values(), *layout.labels.values(), MANIFEST}
    if ignored := [name for name in names if name not in known]:
        problems.note(f"{len(ignored)} file(s) are no part of the format and were not read: {few(ignored)}.")
    for required, what in ((IDS, "one id a line"), (REFERENCES, "one reference a line")):
        if required not in layout.texts:
            raise UnreadableSource(
                f"{source.label} holds no {required} ({what}). Is it a Lite2-3Pyramid folder? It holds: {few(names)}."
            )
    if layout.labels and SCUS not in layout.texts:
        problems.add(SCUS, None, "is missing, but there are labels. Labels go with the SCUs, in their order.")
    if WEIGHTS in layout.texts and SCUS not in layout.texts:
        problems.add(SCUS, None, "is missing, but there are weights. Weights go with the SCUs, in their order.")
    for system in list(layout.labels):
        if system not in layout.summaries:
            # Its labels are left out, so that one missing file is one problem.
            file = layout.labels.pop(system)
            problems.add(file, None, f"labels a system without summaries: summaries/{system}{SUMMARY} is missing.")
    return layout


def _by_stem(names: list[str], folder: str, suffix: str) -> dict[str, str]:
    """Files of a folder by stem, in the order of Python's sorted, on which published figures depend."""
    paths = [PurePosixPath(name) for name in names]
    found = [path for path in paths if path.parent.name == folder and len(path.parts) == 2 and path.suffix == suffix]
    return {path.name.removesuffix(suffix): str(path) for path in sorted(found, key=lambda path: path.stem)}


def _is_fold(name: str) -> bool:
    path = PurePosixPath(name)
    return len(path.parts) == 2 and path.parts[0] in FOLD_SUFFIXES and path.suffix == FOLD_SUFFIXES[path.parts[0]][0]


class AlignedFile:
    """A file whose line i belongs to example i.

    Published folders have no line break at the end, so there a final break is followed by one more, empty line. In a
    folder whose ids.txt ends with a break (`ends_lines`), a break ends a line everywhere, and nothing follows the last.
    """

    def __init__(self, source: Source, name: str, problems: Problems, *, ends_lines: bool) -> None:
        self.name, self.problems = name, problems
        lines = text_lines(source, name, problems)
        self.lines = _without_last_blank(lines) if ends_lines else lines
        self.is_over = False
        self.is_empty = source.size(name) == 0
        self.number = 0

    def next_for(self, key: str) -> str | None:
        """The line for an example; None (and once a problem) if there is none or it cannot be read."""
        if self.is_over:
            return None
        try:
            self.number, text = next(self.lines)
        except StopIteration:
            self.is_over = True
            what = "is empty" if self.is_empty else f"ends before the line for example {key!r}"
            self.problems.add(self.name, None if self.is_empty else self.number + 1, f"{what}. Each id needs a line.")
            return None
        return text

    def finish(self) -> None:
        """What follows the last example may be one final line break, no more."""
        if self.is_over:
            return
        extra = [number for number, text in self.lines if text != ""]
        if extra:
            self.problems.add(self.name, extra[0], f"has {len(extra)} more line(s) than {IDS}.")

    def problem(self, message: str) -> None:
        self.problems.add(self.name, self.number, message)


def _without_last_blank(lines: Iterator[tuple[int, str | None]]) -> Iterator[tuple[int, str | None]]:
    """The lines but for the empty one that follows a final line break."""
    held = next(lines, None)
    for line in lines:
        if held is not None:
            yield held
        held = line
    if held is not None and held[1] != "":
        yield held


def _ends_with_break(source: Source, name: str) -> bool:
    last = b""
    with source.open(name) as file:
        while chunk := file.read(1024 * 1024):
            last = chunk
    return last.endswith(b"\n")


class Lite23Reader:
    """All files of the folder, read side by side, so that memory does not grow with the corpus."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.layout = find_layout(source, problems)
        self.ends_lines = _ends_with_break(source, IDS)
        self.files = {name: self._open(name) for name in self.layout.texts - {IDS}}
        self.mixes = {name: self._open(name) for name in self.layout.mixes}
        self.summaries = {system: self._open(name) for system, name in self.layout.summaries.items()}
        self.labels = {system: self._open(name) for system, name in self.layout.labels.items()}

    def _open(self, name: str) -> AlignedFile:
        return AlignedFile(self.source, name, self.problems, ends_lines=self.ends_lines)

    def read(self) -> Iterator[Record]:
        for system in self.layout.summaries:
            self._is_name(system, "the name of the system", self.layout.summaries[system], None)
        has_ids = False
        for line, key in self._ids():
            has_ids = True
            yield self._example(key, line)
        if not has_ids and not self.problems:
            raise UnreadableSource(f"{IDS} is empty. There is nothing to import.")
        for file in (*self.files.values(), *self.mixes.values(), *self.summaries.values(), *self.labels.values()):
            file.finish()
        for name in self.layout.folds:
            yield self._fold(name)

    def _ids(self) -> Iterator[tuple[int, str]]:
        blank_at: int | None = None
        for number, text in text_lines(self.source, IDS, self.problems):
            if text == "":
                blank_at = blank_at or number
                continue
            if blank_at:
                self.problems.add(IDS, blank_at, "is blank. Each example needs an id.")
                blank_at = None
            try:
                yield number, key_of(text if text is not None else f"line {number}", "the id")
            except BadRow as error:
                self.problems.add(IDS, number, str(error))
                yield number, f"line {number}"

    def _example(self, key: str, line: int) -> ExampleRecord:
        scus = self._scus(key)
        stus = self._units(STUS, "stu", key)
        return ExampleRecord(
            key=key,
            document=self._text(DOCUMENTS, key),
            references=self._reference(key),
            summaries=tuple(
                SummaryRecord(system, text)
                for system, file in self.summaries.items()
                if (text := self._checked(file, file.next_for(key), "the summary")) is not None
            ),
            units=(*scus, *(stus or ())),
            mixes=tuple(self._mix(name, file, key) for name, file in self.mixes.items()),
            file=IDS,
            line=line,
        )

    def _text(self, name: str, key: str) -> str | None:
        file = self.files.get(name)
        return self._checked(file, file.next_for(key), "the document") if file else None

    def _checked(self, file: AlignedFile, text: str | None, what: str) -> str | None:
        try:
            return None if text is None else text_of(text, what)
        except BadRow as error:
            file.problem(str(error))
            return None

    def _reference(self, key: str) -> tuple[ReferenceRecord, ...]:
        file = self.files[REFERENCES]
        text = self._checked(file, file.next_for(key), "the reference")
        if text is None:
            return ()
        try:
            return (ReferenceRecord("1", text, marked_sentences(text)),)
        except UnbalancedTags as error:
            file.problem(f"{error}.")
            return ()

    def _units(self, name: str, kind: str, key: str) -> list[UnitRecord] | None:
        """Units of one line; None if the line could not be read, so that its labels are not blamed."""
        file = self.files.get(name)
        texts = self._split_units(file, file.next_for(key)) if file else []
        if texts is None:
            return None
        return [
            UnitRecord(kind, f"{kind}-{position}", position, text, reference="1")
            for position, text in enumerate(texts, start=1)
        ]

    @staticmethod
    def _split_units(file: AlignedFile, line: str | None) -> list[str] | None:
        if line is None:
            return None
        units = line.split("\t") if line.strip() else []
        blank = [position for position, text in enumerate(units, start=1) if not text.strip()]
        if blank:
            file.problem(f"unit {blank[0]} of {len(units)} is empty (two tabs together, or one at the end).")
            return None
        return units

    def _scus(self, key: str) -> list[UnitRecord]:
        units = self._units(SCUS, "scu", key)
        weights = self._weights(key, units)
        labels = [self._labels(system, file, key, units) for system, file in self.labels.items()]
        return [
            UnitRecord(
                unit.kind,
                unit.key,
                unit.position,
                unit.text,
                weight=weight,
                reference=unit.reference,
                labels=tuple(of_system[index] for of_system in labels if of_system),
            )
            for index, (unit, weight) in enumerate(zip(units or [], weights, strict=True))
        ]

    def _weights(self, key: str, units: list[UnitRecord] | None) -> list[int]:
        file = self.files.get(WEIGHTS)
        plain = [1] * len(units or [])
        line = file.next_for(key) if file else None
        if file is None or line is None or units is None:
            return plain
        cells = line.split("\t") if line else []
        if len(cells) != len(units):
            file.problem(f"has {len(cells)} weights for {len(units)} SCUs of example {key!r}.")
            return plain
        wrong = [cell for cell in cells if not re.fullmatch(r"[1-9]\d{0,8}", cell)]
        if wrong:
            file.problem(f"has the weight {wrong[0]!r}. Weights are whole numbers from 1.")
            return plain
        return [int(cell) for cell in cells]

    def _labels(
        self, system: str, file: AlignedFile, key: str, units: list[UnitRecord] | None
    ) -> list[LabelRecord] | None:
        line = file.next_for(key)
        if line is None or units is None:
            return None
        cells = line.split("\t") if line else []
        wrong = [cell for cell in cells if cell not in {"0", "1"}]
        if wrong:
            file.problem(f"has the label {wrong[0]!r:.40} for example {key!r}. Labels are 0 or 1, separated by tabs.")
            return None
        if len(cells) != len(units):
            file.problem(f"has {len(cells)} labels for {len(units)} SCUs of example {key!r}.")
            return None
        return [LabelRecord(system, cell == "1") for cell in cells]

    def _mix(self, name: str, file: AlignedFile, key: str) -> MixRecord:
        texts = self._split_units(file, file.next_for(key)) or []
        return MixRecord(name.removesuffix(".txt"), "1", tuple(texts))

    def _fold(self, name: str) -> FoldRecord:
        path = PurePosixPath(name)
        members: dict[str, int] = {}
        for number, text in text_lines(self.source, name, self.problems):
            if text and self._is_name(text, "the member", name, number):
                if text in members:
                    self.problems.add(name, number, f"names {text!r} for the second time.")
                members[text] = number
        self._is_name(path.stem, "the name of the fold", name, None)
        return FoldRecord(FOLD_SUFFIXES[path.parts[0]][1], path.stem, tuple(members), name, 1)

    def _is_name(self, text: str, what: str, file: str, line: int | None) -> bool:
        try:
            key_of(text, what)
        except BadRow as error:
            self.problems.add(file, line, str(error))
            return False
        return True


def read_lite23(source: Source, problems: Problems) -> Iterator[Record]:
    return Lite23Reader(source, problems).read()
