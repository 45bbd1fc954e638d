"""Judging for leads: batches, labels by rule, units that are left open, how judges did, and whom not to count."""

from __future__ import annotations

import contextlib
from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.access import LEADS, project_view
from annotation.aggregating.effects import Effect
from annotation.aggregating.filters import FILTERS, NeedsLinkedJudges
from annotation.models import Batch, Person, Plan, Project, System
from annotation.parameters import only_known
from annotation.services import quality
from annotation.services.batches import BatchOptions, CannotBatch, close_batch, create_batch, list_batches, plan_batch
from annotation.services.labels import effect_of_excluding, make_labels, own_rules, rule_name
from annotation.services.task_lists import people_of
from annotation.services.votes import are_linked
from annotation.views.desk import user_of

SHOWN_NOTES = 5
FILTER_WORDS = {
    "none": gettext_lazy("count every vote"),
    "realsumm-worst-of-task": gettext_lazy("REALSumm: leave out who is most often alone on a sheet"),
    "litepyramid-positional": gettext_lazy("LitePyramid: leave out judges who agree with others in less than half"),
    "litepyramid-difflib": gettext_lazy("LitePyramid, as its code has it (difflib)"),
    "pyrxsum-against-others": gettext_lazy("PyrXSum: leave out who is mostly against the others, from 20 sheets on"),
}


@project_view("GET", "HEAD", "POST", roles=LEADS)
def batches(request: HttpRequest, project: Project) -> HttpResponse:
    """All batches, and the form for a new one: first a preview, then the tasks."""
    only_known(request.GET)
    planned, problem, options = None, "", BatchOptions(plan=_newest_plan(project))
    if request.method == "POST":
        try:
            options = _options(request)
            planned = plan_batch(project, options)
            seen = request.POST.get("seen", planned.fingerprint)
            if request.POST.get("do") == "open" and seen != planned.fingerprint:
                problem = _("This is not what the preview has shown: look at it again, then open the batch.")
            elif request.POST.get("do") == "open":
                batch = create_batch(project, options, now=timezone.now(), actor=user_of(request))
                words = _("Batch %(n)s is open. Judges find it on the page “Judge”.") % {"n": batch.number}
                messages.success(request, words)
                return redirect("annotation:batches", project.slug)
        except CannotBatch as error:
            problem = str(error)
    context = {
        "project": project,
        "page": "judge",
        "batches": list_batches(project),
        "plans": Plan.objects.filter(project=project).order_by("-number"),
        "systems": System.objects.filter(project=project, trashed_at__isnull=True).order_by("name"),
        "options": options,
        "percent": f"{options.share / 10:g}",
        "planned": planned,
        "problem": problem,
        "open_pairs": quality.count_open_pairs(project),
    }
    return render(request, "annotation/batches.html", context, status=422 if problem else 200)


def _newest_plan(project: Project) -> int | None:
    plan = Plan.objects.filter(project=project).order_by("-number").first()
    return plan.number if plan else None


def _options(request: HttpRequest) -> BatchOptions:
    given = request.POST
    return BatchOptions(
        plan=_whole(given.get("plan", ""), _("plan")) if given.get("plan") else None,
        systems=tuple(given.getlist("system")),
        with_stus="with_stus" in given,
        votes=3 if given.get("votes") == "adaptive" else _whole(given.get("votes", "3"), _("votes")),
        is_adaptive=given.get("votes") == "adaptive",
        share=_share(given.get("share", "100")),
        with_fillers="with_fillers" in given,
        seed=_whole(given.get("seed") or "0", _("seed")),
    )


