"""Votes become labels by rule; judges are excluded and counted again; what is left open is asked once more."""

from __future__ import annotations

import pytest
from django.db import connection

from annotation import models
from annotation.aggregating.effects import Place, compare_labels, system_scores
from annotation.aggregating.filters import NeedsLinkedJudges
from annotation.aggregating_benchmark import replay_votes
from annotation.services.importing import import_corpus
from annotation.services.labels import effect_of_excluding, filter_of, make_labels, own_rules, rule_name
from annotation.services.quality import (
    CannotExclude,
    ask_one_more,
    count_open_pairs,
    exclude,
    judge_list,
    lift,
    list_open_pairs,
    measure_agreement,
)
from annotation.services.votes import read_votes
from tests.conftest import NOW
from tests.factories import AssignmentFactory, JudgementFactory, PersonFactory, UserFactory
from tests.judging import always, answer_all, answer_sheet, judged_project, open_batch

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[models.User]:
    return [UserFactory(username=f"judge{number}") for number in range(4)]


def by_place(threshold: int):
    """Present from the unit of a place on."""
    return lambda task, row: "present" if row.unit and row.unit.position >= threshold else "not_present"


def stored(rule: str = "majority") -> dict[int, list[bool]]:
    """Labels by the place of the unit, over summaries."""
    found: dict[int, list[bool]] = {}
    for label in models.Label.objects.filter(rule=rule).order_by("summary").select_related("unit"):
        found.setdefault(label.unit.position, []).append(label.present)
    return found


@pytest.fixture
def judged(people) -> models.Project:
    """One example, two systems, three units; three judges who differ on the second unit."""
    project = judged_project(examples=1)
    open_batch(project, votes=3)
    for person, threshold in zip(people, (2, 2, 3), strict=False):
        answer_all(project, person, by_place(threshold))
    return project


def test_the_majority_is_stored_with_its_rule_and_made_anew_when_votes_come(judged, people):
    made = make_labels(judged, "none", now=NOW, actor=None)
    assert (made.rule, made.labels, made.added, made.turned, made.removed) == ("majority", 6, 6, 0, 0)
    assert stored() == {1: [False, False], 2: [True, True], 3: [True, True]}
    again = make_labels(judged, "none", now=NOW, actor=None)
    assert (again.added, again.turned, again.removed) == (0, 0, 0)
    judge = PersonFactory(project=judged)
    unit = models.Unit.objects.get(kind="scu", position=2)
    for summary in models.Summary.objects.all():
        JudgementFactory(unit=unit, summary=summary, judge=judge, answer="not_present")
    tied = make_labels(judged, "none", now=NOW, actor=None)
    assert (tied.turned, tied.ties) == (2, 2)
    assert stored()[2] == [False, False]
    entry = models.AuditEntry.objects.filter(action="make labels").order_by("pk").last()
    assert entry.detail["turned"] == 2


def test_imported_labels_are_left_alone(judged):
    unit, summary = models.Unit.objects.filter(kind="scu").first(), models.Summary.objects.first()
    kept = models.Label.objects.create(unit=unit, summary=summary, rule="imported", present=True)
    make_labels(judged, "none", now=NOW, actor=None)
    assert models.Label.objects.get(pk=kept.pk).present


@pytest.mark.parametrize("name", ["none", "realsumm-worst-of-task", "pyrxsum-against-others"])
def test_a_rule_is_known_by_its_stored_name(name):
    assert filter_of(rule_name(name)) == name


def test_rules_of_others_are_not_ours():
    assert filter_of("imported") is None
    assert filter_of("majority/dream") is None


def test_a_filter_is_part_of_the_rule(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=4)
    for person in people[:3]:
        answer_all(project, person, always("present"))
    answer_all(project, people[3], always("not_present"))
    made = make_labels(project, "realsumm-worst-of-task", now=NOW, actor=None)
    assert made.rule == "majority/realsumm-worst-of-task"
    assert "left out" in made.notes[0]
    assert own_rules(project) == ["realsumm-worst-of-task"]
    make_labels(project, "none", now=NOW, actor=None)
    assert own_rules(project) == ["none", "realsumm-worst-of-task"]


def test_rules_that_need_to_know_whose_votes_they_are_say_why_they_are_off(judged):
    loose = PersonFactory(project=judged, is_linked=False)
    JudgementFactory(
        unit=models.Unit.objects.filter(kind="scu").first(), summary=models.Summary.objects.first(), judge=loose
    )
    with pytest.raises(NeedsLinkedJudges, match="do not tell whose"):
        make_labels(judged, "litepyramid-positional", now=NOW, actor=None)
    assert not models.Label.objects.exists()


def test_fillers_and_sheets_take_part_in_filters_and_not_in_labels(people):
    project = judged_project(examples=2, systems=1)
    models.Unit.objects.filter(example__key="e1").update(text="Ferries sank off Sandholm yesterday.")
    open_batch(project, votes=1, with_fillers=True)
    answer_all(project, people[0], always("present"))
    votes = list(read_votes(project))
    assert any(vote.is_filler for vote in votes)
    assert {vote.task for vote in votes if vote.is_filler} <= {vote.task for vote in votes if not vote.is_filler}
    assert make_labels(project, "none", now=NOW, actor=None).labels == 6


