"""Judging in house: batches, the queue of sheets, votes that are fixed or adaptive, what is stored, what is refused."""

from __future__ import annotations

import datetime as dt
import threading
import uuid
from collections import Counter

import pytest
from django.db import connection

from annotation import models
from annotation.aggregating.votes import majority
from annotation.judging.answers import Answers, Given, read_answers, require_answers
from annotation.judging.assigning import cut_sheets, draw_pairs, shuffled
from annotation.judging.fillers import choose_filler
from annotation.judging.showing import as_shown, shown_digest
from annotation.services.batches import BatchOptions, CannotBatch, close_batch, create_batch, list_batches, plan_batch
from annotation.services.judging import hand_in_answers, own_answers, questions_of
from annotation.services.quality import exclude
from annotation.services.queue import LEASE, LeaseLost, claim_next, explain_empty, free_expired, skip
from annotation.services.votes import read_votes
from annotation.services.writing import StaleDraft, save_draft
from annotation.writing.content import BadContent, NotReady
from tests.conftest import NOW
from tests.factories import JudgementFactory, PersonFactory, UserFactory
from tests.judging import always, answer_all, answer_sheet, judged_project, open_batch
from tests.planning import freeze

# --- pure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "sizes"), [(0, []), (1, [1]), (16, [16]), (17, [9, 8]), (33, [11, 11, 11]), (47, [16, 16, 15])]
)
def test_at_most_sixteen_units_on_a_sheet_and_sheets_of_like_size(units, sizes):
    sheets = cut_sheets(range(units))
    assert [len(sheet) for sheet in sheets] == sizes
    assert [unit for sheet in sheets for unit in sheet] == list(range(units))


def test_the_draw_is_balanced_seeded_and_of_the_wanted_size():
    summaries = {name: [(name, number) for number in range(20)] for name in "abc"}
    every = draw_pairs(summaries, share=1000, seed=3)
    assert sorted(every) == sorted(pair for own in summaries.values() for pair in own)
    for end in range(len(every)):
        counts = Counter(name for name, _ in every[:end])
        assert max(counts.values(), default=0) - min((counts[name] for name in "abc"), default=0) <= 1
    assert len(draw_pairs(summaries, share=100, seed=3)) == 6
    assert draw_pairs(summaries, share=100, seed=3) == every[:6]
    assert draw_pairs(summaries, share=100, seed=4) != every[:6]
    assert len(draw_pairs(summaries, share=1, seed=3)) == 1
    assert draw_pairs({}, share=1000, seed=3) == []


def test_each_judge_has_an_order_of_their_own_and_keeps_it():
    assert shuffled(range(12), "1/7") == shuffled(range(12), "1/7")
    assert shuffled(range(12), "1/7") != shuffled(range(12), "1/8")
    assert sorted(shuffled(range(12), "1/7")) == list(range(12))


def test_a_filler_shares_no_content_word_with_the_summary_or_its_units():
    others = ["The mill shut.", "A ferry hit rocks.", "The", "Storms came."]
    assert choose_filler("The mill shut in storms.", [], others, seed="1") == "A ferry hit rocks."
    assert choose_filler("The mill shut, a ferry hit rocks, storms came.", [], others, seed="1") == ""
    assert choose_filler("anything", [], [], seed="1") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<t> The mill shut . </t> <t> It rained . </t>", "The mill shut. It rained."),
        ("He won 6 - 1 , and did n't stop .", "He won 6 - 1, and didn't stop."),
        ("A man called ☐ spoke ; [UNK] left", "A man called ▢ spoke; ▢ left"),
        ("( a ) b", "(a) b"),
        ("plain text.", "plain text."),
        ("3.5 and .5", "3.5 and .5"),
    ],
)
def test_texts_are_cleaned_for_the_eye_only(text, shown):
    assert as_shown(text) == shown
    assert as_shown(shown) == shown
    assert shown_digest(text, "u") == shown_digest(shown, "u")


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {"answers": "x"},
        {"answers": [{"row": "1", "answer": "present"}]},
        {"answers": [{"row": True, "answer": "present"}]},
        {"answers": [{"row": 1, "answer": "maybe"}]},
        {"answers": [{"row": 1, "answer": "present"}, {"row": 1, "answer": "unsure"}]},
        {"answers": [{"row": 1, "answer": "present", "seconds": -1}]},
        {"answers": [{"row": 1, "answer": "present", "seconds": float("nan")}]},
        {"answers": [], "seconds": "many"},
        {"answers": [{"row": n, "answer": "present"} for n in range(101)]},
    ],
)
def test_what_no_page_of_ours_sends_is_refused(content):
    with pytest.raises(BadContent):
        read_answers(content)


