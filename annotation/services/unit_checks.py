"""The checks of the writing page over units that are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from annotation.cleaning import clean
from annotation.models import Project, Reference, Unit, UnitKind
from annotation.services.placing import OwnWork, current_units, owners_of, place_units, sentences_of
from annotation.writing.checks import Finding, check_unit


def check_project(project: Project, kind: str) -> Iterator[tuple[str, str, list[Finding]]]:
    """Each current unit of a kind with its example and what the checks say of it."""
    live = {"example__project": project, "example__trashed_at__isnull": True}
    by_example: defaultdict[int, list[Unit]] = defaultdict(list)
    units = Unit.objects.current().filter(**live, kind=kind).select_related("example").defer("example__document")
    for unit in units.order_by("example__position", "position", "pk"):
        by_example[unit.example_id].append(unit)
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for example, text in Reference.objects.filter(**live).order_by("position").values_list("example_id", "text"):
        texts[example].append(clean(text).text)
    for example, own in by_example.items():
        for unit in own:
            # A merged unit may use the words of any reference.
            others = [other.text for other in own if other.pk != unit.pk and other.reference_id == unit.reference_id]
            yield unit.example.key, unit.text, list(check_unit(unit.text, others, " ".join(texts[example])))


def units_with_sentences(project: Project, kind: str) -> Iterator[tuple[str, str, str]]:
    """Example, sentence and text of each unit that stands in a sentence."""
    units, owners = current_units(project, [kind]), owners_of(project)
    sentences = sentences_of(owners)
    texts = {sentence.pk: sentence.text for own in sentences.values() for sentence in own}
    keys = dict(project.examples.values_list("pk", "key"))
    for own in place_units(project, units, owners, sentences, own_work=OwnWork()).values():
        for placed in own:
            for unit in placed.scus if kind == UnitKind.SCU else placed.stus:
                yield keys[units[unit].example_id], texts[placed.key], units[unit].text
