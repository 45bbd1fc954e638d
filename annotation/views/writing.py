"""Writing and looking again: the queue, one sentence at a time, and all that keeps the work from getting lost."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import WRITERS, project_view
from annotation.cleaning import clean
from annotation.guidelines import GUIDELINES
from annotation.models import Arm, Project, Task, TaskKind
from annotation.parameters import only_known
from annotation.services import queue
from annotation.services.placing import sentences_of
from annotation.services.second_look import rows_of, sets_of
from annotation.services.unit_sets import stored_units
from annotation.services.writing import (
    StaleDraft,
    drafts_of,
    guideline_of,
    newest_draft,
    other_units,
    own_content,
    progress_of,
    save_draft,
    submit,
    units_by_sentence,
    waiting_sentences,
)
from annotation.views.desk import next_task, payload_of, seen_by, token_of, user_of
from annotation.views.writing_words import CHECK_WORDS, REASON_WORDS, REVIEW_WORDS
from annotation.writing.content import BadContent, Content, NotReady, as_json, read_content
from annotation.writing.deciding import content_of, decisions_of

MAX_BYTES = 500_000
MOST_COUNTED = 1000  # beyond it the door says "more than"
WRITE, REVIEW = TaskKind.WRITE.value, TaskKind.REVIEW.value


@project_view("GET", "HEAD", roles=WRITERS)
def write(request: HttpRequest, project: Project) -> HttpResponse:
    """The door to the queue: how far the work is, and the buttons for the next sentence."""
    only_known(request.GET)
    user = user_of(request)
    held = Task.objects.filter(project=project, kind__in=(WRITE, REVIEW), holder=user).first()
    waiting = queue.open_for(project, user, WRITE)[: MOST_COUNTED + 1].count()
    context = {
        "project": project,
        "page": "write",
        "held": held,
        "waiting": waiting,
        "to_review": queue.open_for(project, user, REVIEW)[: MOST_COUNTED + 1].count(),
        "most": MOST_COUNTED,
        "progress": progress_of(project, user, now=timezone.now()),
        "why": "" if held or waiting else queue.explain_empty(project, user, WRITE).why,
        "minutes": int(queue.LEASE.total_seconds() // 60),
    }
    return render(request, "annotation/write_queue.html", context)


@project_view("POST", roles=WRITERS)
def claim(request: HttpRequest, project: Project) -> HttpResponse:
    """The next sentence to write."""
    return next_task(request, project, WRITE)


@project_view("POST", roles=WRITERS)
def claim_review(request: HttpRequest, project: Project) -> HttpResponse:
    """The next sentence to look at again."""
    return next_task(request, project, REVIEW)


@project_view("GET", "HEAD", roles=WRITERS)
def task(request: HttpRequest, project: Project, task_id: int) -> HttpResponse:
    """The page of a task that the person holds."""
    only_known(request.GET)
    found = _task(project, task_id)
    if found.holder_id != user_of(request).pk:
        messages.error(request, _("That task is not yours now. Take the next one; what you wrote before is kept."))
        return redirect("annotation:write", project.slug)
    draft = newest_draft(found)
    content = own_content(found, user_of(request))
    return _page(request, project, found, content, draft.version if draft else 0)


def _page(
    request: HttpRequest,
    project: Project,
    found: Task,
    content: Content,
    version: int,
    *,
    problem: NotReady | None = None,
) -> HttpResponse:
    context = _shared(request, project, found, content, version)
    context["problem"] = str(problem) if problem else ""
    if found.kind == REVIEW:
        context |= _review_parts(found, content)
        template = "annotation/write_review.html"
    else:
        context |= _writing_parts(found, content)
        template = "annotation/write_task.html"
    context["for_browser"] |= context.pop("more_for_browser")
    answer = render(request, template, context, status=422 if problem else 200)
    answer["Cache-Control"] = "no-store"  # "Back" must not show a form that is handed in
    return answer


def _shared(request: HttpRequest, project: Project, found: Task, content: Content, version: int) -> dict[str, Any]:
    """What both pages show: the reference with the sentence, the document, the guideline, how far it is."""
    sentence = found.sentence
    assert sentence is not None, "a task of writing has a sentence"
    reference = sentence.reference
    split = sentences_of([reference.pk]).get(reference.pk, [])
    if sentence not in split:  # the reference was split anew since; the task is about the sentence as it was
        split = list(reference.sentences.filter(revision=sentence.revision).order_by("position"))
    own_units = units_by_sentence(reference)
    waiting = waiting_sentences(reference)
    user, draft = user_of(request), newest_draft(found)
    return {
        "project": project,
        "page": "write",
        "task": found,
        "sentences": [(one, own_units.get(one.pk, []), one.pk == sentence.pk, one.pk in waiting) for one in split],
        "number": next((place for place, one in enumerate(split, start=1) if one.pk == sentence.pk), 1),
        "document": reference.example.document,
        "example": reference.example,
        "no_fact": content.no_fact,
        "guideline": GUIDELINES[guideline_of(found)],
        "progress": progress_of(project, user, found.kind, now=timezone.now()),
        "submission_key": uuid.uuid4(),
        "for_browser": {
            "task": found.pk,
            "token": str(found.lease_token),
            "version": version,
            "page": str(draft.page) if draft and draft.page else "",
            "user": user.pk,
            "content": as_json(content),
            "sentence": {"start": sentence.start, "text": sentence.text},
            "reference": clean(reference.text).text,
            "others": other_units(found),
            "words": {name: str(words) for name, words in CHECK_WORDS.items()},
        },
    }


def _writing_parts(found: Task, content: Content) -> dict[str, Any]:
    drafts = drafts_of(found) if found.arm != Arm.NONE else []
    return {
        "units": content.units or [None],
        "drafts": drafts,
        "reasons": REASON_WORDS.items(),
        "is_reopened": found.done_by_id is not None,
        "more_for_browser": {
            "arm": found.arm,
            "drafts": [{"id": unit.pk, "text": unit.text} for unit in drafts],
        },
    }


def _review_parts(found: Task, content: Content) -> dict[str, Any]:
    assert found.sentence is not None, "a second look has a sentence"
    sets = sets_of(found.sentence)
    rows = rows_of(sets)
    decisions, added = decisions_of(rows, content)
    return {
        "rows": list(zip(rows, decisions, strict=True)),
        "added": added,
        "writers": len(sets),
        "no_fact_told": sum(own.content.no_fact for own in sets),
        "counts_already": stored_units(found.sentence).exists(),
        "comment": content.comment,
        "more_for_browser": {
            "rows": [
                [as_json(Content(units=(each.unit,)))["units"][0] | {"origin": list(each.origin)} if each else None
                 for each in (row.one, row.other)]
                for row in rows
            ],
            "words": {name: str(words) for name, words in (CHECK_WORDS | REVIEW_WORDS).items()},
        },
    }  # fmt: skip


@project_view("POST", roles=WRITERS)
def hand_in(request: HttpRequest, project: Project, task_id: int) -> HttpResponseBase:
    """Hand the sentence in and go on to the next one. Where something is wrong, stay."""
    found = _task(project, task_id)
    given = payload_of(request) if "payload" in request.POST else {}
    try:
        content = read_content(given["content"]) if given else _plain(request, found)
        submit(
            found.pk,
            user_of(request),
            token_of(request.POST.get("token")),
            key=token_of(request.POST.get("key")),
            content=content,
            now=timezone.now(),
            seen=seen_by(given),
        )
    except StaleDraft as error:
        messages.error(request, str(error))
        return redirect("annotation:write-task", project.slug, found.pk)
    except NotReady as problem:
        draft = newest_draft(found)
        return _page(request, project, found, content, draft.version if draft else 0, problem=problem)
    except queue.LeaseLost as error:
        save_draft(
            found.pk,
            user_of(request),
            token_of(request.POST.get("token")),
            base=-1,
            content=content,
            now=timezone.now(),
        )
        messages.error(request, str(error))
        return redirect("annotation:write", project.slug)
    except (BadContent, KeyError) as error:
        raise BadRequest(str(error)) from error
    return next_task(request, project, found.kind)


def _plain(request: HttpRequest, found: Task) -> Content:
    """The plain form, without script; whoever hands it in has seen its warnings."""
    if found.kind == REVIEW:
        assert found.sentence is not None, "a second look has a sentence"
        return content_of(rows_of(sets_of(found.sentence)), _first_values(request), request.POST.getlist("added"))
    texts = [{"text": text, "overrides": request.POST.getlist("override")} for text in request.POST.getlist("unit")]
    return read_content({"units": texts, "no_fact": "no_fact" in request.POST})


def _first_values(request: HttpRequest) -> Mapping[str, str]:
    return {name: request.POST[name] for name in request.POST}


def _task(project: Project, task_id: int) -> Task:
    related = Task.objects.select_related("sentence__reference__example", "plan")
    return get_object_or_404(related, project=project, pk=task_id, kind__in=(WRITE, REVIEW))
