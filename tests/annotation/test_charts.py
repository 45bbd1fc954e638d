"""Charts: every text escaped, every number in the table, shapes where they belong."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from annotation.charts import Bar, bar_chart, percent, pie_path


def test_bars_have_the_length_of_their_value_and_their_numbers_beside_them():
    chart = bar_chart([Bar("atlas", 0.75, ".750"), Bar("beacon", None, "not measured")], label="Scores", by_hand=True)
    root = ElementTree.fromstring(chart.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", "Scores")
    bars = [shape for shape in root.iter("rect") if shape.get("class") == "bar-hand"]
    assert [bar.get("width") for bar in bars] == ["75%"]
    assert chart.rows == [("atlas", ".750", ""), ("beacon", "not measured", "")]


def test_values_by_machine_are_drawn_in_pencil_and_on_their_scale():
    chart = bar_chart([Bar("a", 3, "3")], label="x", top=4)
    assert '<rect x="0" y="18" height="12" rx="2" class="bar" width="75%" />' in chart.svg


def test_names_are_text_never_markup():
    chart = bar_chart([Bar("<script>alert(1)</script>", 1, '"&')], label="</svg><script>")
    assert "<script" not in chart.svg
    assert [text.text for text in ElementTree.fromstring(chart.svg).iter("text")] == ["<script>alert(1)</script>", '"&']


def test_no_style_attribute_as_the_policy_forbids_it():
    assert "style" not in bar_chart([Bar("a", 1, "1")], label="x").svg


@pytest.mark.parametrize(("share", "text"), [(0, "0%"), (1 / 3, "33.33%"), (1.5, "100%"), (-1, "0%")])
def test_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize("top", [0, -1, float("nan"), float("inf")])
def test_a_scale_that_makes_no_sense_is_refused(top):
    with pytest.raises(ValueError, match="top"):
        bar_chart([], label="x", top=top)


def test_a_pie_of_a_quarter_ends_at_the_right():
    assert pie_path(0.25) == "M9 9V4A5 5 0 0 1 14.00 9.00z"
    assert pie_path(0.75) == "M9 9V4A5 5 0 1 1 4.00 9.00z"
