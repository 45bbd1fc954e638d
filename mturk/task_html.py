"""The page of a HIT as HTML: linked to our style and script where we serve it, or with all of it inside."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from mturk import task_words
from mturk.style_cutting import cut_style
from mturk.task_pages import PRESENCE, Frame, TaskPage


def render_task(page: TaskPage, frame: Frame) -> str:
    """The page as we serve it in a market's frame. It needs no script, no cookie and no request of its own."""
    return render_to_string("mturk/task.html", {**_context(page), "frame": frame})


def self_contained(page: TaskPage) -> str:
    """The page as a HIT carries it, for questions.html_question(): it asks the network for nothing.

    It learns from its own address which assignment it is for, and where to send the answers; of those places only the
    known ones are used. Without script it can be read, and says so.
    """
    context = {**_context(page), "frame": Frame(), "submit_to": " ".join(submit_origins()), "script": _script()}
    whole = render_to_string("mturk/task.html", {**context, "style": ""})
    style = cut_style(_file("css/workbench.css"), whole)
    return render_to_string("mturk/task.html", {**context, "style": mark_safe(style)})  # noqa: S308 (our own file)


def submit_origins() -> list[str]:
    """Where answers may go: our own address, on a laptop by both of its names, and what the settings name."""
    own = settings.PUBLIC_URL
    twins = [own.replace("//127.0.0.1", "//localhost"), own.replace("//localhost", "//127.0.0.1")]
    return list(dict.fromkeys([own, *twins, *settings.TASK_HOSTS]))


def _context(page: TaskPage) -> dict[str, object]:
    return {
        "page": page,
        "is_presence": page.kind == PRESENCE,
        "rows": list(zip(page.fields, page.statements, strict=True)) if page.kind == PRESENCE else [],
        "answers": task_words.ANSWER_WORDS.items(),
        "rules": task_words.rules(page),
        "reward": task_words.dollars(page.reward_cents),
        "pay": task_words.say_pay(page),
        "costs": task_words.say_costs(page),
        "consent": task_words.consent_lines(page),
    }


@cache
def _file(name: str) -> str:
    return (settings.BASE_DIR / "static" / name).read_text(encoding="utf-8")


def _script() -> SafeString:
    return mark_safe(_file("js/task.js"))  # noqa: S308 (our own file)