# --- judges -----------------------------------------------------------------------------------------------------------


def test_the_list_of_judges_tells_how_each_did(judged, people):
    rows = {row.name: row for row in judge_list(judged).rows}
    assert set(rows) == {"judge0", "judge1", "judge2"}
    odd = rows["judge2"]
    assert (odd.votes, odd.sheets, odd.unsure) == (6, 2, 0)
    assert odd.agreement == pytest.approx(4 / 6)
    assert odd.leave_one_out == pytest.approx(4 / 6)
    assert rows["judge0"].agreement == 1
    assert rows["judge0"].leave_one_out == 1, "where the others tie there is nothing to compare with"
    assert rows["judge0"].compared_others == 4
    assert odd.present_rate == pytest.approx(2 / 6)
    assert odd.pace == 2.0
    assert odd.alpha.value is not None


def test_excluding_is_previewed_done_audited_and_taken_back(judged, people):
    make_labels(judged, "none", now=NOW, actor=None)
    first, second = (models.Person.objects.get(user=person) for person in people[:2])
    preview = effect_of_excluding(judged, [first.pk])
    assert (preview.turned, preview.lost, preview.gained) == (2, 0, 0)
    assert preview.scores["system0"] == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert stored()[2] == [True, True], "a preview changes nothing"
    with pytest.raises(CannotExclude, match="why"):
        exclude(first, "  ", now=NOW, actor=people[3])
    exclude(first, "clicks only", now=NOW, actor=people[3])
    assert stored()[2] == [False, False]
    with pytest.raises(CannotExclude, match="already"):
        exclude(first, "again", now=NOW, actor=people[3])
    assert effect_of_excluding(judged, [first.pk]).turned == 2, "the way back is previewed as well"
    exclude(second, "clicks too", now=NOW, actor=people[3])
    assert models.Judgement.objects.count() == 18, "the votes are kept"
    lift(first, now=NOW, actor=people[3])
    lift(second, now=NOW, actor=people[3])
    assert stored()[2] == [True, True]
    with pytest.raises(CannotExclude, match="not excluded"):
        lift(first, now=NOW, actor=people[3])
    acts = list(models.AuditEntry.objects.filter(action__contains="judge").values_list("action", flat=True))
    assert sorted(acts) == ["count judge again"] * 2 + ["exclude judge"] * 2
    row = next(row for row in judge_list(judged).rows if row.person == first)
    assert row.exclusion is None


