"""Votes become labels: the majority, filters of noisy judges, agreement. Held to the published figures."""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.aggregating.agreement import (
    NO_VARIATION,
    TOO_FEW,
    alpha_of,
    alpha_with_interval,
    group_histograms,
    histogram,
    mean_of_tasks,
)
from annotation.aggregating.asking import disputed
from annotation.aggregating.filters import (
    FILTERS,
    NeedsLinkedJudges,
    difflib_agreement,
    positional_agreement,
    worst_of_task,
)
from annotation.aggregating.votes import Tally, Vote, count_votes, majority
from annotation.readers.amt import AmtRow, read_amt_row, read_amt_rows
from annotation.readers.fields import BadRow


def task_votes(answers: list[list[int | None]], task: str = "t") -> list[Vote]:
    """A row for each judge, a column for each unit."""
    return [
        Vote(f"{task}.{unit}", f"judge {number}", task, None if answer is None else bool(answer))
        for number, row in enumerate(answers)
        for unit, answer in enumerate(row)
    ]


# --- the majority -----------------------------------------------------------------------------------------------------


def test_more_than_half_is_present_and_unsure_is_no_vote():
    votes = task_votes([[1, 1, 0, None], [1, 0, 0, None], [0, None, 0, None]])
    assert majority(votes) == {"t.0": True, "t.1": False, "t.2": False}
    assert count_votes(votes)["t.3"] == Tally()


@pytest.mark.parametrize(
    ("tally", "told"),
    [
        (Tally(2, 2), (False, True, False)),
        (Tally(3, 0), (True, False, True)),
        (Tally(), (False, False, False)),
        (Tally(2, 1), (True, False, False)),
    ],
)
def test_ties_and_unanimity(tally, told):
    assert (tally.label, tally.is_tie, tally.is_unanimous) == told


def test_only_units_on_which_two_differ_need_a_third():
    votes = task_votes([[1, 1, 0, 1], [1, 0, 0, None]])
    assert disputed(count_votes(votes), ["t.0", "t.1", "t.2", "t.3", "t.4"]) == ["t.1", "t.3", "t.4"]


# --- filters ----------------------------------------------------------------------------------------------------------

# Three cases that tell REALSumm's rule from its likenesses.
LONE = [
    ([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]], {"judge 3"}),
    ([[1, 1], [1, 1], [0, 1], [0, 1]], set()),
    ([[1, 0], [1, 0], [0, 0], [1, 1]], {"judge 2", "judge 3"}),
]


@pytest.mark.parametrize(("answers", "worst"), LONE)
def test_the_judge_who_is_most_often_alone_is_left_out(answers, worst):
    votes = task_votes(answers)
    found = FILTERS["realsumm-worst-of-task"].apply(votes, are_linked=False)
    assert {judge for _, judge in found.in_task} <= worst
    assert len(found.in_task) == min(len(worst), 1)
    assert bool(found.notes) == (len(worst) > 1)
    assert len(found.keep(votes)) == len(votes) - len(found.in_task) * len(answers[0])


def test_which_of_equally_lonely_judges_goes_is_the_same_every_time_and_seeded():
    votes = [vote for number in range(40) for vote in task_votes(LONE[2][0], task=f"t{number}")]
    assert worst_of_task(votes) == worst_of_task(votes)
    drawn = Counter(judge for _, judge in worst_of_task(votes).in_task)
    assert set(drawn) == {"judge 2", "judge 3"}
    assert worst_of_task(votes, seed=1) != worst_of_task(votes)


@pytest.mark.parametrize(
    ("one", "other", "sequence", "positional"),
    [
        ([1, 0, 1, 1], [1, 1, 0, 1], 0.75, 0.5),
        ([1] * 8 + [0] * 8, [0] * 8 + [1] * 8, 0.5, 0.0),
        ([1, 0] * 8, [0, 1] * 8, 0.9375, 0.0),
        ([1] * 16, [0] * 16, 0.0, 0.0),
        (
            [1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1],
            [1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0],
            0.625,
            0.75,
        ),
    ],
)
def test_two_ways_to_agree(one, other, sequence, positional):
    assert difflib_agreement(one, other) == sequence
    assert positional_agreement(one, other) == positional


