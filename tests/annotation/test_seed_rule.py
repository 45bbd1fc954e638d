"""The seed rule gives the units of the paper's own code, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.decomposing.seed import resolve_clusters, units_of_frames

CASES = json.loads((Path(__file__).parent / "golden_stu_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES["srl"])
def test_units_of_frames(name):
    case = CASES["srl"][name]
    frames = [frame["tags"] for frame in case["input"]["verbs"]]
    assert units_of_frames(case["input"]["words"], frames) == case["stus"]


@pytest.mark.parametrize("name", CASES["coref"])
def test_clusters(name):
    case = CASES["coref"][name]
    clusters = [[tuple(span) for span in cluster] for cluster in case["input"]["clusters"]]
    found = resolve_clusters(case["input"]["document"], clusters)
    assert (found.text, list(found.statements)) == (case["replaced"], case["is_stus"])


def test_there_are_as_many_cases_as_were_recorded():
    assert (len(CASES["srl"]), len(CASES["coref"])) == (17, 5)


def test_a_possessive_loses_its_s():
    found = resolve_clusters(["Ann", "left", ".", "Ms", "Lee", "'s", "hat"], [[(0, 0), (3, 5)]])
    assert found.text == "Ann left . Ann hat"


def test_frames_of_nothing():
    assert units_of_frames([], []) == [""]
    assert units_of_frames(["Rain", "."], [["O", "O"]]) == ["Rain ."]
