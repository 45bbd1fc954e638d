"""Sentences by the characters in them, through the index that the database keeps of these (migration 0015)."""

from __future__ import annotations

from django.db import OperationalError, connection

from annotation.models import Sentence

FEW = 1_000
SHORTEST = 3
"""The index is one of three characters in a row."""


def few_sentences_with(search: str) -> list[int] | None:
    """Ids of the sentences that may have these characters, if they are few. None: many have them, or nobody knows.

    What many have is found soon by reading on; what few have is not, and that is where the index is asked.
    """
    if len(search) < SHORTEST:
        return None
    found = _sqlite(search) if connection.vendor == "sqlite" else _by_the_planner(search)
    return found if found is not None and len(found) <= FEW else None


def _sqlite(search: str) -> list[int] | None:
    phrase = '"' + search.replace('"', '""') + '"'
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT rowid FROM annotation_sentence_search WHERE annotation_sentence_search MATCH %s LIMIT %s",
                [phrase, FEW + 1],
            )
            return [row[0] for row in cursor.fetchall()]
    except OperationalError:  # an SQLite without FTS5
        return None


def _by_the_planner(search: str) -> list[int]:
    rows = Sentence.objects.filter(text__icontains=search).order_by()
    return list(rows.values_list("pk", flat=True)[: FEW + 1])