def test_the_published_form_keeps_whom_the_positional_one_drops():
    votes = task_votes([[1, 0] * 8, [1, 0] * 8, [0, 1] * 8])
    assert FILTERS["litepyramid-difflib"].apply(votes).judges == frozenset()
    assert FILTERS["litepyramid-positional"].apply(votes).judges == {"judge 2"}
    opposite = task_votes([[1] * 16, [1] * 16, [0] * 16])
    assert FILTERS["litepyramid-difflib"].apply(opposite).judges == {"judge 2"}


def test_72_percent_of_210_tasks_against_the_others_is_too_much():
    """PyrXSum's one worker who was dropped; one with as bad a share of 19 tasks stays."""
    votes = []
    for number in range(210):
        is_against = number < 151  # 72 %
        rows = [[1], [1], [1], [0 if is_against else 1]]
        votes += task_votes(rows, task=f"t{number}")
    rule = FILTERS["pyrxsum-against-others"]
    assert rule.apply(votes).judges == {"judge 3"}
    few = [vote for vote in votes if int(vote.task[1:]) < 19]
    assert rule.apply(few).judges == frozenset()
    twenty = [vote for vote in votes if int(vote.task[1:]) < 20]
    assert rule.apply(twenty).judges == {"judge 3"}


@pytest.mark.parametrize("name", ["litepyramid-difflib", "litepyramid-positional", "pyrxsum-against-others"])
def test_rules_over_all_of_a_judges_work_need_to_know_whose_it_is(name):
    with pytest.raises(NeedsLinkedJudges, match=name):
        FILTERS[name].apply([], are_linked=False)


def test_unsure_is_no_vote_in_the_filters():
    votes = task_votes([[None] * 4, [0] * 4, [1] * 4, [1] * 4])
    assert FILTERS["litepyramid-positional"].apply(votes).judges == {"judge 1"}


def test_two_lists_in_another_order_are_compared_unit_by_unit():
    one, other = task_votes([[1, 0, 0, 1]] * 2)[:4], task_votes([[1, 0, 0, 1]] * 2)[4:]
    assert FILTERS["litepyramid-positional"].apply([*one, *reversed(other)]).judges == frozenset()


def test_of_three_judges_nobody_is_the_worst():
    """One is alone on every unit that is disputed at all, and adaptive asking makes nothing but such units."""
    assert worst_of_task(task_votes([[1, 1], [1, 0], [0, 1]])).in_task == frozenset()


def test_fillers_take_part_where_the_published_rule_had_them():
    votes = []
    for number in range(25):
        rows = task_votes([[1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 1]], task=f"t{number}")
        fillers = [Vote(("filler", number), vote.judge, vote.task, False, is_filler=True) for vote in rows]
        votes += [*rows, *{vote.judge: vote for vote in fillers}.values()]
    assert FILTERS["pyrxsum-against-others"].apply(votes).judges == {"judge 3"}


# --- agreement --------------------------------------------------------------------------------------------------------


def test_alpha_of_krippendorffs_own_example():
    """Two observers, ten units, two values (Krippendorff 2011): .095."""
    one = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    other = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert round(alpha_of(histogram(count_votes(task_votes([one, other])).values())).value, 3) == 0.095


def slow_alpha(units: list[list[int]]) -> float:
    """From the definition: disagreement within units against that of any two votes."""
    units = [unit for unit in units if len(unit) > 1]
    votes = [vote for unit in units for vote in unit]
    within = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    between = sum(a != b for i, a in enumerate(votes) for j, b in enumerate(votes) if i != j)
    return 1 - (within / len(votes)) / (between / (len(votes) * (len(votes) - 1)))


def test_alpha_with_missing_votes_is_the_definition():
    chance = random.Random(3)
    units = [[chance.randint(0, 1) for _ in range(chance.randint(1, 5))] for _ in range(60)]
    found = alpha_of(histogram(Tally(sum(unit), len(unit) - sum(unit)) for unit in units))
    assert found.value == pytest.approx(slow_alpha(units), abs=1e-12)


def test_where_alpha_is_not_defined_it_says_why():
    assert (alpha_of({(1, 0): 5}).value, alpha_of({(1, 0): 5}).why) == (None, TOO_FEW)
    assert (alpha_of({(3, 0): 5}).value, alpha_of({(3, 0): 5}).why) == (None, NO_VARIATION)
    assert mean_of_tasks({"a": Counter({(3, 0): 5}), "b": Counter({(1, 0): 2})}).value == 1.0
    assert mean_of_tasks({}).why == TOO_FEW


