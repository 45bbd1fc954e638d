"""What the pages say on which people write and look again; their scripts say the same."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

REASON_WORDS = {
    "fragment": gettext_lazy("a fragment"),
    "duplicate": gettext_lazy("said already"),
    "wrong": gettext_lazy("not what the sentence says"),
    "other": gettext_lazy("something else"),
}
CHECK_WORDS = {
    "short": gettext_lazy("Fewer than three words: too little for a fact."),
    "duplicate": gettext_lazy("The same as another unit. Take one away."),
    "long": gettext_lazy("More than 15 words: perhaps two facts?"),
    "and": gettext_lazy("Two facts? Split before “and”."),
    "pronoun": gettext_lazy("Who is that? Put the name."),
    "near": gettext_lazy("Nearly the same as another unit."),
    "foreign": gettext_lazy("Most of its words are not in the reference."),
    "verb": gettext_lazy("no verb?"),
    "follows": gettext_lazy("follows from the sentence"),
    "doubt": gettext_lazy("not in this sentence?"),
    "checking": gettext_lazy("The model’s checks are on their way."),
    "unchecked": gettext_lazy("Without the model’s checks: no worker answers. You can go on."),
    "keep": gettext_lazy("Keep it"),
    "kept": gettext_lazy("kept by you"),
    "split": gettext_lazy("Split"),
    "saved": gettext_lazy("Saved"),
    "saving": gettext_lazy("Saving…"),
    "offline": gettext_lazy("Not saved. Kept on this device, trying again."),
    "away": gettext_lazy("Not saved: you are signed out. Kept on this device. Sign in in another tab, then go on."),
    "late": gettext_lazy("This sentence went on elsewhere. What you wrote here is kept for your lead."),
    "other": gettext_lazy("Another tab has a newer text. Reload to go on with it; this one is kept."),
    "gone": gettext_lazy("The time for this sentence is over. What you wrote is saved. Take it again on “Write”."),
    "unit": gettext_lazy("Unit"),
    "remove": gettext_lazy("Remove"),
    "words": gettext_lazy("words"),
    "uncovered": gettext_lazy("Content words in no unit:"),
    "refused": gettext_lazy("Not handed in. Look at the units that are marked."),
    "empty": gettext_lazy("Not handed in. Write at least one unit, or tick that there is no fact."),
    "contradiction": gettext_lazy(
        "Not handed in. There are units, so there is a fact: take the tick away, or the units."
    ),
}
REVIEW_WORDS = {
    "refused": gettext_lazy("Not handed in. Decide on every text, and look at those that are marked."),
    "open": gettext_lazy("open"),
    "added": gettext_lazy("Added unit"),
    "own": gettext_lazy("In your words"),
}
