"""Who decides a unit: the same kind of judge for every system that is ranked."""

from __future__ import annotations

from scoring.comparability import Decided, Known, Source, decide, judged_systems, people_decide


def test_people_have_judged_a_system_from_half_of_its_units_on():
    assert judged_systems({1: 100, 2: 50, 3: 49, 4: 0}, 100) == {1, 2}
    assert judged_systems({}, 0) == frozenset()


def test_people_decide_a_unit_that_all_judged_systems_have_a_label_for():
    assert people_decide({1, 2}, [1, 2])
    assert not people_decide({1, 2}, [1])
    assert not people_decide(set(), [1])


def test_a_system_that_nobody_judged_changes_nothing_for_the_others():
    assert people_decide({1, 2}, [1, 2, 3])
    assert people_decide({1, 2}, [1, 2])


def test_labels_come_first_only_where_people_decide():
    known = Known(label=True, presence=0.2)
    assert decide(known, Source.BOTH, people=True) == Decided(1.0, by_people=True)
    assert decide(known, Source.BOTH, people=False) == Decided(0.2, by_people=False)
    assert decide(known, Source.JUDGE, people=True) == Decided(0.2, by_people=False)
    assert decide(known, Source.PEOPLE, people=False) == Decided(1.0, by_people=True)


def test_what_nobody_judged_is_not_measured():
    nothing = Known(None, None)
    assert [decide(nothing, source, people=True).value for source in Source] == [None, None, None]
    assert decide(Known(None, 0.7), Source.BOTH, people=True) == Decided(0.7, by_people=False)
