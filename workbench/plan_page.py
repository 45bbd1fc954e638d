"""The plan page: what a ratio costs (annotation) and what it is worth (annotation's curve, scoring's power)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dates import MONTHS_3
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.access import LEADS, project_view
from annotation.charts import Chart, Point, curve_chart
from annotation.guidelines import GUIDELINES
from annotation.models import PlanDraft, Project, User
from annotation.parameters import only_known
from annotation.plan_form import PlanForm
from annotation.planning.assumptions import plain_number
from annotation.planning.budget import CannotSolve, chance_over, forecast, solve_hours, solve_money
from annotation.planning.curves import differs_from_random, read_point
from annotation.planning.prices import HOUR_MS
from annotation.planning.routing import STEPS, ratio_words
from annotation.planning.words import dollars, tell
from annotation.services.curves import Curve, curve_for
from annotation.services.drafts import BadDraft, CannotPlan, PlanDesk, WritingPolicy, change_draft, open_desk
from annotation.services.freezing import FrozenMeanwhile, draft_token, freeze_plan, newest_plan, preview_changes
from annotation.services.routing_table import RouteRow, describe_routes, explain_route, filter_routes
from annotation.services.task_lists import count_open
from annotation.views.plan import ARMS
from scoring.cards import power_card

GOALS = {"money": gettext_lazy("dollars"), "hours": gettext_lazy("hours of writing")}
MOST_HOURS = 1_000_000
NEAR = 4
MANY = 10  # votes from which on a market takes more
MEASURES = {"summary": gettext_lazy("summary by summary"), "system": gettext_lazy("system by system")}


class BadRatio(ValueError):
    """Something typed that is no ratio, no sum and no number of hours."""


@project_view("GET", "HEAD", "POST", roles=LEADS)
def plan(request: HttpRequest, project: Project) -> HttpResponse:
    """The budget page. A form post changes the draft and shows the same numbers as the slider does."""
    only_known(request.GET)
    now = timezone.now()
    try:
        desk = open_desk(project, now=now)
    except CannotPlan as error:
        return render(request, "annotation/plan_empty.html", {"project": project, "page": "plan", "why": str(error)})
    problems: dict[str, str] = {}
    form = PlanForm(desk.assumed, desk.expected)
    if request.method == "POST":
        form, problems = _change(request, project, desk, now)
        if not problems and not form.errors:
            return _answer(project, now) if request.htmx else redirect("plan", project.slug)  # type: ignore[attr-defined]
    context = _context(project, desk, now.date())
    context |= {"form": form, "problems": problems, "posted": request.POST}
    return render(request, "annotation/plan.html", context, status=422 if problems or form.errors else 200)


def _answer(project: Project, now: dt.datetime) -> HttpResponse:
    """What the page must know after the slider was saved: the draft as it is now, and what freezing it would do."""
    desk = open_desk(project, now=now)
    return JsonResponse({"draft": draft_token(desk.draft), "changes": preview_changes(project, desk).as_dict()})


def _change(
    request: HttpRequest, project: Project, desk: PlanDesk, now: dt.datetime
) -> tuple[PlanForm, dict[str, str]]:
    assert isinstance(request.user, User)
    form = PlanForm(desk.assumed, desk.expected)
    do = request.POST.get("do", "")
    try:
        if do == "ratio":
            change_draft(project, share=_share(request.POST.get("ratio", "")), now=now, actor=request.user)
        elif do == "solve":
            goal, amount = request.POST.get("goal", ""), _amount(request.POST.get("amount", ""))
            share = _solve(desk, goal, amount)
            change_draft(project, share=share, now=now, actor=request.user)
            messages.success(request, _tell_solved(desk, share, goal, amount))
        elif do == "options":
            change_draft(
                project, rule=request.POST.get("rule"), write_again="write_again" in request.POST, now=now,
                actor=request.user,
            )  # fmt: skip
        elif do == "writing":
            change_draft(project, policy=_policy(request), now=now, actor=request.user)
            messages.success(request, _("How sentences are written is changed. It holds from the next plan on."))
        elif do == "assume":
            form = PlanForm(desk.assumed, desk.expected, request.POST)
            if not form.errors:
                change_draft(project, assumptions=form.read, now=now, actor=request.user)
                messages.success(request, _("The prices and paces are changed."))
        else:
            return form, {"ratio": _("Nothing was asked for.")}
    except (BadRatio, BadDraft, CannotSolve) as error:
        return form, {do: str(error)}
    return form, {}


def _policy(request: HttpRequest) -> WritingPolicy:
    return WritingPolicy(
        guideline=request.POST.get("guideline", ""),
        arm=request.POST.get("arm", ""),
        control=_percent(request.POST.get("control", "")),
        second_look=_percent(request.POST.get("second_look", "")),
    )


def _percent(text: str) -> int:
    """Thousandths from "12.5"."""
    try:
        percent = Decimal(text.replace("%", "").strip())
    except InvalidOperation as error:
        raise BadRatio(_("Write a percentage from 0 to 100.")) from error
    if not percent.is_finite() or not 0 <= percent <= 100:  # before any sum: 1e999999 is a Decimal, its product none
        raise BadRatio(_("Write a percentage from 0 to 100."))
    return int(percent * STEPS / 100)


def _tell_solved(desk: PlanDesk, share: int, goal: str, amount: Decimal) -> str:
    """What was asked for and what came of it: the page itself shows the new ratio only."""
    found = forecast(desk.budget, share)
    if goal == "money":
        cents = int(amount * 100)
        asked = {"amount": dollars(cents), "ratio": found.ratio, "total": dollars(found.total)}
        words = _("For %(amount)s: ratio %(ratio)s, which costs %(total)s.") % asked
        chance = f"{round(100 * chance_over(found, desk.spread, cents))} %"
        words += " " + _("The chance that it costs more than %(amount)s is %(chance)s.") % {**asked, "chance": chance}
    else:
        hours = f"{found.writing_ms / HOUR_MS:,.1f}"
        asked = {"amount": f"{amount.normalize():,f}", "ratio": found.ratio, "hours": hours}
        words = _("For %(amount)s hours: ratio %(ratio)s, which takes %(hours)s hours.") % asked
    if not found.to_people:
        words += " " + _("That leaves no sentence to people: STUs cover all of them.")
    return words


def _share(text: str) -> int:
    """Thousandths from "2.38"."""
    try:
        ratio = Decimal(text.strip())
    except InvalidOperation as error:
        raise BadRatio(_("Write a ratio from 2.0 to 3.0, such as 2.38.")) from error
    is_within = ratio.is_finite() and 2 <= ratio <= 3  # before any sum: 1e999999 is a Decimal, its product none
    if not is_within or (share := (ratio - 2) * STEPS) != int(share):
        raise BadRatio(_("Write a ratio from 2.0 to 3.0 with at most three digits behind the point, such as 2.38."))
    return int(share)


def _amount(text: str) -> Decimal:
    try:
        number = Decimal(plain_number(text))
    except InvalidOperation as error:
        raise BadRatio(_("Write a number, such as 300 or 1,200.50.")) from error
    if not number.is_finite() or number < 0 or number > 10**9:
        raise BadRatio(_("Write a number from 0 to 1,000,000,000."))
    return number


def _solve(desk: PlanDesk, goal: str, amount: Decimal) -> int:
    if goal not in GOALS:
        raise BadRatio(_("Choose dollars or hours."))
    if goal == "money":
        return solve_money(desk.budget, int(amount * 100))
    return solve_hours(desk.budget, int(min(amount, Decimal(MOST_HOURS)) * HOUR_MS))


def _context(project: Project, desk: PlanDesk, today: dt.date) -> dict[str, Any]:
    draft = desk.draft
    found = forecast(desk.budget, draft.share)
    curve = curve_for(project, sentences=desk.budget.sentences, references=desk.references)
    before = newest_plan(project)
    changes = preview_changes(project, desk)
    told = tell(found, desk.spread, desk.expected, today, _months())
    floor = int(desk.expected.floor * 100)
    return {
        "project": project,
        "page": "plan",
        "desk": desk,
        "draft": draft,
        "found": found,
        "told": told,
        "ratio_value": f"{2 + draft.share / STEPS:.3f}",
        "curve": curve,
        "charts": [_chart(curve, found.effective, measure) for measure in MEASURES],
        "fee_percent": desk.expected.fee_percent
        + (desk.expected.many_fee_percent if desk.expected.most_votes >= MANY else 0),
        "has_pins": bool(draft.pinned_people or draft.pinned_stus),
        "power": power_card(project, curve, examples=desk.examples),
        "near": _near(draft),
        "before": before,
        "before_ratio": ratio_words(before.share) if before else "",
        "changes": changes,
        "goals": GOALS,
        "guidelines": GUIDELINES.values(),
        "arms": ARMS.items(),
        "control_percent": plain_percent(draft.control),
        "second_look_percent": plain_percent(draft.second_look),
        "draft_token": draft_token(draft),
        "pays": [
            ("pay", _("A task of judging"), told["pay"], _is_below(found.hourly_pay, floor)),
            ("writing", _("Writing a sentence"), told["writing_pay"], _is_below(found.writing_pay, floor)),
        ],
        "wage_underpaid": desk.expected.wage < desk.expected.floor
        and "hour" in (desk.expected.writing_pay, desk.expected.judging_pay),
        "for_browser": _for_browser(desk, curve, today),
    }


def plain_percent(share: int) -> str:
    return f"{share / 10:g}"


def _is_below(pay: int | None, floor: int) -> bool:
    return pay is not None and pay < floor


def _months() -> list[str]:
    """Short names in the language of the page, as its other dates have them."""
    return [str(MONTHS_3[number]).title() for number in range(1, 13)]


def _near(draft: PlanDraft) -> list[tuple[RouteRow, str, str]]:
    """The rows on both sides of the cut, with their reasons and costs in words."""
    rows = filter_routes(draft).filter(rank__gte=draft.cut - NEAR, rank__lt=draft.cut + NEAR)
    found = describe_routes(draft, list(rows.select_related("sentence__reference__example").order_by("rank")))
    return [(row, explain_route(row), dollars(row.cost)) for row in found]


def _chart(curve: Curve, share: int, measure: str) -> dict[str, Any]:
    content = curve.content
    points = [
        Point(level["percent"] / 100, *(level[measure]["easiest"][side] for side in ("value", "low", "high")))
        for level in content["levels"]
    ]
    here = read_point(content, share, measure)
    label = _("Pearson’s correlation with people by ratio, %(how)s") % {"how": MEASURES[measure]}
    chart: Chart = curve_chart(
        points,
        beside=[level[measure]["random"]["value"] for level in content["levels"]],
        here=Point(share / STEPS, here.value, here.low, here.high),
        ends=("2.0", "3.0"),
        label=label,
    )
    return {
        "measure": measure,
        "how": MEASURES[measure],
        "chart": chart,
        "here": here,
        "beats_random": differs_from_random(content, share, measure),
        "levels": [(level["percent"], level[measure]) for level in content["levels"]],
    }


def _for_browser(desk: PlanDesk, curve: Curve, today: dt.date) -> dict[str, Any]:
    """All that the slider needs to show every number without asking again."""
    assumed = desk.expected
    levels = curve.content["levels"]
    return {
        "budget": desk.budget.as_dict(),
        "spread": desk.spread.as_dict(),
        "cap": int(assumed.budget * 100) if assumed.budget is not None else None,
        "floor": int(assumed.floor * 100),
        "today": today.isoformat(),
        "months": _months(),
        "curve": {
            measure: [
                [level["percent"], *(level[measure]["easiest"][side] for side in ("value", "low", "high"))]
                for level in levels
            ]
            for measure in MEASURES
        },
        "random": {
            measure: [
                level[measure]["difference"]["low"] > 0 or level[measure]["difference"]["high"] < 0 for level in levels
            ]
            for measure in MEASURES
        },
    }


@project_view("POST", roles=LEADS)
def freeze(request: HttpRequest, project: Project) -> HttpResponse:
    """Freeze the draft as it stands."""
    assert isinstance(request.user, User)
    after = request.POST.get("after", "")
    number = int(after) if after.isascii() and after.isdecimal() and len(after) < 8 else -1
    try:
        share = _share(request.POST["ratio"]) if "ratio" in request.POST else None  # as the slider stands, saved or not
        seen = request.POST.get("draft")
        frozen = freeze_plan(project, after=number, now=timezone.now(), actor=request.user, share=share, seen=seen)
    except (FrozenMeanwhile, CannotPlan, BadRatio) as error:
        messages.error(request, str(error))
        return redirect("plan", project.slug)
    words = _("Plan %(number)s is frozen. %(opened)s writing tasks were opened; %(open)s are open now.")
    opened, now_open = f"{frozen.changes['opened']:,}", f"{count_open(project):,}"
    messages.success(request, words % {"number": frozen.number, "opened": opened, "open": now_open})
    return redirect("annotation:plan-frozen", project.slug, frozen.number)