def test_a_sheet_needs_all_of_its_answers_and_no_others():
    with pytest.raises(NotReady, match="1 of 2"):
        require_answers(Answers((Given(1, "unsure"),)), 2)
    with pytest.raises(BadContent):
        require_answers(Answers((Given(1, "present"), Given(3, "present"))), 2)
    require_answers(Answers((Given(1, "present"), Given(2, "unsure"))), 2)


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def people() -> list[models.User]:
    return [UserFactory(username=f"judge{number}") for number in range(5)]


@pytest.mark.django_db
def test_a_batch_asks_for_the_units_of_a_plan():
    project = judged_project()
    freeze(project)  # the easier half goes to STUs
    planned = plan_batch(project, BatchOptions(plan=1))
    kinds = set(
        models.Unit.objects.filter(pk__in=[u for _s, own in planned.sheets for u in own]).values_list("kind", flat=True)
    )
    assert kinds == {"scu"}
    with_stus = plan_batch(project, BatchOptions(plan=1, with_stus=True))
    assert with_stus.pairs == 2 * 6 > planned.pairs
    batch = create_batch(project, BatchOptions(plan=1, votes=2), now=NOW, actor=None)
    assert models.SheetUnit.objects.filter(sheet__batch=batch).count() == planned.pairs
    assert models.Task.objects.filter(sheet__batch=batch, kind="judge", state="open").count() == 2 * len(planned.sheets)
    entry = models.AuditEntry.objects.get(action="open batch")
    assert entry.detail["pairs"] == planned.pairs


@pytest.mark.django_db
def test_a_calibration_batch_takes_a_share_of_each_system_and_names_its_seed():
    project = judged_project(examples=10)
    planned = plan_batch(project, BatchOptions(share=300, seed=5))
    assert planned.summaries == 6
    assert Counter(summary.system_id for summary, _ in planned.sheets).most_common(1)[0][1] == 3
    again = plan_batch(project, BatchOptions(share=300, seed=5))
    assert [summary.pk for summary, _ in again.sheets] == [summary.pk for summary, _ in planned.sheets]


@pytest.mark.django_db
def test_what_has_its_votes_or_is_asked_for_is_not_asked_again(people):
    project = judged_project()
    open_batch(project, votes=1)
    with pytest.raises(CannotBatch, match="another batch"):
        plan_batch(project, BatchOptions(votes=1))
    answer_all(project, people[0], always("present"))
    with pytest.raises(CannotBatch, match="votes already"):
        plan_batch(project, BatchOptions(votes=1))
    more = plan_batch(project, BatchOptions(votes=3))
    assert more.pairs == 12
    assert more.known == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"votes": 0}, "1 to 9"),
        ({"votes": 10}, "1 to 9"),
        ({"share": 0}, "more than 0"),
        ({"share": 1001}, "at most 100"),
        ({"seed": -1}, "seed"),
        ({"plan": 7}, "no plan 7"),
        ({"systems": ("nobody",)}, "no system nobody"),
    ],
)
def test_wishes_that_make_no_sense_get_a_plain_message(given, words):
    with pytest.raises(CannotBatch, match=words):
        plan_batch(judged_project(), BatchOptions(**given))


@pytest.mark.django_db
def test_without_units_or_systems_there_is_nothing_to_judge():
    with pytest.raises(CannotBatch, match="no systems"):
        plan_batch(judged_project(systems=0), BatchOptions())
    project = judged_project("other")
    models.Unit.objects.filter(example__project=project, kind="scu").update(trashed_at=NOW)
    with pytest.raises(CannotBatch, match="no units"):
        plan_batch(project, BatchOptions())


@pytest.mark.django_db
def test_even_votes_warn_and_unwritten_examples_are_told():
    project = judged_project()
    assert any("tie" in words for words in plan_batch(project, BatchOptions(votes=4)).warnings)
    assert plan_batch(project, BatchOptions(votes=3)).warnings == []
    assert plan_batch(project, BatchOptions(votes=2, is_adaptive=True)).warnings == []


