"""Pages about jobs: asking for an import or an export, and following it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import EVERYBODY, LEADS, READERS, project_view
from annotation.forms import ExportForm, ImportForm
from annotation.models import Example, Project, Provenance, Queue, Role, Run, RunState, Stage, Unit, UnitKind, User
from annotation.parameters import only_known, whole_number
from annotation.services import jobs
from annotation.services.decompose_job import request_decompose, run_after
from annotation.services.decomposing import references_without_units
from annotation.services.export_job import download_of, request_export
from annotation.services.files import keep_upload, upload_path
from annotation.services.history import hide_verdicts, list_runs
from annotation.services.import_job import CannotImport, imports_after, request_import, request_import_after
from annotation.services.ranking import count_seen
from annotation.tasks import send_run
from annotation.uploads import is_too_big

SOON = 3  # seconds until a speed says something
ENDED = (RunState.DONE, RunState.FAILED, RunState.CANCELLED)


# --- asking --------------------------------------------------------------------------------------------------------


@project_view("GET", "HEAD", "POST", roles=LEADS)
def import_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Upload a file; a worker checks it and writes nothing yet."""
    form, problem = ImportForm(), ""
    if request.method == "POST":
        form = ImportForm(request.POST, request.FILES)
        if is_too_big(request):  # and so the rest of the form was not read
            form, problem = ImportForm(), too_big_words()
        elif form.is_valid():
            try:
                return _to_run(project, _start_dry_run(request, project, form))
            except jobs.TooManyJobs as error:
                problem = str(error)
    context = {
        "project": project,
        "page": "import",
        "form": form,
        "problem": problem,
        "max_mb": settings.IMPORT_MAX_BYTES // 1024**2,
        "nobody_works": not jobs.has_worker(Queue.IO),
    }
    return render(request, "annotation/import.html", context, status=422 if form.errors or problem else 200)


def _start_dry_run(request: HttpRequest, project: Project, form: ImportForm) -> Run:
    assert isinstance(request.user, User)
    jobs.refuse_too_many(project)  # before the file is kept
    upload = form.cleaned_data["file"]
    kept = keep_upload(upload.name or "upload", upload.chunks())
    return request_import(
        project,
        kept,
        corpus_format=form.cleaned_data["format"],
        dry_run=True,
        now=timezone.now(),
        actor=request.user,
        prefix=form.cleaned_data["system_prefix"],
        blank="present" if form.cleaned_data["blank"] else "missing",
    )


def too_big_words() -> str:
    return _("The file is larger than %(mb)s MB. Import it in parts, or ask the person who runs this server.") % {
        "mb": settings.IMPORT_MAX_BYTES // 1024**2
    }


