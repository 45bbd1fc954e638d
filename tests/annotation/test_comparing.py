"""What an incoming example adds, and where it contradicts what is stored."""

from dataclasses import replace

import pytest

from annotation.comparing import compare_example
from annotation.records import (
    ExampleRecord,
    LabelRecord,
    MixRecord,
    ReferenceRecord,
    SentenceRecord,
    SummaryRecord,
    UnitRecord,
)

MOMENT = "2026-01-01T00:00:00+00:00"
REFERENCE = ReferenceRecord("1", "Snow fell.", (SentenceRecord(1, 0, 10),))
UNIT = UnitRecord("scu", "scu-1", 1, "Snow fell.", reference="1", labels=(LabelRecord("alpha", True),))
STORED = ExampleRecord(
    "x", "doc", (REFERENCE,), (SummaryRecord("alpha", "s"),), (UNIT,), (MixRecord("m", "1", ("Snow fell.",)),)
)


def test_the_same_example_adds_nothing():
    difference = compare_example(STORED, STORED)
    assert difference.conflicts == ()
    assert difference.new == ExampleRecord("x")


def test_new_parts_are_found():
    incoming = ExampleRecord(
        "x",
        None,
        (REFERENCE, ReferenceRecord("2", "More.", ())),
        (SummaryRecord("beta", "t"),),
        (
            replace(UNIT, labels=(LabelRecord("alpha", True), LabelRecord("beta", False))),
            replace(UNIT, key="scu-2", text="It was cold."),
        ),
    )
    difference = compare_example(STORED, incoming)
    assert difference.conflicts == ()
    assert [reference.key for reference in difference.new.references] == ["2"]
    assert [summary.system for summary in difference.new.summaries] == ["beta"]
    assert [(unit.key, len(unit.labels)) for unit in difference.new.units] == [("scu-1", 1), ("scu-2", 1)]


def test_a_new_split_is_new_sentences_of_a_known_reference():
    both = replace(REFERENCE, sentences=(*REFERENCE.sentences, SentenceRecord(1, 0, 4, 2), SentenceRecord(2, 5, 10, 2)))
    difference = compare_example(STORED, replace(STORED, references=(both,)))
    assert difference.conflicts == ()
    assert [sentence.revision for sentence in difference.new.references[0].sentences] == [2, 2]


@pytest.mark.parametrize(
    ("change", "conflict"),
    [
        ({"document": "other"}, "has another document here"),
        ({"document": ""}, "has another document here"),
        ({"references": (replace(REFERENCE, text="Rain fell."),)}, "has another text of reference '1' here"),
        ({"references": (replace(REFERENCE, sentences=(SentenceRecord(1, 0, 4),)),)}, "has other sentences (revision 1)"),
        ({"summaries": (SummaryRecord("alpha", "other"),)}, "has another summary by 'alpha' here"),
        ({"units": (replace(UNIT, text="Rain fell."),)}, "has unit 'scu-1' (scu) with another text here: 'Snow fell.', not 'Rain fell.'"),
        ({"units": (replace(UNIT, weight=2),)}, "has unit 'scu-1' (scu) with another weight here: 1, not 2"),
        ({"units": (replace(UNIT, revision=2),)}, "has revision 1 of unit 'scu-1' (scu) here, and the file brings revision 2"),
        ({"units": (replace(UNIT, key="other"),)}, "has the text of unit 'other' (scu) here already, as unit 'scu-1'"),
        ({"units": (replace(UNIT, superseded_at=MOMENT),)}, "has unit 'scu-1' (scu) superseded in the file, but current here"),
        ({"units": (replace(UNIT, trashed_at=MOMENT),)}, "has unit 'scu-1' (scu) in the trash in the file, but not here"),
        ({"trashed_at": MOMENT}, "is in the trash in the file, but not here"),
        ({"units": (replace(UNIT, labels=(LabelRecord("alpha", False),)),)}, "has another label of unit 'scu-1' by imported alpha"),
        ({"mixes": (MixRecord("m", "1", ("Rain.",)),)}, "has another mix m 1 here"),
    ],
)  # fmt: skip
def test_contradictions_are_told(change, conflict):
    difference = compare_example(STORED, replace(STORED, **change))
    assert len(difference.conflicts) == 1
    assert difference.conflicts[0].startswith(conflict)


def test_an_example_in_the_trash_must_be_restored_first():
    stored = replace(STORED, trashed_at=MOMENT)
    assert compare_example(stored, STORED).conflicts == ("is in the trash here. Restore it first",)
    assert compare_example(stored, stored).conflicts == ()


def test_an_older_file_does_not_undo_what_people_did_since():
    edited = replace(
        STORED,
        units=(replace(UNIT, superseded_at=MOMENT), replace(UNIT, revision=2, text="Much snow fell.", labels=())),
    )
    assert compare_example(edited, STORED).conflicts == ()
    assert compare_example(edited, STORED).new == ExampleRecord("x")
    trashed = replace(STORED, units=(replace(UNIT, trashed_at=MOMENT),))
    assert compare_example(trashed, STORED).new == ExampleRecord("x")


def test_every_difference_of_a_unit_is_told_its_labels_included():
    other = replace(UNIT, weight=3, position=9, labels=(LabelRecord("alpha", False),))
    assert len(compare_example(STORED, replace(STORED, units=(other,))).conflicts) == 3


def test_a_document_may_come_later_but_not_change():
    untold = replace(STORED, document=None)
    assert compare_example(untold, STORED).new.document == "doc"
    assert compare_example(STORED, untold).conflicts == ()
    assert compare_example(replace(STORED, document=""), STORED).conflicts == ("has another document here",)