def test_the_interval_holds_the_value_and_narrows_with_more_examples():
    chance = random.Random(5)
    groups = {number: Counter({(chance.randint(0, 3), 3): 4, (3, 0): 2}) for number in range(40)}
    wide = alpha_with_interval({number: groups[number] for number in range(8)})
    narrow = alpha_with_interval(groups)
    assert wide.low <= wide.value <= wide.high
    assert narrow.high - narrow.low < wide.high - wide.low
    assert alpha_with_interval(groups) == narrow


# --- batch results of Mechanical Turk -----------------------------------------------------------------------------------


def test_a_row_of_either_layout_is_read():
    realsumm = {
        "Input.eventId": "e1", "Input.summaryId": "bart", "Input.qIdList": "['7', '8', '9']", "Input.summary_text": "Text",
        "Input.statement_1": "A", "Input.statement_2": "B", "Input.statement_3": "BLANK", "Answer.S1Answer": "p",
        "Answer.S2Answer": "n", "Answer.S3Answer": "", "WorkerId": "W", "WorkTimeInSeconds": "90",
    }  # fmt: skip
    row = read_amt_row(realsumm)
    assert [(one.question, one.present, one.is_filler) for one in row.answers] == [
        ("7", True, False), ("8", False, False), ("9", None, True),
    ]  # fmt: skip
    assert (row.worker, row.seconds) == ("W", 90.0)
    pyrxsum = {
        "Input.example_id": "e2", "Input.summary": "Text", "Input.numfact": "2", "Input.fact1": "A", "Input.fact2": "B",
        "Input.fact3": "unused", "Answer.rate0": "1", "Answer.rate1": "2",
    }  # fmt: skip
    assert [one.present for one in read_amt_row(pyrxsum).answers] == [True, False]


@pytest.mark.parametrize(
    "change",
    [{"Input.eventId": ""}, {"Input.statement_1": ""}, {"Input.qIdList": "['1', '2']"}, {"Answer.S1Answer": "x"}],
)
def test_a_row_that_is_none_is_refused_with_the_reason(change):
    good = {"Input.eventId": "e", "Input.statement_1": "A", "Answer.S1Answer": "p", "Input.qIdList": "['1']"}
    assert read_amt_row(good).answers[0].present
    with pytest.raises(BadRow):
        read_amt_row({**good, **change})


# --- REALSumm's released votes ------------------------------------------------------------------------------------------


def released(data: Path) -> Iterator[tuple[str, int, AmtRow]]:
    for folder in ("abs", "ext"):
        for path in sorted((data / "realsumm-amt" / f"SCU_rating_results_{folder}_systems").glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                for number, row in enumerate(read_amt_rows(csv.DictReader(file))):
                    yield folder, number, row


def test_realsumms_votes_give_its_published_agreement(data):
    tasks: defaultdict[tuple[str, str, str], list[tuple[str, bool]]] = defaultdict(list)
    votes = fillers = 0
    for folder, _number, row in released(data):
        for one in row.answers:
            if one.is_filler:
                fillers += one.present is True
                continue
            votes += 1
            tasks[folder, row.system, row.example].append((one.question, bool(one.present)))
    assert (len(tasks), votes, fillers) == (2500, 81_581, 55)
    tallies = {}
    for task, own in tasks.items():
        present, absent = Counter(q for q, yes in own if yes), Counter(q for q, yes in own if not yes)
        tallies |= {(task, q): Tally(present[q], absent[q]) for q in {q for q, _ in own}}
    assert len(tallies) == 26_400
    in_ext = {"banditsumm_out", "neusumm_out"}  # extractive systems that lie in the other folder
    task_of = {item: item[0] for item in tallies}
    groups = group_histograms(tallies, task_of)
    ext = {task: own for task, own in groups.items() if task[0] == "ext" or task[1] in in_ext}
    abstractive = {task: own for task, own in groups.items() if task not in ext}
    no_neusumm = {task: own for task, own in ext.items() if task[1] != "neusumm_out"}
    assert round(mean_of_tasks(groups).value, 4) == 0.6646
    assert round(mean_of_tasks(abstractive).value, 4) == 0.7221
    assert round(mean_of_tasks(ext).value, 4) == 0.5914
    assert round(mean_of_tasks(no_neusumm).value, 4) == 0.5730
    assert round(alpha_of(histogram(tallies.values())).value, 4) == 0.7195
