"""The trash: hidden, kept, and back as it was."""

import pytest

from annotation import models
from annotation.services.trashing import move_to_trash, restore_from_trash
from scoring.services.human import human_scores
from tests import factories as make
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("factory", [make.ProjectFactory, make.ExampleFactory, make.SystemFactory, make.UnitFactory])
def test_there_and_back(factory):
    row, actor = factory(), make.UserFactory()
    before = {field.name: getattr(row, field.attname) for field in row._meta.fields}
    assert move_to_trash(row, now=NOW, actor=actor)
    assert row.trashed_at == NOW
    assert list(type(row).objects.live()) == []
    assert not move_to_trash(row, now=NOW)
    assert restore_from_trash(row, now=NOW, actor=actor)
    assert not restore_from_trash(row, now=NOW)
    row.refresh_from_db()
    assert {field.name: getattr(row, field.attname) for field in row._meta.fields} == before
    assert sorted(models.AuditEntry.objects.values_list("action", "actor")) == [
        ("restore", actor.pk),
        ("trash", actor.pk),
    ]


def test_a_unit_in_the_trash_leaves_the_score_and_comes_back(now):
    example = make.ExampleFactory()
    summary = make.SummaryFactory(example=example)
    for key, present in (("a", True), ("b", False)):
        make.LabelFactory(unit=make.UnitFactory(example=example, key=key), summary=summary, present=present)
    name = summary.system.name
    assert human_scores(example.project) == {name: 0.5}
    unit = models.Unit.objects.get(key="b")
    move_to_trash(unit, now=now)
    assert human_scores(example.project) == {name: 1.0}
    restore_from_trash(unit, now=now)
    assert human_scores(example.project) == {name: 0.5}


def test_an_example_with_some_labels_only_is_not_measured():
    example = make.ExampleFactory()
    summary = make.SummaryFactory(example=example)
    make.LabelFactory(unit=make.UnitFactory(example=example), summary=summary, present=True)
    make.UnitFactory(example=example)
    assert human_scores(example.project) == {summary.system.name: None}
