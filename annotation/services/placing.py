"""Where units stand: the units of each sentence of the newest split of a project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.aligning import align_units
from annotation.batching import batched
from annotation.mixing import SentenceUnits
from annotation.models import (
    Contributor,
    Project,
    Ranking,
    Reference,
    Sentence,
    Submission,
    Task,
    TaskKind,
    TaskState,
    Unit,
    UnitKind,
    WrittenUnit,
)
from annotation.services.decomposing import newest_sentences

REFERENCES_PER_QUERY = 2000


@dataclass(frozen=True, slots=True)
class OwnWork:
    """Units that people wrote here, and sentences in which they found no fact."""

    units: frozenset[int] = frozenset()
    without_fact: frozenset[int] = frozenset()

    def newest(self, sentence: int, scus: Sequence[int]) -> tuple[int, ...]:
        """What people did here takes the place of what a sentence came with."""
        written = tuple(unit for unit in scus if unit in self.units)
        return written if written or sentence in self.without_fact else tuple(scus)


def live_references(project: Project) -> QuerySet[Reference]:
    return Reference.objects.filter(example__project=project, example__trashed_at__isnull=True)


def owners_of(project: Project) -> dict[int, int]:
    """References in the order of the corpus, each with its example."""
    ordered = live_references(project).order_by("example__position", "position")
    return dict(ordered.values_list("pk", "example_id"))


def sentences_of(references: Iterable[int]) -> dict[int, list[Sentence]]:
    """The sentences of the newest split of references."""
    found: dict[int, list[Sentence]] = {}
    for batch in batched(references, REFERENCES_PER_QUERY):
        found |= newest_sentences(batch)
    return found


def newest_easiness(project: Project) -> dict[int, float]:
    rows = Ranking.objects.filter(sentence__reference__example__project=project).order_by("sentence", "revision")
    return dict(rows.values_list("sentence_id", "easiness"))  # the newest revision comes last and stays


def current_units(project: Project, kinds: Collection[str]) -> dict[int, Unit]:
    """The units of live examples that count now, in their order."""
    found = Unit.objects.current().filter(example__project=project, example__trashed_at__isnull=True, kind__in=kinds)
    rows = found.only("pk", "example_id", "kind", "key", "text", "weight", "reference_id", "sentence_id", "rule")
    return {unit.pk: unit for unit in rows.order_by("position", "pk").iterator(chunk_size=5000)}


def place_units(
    project: Project,
    units: Mapping[int, Unit],
    owners: Mapping[int, int],
    sentences: Mapping[int, list[Sentence]],
    own_work: OwnWork | None = None,
) -> dict[int, list[SentenceUnits]]:
    """The units of every sentence. One that names no sentence of the newest split stands where most of its words do.

    What people did here (`own_work`) takes the place of the SCUs that a sentence came with.
    """
    at: defaultdict[int, dict[str, list[tuple[int, str, int | None]]]] = defaultdict(lambda: {"scu": [], "stu": []})
    for unit in units.values():
        if unit.reference_id is not None:
            at[unit.reference_id][unit.kind].append((unit.pk, unit.text, unit.sentence_id))
    merged = Contributor.objects.filter(unit__example__project=project, unit__reference__isnull=True).order_by("pk")
    for contributor in merged.iterator(chunk_size=2000):
        if contributor.unit_id in units:
            unit = units[contributor.unit_id]
            text = contributor.text or unit.text
            at[contributor.reference_id][unit.kind].append((unit.pk, text, contributor.sentence_id))
    by_example: defaultdict[int, list[int]] = defaultdict(list)
    for reference, example in owners.items():
        by_example[example].append(reference)
    for unit in _placeless(units, at):
        # It names neither reference nor place: it goes to the reference that shares most of its words.
        candidates = by_example[unit.example_id]
        texts = [" ".join(sentence.text for sentence in sentences.get(key, [])) for key in candidates]
        if candidates:
            at[candidates[align_units([unit.text], texts)[0]]][unit.kind].append((unit.pk, unit.text, None))
    finished = finished_sentences(project, sentences)
    own_work = own_work_of(project) if own_work is None else own_work
    found = {}
    for reference in owners:
        own = sentences.get(reference, [])
        scus, are_told = _by_sentence(at[reference]["scu"], own)
        stus, _told = _by_sentence(at[reference]["stu"], own)
        found[reference] = [
            # Where people wrote sentence by sentence, one without SCUs is still to be written.
            SentenceUnits(
                sentence.pk,
                tuple(stus[number]),
                own_work.newest(sentence.pk, scus[number]),
                bool(scus[number]) or not are_told or bool(finished[sentence.pk]),
            )
            for number, sentence in enumerate(own)
        ]
    return found


def own_work_of(project: Project) -> OwnWork:
    """What people did in a project."""
    units = WrittenUnit.objects.filter(unit__example__project=project).values_list("unit_id", flat=True)
    return OwnWork(frozenset(units), frozenset(_without_fact(project)))


def _without_fact(project: Project) -> set[int]:
    """Sentences of which the last word is that they hold no fact: a reviewer's, else that of all their writers."""
    handed_in = Submission.objects.filter(task__project=project, task__state=TaskState.DONE).order_by("pk")
    asked = set(handed_in.filter(content__no_fact=True).values_list("task__sentence_id", flat=True))
    last: defaultdict[int, dict[tuple[str, int], bool]] = defaultdict(dict)
    rows = handed_in.filter(task__sentence__in=asked)
    for sentence, kind, task, no_fact in rows.values_list("task__sentence", "task__kind", "task", "content__no_fact"):
        own = last[sentence]
        if kind == TaskKind.REVIEW:
            own.clear()
        own[kind, task] = bool(no_fact)
    return {sentence for sentence, own in last.items() if all(own.values())}