@project_view("POST", roles=LEADS)
def start_import(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    """Import what a dry run has found good."""
    check = get_object_or_404(Run, project=project, pk=run_id)
    assert isinstance(request.user, User)
    try:
        run, is_new = request_import_after(check, now=timezone.now(), actor=request.user)
    except (CannotImport, jobs.TooManyJobs) as error:
        messages.error(request, str(error))
        return redirect("annotation:run", project.slug, check.pk)
    if is_new:
        send_run(run)
    return redirect("annotation:run", project.slug, run.pk)


UNDER_WAY = (RunState.QUEUED, RunState.RUNNING)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def decompose_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Split the references and make STUs."""
    problem = ""
    if request.method == "POST":
        assert isinstance(request.user, User)
        try:
            return _to_run(project, request_decompose(project, now=timezone.now(), actor=request.user))
        except jobs.TooManyJobs as error:
            problem = str(error)
    units = Unit.objects.current().filter(example__project=project, kind=UnitKind.STU)
    context = {
        "project": project,
        "page": "decompose",
        "problem": problem,
        "imported": units.filter(provenance=Provenance.IMPORTED).count(),
        "derived": units.filter(provenance=Provenance.DERIVED).count(),
        "without": references_without_units(project).count(),
        "seen": count_seen(project),
        "under_way": Run.objects.filter(project=project, stage=Stage.DECOMPOSE, state__in=UNDER_WAY).first(),
        "nobody_works": not jobs.has_worker(Queue.NLP),
    }
    return render(request, "annotation/decompose.html", context, status=422 if problem else 200)


@project_view("GET", "HEAD", "POST", roles=LEADS)
def export_page(request: HttpRequest, project: Project) -> HttpResponse:
    form = ExportForm(request.POST) if request.method == "POST" else ExportForm(initial={"format": "jsonl"})
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)
        try:
            run = request_export(
                project, corpus_format=form.cleaned_data["format"], now=timezone.now(), actor=request.user
            )
            return _to_run(project, run)
        except jobs.TooManyJobs as error:
            form.add_error(None, str(error))
    exports = list(Run.objects.filter(project=project, stage=Stage.EXPORT).order_by("-pk")[:10])
    context = {
        "project": project,
        "page": "export",
        "form": form,
        "exports": [(run, download_of(run) is not None) for run in exports],
        "nobody_works": not jobs.has_worker(Queue.IO),
        "kept_days": settings.FILES_KEPT_DAYS,
    }
    return render(request, "annotation/export.html", context, status=422 if form.errors else 200)


def _to_run(project: Project, run: Run) -> HttpResponse:
    send_run(run)
    return redirect("annotation:run", project.slug, run.pk)


# --- following -----------------------------------------------------------------------------------------------------


@project_view("GET", "HEAD", roles=EVERYBODY)
def runs(request: HttpRequest, project: Project) -> HttpResponse:
    only_known(request.GET, "before")
    found = list_runs(project, before=whole_number(request.GET, "before"))
    context = {
        "project": project,
        "page": "runs",
        "runs": found,
        "missing": jobs.missing_queues(project),
    }
    return render(request, "annotation/runs.html", context)


@project_view("GET", "HEAD", roles=EVERYBODY)
def run(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    found = get_object_or_404(Run.objects.select_related("started_by", "retry_of"), project=project, pk=run_id)
    hide_verdicts(found, project.viewer_role)
    leads = project.viewer_role == Role.LEAD
    counts = found.counts
    context = {
        **_progress(project, found),
        "count_rows": _count_rows(found),
        "has_upload": bool(found.parameters.get("upload")) and upload_path(found.parameters["upload"]).exists(),
        **_follow_up(project, found),
        "imported_by": imports_after(found).first(),
        "look_at": Example.objects.live()
        .filter(project=project, key__in=counts.get("look_at", []))
        .order_by("position"),
        "nothing_new": not any(counts.get("new", {"x": 1}).values()),
        "can_read_results": project.viewer_role in READERS,
        "can_download": leads and download_of(found) is not None,
        "more_problems": counts.get("problem_count", 0) - len(counts.get("problems", [])),
        "more_notes": counts.get("note_count", 0) - len(counts.get("notes", [])),
        "seconds": round((found.ended_at - found.started_at).total_seconds(), 1)
        if found.ended_at and found.started_at
        else None,
    }
    return render(request, "annotation/run.html", context)


def _follow_up(project: Project, run: Run) -> dict[str, object]:
    """What goes on after an import, on the same page."""
    follow = run_after(run) if run.stage == Stage.IMPORT and run.state == RunState.DONE else None
    return {"follow": follow, "followed": _progress(project, follow) if follow else None}


@project_view("GET", "HEAD", roles=EVERYBODY)
def run_progress(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    """The part of a run's page that asks for itself. When the run has ended, the page is loaded once more and stays."""
    found = get_object_or_404(Run, project=project, pk=run_id)
    if found.state in ENDED:
        return HttpResponseClientRefresh()
    # The page of an import shows the job after it as well: that one must not change the state of the import.
    own_page = reverse("annotation:run", args=[project.slug, found.pk])
    is_own = request.htmx.current_url_abs_path == own_page  # type: ignore[attr-defined]
    return render(request, "annotation/_progress.html", {**_progress(project, found), "is_part": is_own})


def _progress(project: Project, run: Run) -> dict[str, object]:
    # An import on SQLite writes in one go, and its own heart cannot tell how far it is.
    cannot_follow = run.state == RunState.RUNNING and run.stage == Stage.IMPORT and jobs.is_write_locked()
    is_known = run.steps_total and not cannot_follow
    return {
        "cannot_follow": cannot_follow,
        "project": project,
        "page": "runs",
        "run": run,
        "ended": run.state in ENDED,
        "share": round(100 * run.steps_done / run.steps_total) if is_known else None,
        **_speed(run),
        "nobody_works": jobs.is_abandoned(run),
        "missing_seconds": settings.WORKER_MISSING_SECONDS,
    }


def _speed(run: Run) -> dict[str, object]:
    """Steps per second since the run was begun, and how long the rest may take, in words."""
    if not (run.started_at and run.heartbeat_at and run.steps_done and run.steps_total):
        return {}
    seconds = (run.heartbeat_at - run.started_at).total_seconds()
    if seconds < SOON:
        return {}
    speed = run.steps_done / seconds
    minutes = (run.steps_total - run.steps_done) / speed / 60
    left = _("less than a minute left") if minutes < 1 else _("about %(n)s min left") % {"n": round(minutes)}
    return {"speed": speed, "left": left}


def _count_rows(run: Run) -> list[tuple[str, int, int | None]]:
    """What came of a run, as (what, in the files, new); an export has no "new"."""
    if "file" in run.counts:
        counts, new = run.counts["file"], run.counts["new"]
        return [(_names(name, run.stage), number, new[name]) for name, number in counts.items() if number or new[name]]
    return [
        (_names(name, run.stage), number, None)
        for name, number in run.counts.items()
        if isinstance(number, int) and number
    ]


def _names(word: str, stage: str) -> str:
    """A kind of rows, for people. Kinds that are not listed keep their own word."""
    names = {
        "examples": _("Examples"),
        "references": _("References"),
        "sentences": _("Sentences"),
        "systems": _("Systems"),
        "summaries": _("Summaries"),
        "scus": _("SCUs"),
        "stus": _("STUs"),
        "labels": _("Labels"),
        "contributors": _("Contributors"),
        "mixes": _("Mixes"),
        "folds": _("Folds"),
        "new_splits": _("New splits"),
        "changed": _("References that got new units"),
        "units": _("STUs made") if stage == Stage.DECOMPOSE else _("Units"),
        "superseded": _("STUs put aside"),
        "ranked": _("Sentences ranked"),
        "unranked": _("References that could not be ranked; see the log"),
        "flagged": _("References to look at: another language, too long, or no unit"),
        "failed": _("References that failed; see the log"),
        "pairs": _("Pairs of summary and unit"),
        "new_pairs": _("Pairs judged in this run"),
        "truncated": _("Pairs that were too long for the judge and cut off"),
        "compared": _("Pairs that people judged as well"),
        "differing": _("Pairs where people say otherwise"),
        "seen_units": _("Units in the training data of the judge"),
        "left_out": _("Examples without units for this metric"),
        "assignments": _("Sheets of judges"),
        "judgements": _("Judgements"),
        "fillers": _("Answers to fillers"),
        "fillers_present": _("Fillers called present"),
        "missing": _("Units without an answer"),
        "judges": _("Judges"),
    }
    return names.get(word, word)


# --- stopping, trying again, taking away ---------------------------------------------------------------------------


@project_view("POST", roles=LEADS)
def cancel(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    found = get_object_or_404(Run, project=project, pk=run_id)
    assert isinstance(request.user, User)
    if not jobs.cancel_run(found, now=timezone.now(), actor=request.user):
        messages.error(request, _("It had ended before. Nothing was cancelled."))
    return redirect("annotation:run", project.slug, found.pk)


@project_view("POST", roles=LEADS)
def retry(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    found = get_object_or_404(Run, project=project, pk=run_id)
    assert isinstance(request.user, User)
    try:
        again = jobs.retry_run(found, now=timezone.now(), actor=request.user)
    except (jobs.CannotRetry, jobs.TooManyJobs) as error:
        messages.error(request, str(error))
        return redirect("annotation:run", project.slug, found.pk)
    return _to_run(project, again)


@project_view("GET", "HEAD", roles=LEADS)
def download(request: HttpRequest, project: Project, run_id: int) -> HttpResponseBase:
    found = get_object_or_404(Run, project=project, pk=run_id)
    path = download_of(found)
    if path is None:
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=found.counts["download"]["name"])
