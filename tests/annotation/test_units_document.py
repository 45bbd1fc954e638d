"""The examples of docs/algorithms/units.md come out as they are printed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.decomposing.texts import decompose_texts
from annotation.spacy_parser import load_parser

DOCUMENT = Path(__file__).parents[2] / "docs" / "algorithms" / "units.md"


def examples() -> list[tuple[str, str, list[str]]]:
    lines = DOCUMENT.read_text(encoding="utf-8").split("| rule | from | unit |\n|---|---|---|\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
    return [(rule, text, units.split(" · ")) for rule, text, units in rows]


@pytest.mark.parametrize(("rule", "text", "units"), examples())
def test_document_example_comes_out_as_printed(rule: str, text: str, units: list[str]) -> None:
    found = [
        (unit.rule, unit.text)
        for sentence in next(iter(decompose_texts([text], load_parser())))
        for unit in sentence.units
    ]
    for unit in units:
        assert (rule, unit) in found


def test_document_has_an_example_of_each_common_rule() -> None:
    rules = {rule for rule, _, _ in examples()}
    assert {"clause", "report", "relative clause", "age", "apposition", "same person"} <= rules
