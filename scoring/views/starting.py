"""Pages that ask for scores: a run, and a new system."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import LEADS, project_view
from annotation.models import Project, Queue, Run, RunState, Stage, System, User
from annotation.parameters import only_known
from annotation.readers.system_file import MAX_BYTES, TOO_BIG, BadSystemFile, read_system_file
from annotation.services import jobs
from annotation.services.labels import label_rules, main_rule
from annotation.services.systems import CannotAddSystem, add_system, example_keys
from annotation.tasks import send_run
from annotation.uploads import is_too_big
from scoring.forms import ScoreForm, SystemForm
from scoring.options import ScoreOptions, checked_options
from scoring.services.results import describe_run, score_runs
from scoring.services.score_job import request_score
from scoring.services.starting import estimate, judge_choices

FIELDS = ("metric", "judge", "reading", "label_rule", "systems")
UNDER_WAY = (RunState.QUEUED, RunState.RUNNING)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def start(request: HttpRequest, project: Project) -> HttpResponse:
    """Choose what to score and by whom. A GET with the same fields says how long it may take."""
    only_known(request.GET, *FIELDS)
    form = ScoreForm(project, request.POST if request.method == "POST" else _asked(request, project))
    if form.is_valid() and form.options and request.method == "POST":
        try:
            return _to_run(request, project, form.options)
        except jobs.TooManyJobs as error:
            form.add_error(None, str(error))
    chosen = form["systems"].value() or []
    context = {
        "project": project,
        "page": "results",
        "form": form,
        "metrics": form.metrics,
        "systems": [(pk, name, pk in chosen) for pk, name in form.all_systems],
        "first_error": next((str(error) for errors in form.errors.values() for error in errors), ""),
        "estimate": estimate(project, form.options) if form.options else None,
        "under_way": Run.objects.filter(project=project, stage=Stage.SCORE, state__in=UNDER_WAY)
        .order_by("-pk")
        .first(),
        "nobody_works": not jobs.has_worker(Queue.NLP),
    }
    is_wrong = bool(form.errors) and bool(form.all_systems)
    is_part = bool(request.htmx) and request.method != "POST"  # type: ignore[attr-defined]
    template = "scoring/_estimate.html" if is_part else "scoring/start.html"
    return render(request, template, context, status=422 if is_wrong and request.method == "POST" else 200)


def _asked(request: HttpRequest, project: Project) -> QueryDict:
    """The fields of the address; what is not told is as the newest run had it."""
    data = request.GET.copy()
    last = score_runs(project).first()
    defaults = last.parameters if last else {"metric": "lite2", "judge": "embedded", "reading": "p"}
    if defaults["judge"] not in judge_choices():  # such as a folder that somebody named on the command line
        defaults = {**defaults, "judge": "embedded"}
    for name in ("metric", "judge", "reading"):
        data.setdefault(name, defaults[name])
    if defaults.get("label_rule") in label_rules(project):
        data.setdefault("label_rule", defaults["label_rule"])
    if "systems" not in data:
        live = System.objects.live().filter(project=project).values_list("pk", flat=True)
        data.setlist("systems", [str(pk) for pk in live])
    return data


def _to_run(request: HttpRequest, project: Project, options: ScoreOptions) -> HttpResponse:
    assert isinstance(request.user, User)
    run = request_score(project, options, now=timezone.now(), actor=request.user)
    send_run(run)
    return redirect("annotation:run", project.slug, run.pk)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def add_system_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Upload the summaries of a new system; score it as the newest run has scored the others."""
    only_known(request.GET)
    last = score_runs(project).first()
    form, problem = SystemForm(), ""
    if request.method == "POST":
        form = SystemForm(request.POST, request.FILES)
        if is_too_big(request):  # and so the rest of the form was not read
            form, problem = SystemForm(), _too_big()
        elif form.is_valid():
            try:
                return _add(request, project, form, last)
            except (BadSystemFile, CannotAddSystem, jobs.TooManyJobs) as error:
                form.add_error("file" if isinstance(error, BadSystemFile) else None, str(error))
    context = {
        "project": project,
        "page": "results",
        "form": form,
        "problem": problem,
        "examples": len(example_keys(project)),
        "last": describe_run(last) if last else "",
        "max_mb": min(settings.IMPORT_MAX_BYTES, MAX_BYTES) // 1024**2,
        "nobody_works": not jobs.has_worker(Queue.NLP),
    }
    return render(request, "scoring/add_system.html", context, status=422 if request.method == "POST" else 200)


def _too_big() -> str:
    return _("The file is larger than %(mb)s MB.") % {"mb": settings.IMPORT_MAX_BYTES // 1024**2}


def _add(request: HttpRequest, project: Project, form: SystemForm, last: Run | None) -> HttpResponse:
    assert isinstance(request.user, User)
    jobs.refuse_too_many(project)  # before anything is written
    upload = form.cleaned_data["file"]
    if upload.size > MAX_BYTES:
        raise BadSystemFile([TOO_BIG])
    summaries = read_system_file(upload.name, upload.read(), example_keys(project))
    system, is_new = add_system(project, form.cleaned_data["name"], summaries, now=timezone.now(), actor=request.user)
    words = _("%(system)s was added.") if is_new else _("%(system)s was here already, with the same summaries.")
    messages.success(request, words % {"system": system.name})
    if not form.cleaned_data["score"]:
        return redirect("scoring:results", project.slug)
    can_repeat = last is not None and last.parameters["judge"] in judge_choices()
    options = checked_options({**last.parameters, "systems": None}) if last and can_repeat else default_options(project)
    return _to_run(request, project, options)


def default_options(project: Project) -> ScoreOptions:
    return checked_options({"metric": "lite2", "judge": "embedded", "label_rule": main_rule(project)})
