"""Pages of the plan: the route of each sentence, pins, frozen plans, and the tasks that came of them."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.access import EVERYBODY, LEADS, READERS, project_view
from annotation.models import Arm, Destination, Plan, Project, Role, TaskKind, TaskState, User
from annotation.parameters import only_known, whole_number
from annotation.planning.prices import THOUSAND, half_up
from annotation.planning.routing import ratio_words
from annotation.planning.words import dollars
from annotation.services.drafts import BadDraft, pin_sentences
from annotation.services.freezing import newest_plan
from annotation.services.plans import PAGE, list_planned, plan_lines, unwritten
from annotation.services.routes import find_draft
from annotation.services.routing_table import SHOWN, SORTS, explain_route, is_place, list_routes, preview_pins
from annotation.services.task_lists import list_tasks, people_of

MAX_SEARCH = 200
TABS = {
    "all": gettext_lazy("All"),
    "people": gettext_lazy("People"),
    "stus": gettext_lazy("STUs"),
    "pinned": gettext_lazy("Pinned"),
    "near": gettext_lazy("Near the cut"),
    "warned": gettext_lazy("With a warning"),
}
ARMS = {
    Arm.AFTER.value: gettext_lazy("after the writer’s first own unit"),
    Arm.BEFORE.value: gettext_lazy("from the beginning"),
    Arm.NONE.value: gettext_lazy("never"),
}
ORDERS = {
    "hard": gettext_lazy("hardest first"),
    "easy": gettext_lazy("easiest first"),
    "corpus": gettext_lazy("as in the corpus"),
    "long": gettext_lazy("longest first"),
    "stus": gettext_lazy("most STUs first"),
}


@project_view("GET", "HEAD", roles=LEADS)
def sentences(request: HttpRequest, project: Project) -> HttpResponse:
    """The routing table."""
    only_known(request.GET, "show", "q", "sort", "after", "pin")
    asked = _asked(request)
    draft = find_draft(project, now=timezone.now())
    after = request.GET.get("after", "")
    if after and not is_place(after, asked["sort"]):
        raise BadRequest(_("The place in the list is not one of this order. Open the list again."))
    page = list_routes(draft, shown=asked["show"], search=asked["q"], sort=asked["sort"], after=after)
    pin = request.GET.get("pin", "")
    preview = None
    if pin:
        if pin not in (*Destination.values, "none"):
            raise BadRequest(_("A sentence goes to people or to STUs."))
        destination = "" if pin == "none" else pin
        preview = preview_pins(draft, destination, shown=asked["show"], search=asked["q"], now=timezone.now())
    context = {
        "project": project,
        "page": "plan",
        "draft": draft,
        "ratio": ratio_words(draft.share),
        "effective": ratio_words(_effective(draft.to_stus, draft.sentences)),
        "to_people": draft.sentences - draft.to_stus,
        "pinned": draft.pinned_people + draft.pinned_stus,
        "rows": [(row, explain_route(row), dollars(row.cost)) for row in page.rows],
        "later": urlencode({**asked, "after": page.after}) if page.after else "",
        "asked": asked,
        "query": urlencode(asked),
        "tabs": [(name, words, urlencode({**asked, "show": name})) for name, words in TABS.items()],
        "orders": ORDERS.items(),
        "sorts": {name: urlencode({**asked, "sort": name}) for name in SORTS},
        "is_beyond": bool(after),
        "pin": pin,
        "preview": preview,
        "preview_totals": [dollars(told.total) for told in (preview.before, preview.after) if told] if preview else [],
    }
    return render(request, "annotation/plan_sentences.html", context)


def _effective(to_stus: int, total: int) -> int:
    return (2 * 1000 * to_stus + total) // (2 * total) if total else 0


def _asked(request: HttpRequest) -> dict[str, str]:
    given = request.POST if request.method == "POST" else request.GET
    shown, sort = given.get("show", "all"), given.get("sort", "hard")
    if shown not in SHOWN or sort not in SORTS:
        raise BadRequest(_("That list is not known. Choose one of the page."))
    return {"show": shown, "q": given.get("q", "").replace("\x00", "").strip()[:MAX_SEARCH], "sort": sort}


@project_view("POST", roles=LEADS)
def pin(request: HttpRequest, project: Project) -> HttpResponse:
    """Pin one sentence, or all of a list that was previewed."""
    assert isinstance(request.user, User)
    asked = _asked(request)
    now = timezone.now()
    wanted = request.POST.get("pin", "")
    if wanted not in (*Destination.values, "none"):
        raise BadRequest(_("A sentence goes to people or to STUs."))
    destination = "" if wanted == "none" else wanted
    back = f"{reverse('annotation:plan-sentences', args=[project.slug])}?{urlencode(asked)}"
    one = whole_number(request.POST, "sentence")
    if one is not None:
        keys, back = [one], f"{back}#s{one}"
    else:
        found = preview_pins(find_draft(project, now=now), destination, shown=asked["show"], search=asked["q"], now=now)
        if found.is_too_many or found.digest != request.POST.get("seen"):
            messages.error(request, _("Nothing was changed: the list is another one now. Look at the preview again."))
            return redirect(f"{back}&pin={wanted}")
        keys = found.sentences
    try:
        note = request.POST.get("note", "").replace("\x00", "").strip()
        changed = pin_sentences(project, keys, destination, note=note, now=now, actor=request.user)
    except BadDraft as error:
        messages.error(request, str(error))
        return redirect(back)
    if one is None:
        messages.success(request, _("%(n)s sentences changed.") % {"n": f"{changed:,}"})
    return redirect(back)


@project_view("GET", "HEAD", roles=READERS)
def frozen(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """A frozen plan, as it was."""
    only_known(request.GET, "after", "show")
    plan = get_object_or_404(Plan.objects.select_related("frozen_by"), project=project, number=number)
    newest = newest_plan(project)
    after, is_pinned = whole_number(request.GET, "after") or 0, request.GET.get("show") == "pinned"
    rows = list_planned(plan, after=after, is_pinned=is_pinned)
    context = {
        "project": project,
        "page": "plan",
        "plan": plan,
        "ratio": ratio_words(plan.share),
        "effective": ratio_words(plan.effective),
        "money": {name: dollars(plan.forecast[name]) for name in ("writing", "judging", "fees", "total")},
        "unwritten": unwritten(plan),
        "control": f"{plan.control / 10:g}",
        "second_look": f"{plan.second_look / 10:g}",
        "arm_words": ARMS[plan.arm],
        "is_newest": newest is not None and newest.number == plan.number,
        "newest": newest,
        "others": Plan.objects.filter(project=project).order_by("-number"),
        "pinned": plan.sentences.filter(is_pinned=True).count(),
        "rows": [(row, dollars(half_up(row.mills, THOUSAND))) for row in rows[:PAGE]],
        "later": rows[PAGE - 1].rank if len(rows) > PAGE else None,
        "is_beyond": bool(after),
        "only_pinned": is_pinned,
    }
    return render(request, "annotation/plan_frozen.html", context)


@project_view("GET", "HEAD", roles=READERS)
def plan_units(request: HttpRequest, project: Project, number: int) -> StreamingHttpResponse:
    """The units of a plan as a file of Lite2-3Pyramid: a line for each reference, tabs between units."""
    plan = get_object_or_404(Plan, project=project, number=number)
    lines = ("\t".join(units) + "\n" for units in plan_lines(plan))
    answer = StreamingHttpResponse(lines, content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="STUs_SCUs_plan{plan.number}.txt"'
    return answer


KINDS = {
    TaskKind.WRITE.value: gettext_lazy("write units"),
    TaskKind.REVIEW.value: gettext_lazy("look again"),
    TaskKind.JUDGE.value: gettext_lazy("judge presence"),
}
STATES = {
    "open": ([TaskState.OPEN], gettext_lazy("to do")),
    "live": ([TaskState.OPEN, TaskState.LEASED], gettext_lazy("to do or in progress")),
    "progress": ([TaskState.LEASED], gettext_lazy("in progress")),
    "done": ([TaskState.DONE], gettext_lazy("done")),
}


@project_view("GET", "HEAD", roles=EVERYBODY)
def tasks(request: HttpRequest, project: Project) -> HttpResponse:
    """The tasks of one kind and state: what the numbers of the project's page count."""
    only_known(request.GET, "kind", "state", "after")
    kind, state = request.GET.get("kind", TaskKind.WRITE.value), request.GET.get("state", "open")
    if kind not in TaskKind.values or state not in STATES:
        raise BadRequest(_("That list is not known. Choose one of the page."))
    is_lead = project.viewer_role == Role.LEAD
    found = list_tasks(project, kind, STATES[state][0], after=whole_number(request.GET, "after"))
    context = {
        "project": project,
        "page": "tasks",
        "tasks": found,
        "kind": kind,
        "state": state,
        "state_words": STATES[state][1],
        "kinds": KINDS.items(),
        "kind_words": KINDS[kind],
        "states": [(name, words) for name, (_states, words) in STATES.items()],
        "can_reserve": is_lead and state == "open",
        "can_order": is_lead and kind == TaskKind.WRITE and state == "done",
        "people": people_of(project) if is_lead else [],
    }
    return render(request, "annotation/tasks.html", context)
