"""The worker site: find, preview, accept, work, return, hand in, earn."""

from __future__ import annotations

import datetime as dt
import math

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mturk.exchange.form_answers import Given, fields_of, lay_out
from mturk.exchange.models import HANDED_IN, AssignmentState, Hit, HitAssignment, HitType, QualificationType, Worker
from mturk.exchange.services import clock, recruiting, working
from mturk.exchange.services.earnings import earnings_of, messages_for, work_of
from mturk.exchange.services.settling import settle
from mturk.exchange.services.working import Outcome
from mturk.exchange.showing import read_question
from mturk.exchange.views.frames import show_frame
from mturk.exchange.views.identity import WHY, current_worker, open_view, worker_view

READ = ("GET", "HEAD")
UNFIT = {
    Outcome.EMPTY: gettext_lazy("No question is answered. Answer at least one."),
    Outcome.TOO_LARGE: gettext_lazy("The answers are longer than this exchange takes. Shorten them."),
}


@open_view(*READ)
def work(request: HttpRequest) -> HttpResponse:
    """The list of HIT groups; for whoever is no worker yet, the door."""
    worker = current_worker(request)
    if worker is None:
        return render(request, "exchange/door.html", {"page": "work"})
    now = clock.now()
    groups = working.find_groups(worker, now=now)
    types = working.names_of(one["QualificationTypeId"] for group in groups for one in group.missing)
    held = working.held_by(worker)
    context = {"worker": worker, "page": "work", "groups": groups, "types": types, "held": held, "now": now}
    return render(request, "exchange/groups.html", {**context, "code": code_of(worker)})


@worker_view(*READ)
def group(request: HttpRequest, worker: Worker, hit_type_id: str) -> HttpResponse:
    """To the next HIT of a group, for a look."""
    hit = working.next_hit(worker, find_type(hit_type_id), now=clock.now())
    if hit is None:
        messages.info(request, WHY["none_left"])
        return redirect("exchange:work")
    return redirect("exchange:preview", hit.hit_id)


@worker_view("POST")
def accept_next(request: HttpRequest, worker: Worker, hit_type_id: str) -> HttpResponse:
    """Take the next HIT of a group without a look."""
    try:
        assignment = working.accept_next(worker, find_type(hit_type_id), now=clock.now())
    except working.CannotWork as error:
        messages.warning(request, WHY[error.why])
        return redirect("exchange:work")
    return redirect("exchange:assignment", assignment.assignment_id)


@worker_view(*READ)
def preview(request: HttpRequest, worker: Worker, hit_id: str) -> HttpResponse:
    """A HIT before it is accepted: to be read, not answered."""
    hit, now = find_hit(hit_id), clock.now()
    own = worker.assignments.filter(hit=hit, state=AssignmentState.ACCEPTED).first()
    if own is not None:
        return redirect("exchange:assignment", own.assignment_id)
    line = working.group_of(worker, hit.hit_type, now=now)
    if line is None:
        raise Http404
    if not working.open_hits(worker, now=now).filter(pk=hit.pk).exists():
        messages.info(request, WHY["gone"])
        return redirect("exchange:work")
    if not line.may_preview:
        messages.info(request, WHY["not_qualified"])
        return redirect("exchange:work")
    context = {"worker": worker, "hit": hit, "group": line, "page": "work"}
    return show_frame(request, "exchange/preview.html", context, hit=hit, worker=worker)


@worker_view("POST")
def accept(request: HttpRequest, worker: Worker, hit_id: str) -> HttpResponse:
    try:
        assignment = working.accept(worker, find_hit(hit_id), now=clock.now())
    except working.CannotWork as error:
        messages.warning(request, WHY[error.why])
        return redirect("exchange:work")
    return redirect("exchange:assignment", assignment.assignment_id)