@pytest.mark.django_db
def test_closing_withdraws_what_nobody_began_and_keeps_the_rest(people):
    project = judged_project()
    batch = open_batch(project, votes=1)
    answer_sheet(project, people[0], always("present"))
    held = claim_next(project, people[1], "judge", now=NOW)
    assert close_batch(batch, now=NOW, actor=None) == 2
    assert close_batch(batch, now=NOW, actor=None) == 0
    states = Counter(models.Task.objects.filter(kind="judge").values_list("state", flat=True))
    assert states == {"done": 1, "leased": 1, "withdrawn": 2}
    assert answer_sheet(project, people[1], always("present")).task_id == held.pk
    assert models.Judgement.objects.count() == 6


# --- the queue --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_nobody_judges_the_same_unit_of_a_summary_twice(people):
    project = judged_project()
    open_batch(project, votes=3)
    assert [answer_all(project, person, always("present")) for person in people] == [4, 4, 4, 0, 0]
    assert models.Judgement.objects.count() == 3 * 12
    assert "judged" in explain_empty(project, people[0], "judge").why


@pytest.mark.django_db
def test_who_judged_elsewhere_is_not_asked_again_even_in_another_batch(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    answer_all(project, people[0], always("present"))
    open_batch(project, votes=3)
    assert answer_all(project, people[0], always("present")) == 0
    assert "other judges" in explain_empty(project, people[0], "judge").why
    assert answer_all(project, people[1], always("present")) == 1


@pytest.mark.django_db
def test_a_sheet_that_is_skipped_comes_back_in_no_slot(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=2)
    task = claim_next(project, people[0], "judge", now=NOW)
    skip(task, people[0], task.lease_token, "not English", now=NOW)
    assert claim_next(project, people[0], "judge", now=NOW) is None


@pytest.mark.django_db
def test_trashed_systems_and_examples_are_not_judged(people):
    project = judged_project()
    open_batch(project, votes=1)
    models.System.objects.filter(project=project, name="system0").update(trashed_at=NOW)
    assert answer_all(project, people[0], always("present")) == 2


@pytest.mark.django_db
def test_a_judge_sees_every_unit_once_in_an_order_of_their_own_with_one_filler(people):
    project = judged_project(examples=3, sentences=9)
    models.Unit.objects.filter(example__key="e2").update(text="Ferries sank off Sandholm yesterday.")
    open_batch(project, votes=2, with_fillers=True)
    task = claim_next(project, people[0], "judge", now=NOW)
    rows = questions_of(task, people[0])
    assert [row.text for row in rows] == [row.text for row in questions_of(task, people[0])]
    assert [row.text for row in rows] != [row.text for row in questions_of(task, people[1])]
    assert len([row for row in rows if row.unit]) == 9
    assert len([row for row in rows if row.unit is None]) == 1


# --- handing in -------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_is_handed_in_is_stored_with_what_was_shown_and_how_long_it_took(people):
    project = judged_project(examples=2, sentences=2, systems=1)
    models.Unit.objects.filter(example__key="e1").update(text="Ferries sank off Sandholm yesterday.")
    batch = open_batch(project, votes=1, with_fillers=True)
    filler = {sheet.filler for sheet in batch.sheets.all()}
    assert filler - {""}
    said = iter(["present", "not_present", "unsure", "present"])
    answer_all(project, people[0], lambda task, row: next(said) if row.unit else "present")
    found = models.Judgement.objects.order_by("pk")
    assert [row.answer for row in found] == ["present", "not_present", "unsure", "present"]
    for row in found:
        assert row.shown == shown_digest(row.summary.text, row.unit.text)
        assert row.seconds == 2.0
        assert row.judge.user == people[0]
        assert [version.answer for version in row.versions.all()] == [row.answer]
        assert row.assignment.origin == "in_house"
    fillers = models.FillerAnswer.objects.all()
    assert {row.answer for row in fillers} == {"present"}
    assert {row.text for row in fillers} <= filler
    asked = models.Assignment.objects.first().asked
    assert len(asked) == 2 + (models.Assignment.objects.first().sheet.filler != "")


@pytest.mark.django_db
def test_the_same_key_twice_is_once_and_a_lost_lease_stores_nothing(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=2)
    task = claim_next(project, people[0], "judge", now=NOW)
    token, key = task.lease_token, uuid.uuid4()
    answers = Answers(tuple(Given(place, "present") for place in (1, 2, 3)))
    one = hand_in_answers(task.pk, people[0], token, key=key, answers=answers, now=NOW)
    assert hand_in_answers(task.pk, people[0], token, key=key, answers=answers, now=NOW) == one
    assert models.Judgement.objects.count() == 3
    with pytest.raises(BadContent, match="something else"):
        hand_in_answers(task.pk, people[1], token, key=key, answers=answers, now=NOW)
    other = claim_next(project, people[1], "judge", now=NOW)
    late = NOW + LEASE + dt.timedelta(minutes=1)
    free_expired(late)
    with pytest.raises(LeaseLost):
        hand_in_answers(other.pk, people[1], other.lease_token, key=uuid.uuid4(), answers=answers, now=late)
    assert models.Judgement.objects.count() == 3


@pytest.mark.django_db
def test_answers_are_kept_as_drafts_and_an_older_tab_hands_nothing_in(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    task = claim_next(project, people[0], "judge", now=NOW)
    one, other = uuid.uuid4(), uuid.uuid4()
    first = Answers((Given(1, "present"),))
    save_draft(task.pk, people[0], task.lease_token, base=0, content=first, now=NOW, page=one)
    assert own_answers(task, people[0]) == first
    second = Answers((Given(1, "unsure"), Given(2, "present")))
    save_draft(task.pk, people[0], task.lease_token, base=1, content=second, now=NOW, page=other)
    whole = Answers(tuple(Given(place, "present") for place in (1, 2, 3)))
    with pytest.raises(StaleDraft):
        hand_in_answers(task.pk, people[0], task.lease_token, key=uuid.uuid4(), answers=whole, now=NOW, seen=(1, one))
    assert own_answers(task, people[0]) == second


@pytest.mark.django_db
def test_a_missing_answer_stores_nothing(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    task = claim_next(project, people[0], "judge", now=NOW)
    with pytest.raises(NotReady):
        hand_in_answers(
            task.pk, people[0], task.lease_token, key=uuid.uuid4(), answers=Answers((Given(1, "present"),)), now=NOW
        )
    assert not models.Judgement.objects.exists()
    assert models.Task.objects.get(pk=task.pk).state == "leased"


# --- votes ------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_adaptive_asks_a_third_judge_only_for_what_two_left_open(people):
    project = judged_project(examples=1, systems=1, sentences=4)
    open_batch(project, is_adaptive=True)
    answers = {
        "judge0": {1: "present", 2: "present", 3: "not_present", 4: "unsure"},
        "judge1": {1: "present", 2: "not_present", 3: "not_present", 4: "present"},
        "judge2": {1: "present", 2: "present", 3: "present", 4: "present"},
    }
    for person in people[:3]:
        answer_all(project, person, lambda task, row, own=person: answers[own.username][row.unit.position])
    third = models.Sheet.objects.get(after__isnull=False)
    assert sorted(third.units.values_list("unit__position", flat=True)) == [2, 4]
    assert answer_all(project, people[3], always("present")) == 0, "a third judge is asked once"
    found = majority(read_votes(project))
    units = {unit.position: unit.pk for unit in models.Unit.objects.filter(kind="scu")}
    summary = models.Summary.objects.get().pk
    assert {place: found[unit, summary] for place, unit in units.items()} == {1: True, 2: True, 3: False, 4: True}
    row = list_batches(project)[0]
    assert (row.done, row.third_tasks, row.votes) == (3, 1, 10)
    assert row.saved_votes == pytest.approx(1 - 10 / 12)
    assert row.saved_tasks == pytest.approx(0)


@pytest.mark.django_db
def test_with_a_fixed_number_somebody_else_is_asked_for_what_one_was_unsure_of(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=3)
    answer_all(project, people[0], always("unsure"))
    answer_all(project, people[1], always("present"))
    answer_all(project, people[2], lambda task, row: "present" if row.unit.position > 1 else "unsure")
    assert models.Sheet.objects.get(after__isnull=False).units.count() == 3
    assert answer_all(project, people[3], always("present")) == 1
    assert models.Sheet.objects.count() == 2, "asked again once, not for ever"


@pytest.mark.django_db(transaction=True)
def test_ten_judges_at_once_get_no_sheet_twice():
    """Real threads on the real database: each sheet goes to one of them, and every one of them gets one."""
    project = judged_project(examples=5)
    open_batch(project, votes=1)
    people = [UserFactory(username=f"at-once-{number}") for number in range(10)]
    got: list[int] = []
    failed: list[Exception] = []

    def take(user: models.User) -> None:
        try:
            task = claim_next(project, user, "judge", now=NOW)
            got.append(task.pk if task else 0)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(set(got)) == 10
    assert 0 not in got


@pytest.mark.django_db
def test_votes_by_names_of_files_and_of_members_stay_apart(people):
    """A pseudonym that reads like a member's name is another person."""
    project = judged_project(examples=1, systems=1)
    stranger = PersonFactory(project=project, key="judge0")
    unit, summary = models.Unit.objects.filter(kind="scu").first(), models.Summary.objects.get()
    JudgementFactory(unit=unit, summary=summary, judge=stranger)
    open_batch(project, votes=2)
    assert answer_all(project, people[0], always("present")) == 1
    assert models.Judgement.objects.filter(unit=unit).count() == 2


# --- what a second reading found ----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_two_judges_agreed_on_is_not_asked_again_by_another_adaptive_batch(people):
    project = judged_project()
    open_batch(project, is_adaptive=True)
    for person in people[:2]:
        answer_all(project, person, always("present"))
    with pytest.raises(CannotBatch, match="votes already"):
        plan_batch(project, BatchOptions(is_adaptive=True))
    more = plan_batch(project, BatchOptions(votes=3))
    assert (more.pairs, more.begun) == (12, 12)
    assert any("some votes already" in words for words in more.warnings)


@pytest.mark.django_db
def test_votes_of_an_excluded_judge_are_asked_for_again_and_not_of_them(people):
    project = judged_project()
    open_batch(project, votes=1)
    answer_all(project, people[0], always("present"))
    exclude(models.Person.objects.get(user=people[0]), "clicks", now=NOW, actor=None)
    open_batch(project, votes=1)
    assert answer_all(project, people[0], always("present")) == 0
    assert "Your lead can tell you more" in explain_empty(project, people[0], "judge").why
    assert answer_all(project, people[1], always("present")) == 4


@pytest.mark.django_db
def test_a_closed_batch_does_not_come_back_and_claims_no_savings(people):
    project = judged_project(examples=1, systems=1)
    batch = open_batch(project, is_adaptive=True)
    claim_next(project, people[0], "judge", now=NOW)
    close_batch(batch, now=NOW, actor=None)
    free_expired(NOW + LEASE + dt.timedelta(minutes=1))
    assert set(models.Task.objects.filter(kind="judge").values_list("state", flat=True)) == {"withdrawn"}
    assert list_batches(project)[0].saved_votes is None


@pytest.mark.django_db
def test_a_text_that_was_corrected_is_not_asked_about(people):
    project = judged_project(examples=1, systems=1)
    open_batch(project, votes=1)
    models.Unit.objects.filter(kind="scu", position=1).update(superseded_at=NOW)
    assert answer_all(project, people[0], always("present")) == 1
    assert models.Judgement.objects.count() == 2
    assert models.Sheet.objects.count() == 1, "and not asked again either"
    open_batch(project, votes=2)
    models.Unit.objects.filter(kind="scu").update(superseded_at=NOW)
    assert claim_next(project, people[1], "judge", now=NOW) is None


@pytest.mark.django_db
def test_two_sheets_of_one_summary_can_ask_again(people):
    project = judged_project(examples=1, systems=1, sentences=20)
    open_batch(project, is_adaptive=True)
    answer_all(project, people[0], always("present"))
    answer_all(project, people[1], always("not_present"))
    assert sorted(models.Sheet.objects.values_list("number", flat=True)) == [1, 2, 3, 4]


@pytest.mark.django_db
def test_time_that_nobody_measured_is_not_zero():
    assert read_answers({"answers": [{"row": 1, "answer": "present"}]}).given[0].seconds is None
