"""Pages that show scores, from the board down to one unit."""

from __future__ import annotations

import csv
import re

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from annotation.access import READERS, project_view
from annotation.csv_cells import neutralise
from annotation.judge_names import short_judge
from annotation.models import Project, Run, System, Unit
from annotation.parameters import only_known, whole_number
from scoring.comparability import Source
from scoring.models import SystemScore, Variant
from scoring.options import checked_options
from scoring.services.results import (
    RUNS_SHOWN,
    describe_mixing,
    describe_run,
    describe_source,
    read_board,
    read_differences,
    read_summary,
    read_unit,
    score_runs,
    system_scores,
    systems_not_in,
)

PLACE = re.compile(r"(\d{1,9})-(\d{1,18})")
MAX_POSITION = 2**31


@project_view("GET", "HEAD", roles=READERS)
def results(request: HttpRequest, project: Project) -> HttpResponse:
    """The leaderboard of the newest run, or of the one that is asked for."""
    only_known(request.GET, "run", "normalised")
    runs = list(score_runs(project)[:RUNS_SHOWN])
    run_id = whole_number(request.GET, "run")
    # A run of all systems says more than a newer one of a few.
    run = next((item for item in runs if item.parameters["systems"] is None), runs[0] if runs else None)
    if run_id is not None:
        run = get_object_or_404(score_runs(project), pk=run_id)
        runs += [] if run in runs else [run]
    variant = Variant.NORMALISED if request.GET.get("normalised") == "1" else Variant.PLAIN
    context = {
        "project": project,
        "page": "results",
        "tab": "systems",
        "run": run,
        "runs": [(item.pk, describe_run(item), item.ended_at) for item in runs],
        "variant": variant.value,
        "board": read_board(run, variant) if run else None,
        "not_in_it": systems_not_in(run) if run else [],
        **(_about(run) if run else {}),
    }
    return render(request, "scoring/results.html", context)


def _about(run: Run) -> dict[str, object]:
    options = checked_options(run.parameters)
    counts = run.counts
    compared = counts.get("compared", 0)
    return {
        "metric": options.metric,
        "source": describe_source(options),
        "agreement": 1 - counts.get("differing", 0) / compared if compared and options.judge_name else None,
        "stus": describe_mixing(options),
        "no_label": options.source == Source.BOTH and not SystemScore.objects.filter(run=run, by_people__gt=0).exists(),
    }


@project_view("GET", "HEAD", roles=READERS)
def table(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    """The leaderboard as a CSV file, both variants, each row with its signature."""
    only_known(request.GET)
    run = get_object_or_404(score_runs(project), pk=run_id)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{project.slug}-run-{run.pk}.csv"'
    writer = csv.writer(answer)
    names = (
        "metric",
        "judge",
        "variant",
        "place",
        "system",
        "score",
        "low",
        "high",
        "letters",
        "n",
        "by_people",
        "length_ratio",
    )
    writer.writerow((*names, "in_training_data", "reason", "signature"))
    rows = SystemScore.objects.filter(run=run, system__trashed_at__isnull=True).select_related("system")
    for row in sorted(rows, key=lambda row: (row.variant != Variant.PLAIN, row.place is None, row.place or 0)):
        numbers = (row.value, row.low, row.high)
        writer.writerow(
            (
                run.parameters["metric"],
                neutralise(short_judge(run.parameters["judge"])),
                row.variant,
                row.place or "",
                neutralise(row.system.name),
                *("" if number is None else number for number in numbers),
                row.letters,
                row.examples,
                row.by_people,
                "" if row.length_ratio is None else row.length_ratio,
                int(bool(run.counts.get("seen_units"))),
                neutralise(row.reason),
                neutralise(row.signature),
            )
        )
    return answer


@project_view("GET", "HEAD", roles=READERS)
def system(request: HttpRequest, project: Project, run_id: int, system_id: int) -> HttpResponse:
    """One system, example by example."""
    only_known(request.GET, "after")
    run = get_object_or_404(score_runs(project), pk=run_id)
    found = get_object_or_404(System.objects.live(), project=project, pk=system_id)
    after = min(whole_number(request.GET, "after") or 0, MAX_POSITION)
    rows, more = system_scores(run, found.pk, after=after)
    context = {
        "project": project,
        "page": "results",
        "run": run,
        "run_words": describe_run(run),
        "system": found,
        "rows": rows,
        "more": more,
        "is_beyond": after > 0,
        "scores": {row.variant: row for row in SystemScore.objects.filter(run=run, system=found)},
    }
    return render(request, "scoring/system.html", context)


@project_view("GET", "HEAD", roles=READERS)
def summary(request: HttpRequest, project: Project, run_id: int, system_id: int, position: int) -> HttpResponse:
    """One summary: which units were found, by whom, and the same units in all systems."""
    only_known(request.GET)
    run = get_object_or_404(score_runs(project), pk=run_id)
    found = read_summary(run, system_id, position) if position < MAX_POSITION else None
    if found is None:
        raise Http404
    context = {"project": project, "page": "results", "run": run, "run_words": describe_run(run), "view": found}
    return render(request, "scoring/summary.html", context)


@project_view("GET", "HEAD", roles=READERS)
def unit(request: HttpRequest, project: Project, run_id: int, unit_id: int) -> HttpResponse:
    """One unit across all systems."""
    only_known(request.GET)
    run = get_object_or_404(score_runs(project), pk=run_id)
    live = Unit.objects.filter(example__project=project, example__trashed_at__isnull=True).select_related("example")
    found = get_object_or_404(live, pk=unit_id)
    rows = read_unit(run, found)
    if not rows:
        raise Http404
    context = {
        "project": project,
        "page": "results",
        "run": run,
        "run_words": describe_run(run),
        "unit": found,
        "rows": rows,
        "found": sum(item.is_found for _, item in rows),
    }
    return render(request, "scoring/unit.html", context)


@project_view("GET", "HEAD", roles=READERS)
def differences(request: HttpRequest, project: Project, run_id: int) -> HttpResponse:
    """Where people and the judge say different things."""
    only_known(request.GET, "after")
    run = get_object_or_404(score_runs(project), pk=run_id)
    place = PLACE.fullmatch(request.GET.get("after", "0-0") or "0-0")
    if place is None:
        raise BadRequest(_("after must be a place that this page has given."))
    after = (int(place.group(1)), int(place.group(2))) if request.GET.get("after") else None
    rows, more = read_differences(run, after=after)
    context = {
        "project": project,
        "page": "results",
        "tab": "differences",
        "run": run,
        "run_words": describe_run(run),
        "rows": rows,
        "more": more,
        "is_beyond": after is not None,
        **_about(run),
    }
    return render(request, "scoring/differences.html", context)