@worker_view(*READ, "POST")
def assignment(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """A HIT under work, with the time that is left: in its frame, or as questions whose answers come here."""
    own, now = find_assignment(worker, assignment_id), clock.now()
    if own.state in HANDED_IN:
        return redirect("exchange:done", assignment_id)
    if own.state != AssignmentState.ACCEPTED:
        messages.info(request, told_state(own))
        return redirect("exchange:work")
    given = dict(request.POST.lists()) if request.method == "POST" else None
    if given is not None:
        answered = answer_form(request, own, given, now=now)
        if answered is not None:
            return answered
    left = max(own.deadline - now, dt.timedelta())
    left_s = math.ceil(left.total_seconds())
    context = {"worker": worker, "assignment": own, "hit": own.hit, "left_s": left_s, "page": "work"}
    return show_frame(
        request, "exchange/assignment.html", context, hit=own.hit, worker=worker, assignment=own, given=given
    )


def answer_form(request: HttpRequest, own: HitAssignment, given: Given, *, now: dt.datetime) -> HttpResponse | None:
    """Hand in the answers to the questions of a HIT; None if they have to be mended first."""
    form = read_question(own.hit.question).form
    if form is None:
        return HttpResponseNotAllowed(READ)
    fields = fields_of(lay_out(form, given))
    if any(field.problem for field in fields):
        return None
    answers = [field.answer for field in fields if field.answer]
    outcome = working.submit_form(own, answers, now=now, seconds=request.POST.get("seconds", ""))
    if outcome in UNFIT:
        messages.error(request, UNFIT[outcome])
        return None
    # Too late, the page after it says so.
    return redirect("exchange:done", own.assignment_id)


@worker_view(*READ)
def state(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """For the script of the page around the frame: whether to go on."""
    own = find_assignment(worker, assignment_id)
    is_over = own.state != AssignmentState.ACCEPTED
    target = reverse("exchange:done", args=[assignment_id]) if is_over else ""
    return JsonResponse({"state": own.state, "next": target})


@worker_view("POST")
def return_hit(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    own = find_assignment(worker, assignment_id)
    if working.return_(own, now=clock.now()):
        messages.success(request, _("Returned. It has no effect on your record."))
        return redirect("exchange:work")
    return redirect("exchange:done", assignment_id)


@worker_view(*READ)
def done(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """After handing in: what it pays, and the next HIT of the group."""
    own, now = find_assignment(worker, assignment_id), clock.now()
    if own.state not in HANDED_IN:
        if own.state == AssignmentState.ACCEPTED:
            messages.warning(request, _("This HIT is not handed in yet. Its button is at the end of the page below."))
            return redirect("exchange:assignment", assignment_id)
        messages.info(request, told_state(own))
        return redirect("exchange:work")
    line = working.group_of(worker, own.hit.hit_type, now=now)
    has_next = bool(line and line.number and line.may_accept)
    context = {"worker": worker, "assignment": own, "group": line, "has_next": has_next, "page": "work"}
    return render(request, "exchange/done.html", {**context, "code": code_of(worker)})


@worker_view("POST")
def ask(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    """Ask a requester for a qualification."""
    kind = get_object_or_404(QualificationType, qualification_type_id=type_id, deleted_at__isnull=True)
    if recruiting.ask_for_qualification(worker, kind, now=clock.now()):
        messages.success(request, _("You have “%(name)s” now.") % {"name": kind.name})
    else:
        messages.info(request, _("You have asked for “%(name)s”. The requester decides.") % {"name": kind.name})
    return redirect("exchange:work")


@worker_view(*READ)
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    settle(now=clock.now())
    context = {"worker": worker, "page": "earnings", "earnings": earnings_of(worker), "done": work_of(worker)}
    return render(request, "exchange/earnings.html", {**context, "letters": messages_for(worker)})


@worker_view(*READ)
def finish(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The end for participants of a panel: their completion code."""
    code = code_of(worker)
    if not code:
        messages.info(request, _("There is a code at the end once you have handed in a HIT."))
        return redirect("exchange:work")
    return render(request, "exchange/finish.html", {"worker": worker, "code": code, "page": "work"})


def code_of(worker: Worker) -> str:
    """The completion code of a participant who has handed in something; "" for everybody else."""
    code = worker.link.completion_code if worker.link is not None and worker.participant else ""
    return code if code and working.has_handed_in(worker) else ""


def told_state(own: HitAssignment) -> str:
    if own.state == AssignmentState.RETURNED:
        return _("You have returned this HIT.")
    return _("The time for this HIT is over, so it went back to the others. That has no effect on your record.")


def find_type(hit_type_id: str) -> HitType:
    return get_object_or_404(HitType.objects.select_related("requester"), hit_type_id=hit_type_id)


def find_hit(hit_id: str) -> Hit:
    return get_object_or_404(Hit.objects.select_related("hit_type__requester"), hit_id=hit_id, disposed_at__isnull=True)


def find_assignment(worker: Worker, assignment_id: str) -> HitAssignment:
    """An assignment of one's own, as it is now."""
    rows = worker.assignments.select_related("hit__hit_type__requester")
    own = get_object_or_404(rows, assignment_id=assignment_id)
    now = clock.now()
    if own.state == AssignmentState.ACCEPTED and own.deadline <= now:
        settle(now=now, requester_id=own.hit.requester_id)
        own.refresh_from_db(fields=["state"])
    return own
