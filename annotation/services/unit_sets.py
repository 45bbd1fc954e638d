"""WRITE: what was handed in for a sentence becomes its units. Nothing is overwritten: an edit is a new revision, and a
unit that nobody wants any more is superseded, with its labels and its history."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, QuerySet

from annotation.models import Example, Person, Project, Sentence, Submission, Unit, UnitKind, User, WrittenUnit
from annotation.services.alike import same_sentence
from annotation.services.routes import forget_routes
from annotation.writing.content import BadContent, Origin, WrittenText, provenance_of
from annotation.writing.pairing import pair_texts


@dataclass(frozen=True, slots=True)
class OriginalText:
    """A text as somebody handed it in."""

    text: str
    author: User


def put_units(
    submission: Submission,
    sentence: Sentence,
    wanted: Sequence[WrittenText],
    *,
    guideline: str,
    now: dt.datetime,
    originals: Mapping[Origin, OriginalText] | None = None,
) -> list[Unit]:
    """Make `wanted` the units of a sentence. The caller holds the transaction.

    One that reads as before stays the same row, with its labels. A text that is one of the `originals` is credited to
    whoever wrote it, any other to the author of the submission.
    """
    example = Example.objects.select_for_update(no_key=True).get(pk=sentence.reference.example_id)
    drafts, given = _drafts(example, wanted), originals or {}
    before = list(stored_units(sentence))
    match = _match(wanted, before)
    kept = {place: before[there] for place, there in match.items() if _reads_the_same(place, match, wanted, before)}
    last = Unit.objects.filter(example=example, kind=UnitKind.SCU).aggregate(last=Max("position"))["last"] or 0
    # Before the new revisions come: only one of a key may be current.
    stays = {one.unit_id for one in kept.values()}
    Unit.objects.filter(pk__in=[one.unit_id for one in before if one.unit_id not in stays]).update(superseded_at=now)
    found: list[Unit] = []
    made: list[tuple[Unit, WrittenText, tuple[Origin, ...]]] = []
    for number, one in enumerate(wanted, start=1):
        if number - 1 in kept:
            found.append(kept[number - 1].unit)
            continue
        old = before[match[number - 1]] if number - 1 in match else None
        source = drafts.get(one.draft or 0)
        authors = [given[key].author for key in one.origins if given[key].text == one.text]
        unit = Unit.objects.create(
            example=example,
            kind=UnitKind.SCU,
            key=old.unit.key if old else f"s{submission.pk}.{number}",
            revision=old.unit.revision + 1 if old else 1,
            position=old.unit.position if old else last + number,
            text=one.text,
            reference=sentence.reference,
            sentence=sentence,
            provenance=provenance_of(one.text, source.text if source else None),
            guideline_version=guideline,
            spans=[list(span) for span in one.spans if span[1] <= len(sentence.reference.text)],
            author=person_of(example.project, authors[0] if authors else submission.author),
            created_at=now,
        )
        found.append(unit)
        made.append((unit, one, one.origins or ((submission.pk, number),)))
    for unit, one, origins in made:
        WrittenUnit.objects.create(
            unit=unit,
            submission=submission,
            source=drafts.get(one.draft or 0),
            extends=found[one.extends] if one.extends is not None and one.extends < len(found) else None,
            overrides=list(one.overrides),
            shown=list(one.shown),
            origins=[list(origin) for origin in origins],
            seconds=one.seconds,
        )
    forget_routes(example.project)
    return found


def stored_units(sentence: Sentence) -> QuerySet[WrittenUnit]:
    """What people wrote here for a sentence and counts now."""
    current = Unit.objects.current().filter(sentence__in=same_sentence(sentence), kind=UnitKind.SCU)
    rows = WrittenUnit.objects.filter(unit__in=current).select_related("unit", "extends")
    return rows.order_by("unit__position", "pk")


def _drafts(example: Example, wanted: Sequence[WrittenText]) -> dict[int, Unit]:
    asked = {one.draft for one in wanted if one.draft}
    found = {unit.pk: unit for unit in Unit.objects.filter(pk__in=asked, example=example)}
    if set(found) != asked:
        raise BadContent("A draft of another text was named.")
    return found


def _match(wanted: Sequence[WrittenText], before: Sequence[WrittenUnit]) -> dict[int, int]:
    """Which text is a new state of which unit: by its origins, else by the same words, else by most of them."""
    found: dict[int, int] = {}
    by_origin = {tuple(origin): number for number, one in enumerate(before) for origin in one.origins}
    by_text = {one.unit.text: number for number, one in enumerate(before)}

    def take(place: int, known: Sequence[int]) -> None:
        free = [number for number in known if number not in found.values()]
        if place not in found and free:
            found[place] = free[0]

    for place, one in enumerate(wanted):
        take(place, [by_origin[origin] for origin in one.origins if origin in by_origin])
    for place, one in enumerate(wanted):
        take(place, [by_text[one.text]] if one.text in by_text else [])
    loose = [place for place in range(len(wanted)) if place not in found]
    left = [number for number in range(len(before)) if number not in found.values()]
    pairs = pair_texts([wanted[place].text for place in loose], [before[number].unit.text for number in left])
    return found | {loose[one]: left[other] for one, other in pairs if one is not None and other is not None}


def _reads_the_same(
    place: int, match: Mapping[int, int], wanted: Sequence[WrittenText], before: Sequence[WrittenUnit]
) -> bool:
    """Whether a unit stays as it is: same text, evidence and extension; same text alone once people have judged it."""
    one, old = wanted[place], before[match[place]]
    if old.unit.text != one.text:
        return False
    extended = "" if one.extends is None else "new"
    if one.extends is not None and one.extends in match:
        other = before[match[one.extends]].unit
        extended = other.key if other.text == wanted[one.extends].text else "changed"
    was = old.extends.key if old.extends else ""
    is_same = extended == was and (one.origins or [list(span) for span in one.spans] == old.unit.spans)
    return bool(is_same) or old.unit.labels.exists() or old.unit.judgements.exists()


def person_of(project: Project, user: User) -> Person:
    """The name under which a user's work is credited in a project."""
    key = user.get_username()
    if Person.objects.filter(project=project, key=key).exclude(user=user).exists():
        key = f"{key} ({user.pk})"  # a pseudonym of the corpus reads the same
    return Person.objects.get_or_create(project=project, user=user, defaults={"key": key})[0]
