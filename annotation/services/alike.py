"""The same sentence through all splits of its reference, and the lock that keeps its writers and reviewers apart."""

from __future__ import annotations

from django.db.models import OuterRef, Q

from annotation.models import Reference, Sentence, Task


def lock_sentence(sentence_id: int) -> Sentence:
    """Whoever changes who writes or looks at a sentence holds this first, to the end of the transaction.

    The lock is on the reference, since a new split gives the same sentence another row.
    """
    sentence = Sentence.objects.get(pk=sentence_id)
    Reference.objects.select_for_update(no_key=True).get(pk=sentence.reference_id)
    return sentence


def same_sentence(sentence: Sentence) -> list[int]:
    """The sentence and those of other splits that read the same; one that is said twice in a text is two."""
    twins = Sentence.objects.filter(reference=sentence.reference_id, text=sentence.text)
    return list(twins.filter(Q(pk=sentence.pk) | ~Q(revision=sentence.revision)).values_list("pk", flat=True))


def tasks_of_outer_sentence() -> Q:
    """The same, as a condition on tasks inside a query of tasks."""
    alike = Q(sentence__reference=OuterRef("sentence__reference"), sentence__text=OuterRef("sentence__text"))
    return alike & (Q(sentence=OuterRef("sentence")) | ~Q(sentence__revision=OuterRef("sentence__revision")))


def tasks_of(sentence: Sentence, kind: str) -> list[Task]:
    """Tasks of a kind on a sentence that were not withdrawn."""
    own = Task.objects.filter(sentence__in=same_sentence(sentence), kind=kind).exclude(state="withdrawn")
    return list(own.select_related("plan").order_by("slot", "pk"))
