"""The cost model, the sums for every cut, pins, power: pure, to the cent."""

from __future__ import annotations

import datetime as dt
import math
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import pytest

from annotation.mixing import RatedSentence, choose_easy
from annotation.planning.assumptions import (
    BOUNDS,
    Assumptions,
    BadAssumption,
    Observed,
    learn,
    read_assumptions,
    shrink,
)
from annotation.planning.budget import (
    CannotSolve,
    PlanSentence,
    chance_over,
    deviation,
    forecast,
    likely_range,
    make_budget,
    solve_hours,
    solve_money,
    spread_of,
)
from annotation.planning.fees import FeeSchedule, market_cost
from annotation.planning.power import examples_needed, pairs_apart, smallest_difference, typical_sigma
from annotation.planning.prices import half_up, price, price_sentence
from annotation.planning.routing import cut_rank, cuts, ratio_words, route
from annotation.planning.words import tell

MTURK = FeeSchedule()


# --- published costs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "assignments", "reward", "cost"),
    [
        (40, 2, "0.50", "48"),  # LitePyramid 2005: writing, 40 references, two writers
        (80, 2, "0.50", "96"),  # and 2006
        (10 * 25 * 2, 5, "0.45", "1350"),  # judging, 10 topics, 25 systems, two sets of 16
        (20 * 22 * 2, 5, "0.45", "2376"),
        (20 * 1 * 2, 5, "0.45", "108"),  # one system more
        (1000, 9, "0.15", "1620"),
        (1000, 10, "0.15", "2100"),  # from 10 assignments on another 20 %
    ],
)
def test_published_costs_come_out(tasks, assignments, reward, cost):
    assert market_cost(tasks=tasks, assignments=assignments, reward=Decimal(reward), fees=MTURK) == Decimal(cost)


@pytest.mark.parametrize(
    ("topics", "systems", "references", "judging", "writing"),
    [(10, 25, 40, 135_000, 4_800), (20, 22, 80, 237_600, 9_600), (20, 1, 0, 10_800, 0)],
)
def test_the_forecast_of_litepyramids_settings_is_what_it_cost(topics, systems, references, judging, writing):
    """32 units for each topic in two tasks of 16, five votes of $.45; two writers of each reference for $.50."""
    assumed = replace(
        Assumptions(), units_per_word=Decimal(1), rework=Decimal(0), writers=2, writing_pay="task", adaptive=False,
        writing_reward=Decimal("0.50"), judging_reward=Decimal("0.45"), votes=5, calibration=Decimal(1),
    )  # fmt: skip
    given = [PlanSentence(example=topic, words=32, stus=1, written=2) for topic in range(topics)]
    found = forecast(
        make_budget(given, cuts([0.5] * topics, "exact"), dict.fromkeys(range(topics), systems), assumed), 0
    )
    assert found.judging + found.fees == judging
    alone = [PlanSentence(example=place, words=8, stus=1) for place in range(references)]
    found = forecast(make_budget(alone, cuts([0.5] * references, "exact"), {}, assumed), 0)
    assert found.total == writing


def test_a_fee_is_rounded_half_up_and_is_at_least_a_cent():
    assert MTURK.per_assignment(Decimal("0.01"), 1) == Decimal("0.01")
    assert MTURK.per_assignment(Decimal("0.12"), 1) == Decimal("0.02")  # 2.4 cents
    assert MTURK.per_assignment(Decimal("0.13"), 1) == Decimal("0.03")  # 2.6
    assert MTURK.per_assignment(Decimal("0.125"), 1) == Decimal("0.03")  # 2.5
    assert FeeSchedule(Decimal(0), Decimal(0)).per_assignment(Decimal("5"), 12) == 0


# --- assumptions -----------------------------------------------------------------------------------------------------


