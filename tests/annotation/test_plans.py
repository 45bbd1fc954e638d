"""Routes, drafts, pins and frozen plans."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotation import models
from annotation.planning.assumptions import BadAssumption
from annotation.planning.budget import forecast
from annotation.services.drafts import BadDraft, CannotPlan, change_draft, open_desk, pin_sentences
from annotation.services.routes import find_draft, refresh_routes
from annotation.services.routing_table import SORTS, explain_route, filter_routes, list_routes, preview_pins
from annotation.services.trashing import move_to_trash, restore_from_trash
from tests.conftest import NOW
from tests.factories import (
    ExampleFactory,
    PinFactory,
    ProjectFactory,
    ReferenceFactory,
    SentenceFactory,
    UnitFactory,
    UserFactory,
)
from tests.planning import hardest, plannable

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> models.Project:
    return plannable()


def texts(rows) -> list[str]:
    return [row.sentence.text for row in rows]


# --- routes ----------------------------------------------------------------------------------------------------------


def test_sentences_stand_hardest_first(project):
    draft = refresh_routes(project, now=NOW)
    rows = list(models.Route.objects.order_by("rank").select_related("sentence"))
    assert [row.rank for row in rows] == list(range(1, 13))
    assert [row.easiness for row in rows] == sorted(row.easiness for row in rows)
    assert [row.position for row in rows] == list(range(1, 13))  # here the hardest come first
    assert (draft.sentences, draft.cut, draft.to_stus, draft.with_scus) == (12, 7, 6, 0)
    assert (rows[0].words, rows[0].stus, rows[0].warnings, rows[0].has_scus) == (12, 1, [], False)


def test_equally_easy_sentences_keep_the_order_of_the_corpus(project):
    models.Ranking.objects.update(easiness=0.5)
    change_draft(project, share=250, now=NOW)
    easy = filter_routes(find_draft(project, now=NOW), shown="stus").order_by("position")
    assert list(easy.values_list("position", flat=True)) == [1, 2, 3]


def test_a_sentence_without_ranking_or_units_is_the_hardest_and_says_so(project):
    example = ExampleFactory(project=project, key="bare", position=9)
    sentence = SentenceFactory(reference=ReferenceFactory(example=example))
    refresh_routes(project, now=NOW)
    row = models.Route.objects.get(sentence=sentence)
    assert (row.rank, row.easiness, row.warnings) == (1, None, ["not ranked", "no STUs"])


def test_routes_follow_what_changes(project):
    refresh_routes(project, now=NOW)
    example = project.examples.get(position=1)
    move_to_trash(example, now=NOW)
    assert find_draft(project, now=NOW).sentences == 9
    restore_from_trash(example, now=NOW)
    assert find_draft(project, now=NOW).sentences == 12
    models.Unit.objects.filter(kind="stu", example=example).update(superseded_at=NOW)
    assert refresh_routes(project, now=NOW).sentences == 12
    assert models.Route.objects.filter(stus=0).count() == 3


def test_routes_that_fit_are_not_made_again(project, django_assert_max_num_queries):
    refresh_routes(project, now=NOW)
    before = set(models.Route.objects.values_list("pk", flat=True))
    with django_assert_max_num_queries(16):
        refresh_routes(project, now=NOW)
    assert set(models.Route.objects.values_list("pk", flat=True)) == before


def test_a_pin_goes_on_to_the_same_sentence_of_a_new_split(project):
    sentence = models.Sentence.objects.order_by("pk").first()
    PinFactory(sentence=sentence, route="stus", note="easy")
    lost = models.Sentence.objects.order_by("pk")[1]
    PinFactory(sentence=lost, route="stus")
    again = SentenceFactory(
        reference=sentence.reference, revision=2, position=1, start=0, end=len(sentence.text), text=sentence.text
    )
    refresh_routes(project, now=NOW)
    assert models.Route.objects.get(sentence=again).pin == "stus"
    assert models.Pin.objects.get(sentence=again, removed_at=None).note == "easy"
    assert models.Pin.objects.get(sentence=sentence).removed_at == NOW
    assert models.Pin.objects.get(sentence=lost).removed_at is None  # it waits; its sentence may come back


# --- the draft -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [-1, 1001])
def test_a_ratio_beyond_the_ends_is_refused(project, share):
    with pytest.raises(BadDraft, match=r"from 2\.0 to 3\.0"):
        change_draft(project, share=share, now=NOW)


def test_only_what_differs_from_the_usual_is_stored(project):
    change_draft(project, assumptions={"wage": "20", "writers": 1}, now=NOW)
    draft = change_draft(project, assumptions={"budget": "$300"}, now=NOW)
    assert draft.assumptions == {"wage": "20", "budget": "300"}
    same = change_draft(project, assumptions={"judging_reward": "0.6"}, now=NOW)
    assert same.assumptions == draft.assumptions  # .6 is .60
    with pytest.raises(BadAssumption):
        change_draft(project, assumptions={"wage": "0"}, now=NOW)
    assert open_desk(project, now=NOW).assumed.wage == 20


def test_the_floor_is_the_organisations(project, settings):
    settings.WAGE_FLOOR = "17.25"
    assert open_desk(project, now=NOW).assumed.floor == Decimal("17.25")


def test_an_empty_project_says_what_to_do():
    with pytest.raises(CannotPlan, match="Import references first"):
        open_desk(ProjectFactory(), now=NOW)


def test_a_project_without_rankings_says_what_to_do(project):
    empty = ProjectFactory()
    SentenceFactory(reference=ReferenceFactory(example=ExampleFactory(project=empty)))
    with pytest.raises(CannotPlan, match="Split and decompose"):
        open_desk(empty, now=NOW)


def test_one_sentence_and_no_system():
    project = plannable(examples=1, sentences=1, systems=0, slug="one")
    desk = open_desk(project, now=NOW)
    found = forecast(desk.budget, 500)
    assert (found.to_people, found.judging, desk.systems) == (1, 0, 0)
    assert forecast(desk.budget, 1000).total == 0


def test_a_projects_own_scus_correct_the_assumption():
    project = plannable(scus=True, slug="written")
    desk = open_desk(project, now=NOW)
    assert (desk.observed.sentences, desk.observed.units, desk.observed.words) == (12, 12, 144)
    # 12 sentences with 1 unit in 12 words each, and an assumption that is worth 20 of them
    assert desk.expected.units_per_word == round((20 * Decimal("2.4") + 12) / 32 / 12, 4)


def test_what_is_written_already_costs_nothing_unless_all_is(project):
    sentence = models.Sentence.objects.order_by("pk").first()
    UnitFactory(example=sentence.reference.example, reference=sentence.reference, sentence=sentence)
    desk = open_desk(project, now=NOW)
    assert (desk.draft.with_scus, desk.draft.writes_again) == (1, False)
    assert forecast(desk.budget, 0).to_write == 11
    change_draft(project, write_again=True, now=NOW)
    assert forecast(open_desk(project, now=NOW).budget, 0).to_write == 12
    written = open_desk(plannable(scus=True, slug="all"), now=NOW)
    assert (written.draft.writes_again, forecast(written.budget, 0).to_write) == (True, 12)


# --- pins and the table ----------------------------------------------------------------------------------------------


def test_pins_hold_against_the_slider_and_are_told(project):
    refresh_routes(project, now=NOW)
    lead = UserFactory(first_name="Lena", last_name="Marsh")
    assert pin_sentences(project, [hardest(project)], "stus", note="names matter", now=NOW, actor=lead) == 1
    draft = find_draft(project, now=NOW)
    (row,) = list_routes(draft, shown="pinned").rows
    assert (row.destination, explain_route(row), row.cost) == ("stus", "pinned by Lena Marsh: “names matter”", 0)
    assert (draft.pinned_stus, draft.to_stus) == (1, 6)  # half of 11 free ones, and the pin
    assert pin_sentences(project, [hardest(project)], "stus", now=NOW, actor=lead) == 0
    assert pin_sentences(project, [hardest(project)], "", now=NOW, actor=lead) == 1
    assert models.Pin.objects.get().removed_at == NOW
    assert [entry.action for entry in models.AuditEntry.objects.order_by("pk")] == ["pin", "unpin"]


def test_only_sentences_of_the_project_can_be_pinned(project):
    refresh_routes(project, now=NOW)
    other = plannable(slug="other")
    refresh_routes(other, now=NOW)
    assert pin_sentences(project, [hardest(other)], "stus", now=NOW, actor=None) == 0
    assert models.Pin.objects.count() == 0
    with pytest.raises(BadDraft):
        pin_sentences(project, [hardest(project)], "moon", now=NOW, actor=None)


@pytest.mark.parametrize("sort", ["hard", "easy", "corpus", "long", "stus"])
def test_pages_hold_every_sentence_once(project, sort):
    draft = refresh_routes(project, now=NOW)
    found, after = [], ""
    while True:
        page = list_routes(draft, sort=sort, after=after, page=5)
        found += [row.route.rank for row in page.rows]
        after = page.after
        if not after:
            break
    assert sorted(found) == list(range(1, 13))
    if sort in ("hard", "corpus"):
        assert found == sorted(found)


def test_tabs_and_search(project):
    draft = change_draft(project, share=250, now=NOW)
    counts = {shown: filter_routes(draft, shown=shown).count() for shown in ("all", "people", "stus", "pinned", "near")}
    assert counts == {"all": 12, "people": 9, "stus": 3, "pinned": 0, "near": 12}
    assert texts(filter_routes(draft, search="number 2 of place 1")) == [
        "The mill number 2 of place 1 shut in the year 1901."
    ]


@pytest.mark.parametrize("sort", ["hard", "easy", "corpus", "long", "stus"])
@pytest.mark.parametrize("shown", ["people", "stus", "pinned", "warned"])
def test_pages_of_a_tab_hold_its_sentences_once_in_order(project, shown, sort):
    draft = change_draft(project, share=500, now=NOW)
    keys = list(models.Route.objects.order_by("rank").values_list("sentence_id", flat=True))
    pin_sentences(project, [keys[0], keys[4]], "stus", now=NOW, actor=None)
    pin_sentences(project, [keys[-1], keys[-3]], "people", now=NOW, actor=None)
    models.Route.objects.filter(rank__in=(2, 3, 7, 11)).update(is_warned=True)
    draft = find_draft(project, now=NOW)
    wanted = list(filter_routes(draft, shown=shown).order_by(*SORTS[sort]).values_list("rank", flat=True))
    found, after = [], ""
    while after or not found:
        page = list_routes(draft, shown=shown, sort=sort, after=after, page=3)
        found += [row.route.rank for row in page.rows]
        after = page.after
        if not after:
            break
    assert found == wanted
    assert len(found) >= 4


def test_what_has_a_warning_is_marked_for_the_index(project):
    SentenceFactory(reference=ReferenceFactory(example=ExampleFactory(project=project)))  # nobody has ranked it
    refresh_routes(project, now=NOW)
    told = {(route.is_warned, bool(route.warnings)) for route in models.Route.objects.all()}
    assert told == {(True, True), (False, False)}


def test_a_bulk_pin_is_previewed(project):
    draft = refresh_routes(project, now=NOW)
    preview = preview_pins(draft, "people", shown="all", search="number 2", now=NOW)
    assert (len(preview.sentences), preview.changed, preview.is_too_many) == (3, 3, False)
    desk = open_desk(project, now=NOW)
    assert preview.before == forecast(desk.budget, desk.draft.share)
    pin_sentences(project, preview.sentences, "people", now=NOW, actor=None)
    desk = open_desk(project, now=NOW)
    assert preview.after == forecast(desk.budget, desk.draft.share) != preview.before
    again = preview_pins(find_draft(project, now=NOW), "people", shown="all", search="number 2", now=NOW)
    assert (again.total, again.changed) == (3, 0)
