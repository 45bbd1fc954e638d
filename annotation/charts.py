"""Charts as SVG: one small pure module for the whole product.

A chart is built as a tree, so that every text in it is escaped, and carries class names only; the stylesheet decides
the rest. Widths are percentages: text keeps its size while the plot stretches. Each chart comes with its numbers as
rows, for the table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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


# --- curves --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a curve from 0 to 1 across, with its interval."""

    across: float
    value: float
    low: float
    high: float


def curve_chart(
    points: Sequence[Point], *, beside: Sequence[float], here: Point, ends: tuple[str, str], label: str
) -> Chart:
    """A curve in a ribbon, another one beside it for comparison, and a dot where one stands now."""
    low, high, ticks = nice_scale(
        min([point.low for point in points] + list(beside)), max([point.high for point in points] + list(beside))
    )

    def up(value: float) -> float:
        return 100 * (1 - (value - low) / (high - low))

    root = Element("svg", {"class": "plot plot-low", "role": "img", "aria-label": label})
    root.set("data-low", f"{low:.4f}")
    root.set("data-high", f"{high:.4f}")
    for tick in ticks:
        y = f"{up(tick):.1f}%"
        SubElement(root, "line", {"class": "grid", "x1": "0", "x2": "100%", "y1": y, "y2": y})
        mark = {"x": "0", "y": y, "dx": "-8", "dy": "4", "text-anchor": "end"}
        SubElement(root, "text", mark).text = f"{tick:.2f}".removeprefix("0")
    for text, x, anchor in ((ends[0], "0", "start"), (ends[1], "100%", "end")):
        SubElement(root, "text", {"x": x, "y": "100%", "dy": "18", "text-anchor": anchor}).text = text
    SubElement(root, "line", {"class": "axis", "x1": "0", "x2": "100%", "y1": "100%", "y2": "100%"})
    box = {"width": "100%", "height": "100%", "viewBox": "0 0 100 100", "preserveAspectRatio": "none"}
    inner = SubElement(root, "svg", box)
    ribbon = [(p.across, p.high) for p in points] + [(p.across, p.low) for p in reversed(points)]
    SubElement(inner, "polygon", {"class": "ribbon", "points": _points(ribbon, up)})
    other = [(point.across, value) for point, value in zip(points, beside, strict=True)]
    SubElement(inner, "polyline", {"class": "line-machine", "points": _points(other, up)})
    SubElement(inner, "polyline", {"class": "line-plain", "points": _points([(p.across, p.value) for p in points], up)})
    x, y = percent(here.across), f"{up(here.value):.2f}%"
    SubElement(root, "line", {"class": "here", "x1": x, "x2": x, "y1": y, "y2": "100%"})
    SubElement(root, "circle", {"class": "dot", "cx": x, "cy": y, "r": "6.5"})
    return Chart(tostring(root, encoding="unicode"), [])


def _points(places: Sequence[tuple[float, float]], up: Callable[[float], float]) -> str:
    return " ".join(f"{100 * across:.1f},{up(value):.2f}" for across, value in places)


# --- intervals -----------------------------------------------------------------------------------------------------

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MOST_TICKS = 6


def nice_scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """A scale of round numbers around two values: its ends, and the ticks from one to the other."""
    for step in STEPS:
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        last = max(last, first + 1)
        if last - first < MOST_TICKS:
            return first * step, last * step, [number * step for number in range(first, last + 1)]
    return 0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]


def interval_chart(
    value: float, low: float, high: float, *, scale: tuple[float, float], ticks: int, label: str
) -> Chart:
    """A dot with its whisker on a scale, for a cell of a table."""
    begin, end = scale

    def place(number: float) -> str:
        return percent((number - begin) / (end - begin))

    root = Element("svg", {"role": "img", "aria-label": label, "class": "interval"})
    for number in range(ticks):
        x = percent(number / max(ticks - 1, 1))
        SubElement(root, "line", {"class": "grid", "x1": x, "x2": x, "y1": "-12", "y2": "32"})
    whisker = {"class": "whisker", "x1": place(low), "x2": place(high), "y1": "50%", "y2": "50%"}
    SubElement(root, "line", whisker)
    SubElement(root, "circle", {"class": "dot", "cx": place(value), "cy": "50%", "r": "5.5"})
    return Chart(tostring(root, encoding="unicode"), [])
