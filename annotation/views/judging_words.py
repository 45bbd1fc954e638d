"""What the judging page says; its script says the same."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from annotation.models import Answer
from annotation.views.writing_words import CHECK_WORDS

ANSWER_WORDS = {
    Answer.PRESENT.value: ("J", gettext_lazy("Present")),
    Answer.NOT_PRESENT.value: ("K", gettext_lazy("Not present")),
    Answer.UNSURE.value: ("U", gettext_lazy("Unsure")),
}
# In our own words, after LitePyramid's, REALSumm's and QAPyramid's instructions.
JUDGE_RULES = (
    gettext_lazy("Meaning counts, not wording. Ignore grammar, spelling and capitals."),
    gettext_lazy("Use only the summary, not what you know or can look up."),
    gettext_lazy("A statement that is more general than the summary is present. A more specific one is not."),
    gettext_lazy("Near numbers and dates are fine, unless the number is the point."),
    gettext_lazy("Short or long names are fine if it is clearly the same person or thing."),
    gettext_lazy("Judge each statement alone."),
)
JUDGE_WORDS = {name: CHECK_WORDS[name] for name in ("saved", "saving", "offline", "away")} | {
    "late": gettext_lazy("This summary went on elsewhere. Your answers are kept for your lead."),
    "other": gettext_lazy("Another tab has newer answers. Reload to go on with them; these are kept."),
    "gone": gettext_lazy("The time for this summary is over. Your answers are saved. Take it again on “Judge”."),
    "missing": gettext_lazy("Not handed in. This statement has no answer yet; “Unsure” is one, too."),
    "of": gettext_lazy("of"),
    "ask": gettext_lazy("Does the summary say this?"),
    "review": gettext_lazy("All answered. Look at them once more, then hand in."),
    "now": gettext_lazy("now"),
    "more": gettext_lazy("more"),
    "statement": gettext_lazy("Statement"),
    "present": gettext_lazy("present"),
    "not_present": gettext_lazy("not present"),
    "unsure": gettext_lazy("unsure"),
    "none": gettext_lazy("no answer yet"),
}
