"""Settings as they were published, to begin from: what each study told workers, paid, and asked of them.

Sources: REALSumm's and LitePyramids' amt_settings files and papers; PyrXSum's page and the paper of Lite2-3Pyramid.
Titles are theirs (workers who know the task find it again); descriptions are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from mturk.requirements import Requirement

MINUTE, HOUR, DAY = 60, 3_600, 86_400
PRESENCE, WRITING = "presence", "writing"


@dataclass(frozen=True, slots=True)
class Group:
    """A reward for some systems: those whose name begins so. Without a beginning it is for all others."""

    name: str
    cents: int
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """A published task. `expected_s` is our guess of its median time; `notes` name what to know before using it."""

    name: str
    kind: str
    title: str
    description: str
    keywords: str
    groups: tuple[Group, ...]
    assignments: int
    duration_s: int
    lifetime_s: int
    auto_approval_s: int
    requirements: tuple[Requirement, ...]
    expected_s: int
    notes: tuple[str, ...] = ()


def _reputation(percent: int, number: int, *places: str) -> tuple[Requirement, ...]:
    return (
        Requirement("percent_approved", percent),
        Requirement("number_approved", number),
        Requirement("locale", places=places),
    )


ENGLISH = ("AU", "CA", "GB", "IE", "NZ", "US")
EVEN, NEWCOMERS, SIX_DOLLARS, OUR_TIMES, NINE_DOLLARS, UNDER_FOUR = (
    "even", "newcomers", "six_dollars", "our_times", "nine_dollars", "under_four"
)  # fmt: skip
"""What to know, by name; the pages have the words."""

PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="realsumm",
            kind=PRESENCE,
            title="Are the facts in a text?",
            description="Read a short text and say of each statement whether the text tells it.",
            keywords="text, facts, reading, summary, English",
            groups=(Group("abstractive", 20, "abs_"), Group("others", 15)),
            assignments=4,
            duration_s=90 * MINUTE,
            lifetime_s=DAY,
            auto_approval_s=3 * DAY,
            requirements=_reputation(99, 5_001, *ENGLISH),
            expected_s=90,
            notes=(EVEN, NEWCOMERS, SIX_DOLLARS),
        ),
        Preset(
            name="pyrxsum",
            kind=PRESENCE,
            title="Are the facts in a one-sentence summary?",
            description="Read one sentence and say of each fact whether its meaning is fully covered.",
            keywords="text, facts, reading, summary, English",
            groups=(Group("all", 15),),
            assignments=4,
            duration_s=HOUR,
            lifetime_s=7 * DAY,
            auto_approval_s=3 * DAY,
            requirements=_reputation(98, 10_000, "US"),
            expected_s=40,
            notes=(EVEN, NEWCOMERS, OUR_TIMES),
        ),
        Preset(
            name="litepyramid",
            kind=PRESENCE,
            title="Are the facts in a text?",
            description="Read a text of about 250 words and say of each of 16 statements whether the text tells it.",
            keywords="text, facts, reading, summary, English",
            groups=(Group("all", 45),),
            assignments=5,
            duration_s=90 * MINUTE,
            lifetime_s=DAY,
            auto_approval_s=3 * DAY,
            requirements=_reputation(99, 5_001, *ENGLISH),
            expected_s=180,
            notes=(NEWCOMERS, NINE_DOLLARS),
        ),
        Preset(
            name="litepyramid-writing",
            kind=WRITING,
            title="Extract information from a given text",
            description="Read a text and write eight short statements, each a single fact that the text tells.",
            keywords="text, facts, writing, summary, English",
            groups=(Group("all", 50),),
            assignments=2,
            duration_s=90 * MINUTE,
            lifetime_s=DAY,
            auto_approval_s=2 * DAY,
            requirements=_reputation(99, 5_001, *ENGLISH),
            expected_s=480,
            notes=(NEWCOMERS, UNDER_FOUR),
        ),
    )
}


def reward_groups(preset: Preset, systems: tuple[str, ...]) -> list[dict[str, object]]:
    """The rewards of a batch over these systems: each system in the first group whose beginning it has."""
    left, found = list(systems), []
    for group in preset.groups:
        own = [name for name in left if group.begins and name.startswith(group.begins)]
        left = [name for name in left if name not in own]
        if own or not group.begins:
            found.append({"name": group.name, "systems": own, "cents": group.cents})
    return found


def reward_of(groups: list[dict[str, object]], system: str) -> tuple[str, int]:
    """The group of a system and its reward; the group without systems is for all that no other names."""
    rest = ("", 0)
    for group in groups:
        systems, cents = group["systems"], group["cents"]
        assert isinstance(systems, list)
        assert isinstance(cents, int)
        if system in systems:
            return str(group["name"]), cents
        if not systems:
            rest = (str(group["name"]), cents)
    return rest
