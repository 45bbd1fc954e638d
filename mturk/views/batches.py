"""Crowd batches for leads: all of them, one of them with its money and its workers, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.access import LEADS, project_view
from annotation.models import Batch, Project
from annotation.parameters import only_known
from annotation.services.jobs import TooManyJobs
from annotation.tasks import send_run
from annotation.views.desk import user_of
from mturk.environments import NoEnvironment, environment
from mturk.models import BatchState, CrowdBatch, CrowdHit
from mturk.pricing import BadAmount, OverCap, dollars, read_cents
from mturk.services import deciding, ending
from mturk.services.collecting import held_back, read_again
from mturk.services.crowd_job import request_collect, request_publish, runs_of
from mturk.services.figures import figures_of, list_crowd_batches
from mturk.services.money import PERSON, pause, set_cap
from mturk.services.planning import CannotPublish, Preview, wish_of
from mturk.services.polling import ON_THE_MARKET
from mturk.services.publishing import retry_failed
from mturk.views.wizard import preview_of
from mturk.views.words import PART_WORDS, PAUSE_WORDS, READING_WORDS, pace_chart

ACTS_ERRORS = (deciding.CannotDecide, ending.CannotEnd, OverCap, BadAmount, CannotPublish, NoEnvironment, TooManyJobs)


@project_view("GET", "HEAD", roles=LEADS)
def batches(request: HttpRequest, project: Project) -> HttpResponse:
    """All crowd batches with their state and their money."""
    only_known(request.GET)
    lines = list_crowd_batches(project)
    context = {
        "project": project,
        "page": "crowd",
        "lines": lines,
        "reserved": sum(line.batch.reserved_cents for line in lines),
        "paid": sum(line.paid for line in lines),
        "can_judge": Batch.objects.filter(project=project, closed_at__isnull=True, is_crowd=False).exists(),
    }
    return render(request, "mturk/batches.html", context)


def batch_of(project: Project, number: int) -> CrowdBatch:
    rows = CrowdBatch.objects.select_related("project", "batch", "created_by", "confirmed_by")
    return get_object_or_404(rows, project=project, number=number)


@project_view("GET", "HEAD", roles=LEADS)
def batch(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One batch: what to do next, its HITs, money, pace, pay and workers."""
    only_known(request.GET)
    found = batch_of(project, number)
    is_draft = found.state == BatchState.DRAFT
    figures = figures_of(found, now=timezone.now())
    context = {
        "project": project,
        "page": "crowd",
        "batch": found,
        "figures": figures,
        "preview": _preview(found) if is_draft else None,
        "runs": runs_of(found),
        "held_back": held_back(found),
        "last_passing": 0 if is_draft else deciding.passing(found).aggregate(last=Max("pk"))["last"] or 0,
        "pause_words": PAUSE_WORDS.get(found.pause_reason, found.pause_reason),
        "parts": [(PART_WORDS[name], name, number, x, wide) for name, number, x, wide in figures.widths if number],
        "workers": [(row, READING_WORDS[row.reading]) for row in figures.workers],
        "top_up": None if is_draft else deciding.preview_top_up(found),
        "pace": pace_chart(figures.pace) if figures.collected else None,
        "errors": list(CrowdHit.objects.filter(crowd_batch=found).exclude(error="").order_by("task")[:5]),
        "warning": _warning(found),
        "lifetime_hours": -(-found.lifetime_s // 3600),
        "poll_minutes": -(-settings.CROWD_POLL_SECONDS // 60) if found.state in ON_THE_MARKET else 0,
        "can_simulate": settings.EXCHANGE_SIMULATION and found.environment == "exchange" and not is_draft,
    }
    return render(request, "mturk/batch.html", context)


def _preview(found: CrowdBatch) -> Preview | None:
    try:
        return preview_of(found.project, wish_of(found))
    except (CannotPublish, NoEnvironment):
        return None


def _warning(found: CrowdBatch) -> str:
    try:
        return environment(found.environment).warning
    except NoEnvironment as error:
        return str(error)


@project_view("POST", roles=LEADS)
def act(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One act of a person on a batch. What concerns the market is stored, and told to it by a worker."""
    found = batch_of(project, number)
    do = ACTS.get(request.POST.get("do", ""))
    if do is None:
        raise BadRequest(_("That is no page of ours."))
    try:
        words = do(request, found)
        if words:
            messages.success(request, words)
    except ACTS_ERRORS as error:
        messages.error(request, str(error))
    return redirect("mturk:batch", project.slug, number)


def ask_market(request: HttpRequest, found: CrowdBatch) -> None:
    """Have a worker tell the market what was decided, and collect what is new."""
    try:
        send_run(request_collect(found, now=timezone.now(), actor=user_of(request)))
    except TooManyJobs:  # it is stored, and the next turn of the workers tells it
        messages.warning(request, _("Many jobs wait. The market is told within some minutes."))


def _collect(request: HttpRequest, found: CrowdBatch) -> str:
    ask_market(request, found)
    return _("The market is being asked. This page follows.")


def _continue(request: HttpRequest, found: CrowdBatch) -> str:
    retry_failed(found, now=timezone.now(), actor=user_of(request))
    send_run(request_publish(found, now=timezone.now(), actor=user_of(request)))
    return _("Publishing goes on.")


def _pause(request: HttpRequest, found: CrowdBatch) -> str:
    if not pause(found.pk, PERSON, now=timezone.now(), actor=user_of(request)):
        raise ending.CannotEnd(_("There is nothing to pause."))
    ask_market(request, found)
    return _("Paused. HITs are taken down; work under way is still taken and paid.")


def _resume(request: HttpRequest, found: CrowdBatch) -> str:
    resumed = ending.resume(found, now=timezone.now(), actor=user_of(request))
    ask_market(request, resumed)
    if resumed.state == BatchState.PUBLISHING:
        send_run(request_publish(resumed, now=timezone.now(), actor=user_of(request)))
    return _("Resumed.")


def _stop(request: HttpRequest, found: CrowdBatch) -> str:
    ending.stop(found, now=timezone.now(), actor=user_of(request))
    ask_market(request, found)
    return _("Stopped. HITs are taken down; what was handed in is still yours to review and pay.")


def _reopen(request: HttpRequest, found: CrowdBatch) -> str:
    wanted = ending.reopen(found, now=timezone.now(), actor=user_of(request))
    if not wanted:
        raise ending.CannotEnd(_("No HIT has run out with work missing."))
    ask_market(request, found)
    words = ngettext("%(n)s assignment is asked for again.", "%(n)s assignments are asked for again.", wanted)
    return words % {"n": f"{wanted:,}"}


def _extend(request: HttpRequest, found: CrowdBatch) -> str:
    longer = ending.extend(found, now=timezone.now(), actor=user_of(request))
    ask_market(request, found)
    words = ngettext("%(n)s HIT stays open longer.", "%(n)s HITs stay open longer.", longer)
    return words % {"n": f"{longer:,}"}


def _approve(request: HttpRequest, found: CrowdBatch) -> str:
    """All that pass every check, as many as the page has shown: what came in since is looked at first."""
    shown = request.POST.get("last", "")
    rows = deciding.passing(found)
    if shown.isascii() and shown.isdecimal():
        rows = rows.filter(pk__lte=int(shown))
    number = deciding.wish_approval(rows, found, now=timezone.now(), actor=user_of(request))
    ask_market(request, found)
    return ngettext("%(n)s assignment is approved.", "%(n)s assignments are approved.", number) % {"n": f"{number:,}"}


def _cap(request: HttpRequest, found: CrowdBatch) -> str:
    changed = set_cap(found, read_cents(request.POST.get("cap", "")), now=timezone.now(), actor=user_of(request))
    return _("The cap is %(cap)s now.") % {"cap": dollars(changed.cap_cents)}


def _top_up(request: HttpRequest, found: CrowdBatch) -> str:
    expected = request.POST.get("expected", "")
    if not (expected.isascii() and expected.isdecimal() and len(expected) < 12):
        raise BadRequest(_("That is no page of ours."))
    number = deciding.plan_top_up(found, expected=int(expected), now=timezone.now(), actor=user_of(request))
    ask_market(request, found)
    return ngettext("%(n)s bonus is sent.", "%(n)s bonuses are sent.", number) % {"n": f"{number:,}"}


def _read_again(request: HttpRequest, found: CrowdBatch) -> str:
    done = read_again(found, now=timezone.now(), actor=user_of(request))
    if not done.stored:
        raise deciding.CannotDecide(_("They still cannot be read. They stay as they came."))
    return ngettext("%(n)s answer is read now.", "%(n)s answers are read now.", done.stored) % {"n": f"{done.stored:,}"}


def _delete(request: HttpRequest, found: CrowdBatch) -> str:
    send_run(request_collect(found, now=timezone.now(), actor=user_of(request), every=True, delete=True))
    return _("HITs whose work is decided are compared once more with what is here, then deleted at the market.")


ACTS: dict[str, Callable[[HttpRequest, CrowdBatch], str]] = {
    "collect": _collect,
    "continue": _continue,
    "pause": _pause,
    "resume": _resume,
    "stop": _stop,
    "reopen": _reopen,
    "extend": _extend,
    "approve": _approve,
    "cap": _cap,
    "top-up": _top_up,
    "read-again": _read_again,
    "delete": _delete,
}
