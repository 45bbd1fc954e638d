"""EXPORT to our canonical form: one JSON object a line, nothing left out (docs/formats.md)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from annotation.readers.jsonl import FORMAT_VERSION
from annotation.records import (
    ContributorRecord,
    Counts,
    ExampleRecord,
    FoldRecord,
    SentenceRecord,
    SystemRecord,
    UnitRecord,
)

FILE = "corpus.jsonl"


class JsonlWriter:
    """Writes corpus.jsonl: a header, systems, examples, folds."""

    def __init__(self, directory: Path, name: str, systems: list[SystemRecord]) -> None:
        self.refusals: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.counts = Counts(systems=len(systems))
        self.file = (directory / FILE).open("w", encoding="utf-8", newline="\n")
        self._write({"type": "corpus", "version": FORMAT_VERSION, "name": name})
        for system in systems:
            partial = {"partial": True} if system.partial else {}
            self._write({"type": "system", "name": system.name, **given(trashed_at=system.trashed_at), **partial})

    def _write(self, data: dict[str, Any]) -> None:
        self.file.write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")

    def write_example(self, example: ExampleRecord) -> None:
        self._write(example_data(example))
        self.counts.add_example(example)

    def finish(self, folds: list[FoldRecord]) -> None:
        for fold in folds:
            self._write({"type": "fold", "axis": fold.axis, "name": fold.name, "members": fold.members})
        self.counts.folds = len(folds)

    def close(self) -> None:
        self.file.close()


def given(**fields: Any) -> dict[str, Any]:
    """The fields that say something; a reader takes the rest as not given."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), {})}


def example_data(example: ExampleRecord) -> dict[str, Any]:
    mixes: dict[str, dict[str, list[str]]] = {}
    for mix in example.mixes:
        mixes.setdefault(mix.name, {})[mix.reference] = list(mix.texts)
    return {
        "type": "example",
        "id": example.key,
        **given(trashed_at=example.trashed_at),
        **({} if example.document is None else {"document": example.document}),
        "references": [
            {"id": item.key, "text": item.text, "sentences": [sentence_data(sentence) for sentence in item.sentences]}
            for item in example.references
        ],
        "summaries": {summary.system: summary.text for summary in example.summaries},
        "units": [unit_data(unit) for unit in example.units],
        **given(mixes=mixes),
    }


def sentence_data(sentence: SentenceRecord) -> list[int]:
    return [sentence.start, sentence.end, *([sentence.revision] if sentence.revision != 1 else [])]


def unit_data(unit: UnitRecord) -> dict[str, Any]:
    labels: dict[str, dict[str, int]] = {}
    for label in unit.labels:
        labels.setdefault(label.rule, {})[label.system] = int(label.present)
    return {
        "id": unit.key,
        "kind": unit.kind,
        "position": unit.position,
        "text": unit.text,
        "weight": unit.weight,
        **given(
            revision=unit.revision if unit.revision != 1 else None,
            reference=unit.reference,
            sentence=unit.sentence and list(unit.sentence),
            contributors=[contributor_data(contributor) for contributor in unit.contributors] or None,
            guideline_version=unit.guideline_version,
            rule=unit.rule,
            spans=[list(span) for span in unit.spans] or None,
            author=unit.author,
            created_at=unit.created_at,
            superseded_at=unit.superseded_at,
            trashed_at=unit.trashed_at,
        ),
        "provenance": unit.provenance,
        **given(labels=labels),
    }


def contributor_data(contributor: ContributorRecord) -> dict[str, Any]:
    return {
        "reference": contributor.reference,
        **given(
            text=contributor.text,
            span=None if contributor.start is None else [contributor.start, contributor.end],
            sentence=contributor.sentence and list(contributor.sentence),
        ),
    }