def _whole(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise CannotBatch(_("%(name)s must be a whole number.") % {"name": name})
    return int(text)


def _share(text: str) -> int:
    try:
        percent = Decimal(text.strip().rstrip("%").strip())
    except InvalidOperation as error:
        raise CannotBatch(_("The share must be a number of percent, such as 10.")) from error
    if not (percent.is_finite() and 0 < percent <= 100):
        raise CannotBatch(_("The share must be more than 0 % and at most 100 %."))
    return max(int(percent * 10), 1)


@project_view("POST", roles=LEADS)
def close(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Withdraw what nobody has begun."""
    batch = get_object_or_404(Batch, project=project, number=number)
    withdrawn = close_batch(batch, now=timezone.now(), actor=user_of(request))
    words = ngettext("Closed. %(n)s task was withdrawn.", "Closed. %(n)s tasks were withdrawn.", withdrawn)
    messages.success(request, words % {"n": f"{withdrawn:,}"})
    return redirect("annotation:batches", project.slug)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def open_units(request: HttpRequest, project: Project) -> HttpResponse:
    """Ties, and units of which nobody was sure: one more judge for those that are ticked."""
    only_known(request.GET)
    if request.method == "POST":
        person = next((one for one in people_of(project) if str(one.pk) == request.POST.get("who")), None)
        pairs = [_pair(text) for text in request.POST.getlist("pair")]
        actor, now = user_of(request), timezone.now()
        batch = quality.ask_one_more(project, pairs, now=now, actor=actor, for_user=person)
        if batch:
            words = _("One more judge is asked, in batch %(n)s.") % {"n": batch.number}
            messages.success(request, words)
        else:
            messages.error(request, _("Nothing was asked. Tick units that are still open."))
        return redirect("annotation:open-units", project.slug)
    context = {
        "project": project,
        "page": "judge",
        "pairs": quality.list_open_pairs(project),
        "total": quality.count_open_pairs(project),
        "people": people_of(project),
    }
    return render(request, "annotation/open_units.html", context)


def _pair(text: str) -> tuple[int, int]:
    unit, _sign, summary = text.partition("-")
    if not (unit.isdecimal() and summary.isdecimal() and text.isascii() and len(text) < 40):
        raise BadRequest(_("That is no page of ours."))
    return int(unit), int(summary)


@project_view("POST", roles=LEADS)
def labels(request: HttpRequest, project: Project) -> HttpResponse:
    """Make labels of the votes, by a rule."""
    name = request.POST.get("filter", "none")
    if name not in FILTERS:
        raise BadRequest(_("There is no such rule."))
    try:
        made = make_labels(project, name, now=timezone.now(), actor=user_of(request))
    except NeedsLinkedJudges as error:
        messages.error(request, str(error))
        return redirect("annotation:judges", project.slug)
    words = _("%(n)s labels by the rule “%(rule)s”: %(added)s new, %(turned)s turned, %(removed)s without votes.")
    told = {"n": made.labels, "added": made.added, "turned": made.turned, "removed": made.removed}
    numbers = {name: f"{number:,}" for name, number in told.items()}
    messages.success(request, words % {**numbers, "rule": made.rule})
    for note in made.notes[:SHOWN_NOTES]:
        messages.info(request, note)
    if len(made.notes) > SHOWN_NOTES:
        messages.info(request, _("All %(n)s notes of the rule are in the audit log.") % {"n": f"{len(made.notes):,}"})
    return redirect("annotation:judges", project.slug)


@project_view("GET", "HEAD", roles=LEADS)
def judges(request: HttpRequest, project: Project) -> HttpResponse:
    """How judges did, and how far they agree."""
    only_known(request.GET)
    found = quality.judge_list(project)
    context = {
        "project": project,
        "page": "judge",
        "judges": found,
        "agreement": quality.measure_agreement(project),
        "filters": [(name, FILTER_WORDS[name], rule.is_linked) for name, rule in FILTERS.items()],
        "are_linked": are_linked(project),
        "stored": own_rules(project),
        "open_pairs": quality.count_open_pairs(project),
    }
    return render(request, "annotation/judges.html", context)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def one_judge(request: HttpRequest, project: Project, person_id: int) -> HttpResponse:
    """One judge, and what excluding them would do (or counting them again); then do it."""
    only_known(request.GET)
    person = get_object_or_404(quality.judges_of(project), is_linked=True, pk=person_id)
    if request.method == "POST":
        try:
            _change(request, person)
        except quality.CannotExclude as error:
            messages.error(request, str(error))
            return redirect("annotation:judge-quality", project.slug, person.pk)
        return redirect("annotation:judges", project.slug)
    row = next(one for one in quality.judge_list(project).rows if one.person.pk == person.pk)
    context = {
        "project": project,
        "page": "judge",
        "row": row,
        "effects": _effects(project, person),
        "history": person.exclusions.select_related("excluded_by", "lifted_by"),
    }
    return render(request, "annotation/judge.html", context)


def _effects(project: Project, person: Person) -> list[tuple[str, Effect]]:
    """What it would do to the labels of each rule that has some; to the majority if none has."""
    found = []
    for name in own_rules(project) or ["none"]:
        with contextlib.suppress(NeedsLinkedJudges):
            found.append((rule_name(name), effect_of_excluding(project, [person.pk], filter_name=name)))
    return found


def _change(request: HttpRequest, person: Person) -> None:
    do, actor, now = request.POST.get("do"), user_of(request), timezone.now()
    if do == "exclude":
        quality.exclude(person, request.POST.get("reason", ""), now=now, actor=actor)
        messages.success(request, _("Excluded. The votes are kept and can be counted again."))
    elif do == "lift":
        quality.lift(person, now=now, actor=actor)
        messages.success(request, _("Counted again."))
    else:
        raise BadRequest(_("That is no page of ours."))
