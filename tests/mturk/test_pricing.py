"""Costs to the cent, against what the published studies paid."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotation.planning.fees import FeeSchedule
from mturk.pricing import (
    AMAZON,
    NO_FEES,
    BadAmount,
    Cost,
    OverCap,
    Worked,
    amount,
    bonus_fee_cents,
    dollars,
    fee_cents,
    fees_json,
    hourly_cents,
    least_reward,
    median_seconds,
    more_at_ten,
    price_line,
    read_cents,
    read_fees,
    top_ups,
)


# LitePyramid (DUC 2006, DUC 2005, SCU writing for a reference), REALSumm, and the border of ten assignments.
@pytest.mark.parametrize(
    ("hits", "assignments", "reward", "total"),
    [
        (40, 5, 45, 10_800),
        (20, 5, 45, 5_400),
        (1, 2, 50, 120),
        (2_500, 4, 15, 180_000),
        (1_000, 9, 15, 162_000),
        (1_000, 10, 15, 210_000),
    ],
)
def test_published_costs(hits, assignments, reward, total):
    assert price_line("all", hits=hits, assignments=assignments, reward=reward, fees=AMAZON).total == total


@pytest.mark.parametrize(
    ("reward", "assignments", "masters", "fee"),
    [
        (15, 9, False, 3),
        (15, 10, False, 6),
        (7, 1, False, 1),
        (8, 1, False, 2),  # 1.6, half up
        (1, 1, False, 1),  # at least a cent
        (0, 1, False, 1),
        (50, 1, True, 13),  # 12.5, half up
        (50, 10, True, 23),  # 20 + 20 + 5 percent are added before they are rounded: 22.5
    ],
)
def test_percentages_are_added_and_rounded_half_up(reward, assignments, masters, fee):
    assert fee_cents(reward, assignments, AMAZON, masters=masters) == fee


def test_the_exchange_takes_nothing():
    assert fee_cents(15, 10, NO_FEES) == fee_cents(15, 1, NO_FEES, masters=True) == bonus_fee_cents(100, NO_FEES) == 0


def test_a_bonus_has_its_fee():
    assert bonus_fee_cents(100, AMAZON) == 20
    assert bonus_fee_cents(1, AMAZON) == 1


def test_groups_of_systems_have_their_own_reward():
    abstractive = price_line("abstractive", hits=1_400, assignments=4, reward=20, fees=AMAZON)
    extractive = price_line("extractive", hits=1_100, assignments=4, reward=15, fees=AMAZON)
    cost = Cost((abstractive, extractive))
    assert (cost.hits, cost.assignments) == (2_500, 10_000)
    assert cost.rewards == 1_400 * 4 * 20 + 1_100 * 4 * 15
    assert cost.total == 1_400 * 4 * 24 + 1_100 * 4 * 18 == cost.rewards + cost.fees


def test_third_votes_are_in_the_most_it_may_cost():
    cost = Cost((price_line("all", hits=109, assignments=2, reward=42, fees=AMAZON),), extra_per_hit=1)
    assert cost.total == 109 * 2 * 50
    assert cost.most == 109 * 3 * 50


def test_what_ten_assignments_cost_more():
    ten = price_line("all", hits=1_000, assignments=10, reward=15, fees=AMAZON)
    assert more_at_ten(ten, AMAZON) == 30_000
    assert more_at_ten(price_line("all", hits=1_000, assignments=9, reward=15, fees=AMAZON), AMAZON) == 0


@pytest.mark.parametrize(
    ("text", "cents"), [("0.15", 15), ("$1.2", 120), ("3", 300), (" 0,05 ", 5), ("$ 10", 1000), ("0.00", 0)]
)
def test_sums_are_read(text, cents):
    assert read_cents(text) == cents


@pytest.mark.parametrize("text", ["", "1.234", "-1", "1e3", "one", "0.1.2", "٣", "1,000.00", "NaN"])
def test_what_is_no_sum_is_refused(text):
    with pytest.raises(BadAmount):
        read_cents(text)


def test_sums_are_written_without_floats():
    assert [amount(cents) for cents in (0, 5, 15, 30, 100_001)] == ["0.00", "0.05", "0.15", "0.30", "1000.01"]
    assert [dollars(cents) for cents in (0, 123_456, -5)] == ["$0.00", "$1,234.56", "−$0.05"]


def test_the_message_of_the_cap_names_the_way_out():
    assert "Raise the cap by at least $0.01" in str(OverCap(10_001, 10_000))


def test_a_schedule_survives_storage():
    odd = FeeSchedule(Decimal("12.5"), Decimal(3), 4)
    assert read_fees(fees_json(odd)) == odd


# LitePyramid: $0.45 is $9 an hour only in three minutes. REALSumm: $0.15 is $6 at 90 seconds.
@pytest.mark.parametrize(
    ("reward", "seconds", "hourly"), [(45, 180, 900), (15, 90, 600), (15, 180, 300), (42, 94, 1608)]
)
def test_pay_per_hour(reward, seconds, hourly):
    assert hourly_cents(reward, seconds) == hourly


def test_pay_per_hour_is_not_known_without_a_time():
    assert hourly_cents(15, 0) is None


@pytest.mark.parametrize(("floor", "seconds", "cents"), [(1500, 94, 40), (1500, 180, 75), (1500, 1, 1), (1500, 0, 0)])
def test_the_least_reward_for_a_floor_is_rounded_up(floor, seconds, cents):
    assert least_reward(floor, seconds) == cents


def test_top_ups_go_by_the_median_time_and_count_what_was_given():
    works = [Worked(1, 60, 42), Worked(2, 120, 42), Worked(3, 10_000, 42), Worked(4, None, 42), Worked(5, 120, 42, 5)]
    assert median_seconds(works) == 120
    assert top_ups(works, 1500) == {1: 8, 2: 8, 3: 8, 4: 8, 5: 3}
    assert top_ups(works, 1000) == {}
    assert top_ups([Worked(1, None, 42)], 1500) == {}