def test_assumptions_come_back_as_they_were_stored():
    given = replace(Assumptions(), wage=Decimal("21.5"), budget=Decimal("300"), adaptive=False, writers=2)
    assert read_assumptions(given.as_dict()) == given


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("wage", "-3", "from 0.01 to 1,000"),
        ("wage", "NaN", "from"),
        ("wage", "much", "Write a number"),
        ("wage", "1e999999", "from"),
        ("wage", "12.345", "at most 2 digits"),
        ("writers", "3", "from 1 to 2"),
        ("writers", "1.5", "whole number"),
        ("budget", "0", "from 0.01"),
        ("budget", "-20", "from 0.01"),
        ("adaptive", "yes", "yes or no"),
        ("writing_pay", "love", "hour, task"),
        ("luck", "1", "no assumption"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(name, value, words):
    with pytest.raises(BadAssumption, match=words) as caught:
        read_assumptions({name: value})
    assert caught.value.field == name


def test_money_may_be_written_as_people_do():
    assert read_assumptions({"budget": "$1,200.50"}).budget == Decimal("1200.50")
    assert read_assumptions({"budget": ""}).budget is None
    for wrong in ("3,50", "1,5", "12,34,567", "1,2345"):
        with pytest.raises(BadAssumption):
            read_assumptions({"budget": wrong})


def test_every_number_has_bounds_that_its_default_keeps():
    for name, bounds in BOUNDS.items():
        value = getattr(Assumptions(), name)
        assert value is None or bounds.least <= value <= bounds.most, name


def test_assumptions_shrink_towards_what_was_measured():
    assert shrink(Decimal(40), Decimal(0), 0, places=2) == 40
    assert shrink(Decimal(40), Decimal(20 * 80), 20, places=2) == 60  # as many observations as the assumption is worth
    learnt = learn(Assumptions(), Observed(timed_units=60, writing_seconds=Decimal(60 * 50)))
    assert learnt.seconds_per_unit == Decimal("47.5")
    # 20 sentences of 10 words with 4 units each, against an assumption of 2
    learnt = learn(Assumptions(), Observed(sentences=20, words=200, units=80))
    assert learnt.units_per_word == Decimal("0.3")
    assert learn(Assumptions(), Observed()) == Assumptions()


# --- prices ----------------------------------------------------------------------------------------------------------


def test_the_price_of_a_sentence():
    assumed = replace(Assumptions(), units_per_word=Decimal("0.25"), rework=Decimal("0.5"), writers=2)
    own = price_sentence(20, assumed)  # 5 units, 40 seconds each, three times in all
    assert (own.units, own.milliseconds) == (5000, 600_000)
    assert own.mills == 600 * 18 * 100_000 // 3600  # $3.00
    by_task = price_sentence(20, replace(assumed, writing_pay="task", writing_reward=Decimal("0.50")))
    assert by_task.mills == 150_000  # $1.50: three times $.50


def test_adaptive_votes_are_cheaper_than_three_and_count_tasks():
    fixed = price(replace(Assumptions(), adaptive=False, votes=3, calibration=Decimal(1)))
    adaptive = price(replace(Assumptions(), calibration=Decimal(1)))
    assert (fixed.task_thousandths, fixed.vote_thousandths) == (3000, 3000)
    assert (adaptive.task_thousandths, adaptive.vote_thousandths) == (2570, 2130)
    assert adaptive.task_mills == 154_200  # 2.57 times $.60
    assert adaptive.task_fee == 30_840  # and 12 cents of each
    paid_by_hour = price(replace(Assumptions(), judging_pay="hour", calibration=Decimal(1)))
    assert (paid_by_hour.task_mills, paid_by_hour.task_fee, paid_by_hour.reward_mills) == (0, 0, 0)
    assert paid_by_hour.judged_mills == half_up(17_040 * 18 * 100_000, 3_600_000)  # 2.13 votes of 8 seconds


def test_half_up():
    assert [half_up(number, 2) for number in (0, 1, 2, 3)] == [0, 1, 1, 2]


# --- the sums for every cut ------------------------------------------------------------------------------------------


def sentences(number: int, *, seed: int = 0, pins: bool = True) -> list[PlanSentence]:
    chance = random.Random(seed)
    return [
        PlanSentence(
            example=chance.randrange(1 + number // 4),
            words=chance.randrange(3, 40),
            stus=chance.randrange(6),
            pin=chance.choice(["", "", "", "people", "stus"]) if pins else "",
            written=chance.choice([0, 0, 0, 1, 2]),
        )
        for _ in range(number)
    ]


def by_hand(given: list[PlanSentence], cut: int, summaries: dict[int, int], assumed: Assumptions) -> dict[str, int]:
    """The same from nothing, sentence by sentence."""
    free = [place for place, one in enumerate(given) if not one.pin]
    easy = set(free[:cut])
    found = {"to_write": 0, "slots": 0, "units": 0, "milliseconds": 0, "mills": 0, "tasks": 0, "judged": 0}
    judged: dict[int, int] = {}
    for place, one in enumerate(given):
        own = price_sentence(one.words, assumed)
        if one.pin == "people" or (not one.pin and place not in easy):
            judged[one.example] = judged.get(one.example, 0) + own.units
            left = max(assumed.writers - one.written, 0)
            if left:
                found["to_write"] += 1
                found["slots"] += left
                found["units"] += own.units
                found["milliseconds"] += half_up(own.milliseconds * left, assumed.writers)
                found["mills"] += half_up(own.mills * left, assumed.writers)
        elif assumed.judge_stus:
            judged[one.example] = judged.get(one.example, 0) + 1000 * one.stus
    for example, units in judged.items():
        found["tasks"] += math.ceil(units / 16_000) * summaries.get(example, 0)
        found["judged"] += units * summaries.get(example, 0)
    return found


@pytest.mark.parametrize("judge_stus", [False, True])
@pytest.mark.parametrize("writers", [1, 2])
def test_sums_of_every_cut_are_those_of_adding_up_anew(judge_stus, writers):
    assumed = replace(Assumptions(), judge_stus=judge_stus, writers=writers)
    given = sentences(60)
    summaries = {example: 3 + example % 4 for example in range(15)}
    free = sum(not one.pin for one in given)
    budget = make_budget(given, cuts([0.0] * free, "exact"), summaries, assumed)
    assert budget.free == free
    for cut in range(free + 1):
        expected = by_hand(given, cut, summaries, assumed)
        assert {name: getattr(budget, name)[cut] for name in expected} == expected


def plain_budget(number: int = 10, assumed: Assumptions | None = None):
    given = [PlanSentence(example=place // 2, words=10, stus=2) for place in range(number)]
    return make_budget(given, cuts([0.5] * number, "exact"), dict.fromkeys(range(number), 4), assumed or Assumptions())


def test_a_forecast_adds_up():
    found = forecast(plain_budget(), 300)
    assert (found.to_people, found.to_stus, found.to_write, found.effective) == (7, 3, 7, 300)
    assert found.units == 7 * 2000
    assert found.writing_ms == 7 * 2000 * 44  # 40 seconds and a tenth again
    assert found.writing == half_up(7 * price_sentence(10, Assumptions()).mills, 1000)
    assert found.total == found.writing + found.judging + found.fees
    # 4 examples with a hard sentence, 4 systems, 10 % of 2.57 tasks each
    assert found.tasks == round(16 * 0.257)
    assert found.judging == half_up(16 * 15_420, 1000)
    assert found.fees == half_up(16 * 3_084, 1000)
    # 16 tasks of $.60 for 56 units of 8 seconds
    assert found.hourly_pay == round(16 * 60 * 3600 / (4 * 14 * 8))
    assert found.days == math.ceil(found.writing_ms * 7 / (20 * 3_600_000))


def test_both_ends_of_the_slider():
    budget = plain_budget()
    assert forecast(budget, 0).to_stus == 0
    last = forecast(budget, 1000)
    assert (last.to_people, last.writing, last.judging, last.total, last.hourly_pay, last.days) == (0, 0, 0, 0, None, 0)


@pytest.mark.parametrize("number", [1, 2])
def test_one_and_two_sentences(number):
    budget = plain_budget(number)
    assert [forecast(budget, share).to_people for share in (0, 499, 500, 999, 1000)] == (
        [1, 1, 1, 1, 0] if number == 1 else [2, 2, 1, 1, 0]
    )


def test_money_and_hours_give_the_ratio_with_the_most_human_work():
    budget = plain_budget(200)
    wanted = forecast(budget, 430)
    share = solve_money(budget, wanted.total)
    assert forecast(budget, share).total <= wanted.total < forecast(budget, share - 1).total
    share = solve_hours(budget, wanted.writing_ms)
    assert forecast(budget, share).writing_ms <= wanted.writing_ms < forecast(budget, share - 1).writing_ms
    assert solve_money(budget, 10**9) == 0
    assert solve_money(budget, 0) == 1000  # STUs alone cost nothing


def test_a_sum_that_no_ratio_keeps_is_told():
    pinned = [PlanSentence(example=0, words=10, stus=2, pin="people")]
    budget = make_budget(pinned, cuts([], "exact"), {0: 4}, Assumptions())
    with pytest.raises(CannotSolve, match=r"Even the cheapest plan costs \$1\.18"):
        solve_money(budget, 0)
    with pytest.raises(CannotSolve, match="Pins alone take"):
        solve_hours(budget, 0)


# --- how sure that is ------------------------------------------------------------------------------------------------


def test_the_chance_to_go_over_a_budget():
    budget, spread = plain_budget(200), spread_of(Assumptions(), Observed())
    found = forecast(budget, 300)
    assert chance_over(found, spread, found.total) == pytest.approx(0.5)
    low, high = likely_range(found.total, deviation(found, spread))
    assert chance_over(found, spread, round(high)) == pytest.approx(0.1, abs=0.01)
    assert chance_over(found, spread, round(low)) == pytest.approx(0.9, abs=0.01)
    assert chance_over(forecast(budget, 1000), spread, 1) == 0
    more = spread_of(Assumptions(), Observed(sentences=400, timed_units=400))
    assert deviation(found, more) < deviation(found, spread)


def test_a_forecast_in_words():
    assumed = replace(Assumptions(), budget=Decimal(20))
    found = forecast(plain_budget(200), 385)
    told = tell(found, spread_of(assumed, Observed()), assumed, dt.date(2026, 3, 2))
    assert (told["ratio"], told["to_people"], told["people_percent"]) == ("2.385", "123", "62 %")
    assert told["total"] == f"${found.total / 100:,.2f}"
    assert told["finish"].endswith("Mar 2026")
    share = 1 - NormalDist().cdf(math.log(2000 / found.total) / deviation(found, spread_of(assumed, Observed())))
    assert told["chance"] == f"{round(100 * share)} %"


def test_pay_by_the_task_is_certain_and_may_be_too_little():
    assumed = replace(Assumptions(), writing_pay="task", writing_reward=Decimal("0.10"), calibration=Decimal(0))
    found = forecast(plain_budget(20, assumed), 0)
    spread = spread_of(assumed, Observed())
    assert deviation(found, spread) == 0
    # $.10 and a tenth again for 2 units of 44 seconds
    assert found.writing_pay == round(11 * 3600 / 88)
    told = tell(found, spread, assumed, dt.date(2026, 3, 2))
    assert told["writing_range"] == "[$2.20–$2.20]"
    assert told["hours_range"] != f"[{told['hours'][:-2]}–{told['hours'][:-2]}]"
    assert forecast(plain_budget(), 0).writing_pay is None


# --- routes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pins", list(product(["", "people", "stus"], repeat=5)))
def test_the_cut_leaves_so_many_free_sentences_to_stus(pins):
    free = pins.count("")
    pinned = [rank for rank, pin in enumerate(pins, start=1) if pin]
    for cut in range(free + 1):
        rank = cut_rank(len(pins), pinned, cut)
        goes = [route(number, pin, rank) for number, pin in enumerate(pins, start=1)]
        assert goes.count("stus") == cut + pins.count("stus")
        assert all(where == pin for where, pin in zip(goes, pins, strict=True) if pin)
        without_pins = [where for where, pin in zip(goes, pins, strict=True) if not pin]
        assert without_pins == ["people"] * (free - cut) + ["stus"] * cut  # the easiest ones


def test_more_than_the_free_ones_cannot_be_cut_off():
    with pytest.raises(ValueError, match="cannot be free"):
        cut_rank(3, [2], 3)


def test_cuts_by_rule():
    easiness = [0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    exact = cuts(easiness, "exact")
    assert [exact[share] for share in (0, 99, 100, 385, 1000)] == [0, 0, 1, 3, 10]
    seed = cuts(easiness, "seed")
    rated = [RatedSentence(place, value) for place, value in enumerate(easiness)]
    for share in range(0, 1001, 7):  # as the rule itself has it
        assert seed[share] == len(choose_easy(rated, Fraction(share, 1000), rule="seed"))
    # the one at the rank itself keeps its SCUs, and so do those as easy as it
    assert [seed[share] for share in (0, 200, 300, 500, 1000)] == [0, 1, 1, 4, 9]


def test_ratios_are_written_as_people_do():
    assert [ratio_words(share) for share in (0, 1, 380, 385, 500, 1000)] == [
        "2.0",
        "2.001",
        "2.38",
        "2.385",
        "2.5",
        "3.0",
    ]


# --- power -----------------------------------------------------------------------------------------------------------


def test_what_examples_can_tell_apart():
    assert smallest_difference(0.2564, 100) == pytest.approx(0.0718, abs=1e-4)
    differences = (0.10, 0.05, 0.03, 0.02)
    # REALSumm's spread as its curve ships; .25645 is the least that makes the last one 1,290, as it is given elsewhere.
    assert [examples_needed(0.2564, difference) for difference in differences] == [52, 207, 573, 1289]
    assert [examples_needed(0.25645, difference) for difference in differences] == [52, 207, 573, 1290]
    assert examples_needed(0.25644, 0.02) == 1289


def test_the_typical_spread_and_the_pairs_apart():
    scores = [[0.1, 0.5, 0.9], [0.2, 0.6, 1.0], [0.5, 0.5, 0.5]]
    assert typical_sigma(scores) == pytest.approx(0.4)
    assert pairs_apart(scores, 0.05) == (2, 3)
    assert typical_sigma([[0.1, 0.2]]) is None
    assert typical_sigma([[0.1], [0.2]]) is None
