"""What crosses the border between files and rows: one frozen record per example, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A span of a reference, in characters: text[start:end]."""

    position: int
    start: int
    end: int
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    key: str
    text: str
    sentences: tuple[SentenceRecord, ...]


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    system: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """Whether a unit is present in a system's summary, and the rule that decided it."""

    system: str
    present: bool
    rule: str = IMPORTED


@dataclass(frozen=True, slots=True)
class ContributorRecord:
    """A place in a reference that expresses a unit. `sentence` is (revision, position)."""

    reference: str
    text: str = ""
    start: int | None = None
    end: int | None = None
    sentence: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """An SCU or STU. `reference` is None for a unit that was merged across references and has contributors."""

    kind: str
    key: str
    position: int
    text: str
    weight: int = 1
    revision: int = 1
    reference: str | None = None
    sentence: tuple[int, int] | None = None
    provenance: str = IMPORTED
    guideline_version: str = ""
    rule: str = ""
    spans: tuple[tuple[int, int], ...] = ()  # of the reference, in characters
    author: str = ""
    created_at: str | None = None
    superseded_at: str | None = None
    trashed_at: str | None = None
    contributors: tuple[ContributorRecord, ...] = ()
    labels: tuple[LabelRecord, ...] = ()

    @property
    def identity(self) -> tuple[str, str, int]:
        return (self.kind, self.key, self.revision)


@dataclass(frozen=True, slots=True)
class MixRecord:
    """A published mix of SCUs and STUs for one reference, kept as released."""

    name: str
    reference: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExampleRecord:
    """One example and all that hangs on it.

    `document` is None where the file says nothing of it, which is not the same as an empty one: a file that only
    adds a system to a known example need not repeat its texts.
    """

    key: str
    document: str | None = None
    references: tuple[ReferenceRecord, ...] = ()
    summaries: tuple[SummaryRecord, ...] = ()
    units: tuple[UnitRecord, ...] = ()
    mixes: tuple[MixRecord, ...] = ()
    trashed_at: str | None = None
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SystemRecord:
    """A system that is told of by itself: it is in the trash, or `partial`, so that it may lack summaries."""

    name: str
    trashed_at: str | None = None
    partial: bool = False
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FoldRecord:
    """A published fold: keys of examples or names of systems, in order."""

    axis: str
    name: str
    members: tuple[str, ...]
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


Record = ExampleRecord | SystemRecord | FoldRecord


@dataclass(slots=True)
class Counts:
    """How many rows of each kind, in the words of the `--json` output."""

    examples: int = 0
    references: int = 0
    sentences: int = 0
    systems: int = 0
    summaries: int = 0
    scus: int = 0
    stus: int = 0
    labels: int = 0
    contributors: int = 0
    mixes: int = 0
    folds: int = 0

    def add_example(self, example: ExampleRecord, *, stored: ExampleRecord | None = None) -> None:
        """Count an example and its parts, without those that are stored; systems are counted by who knows them all."""
        references = {reference.key for reference in stored.references} if stored else set()
        known = {unit.identity for unit in stored.units} if stored else set()
        units = [unit for unit in example.units if unit.identity not in known]
        self.examples += stored is None
        self.references += sum(reference.key not in references for reference in example.references)
        self.sentences += sum(len(reference.sentences) for reference in example.references)
        self.summaries += len(example.summaries)
        self.scus += sum(unit.kind == "scu" for unit in units)
        self.stus += sum(unit.kind == "stu" for unit in units)
        self.labels += sum(len(unit.labels) for unit in example.units)
        self.contributors += sum(len(unit.contributors) for unit in units)
        self.mixes += len(example.mixes)

    def as_dict(self) -> dict[str, int]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def total(self) -> int:
        return sum(self.as_dict().values())


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an import, and where."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        # A message about a whole file names it already.
        return self.message if not self.line and self.message.startswith(self.file) else f"{where}: {self.message}"


class Problems:
    """All that is wrong, gathered so that it can be shown together.

    The first few hundred are kept, the rest only counted: a file of the wrong kind must not fill the memory.
    """

    KEPT = 500

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.count = 0
        self.notes: list[str] = []  # odd, but not wrong

    def add(self, file: str, line: int | None, message: str) -> None:
        self.count += 1
        if len(self.kept) < self.KEPT:
            self.kept.append(Problem(file, line, message))

    def note(self, message: str) -> None:
        if len(self.notes) < self.KEPT:
            self.notes.append(message)

    def __bool__(self) -> bool:
        return self.count > 0

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.kept)
