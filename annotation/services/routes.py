"""PLAN, the order: one row for each sentence of the newest split, hardest first, as the routing table shows it.

Routes are derived from rankings, units and pins. Whatever changes those forgets them; they are made anew when a page
needs them, or by the worker that has ranked.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from hashlib import sha256

from django.db import transaction
from django.db.models import Count, Max, Sum

from annotation.batching import batched
from annotation.cleaning import clean
from annotation.decomposing.units import FLAGS
from annotation.mixing import RatedSentence, order_sentences
from annotation.models import (
    Destination,
    Example,
    Pin,
    PlanDraft,
    Project,
    Ranking,
    Route,
    Sentence,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    WrittenUnit,
)
from annotation.planning.routing import STEPS, cut_rank, cuts
from annotation.services.placing import (
    current_units,
    finished_sentences,
    newest_easiness,
    owners_of,
    place_units,
    sentences_of,
)

ROWS_PER_QUERY = 2000
NO_STUS, NOT_RANKED, SEEN = "no STUs", "not ranked", "seen"
DEFAULT_SHARE = 500


def find_draft(project: Project, *, now: dt.datetime) -> PlanDraft:
    """The draft of a project, with routes that fit what is there. Made if there is none."""
    draft = PlanDraft.objects.filter(project=project).first()
    return draft if draft and draft.basis else refresh_routes(project, now=now)


def forget_routes(project: Project | int) -> None:
    """Say that the routes do not fit any more. Call it in the transaction of the change."""
    PlanDraft.objects.filter(project=project).update(basis="")


def current_basis(project: Project) -> str:
    """Names what routes are made from, without reading all of it."""
    live = {"example__project": project, "example__trashed_at__isnull": True}
    done = Task.objects.filter(project=project, kind=TaskKind.WRITE, state=TaskState.DONE)
    found = (
        Example.objects.live().filter(project=project).aggregate(Count("pk"), Max("pk")),
        Unit.objects.current().filter(**live).aggregate(Count("pk"), Max("pk")),
        Sentence.objects.filter(reference__example__project=project).aggregate(Max("pk")),
        Ranking.objects.filter(sentence__reference__example__project=project).aggregate(Max("pk")),
        done.aggregate(Count("pk")),
    )
    return sha256(repr([sorted(own.items()) for own in found]).encode()).hexdigest()


def refresh_routes(project: Project, *, now: dt.datetime) -> PlanDraft:
    """Make the routes anew if what they come from has changed. Where all fits, nothing is locked or written."""
    draft = PlanDraft.objects.filter(project=project).first()
    if draft is not None and draft.basis == current_basis(project):
        return draft
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)  # two pages at once wait for each other
        draft, _ = PlanDraft.objects.get_or_create(
            project=project, defaults={"changed_at": now, "share": DEFAULT_SHARE}
        )
        basis = current_basis(project)
        if draft.basis != basis:
            _carry_pins(project, now)
            Route.objects.filter(project=project).delete()
            for batch in batched(_routes(project), ROWS_PER_QUERY):
                Route.objects.bulk_create(batch)
            draft.basis, draft.observed = basis, _observed(project)
            draft.with_scus = Route.objects.filter(project=project, has_scus=True, done_slots=0).count()
            draft.save(update_fields=["basis", "observed", "with_scus"])
            update_cut(draft)
    return draft


def _observed(project: Project) -> dict[str, float]:
    """How many SCUs people wrote for how many sentences and words, and how long they took here."""
    written = Route.objects.filter(project=project, has_scus=True).aggregate(
        n=Count("pk"), words=Sum("words"), units=Sum("scus")
    )
    timed = WrittenUnit.objects.filter(unit__example__project=project, seconds__gt=0).aggregate(
        n=Count("pk"), seconds=Sum("seconds")
    )
    return {
        "sentences": written["n"], "words": written["words"] or 0, "units": written["units"] or 0,
        "timed_units": timed["n"], "writing_seconds": str(round(timed["seconds"] or 0, 1)),
    }  # fmt: skip


def update_cut(draft: PlanDraft) -> None:
    """Count the pins, and find the rank of the cut."""
    own = Route.objects.filter(project=draft.project_id)
    pinned = list(own.exclude(pin="").values_list("rank", "pin"))
    draft.sentences = own.count()
    draft.pinned_people = sum(pin == Destination.PEOPLE for _, pin in pinned)
    draft.pinned_stus = len(pinned) - draft.pinned_people
    free = draft.sentences - len(pinned)
    if draft.rule == "exact":
        cut = draft.share * free // STEPS
    else:
        order = own.filter(pin="").order_by("-rank").values_list("easiness", flat=True)
        cut = cuts([as_number(value) for value in order], draft.rule)[draft.share]
    draft.cut = cut_rank(draft.sentences, [rank for rank, _ in pinned], cut)
    draft.to_stus = cut + draft.pinned_stus
    draft.save(update_fields=["sentences", "pinned_people", "pinned_stus", "cut", "to_stus"])


def as_number(easiness: float | None) -> float:
    """A sentence without a ranking is harder than any other."""
    return -1.0 if easiness is None else easiness


def _carry_pins(project: Project, now: dt.datetime) -> None:
    """A new split has new sentences. A pin goes on to the one that reads the same in the same reference; of several
    that do, each pin has its own. One that finds no place waits: its sentence may come back."""
    live = Pin.objects.filter(removed_at__isnull=True, sentence__reference__example__project=project)
    pins = list(live.select_related("sentence").order_by("sentence__start", "pk"))
    newest = sentences_of({pin.sentence.reference_id for pin in pins})
    taken = {pin.sentence_id for pin in pins}
    moved, made = [], []
    for pin in pins:
        own = newest.get(pin.sentence.reference_id, [])
        if any(sentence.pk == pin.sentence_id for sentence in own):
            continue
        same = next((one for one in own if one.text == pin.sentence.text and one.pk not in taken), None)
        if same is not None:
            taken.add(same.pk)
            moved.append(pin.pk)
            made.append(
                Pin(
                    sentence=same,
                    route=pin.route,
                    note=pin.note,
                    pinned_by_id=pin.pinned_by_id,
                    pinned_at=pin.pinned_at,
                )
            )
    for batch in batched(moved, ROWS_PER_QUERY):
        Pin.objects.filter(pk__in=batch).update(removed_at=now)
    Pin.objects.bulk_create(made, batch_size=ROWS_PER_QUERY)


def _routes(project: Project) -> Iterator[Route]:
    owners = owners_of(project)
    sentences = sentences_of(owners)
    units = current_units(project, UnitKind.values)
    placed = {own.key: own for each in place_units(project, units, owners, sentences).values() for own in each}
    easiness, seen, pins = newest_easiness(project), _seen(project), _pins(project)
    done = finished_sentences(project, sentences)
    in_order = [sentence for reference in owners for sentence in sentences.get(reference, [])]
    position = {sentence.pk: number for number, sentence in enumerate(in_order, start=1)}
    rated = [RatedSentence(sentence.pk, easiness.get(sentence.pk, -1.0)) for sentence in in_order]
    by_key = {sentence.pk: sentence for sentence in in_order}
    for rank, one in enumerate(reversed(order_sentences(rated, "easiest")), start=1):
        own = placed[one.key]
        warnings = _warnings(own.stus, units, is_ranked=one.key in easiness, is_seen=one.key in seen)
        yield Route(
            project=project,
            sentence=by_key[one.key],
            rank=rank,
            position=position[one.key],
            easiness=easiness.get(one.key),
            words=len(clean(by_key[one.key].text).text.split()),
            stus=len(own.stus),
            warnings=warnings,
            is_warned=bool(warnings),
            scus=len(own.scus),
            has_scus=own.is_written,
            done_slots=done[one.key],
            pin=pins.get(one.key, ""),
        )


def _warnings(stus: tuple[int, ...], units: Mapping[int, Unit], *, is_ranked: bool, is_seen: bool) -> list[str]:
    """What a lead should know of a sentence before STUs stand for it."""
    found = [] if is_ranked else [NOT_RANKED]
    if not stus:
        found.append(NO_STUS)
    found += sorted({units[key].rule for key in stus} & FLAGS)
    return [*found, SEEN] if is_seen else found


def _seen(project: Project) -> set[int]:
    rows = Ranking.objects.filter(sentence__reference__example__project=project).order_by("sentence", "revision")
    newest = dict(rows.values_list("sentence_id", "was_seen"))
    return {sentence for sentence, was_seen in newest.items() if was_seen}


def _pins(project: Project) -> dict[int, str]:
    live = Pin.objects.filter(removed_at__isnull=True, sentence__reference__example__project=project)
    return dict(live.values_list("sentence_id", "route"))