def drop_rewritten(project: Project, units: dict[int, Unit]) -> dict[int, Unit]:
    """Without the SCUs that a sentence came with, where people have written it anew: a fact counts once."""
    own_work = own_work_of(project)
    if own_work == OwnWork():
        return units
    owners = owners_of(project)
    scus = {key: unit for key, unit in units.items() if unit.kind == UnitKind.SCU}
    placed = place_units(project, scus, owners, sentences_of(owners), own_work=OwnWork())
    everywhere = [each for own in placed.values() for each in own]
    kept = {key for each in everywhere for key in own_work.newest(each.key, each.scus)}
    replaced = {key for each in everywhere for key in each.scus} - kept
    return {key: unit for key, unit in units.items() if key not in replaced}


def half_written(project: Project, units: Mapping[int, Unit]) -> set[int]:
    """Examples in which people have written some sentences and not yet all: a score over them would mislead."""
    begun = {units[key].example_id for key in own_work_of(project).units if key in units}
    if not begun:
        return set()
    owners = {reference: example for reference, example in owners_of(project).items() if example in begun}
    scus = {key: unit for key, unit in units.items() if unit.kind == UnitKind.SCU and unit.example_id in begun}
    placed = place_units(project, scus, owners, sentences_of(owners))
    return {owners[key] for key, own in placed.items() if any(not each.is_written for each in own)}


def finished_sentences(project: Project, sentences: Mapping[int, list[Sentence]]) -> Counter[int]:
    """How many writers are through with a sentence, even if there was nothing to write.

    Work on a sentence of an older split counts for the one that reads the same in the same reference.
    """
    known = {(reference, one.text): one.pk for reference, own in sentences.items() for one in own}
    done = Task.objects.filter(project=project, kind=TaskKind.WRITE, state=TaskState.DONE, sentence__isnull=False)
    found: Counter[int] = Counter()
    ids = {one.pk for own in sentences.values() for one in own}
    for key, reference, text in done.values_list("sentence_id", "sentence__reference_id", "sentence__text"):
        place = key if key in ids else known.get((reference, text))
        if place is not None:
            found[place] += 1
    return found


def _placeless(units: Mapping[int, Unit], at: Mapping[int, dict[str, list[tuple[int, str, int | None]]]]) -> list[Unit]:
    placed = {row[0] for kinds in at.values() for rows in kinds.values() for row in rows}
    return [unit for unit in units.values() if unit.pk not in placed]


def _by_sentence(
    units: Sequence[tuple[int, str, int | None]], sentences: Sequence[Sentence]
) -> tuple[list[list[int]], bool]:
    """Units by sentence, and whether every unit told its own (so that a sentence without any was not written).

    One that names a sentence of an older split goes where most of its words are, and has told all the same.
    """
    found: list[list[int]] = [[] for _ in sentences]
    if not sentences:
        return found, False
    place = {sentence.pk: number for number, sentence in enumerate(sentences)}
    loose = [text for _, text, sentence in units if sentence not in place]
    aligned = iter(align_units(loose, [sentence.text for sentence in sentences]))
    for unit, _text, sentence in units:
        found[place[sentence] if sentence in place else next(aligned)].append(unit)
    return found, all(sentence is not None for _, _, sentence in units)
