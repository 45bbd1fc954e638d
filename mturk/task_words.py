"""What HIT pages say: how to answer, and what a worker agrees to."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from mturk.task_pages import PRESENCE, TaskPage

ANSWER_WORDS = {
    "present": ("J", gettext_lazy("Yes")),
    "not_present": ("K", gettext_lazy("No")),
    "unsure": ("U", gettext_lazy("Unsure")),
}
# In our own words, after the instructions of LitePyramid, REALSumm and PyrXSum.
PRESENCE_RULES = (
    gettext_lazy("“Yes” if the summary says it, in any words. Grammar, spelling and capitals do not matter."),
    gettext_lazy("“No” if it does not say it, says less, or says something else."),
    gettext_lazy("Use only the summary, not what you know or can look up."),
    gettext_lazy("Near numbers and dates are fine, unless the number is the point. So are short forms of a name."),
    gettext_lazy("“Unsure” if you cannot decide. It never costs you pay."),
)
WRITING_RULES = (
    gettext_lazy("Write the most important facts of the text, one fact in each line."),
    gettext_lazy("Each is a short full sentence that is clear by itself: names instead of “he” or “it”."),
    gettext_lazy("Stay close to the words of the text. Add nothing that it does not say."),
    gettext_lazy("No fact twice. If the text has fewer than eight, leave the other lines empty; it costs you no pay."),
    gettext_lazy("Write them yourself: we study how people read, so text from a chatbot is of no use to us."),
)


def say_time(seconds: int) -> str:
    """A time as a worker would say it: 50 seconds, 1½ minutes, 12 minutes."""
    if seconds < 90:
        rounded = max(10, round(seconds / 10) * 10)
        return _("%(n)s seconds") % {"n": rounded} if rounded < 60 else _("1 minute")
    halves = round(seconds / 30)
    whole = f"{halves // 2}½" if halves % 2 and halves < 20 else str(round(seconds / 60))
    return _("%(n)s minutes") % {"n": whole}


def dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def say_pay(page: TaskPage) -> str:
    """What stands beside the reward: the time, what that is in an hour, and when it comes."""
    days = ngettext("Paid within %(n)s day.", "Paid within %(n)s days.", page.days_to_pay) % {"n": page.days_to_pay}
    if page.seconds is None or page.hourly_cents is None:
        return days
    told = _("about %(time)s, which is %(hourly)s an hour.") % {
        "time": say_time(page.seconds),
        "hourly": dollars(page.hourly_cents),
    }
    return f"{told} {days}"


def say_costs(page: TaskPage) -> str:
    """What nobody needs to fear."""
    if page.kind == PRESENCE:
        return _("Returning the HIT or answering “Unsure” costs you nothing.")
    return _("Returning the HIT or leaving lines empty costs you nothing.")


def consent_lines(page: TaskPage) -> tuple[str, ...]:
    """What a worker agrees to by handing in: the asker's own words, or ours."""
    if page.consent:
        return page.consent
    lines = [
        _("%(asker)s asks you to help in a study of how well summaries keep what matters.") % {"asker": page.asker},
        _("You read one text and answer questions about it. There is no risk beyond that of reading news."),
        _("We keep your answers, the time they took and your worker id. What we publish has no worker ids."),
        _("Taking part is up to you. You can return the task at any time, without a reason and without a penalty."),
    ]
    if page.contact:
        lines.append(_("Questions and complaints: %(contact)s.") % {"contact": page.contact})
    return tuple(lines)


def rules(page: TaskPage) -> tuple[str, ...]:
    return tuple(str(rule) for rule in (PRESENCE_RULES if page.kind == PRESENCE else WRITING_RULES))
