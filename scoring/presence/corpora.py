"""The published corpora with human labels of presence, as the benchmark reads them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from annotation.decomposing_benchmark import read_lines, read_units
from annotation.easiness_benchmark import FOLDS
from annotation.splitting import TAG
from scoring.judging import Pair
from scoring.presence.measuring import Scores

STATEMENTS = 16  # of one task of REALSumm
Units = Sequence[Sequence[str]]
"""The units of each document."""


@dataclass(frozen=True)
class Corpus:
    """Documents with summaries by some systems, in the order of their names, and for each a label of every unit."""

    name: str
    ids: list[str]
    references: list[str]
    scus: list[list[str]]
    stus: list[list[str]]
    systems: list[str]
    summaries: list[list[str]]  # documents x systems
    labels: list[list[list[int]]]  # documents x systems x SCUs
    folds: list[int]  # of each document
    system_folds: list[int] | None  # of each system, where they are published

    @cached_property
    def human(self) -> Scores:
        return [[sum(own) / len(own) for own in document] for document in self.labels]

    @cached_property
    def flat_labels(self) -> list[int]:
        return [label for document in self.labels for own in document for label in own]

    def pairs(self, units: Units) -> list[Pair]:
        """Every summary of a document with each unit of it: by document, then system, then unit."""
        return [
            Pair(summary, unit)
            for summaries, own in zip(self.summaries, units, strict=True)
            for summary in summaries
            for unit in own
        ]

    def summaries_of(self, units: Units) -> list[tuple[int, int]]:
        """The document and the system of each pair."""
        systems = range(len(self.systems))
        return [(number, system) for number, own in enumerate(units) for system in systems for _ in own]

    def documents_of(self, units: Units) -> list[int]:
        """The document of each pair."""
        return [number for number, own in enumerate(units) for _ in self.systems for _ in own]


def read_corpus(folder: Path) -> Corpus:
    ids, references, scus, stus = (
        read_lines(folder / name) for name in ("ids.txt", "references.txt", "SCUs.txt", "STUs.txt")
    )
    systems = sorted(path.stem for path in (folder / "summaries").glob("*.summary"))
    if not systems:
        raise FileNotFoundError(f"{folder} has no summaries. --data must hold lite2-3pyramid/REALSumm and PyrXSum.")
    summaries = [read_lines(folder / "summaries" / f"{name}.summary") for name in systems]
    labels = [read_lines(folder / "labels" / f"{name}.label") for name in systems]
    return Corpus(
        name=folder.name,
        ids=ids,
        references=references,
        scus=[read_units(line) for line in scus],
        stus=[read_units(line) for line in stus],
        systems=systems,
        summaries=[list(own) for own in zip(*summaries, strict=True)],
        labels=[[[int(value) for value in line.split()] for line in own] for own in zip(*labels, strict=True)],
        folds=_example_folds(folder, ids),
        system_folds=_system_folds(folder, systems),
    )


def _example_folds(folder: Path, ids: Sequence[str]) -> list[int]:
    """The published folds, or else blocks of consecutive documents."""
    names = folder / "by_examples"
    if not names.is_dir():
        return [place * FOLDS // len(ids) for place in range(len(ids))]
    folds = {key: number for number in range(FOLDS) for key in read_lines(names / f"fold{number + 1}.id")}
    return [folds[key] for key in ids]


def _system_folds(folder: Path, systems: Sequence[str]) -> list[int] | None:
    names = folder / "by_systems"
    if not names.is_dir():
        return None
    folds = {key.strip(): number for number in range(FOLDS) for key in read_lines(names / f"fold{number + 1}.sys")}
    return [folds[name] for name in systems]


def read_shares(folder: Path, corpus: Corpus) -> list[float] | None:
    """For each pair with an SCU the share of workers who said present, from REALSumm's answers; None without them.

    Found by the texts of summary and statement. A pair without answers has its label.
    """
    votes: dict[tuple[str, str], list[bool]] = {}
    for path in sorted(folder.glob("SCU_rating_results_*/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for number in range(1, STATEMENTS + 1):
                    key = row["Input.summary_text"].strip(), row[f"Input.statement_{number}"].strip()
                    votes.setdefault(key, []).append(row[f"Answer.S{number}Answer"] == "p")
    if not votes:
        return None
    pairs = zip(corpus.pairs(corpus.scus), corpus.flat_labels, strict=True)
    found = [votes.get((pair.summary.strip(), pair.unit.strip()), [bool(label)]) for pair, label in pairs]
    return [sum(own) / len(own) for own in found]


def without_tags(text: str) -> str:
    return " ".join(TAG.sub(" ", text).split())


GLUED = ((re.compile(r"(?<=\w) (-|–) (?=\w)"), r"\1"), (re.compile(r"([£$€#]) (?=\d)"), r"\1"))


@lru_cache(maxsize=20_000)
def detokenised(text: str) -> str:
    """Tokenised text as a general detokeniser writes it: NLTK's rules for the Penn Treebank, and hyphens closed."""
    from nltk.tokenize.treebank import TreebankWordDetokenizer

    plain: str = TreebankWordDetokenizer().detokenize(text.split())
    for pattern, put in GLUED:
        plain = pattern.sub(put, plain)
    return plain