def test_labels_that_no_vote_supports_any_more_go_with_it(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    answer_all(project, people[0], always("present"))
    make_labels(project, "none", now=NOW, actor=None)
    person = models.Person.objects.get(user=people[0])
    assert effect_of_excluding(project, [person.pk]).lost == 3
    exclude(person, "clicks only", now=NOW, actor=None)
    assert not models.Label.objects.exists()
    lift(person, now=NOW, actor=None)
    assert models.Label.objects.count() == 0, "no rule has labels any more, so none is made by itself"
    make_labels(project, "none", now=NOW, actor=None)
    assert models.Label.objects.count() == 3


def test_agreement_is_told_in_whole_and_in_parts(judged, people):
    found = measure_agreement(judged)
    assert found.overall.votes == 18
    assert 0 < found.overall.value < 1
    assert [name for name, _ in found.systems] == ["system0", "system1"]
    assert [position for position, _ in found.examples] == [1]
    assert found.examples[0][1].low <= found.examples[0][1].value <= found.examples[0][1].high
    assert found.paper.value is not None
    exclude(models.Person.objects.get(user=people[2]), "odd", now=NOW, actor=None)
    assert measure_agreement(judged).overall.value == 1


def test_agreement_says_why_it_is_not_defined(people):
    project = judged_project(examples=1, systems=1)
    assert measure_agreement(project).overall.why == "no item has two votes"
    open_batch(project, votes=2)
    for person in people[:2]:
        answer_all(project, person, always("present"))
    assert measure_agreement(project).overall.why == "all votes are the same"


# --- what is left open ------------------------------------------------------------------------------------------------


def test_ties_and_unsure_wait_in_a_list_and_one_more_judge_is_asked(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=2)
    answer_all(project, people[0], always("present"))
    answer_all(project, people[1], lambda task, row: "not_present" if row.unit.position == 1 else "present")
    found = list_open_pairs(project)
    assert [(pair.text, pair.tally.present, pair.tally.absent, pair.system) for pair in found] == [
        ("Mill 0 closed.", 1, 1, "system0")
    ]
    pairs = [(pair.unit, pair.summary) for pair in found]
    batch = ask_one_more(project, [*pairs, (10**9, 1)], now=NOW, actor=None, for_user=people[2])
    assert (batch.number, batch.sheets.count(), batch.votes) == (2, 1, 1)
    assert count_open_pairs(project) == 0, "somebody is being asked"
    assert ask_one_more(project, pairs, now=NOW, actor=None) is None
    assert answer_sheet(project, people[3], always("present")) is None, "kept for somebody else"
    assert answer_all(project, people[2], always("present")) == 1
    make_labels(project, "none", now=NOW, actor=None)
    assert stored()[1] == [True]


def test_imported_votes_can_be_asked_about_as_well():
    project = judged_project(examples=1, systems=1)
    unit, summary = models.Unit.objects.filter(kind="scu").first(), models.Summary.objects.get()
    for answer in ("present", "not_present"):
        judge = PersonFactory(project=project, is_linked=False)
        JudgementFactory(
            unit=unit, summary=summary, judge=judge, answer=answer,
            assignment=AssignmentFactory(project=project, judge=judge, summary=summary, origin="imported"),
        )  # fmt: skip
    assert count_open_pairs(project) == 1
    assert ask_one_more(project, [(unit.pk, summary.pk)], now=NOW, actor=None)
    found = judge_list(project)
    assert (found.rows, found.unlinked) == ([], 2)


# --- pure -------------------------------------------------------------------------------------------------------------


def test_scores_weigh_units_and_average_examples():
    places = {
        (1, 1): Place(1, "a", 3),
        (2, 1): Place(1, "a", 1),
        (3, 2): Place(2, "a", 1),
        (1, 3): Place(1, "b", 3),
    }
    labels = {(1, 1): True, (2, 1): False, (3, 2): False, (1, 3): True}
    assert system_scores(labels, places) == {"a": (3 / 4 + 0) / 2, "b": 1.0}
    effect = compare_labels(labels, {(1, 1): False, (3, 2): True}, places)
    assert (effect.turned, effect.lost, effect.gained) == (2, 2, 0)
    assert effect.scores["b"] == (1.0, None)


# --- REALSumm's released votes through the real queue -------------------------------------------------------------------


def test_adaptive_asking_ends_in_the_labels_of_three_votes_for_fewer(data):
    """FACTS B: 26,400 units of summaries; two rows each, and the third where they differ."""
    if connection.vendor != "sqlite":
        pytest.skip("two minutes of the same queue; runs on SQLite")
    report = import_corpus(
        data / "lite2-3pyramid" / "REALSumm", corpus_format="lite2-3pyramid", project_name="replay", now=NOW
    )
    told = replay_votes(report.project, data)
    assert (told["votes"], told["third_tasks"], told["identical"]) == (56_279, 1_423, 26_400)
    assert round(told["saved_votes"], 3) == 0.289
    assert round(told["saved_tasks"], 2) == 0.14


# --- what a second reading found ----------------------------------------------------------------------------------------


def test_judges_of_single_votes_are_listed_and_can_be_excluded(people):
    project = judged_project(examples=1, systems=1)
    worker = PersonFactory(project=project, key="w-0123456789abcdef")
    for unit in models.Unit.objects.filter(kind="scu"):
        JudgementFactory(unit=unit, summary=models.Summary.objects.get(), judge=worker)
    assert [(row.person, row.votes) for row in judge_list(project).rows] == [(worker, 3)]
    exclude(worker, "clicks", now=NOW, actor=None)
    row = judge_list(project).rows[0]
    assert row.exclusion is not None
    assert row.compared == 3, "their own figures are with their own votes"


def test_excluding_goes_on_where_a_rule_cannot_be_made_anew(judged, people):
    make_labels(judged, "litepyramid-positional", now=NOW, actor=None)
    loose = PersonFactory(project=judged, is_linked=False)
    unit, summary = models.Unit.objects.filter(kind="scu").first(), models.Summary.objects.first()
    JudgementFactory(unit=unit, summary=summary, judge=loose)
    before = models.Label.objects.count()
    exclude(models.Person.objects.get(user=people[0]), "odd", now=NOW, actor=None)
    assert models.Label.objects.count() == before
    entry = models.AuditEntry.objects.get(action="exclude judge")
    assert entry.detail["not made anew"] == "litepyramid-positional"
    assert "judge0" not in entry.target, "a pseudonym"


def test_who_has_judged_a_tie_is_not_asked_to_break_it(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=2)
    answer_all(project, people[0], always("present"))
    answer_all(project, people[1], always("not_present"))
    pairs = [(pair.unit, pair.summary) for pair in list_open_pairs(project)]
    assert ask_one_more(project, pairs, now=NOW, actor=None, for_user=people[0]) is None
    assert count_open_pairs(project) == 3


def test_one_vote_beside_an_unsure_one_is_left_open(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    answer_all(project, people[0], always("unsure"))
    answer_all(project, people[1], always("present"))  # asked once more by itself
    assert count_open_pairs(project) == 3


def test_votes_on_a_text_that_was_corrected_are_history(judged):
    make_labels(judged, "none", now=NOW, actor=None)
    old = models.Unit.objects.get(kind="scu", position=1)
    models.Unit.objects.filter(pk=old.pk).update(superseded_at=NOW)
    made = make_labels(judged, "none", now=NOW, actor=None)
    assert (made.labels, made.removed) == (4, 0)
    assert models.Label.objects.filter(unit=old).count() == 2, "its labels stay as they were"
