"""Names of metrics: "lite2", "lite2.3", "lite3", "plan-2", "litepyramid-32", "pyramid-quality", "pyramid-coverage"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

KNOWN = (
    "lite2, lite2.1 to lite2.9 (any share, such as lite2.38), lite3, plan (the newest frozen one) or plan-N, "
    "litepyramid-K, pyramid-quality, pyramid-coverage"
)
LITE = re.compile(r"lite2(?:\.([0-9]{1,6}))?|lite3(?:\.0)?")
LITEPYRAMID = re.compile(r"litepyramid(?:-([1-9][0-9]{0,3}))?")
PLAN = re.compile(r"plan(?:-([1-9][0-9]{0,5}))?")
DEFAULT_UNITS = 32  # per topic, as published (Shapira et al. 2019)


class UnknownMetric(ValueError):
    """A name that is none of ours. The message lists those that are."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is computed. `share` of the sentences are covered by STUs; `sampled` units are drawn by LitePyramid."""

    name: str
    share: Fraction = Fraction(0)
    sampled: int = 0
    pyramid: str = ""  # "quality" or "coverage"
    plan: int | None = None  # the number of a frozen plan, 0 for the newest

    @property
    def uses_scus(self) -> bool:
        return self.share < 1

    @property
    def uses_stus(self) -> bool:
        return self.share > 0 or self.plan is not None

    @property
    def is_mixed(self) -> bool:
        return self.uses_scus and self.uses_stus

    @property
    def is_planned(self) -> bool:
        return self.plan is not None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the sentences decides who covers them. A plan has decided already."""
        return self.is_mixed and not self.is_planned

    @property
    def percent(self) -> float:
        return float(self.share * 100)


def parse_metric(name: str) -> Metric:
    """A metric by its name. The digits behind "lite2." are the share: lite2.3 is exactly 30 %, lite2.38 is 38 %."""
    text = name.strip().lower()
    if found := LITE.fullmatch(text):
        if text.startswith("lite3"):
            return Metric("lite3", share=Fraction(1))
        digits = (found.group(1) or "0").rstrip("0")
        share = Fraction(int(digits or "0"), 10 ** len(digits))
        return Metric(f"lite2.{digits}" if digits else "lite2", share=share)
    if found := LITEPYRAMID.fullmatch(text):
        number = int(found.group(1) or DEFAULT_UNITS)
        return Metric(f"litepyramid-{number}", sampled=number)
    if found := PLAN.fullmatch(text):
        return Metric(text, plan=int(found.group(1) or 0))
    if text in ("pyramid-quality", "pyramid-coverage"):
        return Metric(text, pyramid=text.removeprefix("pyramid-"))
    raise UnknownMetric(f"{name!r} is no metric. Known are {KNOWN}.")
