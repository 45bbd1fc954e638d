"""Charts as SVG: one small pure module for the whole product.

A chart is built as a tree, so that every text in it is escaped, and carries class names only; the stylesheet decides
the rest. Widths are percentages: text keeps its size while the plot stretches. Each chart comes with its numbers as
rows, for the table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

BAR_PITCH = 42  # pixels from one bar to the next
BAR_HEIGHT = 12
BAR_TOP = 18  # room for the name above its bar


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its value, and the words that stand for the value; None was not measured.

    `note` stands in the table only, such as the number of examples behind the value.
    """

    name: str
    value: float | None
    words: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """The picture and the numbers in it."""

    svg: str
    rows: list[tuple[str, ...]]


def bar_chart(bars: Sequence[Bar], *, label: str, top: float = 1.0, by_hand: bool = False) -> Chart:
    """Horizontal bars from 0 to `top`. `by_hand`: the values are people's, so they are drawn in ink."""
    if not (math.isfinite(top) and top > 0):
        raise ValueError(f"top is {top}; it must be a number above 0")
    root = _svg(label, height=BAR_PITCH * len(bars))
    root.set("class", "bars")
    for number, bar in enumerate(bars):
        y = number * BAR_PITCH
        SubElement(root, "text", {"x": "0", "y": str(y + BAR_TOP - 5), "class": "bar-name"}).text = bar.name
        end = {"x": "100%", "y": str(y + BAR_TOP - 5), "class": "say", "text-anchor": "end"}
        SubElement(root, "text", end).text = bar.words
        box = {"x": "0", "y": str(y + BAR_TOP), "height": str(BAR_HEIGHT), "rx": "2"}
        SubElement(root, "rect", {**box, "class": "bar-track", "width": "100%"})
        if bar.value is not None:
            shown = "bar-hand" if by_hand else "bar"
            SubElement(root, "rect", {**box, "class": shown, "width": percent(bar.value / top)})
    return Chart(tostring(root, encoding="unicode"), [(bar.name, bar.words, bar.note) for bar in bars])


def percent(share: float) -> str:
    """A share of the whole as SVG takes it, kept between 0 and 100 %."""
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"


def pie_path(share: float, *, radius: float = 5, centre: float = 9) -> str:
    """The path of a pie that is filled clockwise from the top: how far a stage is."""
    angle = 2 * math.pi * min(max(share, 0.02), 0.98)
    x, y = centre + radius * math.sin(angle), centre - radius * math.cos(angle)
    large = int(angle > math.pi)
    return f"M{centre} {centre}V{centre - radius}A{radius} {radius} 0 {large} 1 {x:.2f} {y:.2f}z"


def _svg(label: str, *, height: int) -> Element:
    return Element("svg", {"role": "img", "aria-label": label, "width": "100%", "height": str(height)})
