"""The index of characters: it finds what is there, stays in step with the rows, and gives way where it cannot help."""

from __future__ import annotations

import pytest
from django.db import connection

from annotation.models import Route, Sentence
from annotation.services import text_search
from annotation.services.routing_table import _search
from annotation.services.text_search import few_sentences_with
from tests.factories import SentenceFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def sentences() -> list[Sentence]:
    texts = ["The mill shut in 1900.", 'He said "the mill" twice; 100% sure.', "Ein Käse.", "Nothing of it_here."]
    return [SentenceFactory(text=text, start=0, end=len(text)) for text in texts]


@pytest.mark.parametrize(
    ("search", "places"),
    [
        ("MILL", [0, 1]),
        ('"the mill"', [1]),
        ("100%", [1]),
        ("it_h", [3]),
        ("äse", [2]),
        ("nowhere", []),
        ("ill s", [0]),
        ("' OR 1=1 --", []),
        ("mill NOT shut", []),
    ],
)
def test_what_has_the_characters_is_found(sentences, search, places):
    found = few_sentences_with(search)
    assert found is not None
    exact = Sentence.objects.filter(pk__in=found, text__icontains=search).order_by("pk")
    assert list(exact) == [sentences[place] for place in places]


def test_two_characters_are_left_to_reading(sentences):
    assert few_sentences_with("mi") is None


def test_what_many_have_is_left_to_reading(sentences, monkeypatch):
    monkeypatch.setattr(text_search, "FEW", 1)
    assert few_sentences_with("mill") is None
    assert few_sentences_with("shut") == [sentences[0].pk]


def test_the_index_follows_the_rows(sentences):
    Sentence.objects.filter(pk=sentences[0].pk).update(text="The forge shut in 1900", end=22)
    Sentence.objects.filter(pk=sentences[1].pk)._raw_delete(using="default")
    assert few_sentences_with("mill") == []
    assert few_sentences_with("forge") == [sentences[0].pk]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps its indexes itself")
def test_without_the_index_every_text_is_read(sentences):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE annotation_sentence_search RENAME TO gone")
    try:
        assert few_sentences_with("mill") is None
        assert _search(Route.objects.all(), "mill").count() == 0
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE gone RENAME TO annotation_sentence_search")


@pytest.mark.postgresql
def test_postgresql_has_the_index():
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'annotation_sentence_search'")
        assert "gin_trgm_ops" in cursor.fetchone()[0]
