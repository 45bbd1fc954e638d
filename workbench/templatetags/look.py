"""Template tags of the look: icons from one file, scores without the leading zero."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from xml.etree import ElementTree

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from annotation.charts import Chart
from annotation.judge_names import short_judge
from annotation.services.auditing import name_act

register = template.Library()

SVG = "{http://www.w3.org/2000/svg}"


@cache
def _symbols() -> dict[str, tuple[str, SafeString]]:
    """Icons by name as (view box, shapes). The file is our own, so its markup is safe."""
    root = ElementTree.parse(settings.BASE_DIR / "static" / "img" / "icons.svg").getroot()  # noqa: S314
    symbols = {}
    for symbol in root.iter(f"{SVG}symbol"):
        shapes = "".join(ElementTree.tostring(shape, encoding="unicode") for shape in symbol)
        plain = shapes.replace("ns0:", "").replace(' xmlns:ns0="http://www.w3.org/2000/svg"', "")
        symbols[symbol.attrib["id"]] = (symbol.attrib["viewBox"], mark_safe(plain))  # noqa: S308
    return symbols


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon beside words; hidden from screen readers, as the words say it."""
    box, shapes = _symbols()[name]
    return format_html('<svg class="icon" viewBox="{}" aria-hidden="true">{}</svg>', box, shapes)


@register.simple_tag
def mark() -> SafeString:
    """The mark of the product: four lines of text that form a pyramid."""
    box, shapes = _symbols()["mark"]
    return format_html('<svg viewBox="{}" aria-hidden="true">{}</svg>', box, shapes)


@register.filter
def score(value: float | None) -> str:
    """A score as .583; what was not measured is said so, never shown as 0."""
    if value is None:
        return gettext("not measured")
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"−{text}" if value < 0 and text != ".000" else text


@register.filter
def short_score(value: float) -> str:
    """A probability as .58."""
    return f"{value:.2f}".removeprefix("0")


@register.filter
def percent(share: float | None) -> str:
    """A share as 37 %."""
    return gettext("not measured") if share is None else f"{100 * share:.0f} %"


@register.filter
def money(dollars: Decimal) -> str:
    """A sum as $1,234.50."""
    return f"${dollars:,.2f}"


@register.filter
def cents(number: int | None) -> str:
    """Whole cents as $1,234.50."""
    return gettext("not measured") if number is None else f"${Decimal(number) / 100:,.2f}"


@register.filter
def count(value: int) -> str:
    """A count with a comma for thousands."""
    return f"{value:,}"


@register.filter
def plain_text(text: str) -> str:
    """A reference without the marks of its sentences."""
    return " ".join(re.sub(r"</?t>", " ", text).split())


@register.filter
def judge_name(name: str) -> str:
    """A judge without the folder that it lies in."""
    return short_judge(name)


@register.filter
def moment(value: dt.datetime | None) -> str:
    """A point in time as 16 Nov 2026, 14:31, in the time zone of the server."""
    return date_format(timezone.localtime(value), "j M Y, H:i") if value else ""


@register.filter
def as_spans(spans: Iterable[tuple[int, int]]) -> str:
    """Spans for the script that shows them: 0-5 9-12."""
    return " ".join(f"{start}-{end}" for start, end in spans)


@register.filter
def act(action: str) -> str:
    """An act of the audit log, for people."""
    return name_act(action)


@register.filter
def details(value: dict[str, object]) -> str:
    """The detail of an audit entry in one line; counts of nothing are left out."""
    flat = {
        name: ", ".join(f"{key} {number}" for key, number in item.items() if number) if isinstance(item, dict) else item
        for name, item in value.items()
    }
    return "; ".join(f"{name}: {item}" for name, item in flat.items() if item not in ("", None))


@register.filter
def drawing(chart: Chart) -> SafeString:
    """The picture of a chart. charts.py builds it as a tree, which escapes every text in it."""
    return mark_safe(chart.svg)  # noqa: S308


@register.filter
def initials(user: object) -> str:
    """One or two letters for the account button."""
    full = getattr(user, "get_full_name", str)() or str(user)
    return "".join(word[0] for word in full.split()[:2]).upper()
