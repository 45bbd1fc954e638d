"""What the wizard's page sends, read into a wish; and a wish, or a preset, as the fields of the page."""

from __future__ import annotations

import re
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.models import Batch, Project, System
from mturk.models import CrowdKind, Template
from mturk.presets import PRESETS, Preset, reward_groups
from mturk.pricing import BadAmount, amount, read_cents
from mturk.requirements import NAMED, Requirement
from mturk.services.planning import CannotPublish, Wish

MINUTE, HOUR = 60, 3_600
PLACE = re.compile(r"[A-Z]{2}|US-[A-Z]{2}")
MOST_PLACES = 30


def read_wish(given: QueryDict) -> Wish:
    """The settings of a batch from its form."""
    kind = given.get("kind", CrowdKind.PRESENCE.value)
    return Wish(
        environment=given.get("environment", ""),
        kind=kind,
        batch=_whole(given, "batch", _("The batch")) if kind == CrowdKind.PRESENCE else None,
        template=given.get("template", Template.EXTERNAL.value),
        preset=given.get("preset", "") if given.get("preset") in PRESETS else "",
        title=" ".join(given.get("title", "").split()),
        description=given.get("description", "").strip(),
        keywords=" ".join(given.get("keywords", "").split()),
        rewards=_rewards(given),
        assignments=_whole(given, "assignments", _("Assignments")),
        duration_s=_whole(given, "duration", _("Time for a HIT")) * MINUTE,
        lifetime_s=_whole(given, "lifetime", _("Time on the market")) * HOUR,
        auto_approval_s=_whole(given, "approval", _("Time to approve")) * HOUR,
        requirements=_requirements(given),
        consent=given.get("consent", "").strip(),
        expected_s=_whole(given, "expected", _("Expected seconds"), empty=0),
        cap_cents=_money(given, "cap", _("The cap")),
    )


def _whole(given: QueryDict, name: str, words: str, *, empty: int | None = None) -> int:
    text = given.get(name, "").strip().replace(",", "")
    if not text and empty is not None:
        return empty
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise CannotPublish(_("%(name)s must be a whole number.") % {"name": words})
    return int(text)


def _money(given: QueryDict, name: str, words: str) -> int:
    try:
        return read_cents(given.get(name, "").replace(",", "") if "." in given.get(name, "") else given.get(name, ""))
    except BadAmount as error:
        raise CannotPublish(_("%(name)s must be a sum of money, such as 0.15.") % {"name": words}) from error


def _rewards(given: QueryDict) -> list[dict[str, Any]]:
    others = {"name": _("all systems"), "systems": [], "cents": _money(given, "reward", _("The reward"))}
    systems = given.getlist("group_system")
    if not systems:
        return [others]
    name = " ".join(given.get("group_name", "").split())[:60] or _("chosen systems")
    cents = _money(given, "group_reward", _("The reward of the group"))
    return [{"name": name, "systems": systems, "cents": cents}, {**others, "name": _("all others")}]


def _requirements(given: QueryDict) -> tuple[Requirement, ...]:
    found = []
    percent = _whole(given, "percent", _("Approval rate"), empty=0)
    number = _whole(given, "number", _("Approved HITs"), empty=0)
    if percent > 100:
        raise CannotPublish(_("An approval rate is at most 100 %."))
    if percent:
        found.append(Requirement("percent_approved", percent))
    if number:
        found.append(Requirement("number_approved", number))
    places = tuple(part for part in given.get("places", "").upper().replace(",", " ").split() if part)
    if any(not PLACE.fullmatch(place) for place in places) or len(places) > MOST_PLACES:
        raise CannotPublish(
            _("Countries have two letters, such as US GB; a state of the US is US-NY. At most %(n)s.")
            % {"n": MOST_PLACES}
        )
    if places:
        found.append(Requirement("locale", places=places))
    name = " ".join(given.get("qualification", "").split())[:200]
    if name:
        found.append(Requirement(NAMED, name=name))
    return tuple(found)


def fields_of(preset: Preset, project: Project, floor_cents: int) -> dict[str, Any]:
    """The fields of the wizard for a published task."""
    batch = (
        Batch.objects.filter(project=project, closed_at__isnull=True, is_crowd=False).order_by("-number").first()
        if preset.kind == CrowdKind.PRESENCE
        else None
    )
    systems = tuple(System.objects.live().filter(project=project).order_by("name").values_list("name", flat=True))
    groups = reward_groups(preset, systems)
    own: dict[str, Any] = next((group for group in groups if group["systems"]), {})
    others: dict[str, Any] = next(group for group in groups if not group["systems"])
    wanted = {one.kind: one for one in preset.requirements}
    return {
        "preset": preset.name,
        "kind": preset.kind,
        "batch": str(batch.number) if batch else "",
        "template": Template.EXTERNAL.value,
        "title": preset.title,
        "description": preset.description,
        "keywords": preset.keywords,
        "reward": amount(int(others["cents"])),
        "group_name": own.get("name", ""),
        "group_reward": amount(int(own["cents"])) if own else "",
        "group_systems": own.get("systems", []),
        "assignments": "2" if batch and batch.is_adaptive else str(preset.assignments),
        "duration": str(preset.duration_s // MINUTE),
        "lifetime": str(preset.lifetime_s // HOUR),
        "approval": str(preset.auto_approval_s // HOUR),
        "percent": str(wanted["percent_approved"].value) if "percent_approved" in wanted else "",
        "number": str(wanted["number_approved"].value) if "number_approved" in wanted else "",
        "places": " ".join(wanted["locale"].places) if "locale" in wanted else "",
        "qualification": "",
        "consent": "",
        "expected": str(preset.expected_s),
        "cap": "",
    }


def fields_given(given: QueryDict) -> dict[str, Any]:
    """The fields as somebody sent them, to show them again."""
    return {**{name: given.get(name, "") for name in given}, "group_systems": given.getlist("group_system")}
