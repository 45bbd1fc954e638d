"""Words of the crowd's pages, and the picture of its pace."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.charts import Chart
from mturk.presets import Preset

PART_WORDS = {
    "approved": gettext_lazy("Approved"),
    "review": gettext_lazy("To review"),
    "taken": gettext_lazy("Taken now"),
    "open": gettext_lazy("Open"),
    "expired": gettext_lazy("Expired"),
    "unsent": gettext_lazy("Not sent"),
}
PAUSE_WORDS = {
    "funds": gettext_lazy("The account at the market has not enough money. Put some in, then resume."),
    "person": gettext_lazy("HITs are taken down. What was handed in is kept."),
    "market": gettext_lazy("The market is not the one it was, or lacks a qualification. Look at the last run."),
}
CHECK_WORDS = {
    "attention": gettext_lazy("says that a filler is present"),
    "unanswered": gettext_lazy("left statements without an answer"),
    "fast": gettext_lazy("under a second for a statement"),
    "all_unsure": gettext_lazy("unsure of everything"),
    "few": gettext_lazy("wrote fewer statements than were asked for"),
    "unreadable": gettext_lazy("cannot be read"),
}
READING_WORDS = {
    "few": gettext_lazy("too few"),
    "reliable": gettext_lazy("reliable"),
    "mixed": gettext_lazy("mixed"),
    "careless": gettext_lazy("likely careless"),
}

PRESET_WORDS = {
    "realsumm": gettext_lazy("REALSumm (2020): up to 16 facts in a summary, four votes"),
    "pyrxsum": gettext_lazy("PyrXSum (2021): up to 11 facts in a one-sentence summary, four votes"),
    "litepyramid": gettext_lazy("LitePyramid (2019): 16 facts in a summary, five votes"),
    "litepyramid-writing": gettext_lazy("LitePyramid (2019): write eight facts of a reference, two writers"),
}
NOTE_WORDS = {
    "even": gettext_lazy("Four votes can tie; a tie counts as not present. Three or five cannot."),
    "newcomers": gettext_lazy(
        "Thousands of approved HITs keep newcomers out and did not give better labels (Kummerfeld 2021). "
        "A short paid qualification is fairer."
    ),
    "six_dollars": gettext_lazy("$0.15 is $6 an hour if a HIT takes 90 seconds."),
    "our_times": gettext_lazy("Durations are ours: the paper does not tell them."),
    "nine_dollars": gettext_lazy("$0.45 is $9 an hour if a HIT takes three minutes."),
    "under_four": gettext_lazy("$0.50 is $3.75 an hour if a HIT takes eight minutes."),
}
GROUP_WORDS = {
    "abstractive": gettext_lazy("abstractive"),
    "others": gettext_lazy("others"),
    "all": gettext_lazy("all"),
}


def preset_rows(presets: Iterable[Preset]) -> list[dict[str, Any]]:
    """Presets for people: words, rewards by group, assignments, and what to know."""
    return [
        {
            "name": preset.name,
            "words": PRESET_WORDS[preset.name],
            "groups": [(group.cents, GROUP_WORDS[group.name]) for group in preset.groups],
            "assignments": preset.assignments,
            "notes": [NOTE_WORDS[name] for name in preset.notes],
        }
        for preset in presets
    ]


def pace_chart(pace: Sequence[tuple[dt.datetime, int]]) -> Chart:
    """Assignments handed in, hour by hour; the hour that runs is drawn in ink."""
    top = max([number for _hour, number in pace] + [4])
    top += -top % 4
    root = Element("svg", {"class": "plot plot-low", "role": "img", "aria-label": _("Assignments handed in per hour")})
    for share in (0, 1, 2):
        y = f"{100 - 50 * share}%"
        SubElement(root, "line", {"class": "grid", "x1": "0", "x2": "100%", "y1": y, "y2": y})
        mark = {"x": "0", "y": y, "dx": "-8", "dy": "4", "text-anchor": "end"}
        SubElement(root, "text", mark).text = str(top * share // 2)
    first = date_format(localtime(pace[0][0]), "D H:i")
    for text, x, anchor in ((first, "0", "start"), (_("now"), "100%", "end")):
        SubElement(root, "text", {"x": x, "y": "100%", "dy": "18", "text-anchor": anchor}).text = text
    SubElement(root, "line", {"class": "axis", "x1": "0", "x2": "100%", "y1": "100%", "y2": "100%"})
    wide = 100 / len(pace)
    for place, (_hour, number) in enumerate(pace):
        high = 100 * number / top
        box = {"x": f"{place * wide + 0.6:.4g}%", "width": f"{wide - 1.2:.4g}%", "y": f"{100 - high:.4g}%"}
        shape = "bar-hand" if place == len(pace) - 1 else "bar"
        SubElement(root, "rect", {**box, "height": f"{high:.4g}%", "class": shape})
    rows: list[tuple[str, ...]] = [(date_format(localtime(hour), "D H:i"), str(number)) for hour, number in pace]
    return Chart(tostring(root, encoding="unicode"), rows)
