"""Guidelines for writing units, in our own words, each with a version. A changed text is a new version, never an edit.

Facts about the protocols: Bhandari et al. 2020 (REALSumm), Shapira et al. 2019 (LitePyramid), Zhang and Bansal 2021
(PyrXSum).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Guideline:
    """`key` names the text with its version and is stored with every unit that was written by it."""

    key: str
    title: str | Promise
    short: str | Promise
    points: tuple[str | Promise, ...]


GUIDELINES = {
    guideline.key: guideline
    for guideline in (
        Guideline(
            "fine-1",
            _("Fine-grained units (as in REALSumm)"),
            _("every fact on its own, down to the detail"),
            (
                _("Write one short sentence for each fact: who did what, then each when, where and how many."),
                _("A unit must be understood alone. Put the name where the text says “he”, “it” or “the company”."),
                _("Stay with the words of the sentence where you can. Change the grammar as you need."),
                _("Do not add what you know from elsewhere, and do not judge what matters: everything counts."),
                _("A detail may repeat its fact (“The ferry sank on Tuesday.”). Mark it as an extension of the fact."),
            ),
        ),
        Guideline(
            "single-1",
            _("Single facts (as in LitePyramid)"),
            _("the main facts, brief and complete"),
            (
                _("Write brief statements, one fact each. The easiest way: copy a piece of the text, then trim it."),
                _("Each statement stands alone, without the others and without the text."),
                _("Draw from all parts of the sentence. Their order does not matter."),
                _("Facts only: no opinion of yours, nothing that everybody knows anyway."),
            ),
        ),
        Guideline(
            "sentence-1",
            _("One dense sentence (as in PyrXSum)"),
            _("unfold a dense sentence into all it says"),
            (
                _("A one-sentence summary packs several facts. Take it apart until each unit says one thing."),
                _("Begin with the main fact, then add what qualifies it: time, place, reason, source, numbers."),
                _("Repeat the subject by its name in every unit."),
                _("“X said that Y” holds two facts where both matter: that X said it, and Y."),
                _("Somebody else reads your units afterwards. Where you hesitate, leave a flag."),
            ),
        ),
    )
}
DEFAULT_GUIDELINE = "fine-1"
