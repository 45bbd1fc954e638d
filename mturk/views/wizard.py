"""Publishing a batch, step by step: a preset, the settings, a dry run, and the confirmation."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import LEADS, project_view
from annotation.models import Batch, Project, System
from annotation.parameters import only_known
from annotation.services.jobs import TooManyJobs
from annotation.tasks import send_run
from annotation.views.desk import user_of
from mturk.environments import NoEnvironment, environments
from mturk.forms import fields_given, fields_of, read_wish
from mturk.models import BatchState, CrowdBatch, CrowdQualification
from mturk.presets import PRESETS
from mturk.pricing import OverCap
from mturk.services.crowd_job import request_publish
from mturk.services.planning import CannotPublish, Preview, Wish, confirm, create_draft, dry_run, floor_cents, wish_of
from mturk.views.asking import try_market
from mturk.views.words import PRESET_WORDS, preset_rows


@project_view("GET", "HEAD", "POST", roles=LEADS)
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Choose a preset, change its settings, and see what it would cost. Nothing is published here."""
    only_known(request.GET, "preset")
    preset = PRESETS.get(request.GET.get("preset", ""))
    fields = fields_of(preset, project, floor_cents()) if preset else {}
    preview, problem = None, ""
    if request.method == "POST":
        fields = fields_given(request.POST)
        preset = PRESETS.get(fields.get("preset", ""), PRESETS["realsumm"])
        try:
            wish = read_wish(request.POST)
            preview = preview_of(project, wish)
            if request.POST.get("do") == "draft":
                batch = create_draft(project, wish, now=timezone.now(), actor=user_of(request))
                return redirect("mturk:batch", project.slug, batch.number)
        except (CannotPublish, NoEnvironment) as error:
            problem = str(error)
    context = {
        "project": project,
        "page": "crowd",
        "presets": preset_rows(PRESETS.values()),
        "preset": preset,
        "preset_words": PRESET_WORDS[preset.name] if preset else "",
        "fields": fields,
        "preview": preview,
        "problem": problem,
        "environments": environments(),
        "batches": Batch.objects.filter(project=project, closed_at__isnull=True, is_crowd=False).order_by("-number"),
        "systems": System.objects.live().filter(project=project).order_by("name"),
        "qualifications": CrowdQualification.objects.values_list("name", flat=True).distinct().order_by("name"),
        "floor": floor_cents(),
    }
    return render(request, "mturk/wizard.html", context, status=422 if problem else 200)


def preview_of(project: Project, wish: Wish) -> Preview:
    """A dry run. A market that cannot be reached leaves a warning, not an error."""
    market, why = try_market(wish.environment)
    found = dry_run(project, wish, market)
    if why:
        found.warnings.append(why)
    return found


@project_view("POST", roles=LEADS)
def publish(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Confirm a draft, set its money aside, and hand it to a worker."""
    batch = get_object_or_404(CrowdBatch, project=project, number=number)
    try:
        if batch.state == BatchState.DRAFT:
            found = preview_of(project, wish_of(batch))
            if not found.can_go:
                raise CannotPublish(found.problems[0])
            if not found.is_checked:  # or it might ask for a qualification that nobody has
                raise CannotPublish(_("The market does not answer, so nothing is published. Try again in a while."))
            typed = request.POST.get("typed", "")
            batch = confirm(batch, typed=typed, now=timezone.now(), actor=user_of(request))
        run = request_publish(batch, now=timezone.now(), actor=user_of(request))
    except (CannotPublish, NoEnvironment, OverCap, TooManyJobs) as error:
        messages.error(request, str(error))
        return redirect("mturk:batch", project.slug, number)
    send_run(run)
    messages.success(request, _("Confirmed. The HITs go out now; this page follows."))
    return redirect("mturk:batch", project.slug, number)
