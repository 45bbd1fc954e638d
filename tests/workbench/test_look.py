"""Numbers and icons as the pages show them."""

import pytest

from workbench.templatetags import look


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5834, ".583"), (0.0, ".000"), (1.0, "1.000"), (None, "not measured"), (-0.25, "−.250")]
)
def test_scores_have_no_leading_zero_and_none_is_said(value, shown):
    assert look.score(value) == shown


def test_counts_have_commas():
    assert look.count(26400) == "26,400"


def test_icons_are_hidden_from_screen_readers():
    markup = look.icon("check")
    assert 'aria-hidden="true"' in markup
    assert "<path" in markup
    assert "ns0" not in markup
    with pytest.raises(KeyError):
        look.icon("no such icon")
