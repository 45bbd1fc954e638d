"""Cells that no spreadsheet runs, and every text back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.csv_cells import FORMULA, PLAIN_NUMBER, neutralise, restore


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1+1",
        "＋1",
        "－A1",
        "＠A",
        "'=1",
        "''=1",
    ],
)
def test_formulas_are_neutralised_and_come_back(text):
    cell = neutralise(text)
    assert cell == f"'{text}"
    assert restore(cell) == text


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-5.2", "-1,234.5", "-1e-9", "0", "plain", "don't", "'tis", "", "a=b", "'"]
)
def test_numbers_and_plain_text_stay_as_they_are(text):
    assert neutralise(text) == text
    assert restore(text) == text


@given(st.text(alphabet=st.sampled_from("'=+-@\t\r\nx1.,eE＝ "), max_size=8) | st.text(max_size=20))
def test_every_text_comes_back_and_none_can_run(text):
    cell = neutralise(text)
    assert restore(cell) == text
    assert cell.startswith("'") or PLAIN_NUMBER.fullmatch(cell) or not FORMULA.match(cell)
