"""The second look: what is kept, edited, merged, dropped and added, and who is credited with what."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest

from annotation import models
from annotation.services.drafts import WritingPolicy, change_draft
from annotation.services.notes import late_texts
from annotation.services.placing import current_units, half_written
from annotation.services.plans import plan_lines, unwritten
from annotation.services.queue import LEASE, CannotSkip, LeaseLost, claim_next, free_expired, open_for, release, skip
from annotation.services.reopening import CannotReopen, list_work, reopen, time_sheet
from annotation.services.second_look import order_second_look, rows_of, sets_of
from annotation.services.writing import newest_draft, progress_of, save_draft, submit
from annotation.writing.checks import WARNINGS
from annotation.writing.content import BadContent, NotReady, read_content
from annotation.writing.deciding import content_of, decisions_of
from annotation.writing.pairing import pair_texts
from tests.conftest import NOW
from tests.factories import LabelFactory, UnitFactory, UserFactory
from tests.planning import freeze, plannable

pytestmark = pytest.mark.django_db

SHUT = "The mill number 0 shut."
PLACE = "Place 0 had a mill."
YEAR = "The mill shut in the year 1900."


def policy(**given) -> WritingPolicy:
    return WritingPolicy(**{"guideline": "fine-1", "arm": "after", "control": 0, "second_look": 1000, **given})


def project_of(*, writers: int = 1, second_look: int = 1000, sentences: int = 1, slug: str = "look") -> models.Project:
    project = plannable(examples=1, sentences=sentences, slug=slug)
    change_draft(project, share=0, assumptions={"writers": writers}, policy=policy(second_look=second_look), now=NOW)
    freeze(project)
    return project


@pytest.fixture
def anton() -> models.User:
    return UserFactory(username="anton")


@pytest.fixture
def aisha() -> models.User:
    return UserFactory(username="aisha")


@pytest.fixture
def lena() -> models.User:
    return UserFactory(username="lena")


def claim(project, user, kind="write") -> models.Task:
    task = claim_next(project, user, kind, now=NOW)
    assert task is not None
    return task


def hand_in(task, user, *texts, **more) -> models.Submission:
    units = [text if isinstance(text, dict) else {"text": text, "overrides": list(WARNINGS)} for text in texts]
    content = read_content({"units": units, **more})
    return submit(task.pk, user, task.lease_token, key=uuid.uuid4(), content=content, now=NOW)


def current(project) -> list[models.Unit]:
    return list(models.Unit.objects.current().filter(kind="scu", example__project=project).order_by("position", "pk"))


def from_origin(text: str, *origins, **more) -> dict:
    return {"text": text, "origins": [list(origin) for origin in origins], "overrides": list(WARNINGS), **more}


# --- one writer -------------------------------------------------------------------------------------------------------


def test_another_person_keeps_edits_drops_and_adds(anton, aisha):
    project = project_of()
    first = hand_in(claim(project, anton), anton, SHUT, PLACE, YEAR)
    kept, edited, _dropped = current(project)
    label = LabelFactory(unit=kept)
    review = claim(project, aisha, "review")
    assert review.sentence == kept.sentence
    hand_in(
        review, aisha,
        from_origin(SHUT, (first.pk, 1)),
        from_origin("Place 0 once had a mill.", (first.pk, 2)),
        "A mill is number 0.",
        dropped=[[first.pk, 3]], comment="Years belong to the fact.", seconds=30,
    )  # fmt: skip
    now = current(project)
    assert [unit.text for unit in now] == [SHUT, "Place 0 once had a mill.", "A mill is number 0."]
    assert (now[0], now[0].labels.get()) == (kept, label)  # the same row, with its labels
    assert (now[1].key, now[1].revision, edited.key) == (edited.key, 2, edited.key)
    assert [unit.author.user for unit in now] == [anton, aisha, aisha]
    assert [one.written.origins for one in now[:2]] == [[[first.pk, 1]], [[first.pk, 2]]]
    assert models.Unit.objects.filter(kind="scu").count() == 5  # nothing is gone
    detail = models.AuditEntry.objects.get(action="submit second look").detail
    assert detail == {"units": 3, "dropped": 1, "seconds": 30.0}


def test_nobody_looks_at_their_own_sentence(anton, aisha):
    project = project_of()
    hand_in(claim(project, anton), anton, SHUT)
    assert claim_next(project, anton, "review", now=NOW) is None
    assert open_for(project, aisha, "review").count() == 1


def test_what_is_left_is_of_the_kind_that_is_done(anton, aisha):
    project = project_of(sentences=2)
    for text in (SHUT, PLACE):
        hand_in(claim(project, anton), anton, text)
    assert progress_of(project, aisha, now=NOW).left == 0
    assert progress_of(project, aisha, "review", now=NOW).left == 2
    review = claim(project, aisha, "review")
    written = models.Submission.objects.get(task__sentence=review.sentence)
    hand_in(review, aisha, from_origin(SHUT, (written.pk, 1)))
    told = progress_of(project, aisha, "review", now=NOW)
    assert (told.left, told.done, told.today) == (1, 1, 1)


def test_every_text_needs_a_decision_and_no_other_is_named(anton, aisha):
    project = project_of()
    first = hand_in(claim(project, anton), anton, SHUT, PLACE)
    review = claim(project, aisha, "review")
    with pytest.raises(NotReady, match="1 are open"):
        hand_in(review, aisha, from_origin(SHUT, (first.pk, 1)))
    with pytest.raises(BadContent, match="nobody handed in"):
        hand_in(review, aisha, from_origin(SHUT, (first.pk, 1), (first.pk, 7)), dropped=[[first.pk, 2]])
    with pytest.raises(NotReady, match="another look"):
        hand_in(review, aisha, from_origin("No", (first.pk, 1)), dropped=[[first.pk, 2]])
    assert [unit.text for unit in current(project)] == [SHUT, PLACE]
    assert models.Submission.objects.filter(task=review).count() == 0


def test_all_dropped_is_a_sentence_without_a_fact(anton, aisha):
    project = project_of()
    first = hand_in(claim(project, anton), anton, SHUT)
    review = claim(project, aisha, "review")
    with pytest.raises(NotReady, match="at least one unit"):
        hand_in(review, aisha, dropped=[[first.pk, 1]])
    hand_in(review, aisha, dropped=[[first.pk, 1]], no_fact=True)
    assert current(project) == []
    assert unwritten(models.Plan.objects.get()) == 0


@pytest.mark.parametrize(("share", "opened"), [(0, 0), (1000, 6)])
def test_a_share_of_the_sentences_is_looked_at_again(anton, share, opened):
    project = project_of(second_look=share, sentences=6)
    for number in range(6):
        hand_in(claim(project, anton), anton, f"The mill number {number} shut once.")
    assert models.Task.objects.filter(kind="review").count() == opened


def test_a_lead_can_ask_for_a_second_look(anton):
    project = project_of(second_look=0)
    task = claim(project, anton)
    hand_in(task, anton, SHUT)
    assert order_second_look(task, now=NOW, actor=anton).kind == "review"
    assert order_second_look(task, now=NOW) is None
    assert models.AuditEntry.objects.filter(action="order second look").count() == 1


# --- two writers ------------------------------------------------------------------------------------------------------


def both(project, anton, aisha):
    one = hand_in(claim(project, anton), anton, SHUT, {"text": YEAR, "extends": 0})
    other = hand_in(claim(project, aisha), aisha, "The mill in the year 1900 shut.", PLACE)
    return one, other


def test_two_sets_become_one_and_the_outcome_keeps_who_wrote_what(anton, aisha, lena):
    project = project_of(writers=2)
    one, other = both(project, anton, aisha)
    review = claim(project, lena, "review")
    rows = rows_of(sets_of(review.sentence))
    shown = [tuple(each.unit.text if each else None for each in (row.one, row.other)) for row in rows]
    assert shown == [(SHUT, None), (YEAR, "The mill in the year 1900 shut."), (None, PLACE)]
    hand_in(
        review, lena,
        from_origin(SHUT, (one.pk, 1)),
        from_origin("The mill shut in 1900.", (one.pk, 2), (other.pk, 1), extends=0),
        from_origin(PLACE, (other.pk, 2)),
    )  # fmt: skip
    units = current(project)
    assert [unit.author.user for unit in units] == [anton, lena, aisha]
    assert units[1].written.origins == [[one.pk, 2], [other.pk, 1]]
    assert units[1].written.extends == units[0]
    assert plan_lines(models.Plan.objects.get()).__next__() == [unit.text for unit in units]


def test_a_second_writer_by_a_later_plan_joins_what_counts_already(anton, aisha, lena):
    project = project_of()
    one = hand_in(claim(project, anton), anton, SHUT)
    change_draft(project, assumptions={"writers": 2}, now=NOW)
    freeze(project)
    other = hand_in(claim(project, aisha), aisha, PLACE)
    assert [unit.text for unit in current(project)] == [SHUT]
    hand_in(claim(project, lena, "review"), lena, from_origin(SHUT, (one.pk, 1)), from_origin(PLACE, (other.pk, 1)))
    assert [unit.text for unit in current(project)] == [SHUT, PLACE]


def test_what_one_of_two_wrote_does_not_wait_for_ever(anton, lena):
    project = project_of(writers=2)
    one = hand_in(claim(project, anton), anton, SHUT)
    assert current(project) == []
    change_draft(project, assumptions={"writers": 1}, now=NOW)
    freeze(project)
    hand_in(claim(project, lena, "review"), lena, from_origin(SHUT, (one.pk, 1)))
    assert [(unit.text, unit.author.user) for unit in current(project)] == [(SHUT, anton)]


# --- the plain form ---------------------------------------------------------------------------------------------------


def test_the_plain_form_says_the_same_as_the_script(anton, aisha):
    project = project_of(writers=2)
    one, other = both(project, anton, aisha)
    rows = rows_of(sets_of(models.Sentence.objects.get()))
    fields = {"row-1": "one", "row-2": "merge", "text-2": "The mill  shut in 1900.", "row-3": "drop", "comment": "Fine"}
    content = content_of(rows, fields, ["A mill is number 0.", " "])
    assert [(unit.text, unit.origins, unit.extends) for unit in content.units] == [
        (SHUT, ((one.pk, 1),), None),
        ("The mill shut in 1900.", ((one.pk, 2), (other.pk, 1)), 0),
        ("A mill is number 0.", (), None),
    ]
    assert (content.dropped, content.comment) == (((other.pk, 2),), "Fine")
    decisions, added = decisions_of(rows, content)
    assert [decision.do for decision in decisions] == ["one", "merge", "drop"]
    assert (decisions[1].text, added) == ("The mill shut in 1900.", ["A mill is number 0."])
    taken = content_of(rows, {"row-1": "one", "row-2": "one", "row-3": "other"}, [])
    assert [(unit.text, unit.extends) for unit in taken.units] == [(SHUT, None), (YEAR, 0), (PLACE, None)]
    assert taken.dropped == ((other.pk, 1),)
    assert [decision.do for decision in decisions_of(rows, content_of(rows, {}, []))[0]] == ["", "", ""]


def test_both_are_credited_for_the_same_words(anton, aisha, lena):
    project = project_of(writers=2)
    one = hand_in(claim(project, anton), anton, SHUT)
    other = hand_in(claim(project, aisha), aisha, "the mill number 0 shut")
    rows = rows_of(sets_of(models.Sentence.objects.get()))
    content = content_of(rows, {"row-1": "one"}, [])
    assert content.units[0].origins == ((one.pk, 1), (other.pk, 1))
    assert content.dropped == ()


def test_pairs_stand_in_the_order_of_the_text():
    one = ["the cat sat", "the dog ran", "it rained"]
    other = ["a bird sang", "the dog ran away", "the cat sat down"]
    assert pair_texts(one, other) == [(0, 2), (1, 1), (2, None), (None, 0)]
    assert pair_texts([], ["a b c"]) == [(None, 0)]


# --- opening again ----------------------------------------------------------------------------------------------------


def test_what_was_handed_in_can_be_opened_again_until_somebody_looks(anton, aisha):
    project = project_of()
    task = claim(project, anton)
    hand_in(task, anton, SHUT, PLACE)
    kept, _gone = current(project)
    again = reopen(task.pk, anton, now=NOW)
    assert (again.state, again.holder, newest_draft(again).content["units"][0]["text"]) == ("leased", anton, SHUT)
    assert open_for(project, aisha, "review").count() == 0
    assert len(current(project)) == 2  # it counts until it is handed in anew
    hand_in(again, anton, SHUT, YEAR)
    assert [unit.text for unit in current(project)] == [SHUT, YEAR]
    assert current(project)[0] == kept
    claim(project, aisha, "review")
    with pytest.raises(CannotReopen, match="Somebody else"):
        reopen(task.pk, anton, now=NOW)


def test_only_ones_own_work_is_opened_again_and_one_at_a_time(anton, aisha):
    project = project_of(sentences=2)
    task = claim(project, anton)
    with pytest.raises(CannotReopen, match="handed in yourself"):
        reopen(task.pk, anton, now=NOW)
    hand_in(task, anton, SHUT)
    with pytest.raises(CannotReopen, match="handed in yourself"):
        reopen(task.pk, aisha, now=NOW)
    other = claim(project, anton)
    reopened = reopen(task.pk, anton, now=NOW)  # the other one is empty and goes back by itself
    assert models.Task.objects.get(pk=other.pk).state == "open"
    release(reopened.pk, anton, reopened.lease_token, now=NOW)
    other = claim(project, anton)
    content = read_content({"units": [{"text": PLACE}]})
    save_draft(other.pk, anton, other.lease_token, base=0, content=content, now=NOW)
    with pytest.raises(CannotReopen, match="on your desk"):
        reopen(task.pk, anton, now=NOW)


@pytest.mark.parametrize("how", ["release", "expire"])
def test_a_reopened_task_that_is_left_stays_as_it_was_handed_in(anton, aisha, how):
    project = project_of()
    task = claim(project, anton)
    handed_in = hand_in(task, anton, SHUT)
    again = reopen(task.pk, anton, now=NOW)
    save_draft(again.pk, anton, again.lease_token, base=newest_draft(again).version, content=read_content({}), now=NOW)
    if how == "release":
        release(again.pk, anton, again.lease_token, now=NOW)
    else:
        free_expired(NOW + LEASE + dt.timedelta(minutes=1))
    task.refresh_from_db()
    assert (task.state, task.done_by, task.done_at, task.holder) == ("done", anton, handed_in.submitted_at, None)
    assert [unit.text for unit in current(project)] == [SHUT]
    assert open_for(project, aisha, "review").count() == 1
    assert claim_next(project, aisha, "write", now=NOW) is None
    with pytest.raises(LeaseLost):
        hand_in(again, anton, PLACE)


def test_a_reopened_task_cannot_be_skipped(anton):
    project = project_of()
    task = claim(project, anton)
    hand_in(task, anton, SHUT)
    again = reopen(task.pk, anton, now=NOW)
    with pytest.raises(CannotSkip, match="Put it back"):
        skip(again, anton, again.lease_token, "no time", now=NOW)
    assert [unit.text for unit in current(project)] == [SHUT]


def test_the_history_tells_what_became_of_ones_work(anton, aisha):
    project = project_of(sentences=2)
    first = hand_in(claim(project, anton), anton, SHUT, seconds=12)
    hand_in(claim(project, anton), anton, no_fact=True)
    review = claim(project, aisha, "review")
    hand_in(review, aisha, from_origin(SHUT, (first.pk, 1)), comment="Good.")
    work, older = list_work(project, anton)
    assert older is None
    assert [(one.texts, one.can_reopen, one.comment) for one in work] == [([], True, ""), ([SHUT], False, "Good.")]
    assert [one.is_review for one in list_work(project, aisha)[0]] == [True]


def test_the_time_sheet_has_a_line_for_everything(anton, aisha):
    project = project_of()
    first = hand_in(claim(project, anton), anton, SHUT, seconds=12.5)
    hand_in(claim(project, aisha, "review"), aisha, from_origin(SHUT, (first.pk, 1)), seconds=5)
    rows = list(time_sheet(project))
    assert [(row[0], row[3], row[8], row[9]) for row in rows] == [
        ("anton", "write", 1, 12.5),
        ("aisha", "review", 1, 5.0),
    ]
    assert [row[0] for row in time_sheet(project, anton)] == ["anton"]


# --- sentences that came with SCUs ------------------------------------------------------------------------------------


def test_what_people_write_here_takes_the_place_of_what_a_sentence_came_with(anton):
    project = plannable(examples=1, sentences=2, slug="anew")
    sentences = list(models.Sentence.objects.order_by("position"))
    for sentence in sentences:
        UnitFactory(
            example=sentence.reference.example, kind="scu", reference=sentence.reference, sentence=sentence,
            text=f"Imported for {sentence.text}",
        )  # fmt: skip
    change_draft(project, share=0, write_again=True, now=NOW)
    freeze(project)
    task = claim(project, anton)
    hand_in(task, anton, SHUT)
    lines = next(plan_lines(models.Plan.objects.get()))
    assert SHUT in lines
    assert f"Imported for {task.sentence.text}" not in lines
    assert len(lines) == 2  # the other sentence has still its own
    assert models.Unit.objects.current().filter(kind="scu").count() == 3  # and nothing is gone


def test_an_example_counts_once_all_its_sentences_are_written(anton):
    project = plannable(examples=2, sentences=2, slug="half")
    change_draft(project, share=0, now=NOW)
    freeze(project)
    first = claim(project, anton)
    hand_in(first, anton, SHUT)
    units = current_units(project, ["scu"])
    example = first.sentence.reference.example_id
    assert half_written(project, units) == {example}
    for number in range(3):
        hand_in(claim(project, anton), anton, f"{PLACE} once more, for the {number}th time")
    assert half_written(project, current_units(project, ["scu"])) == set()


def test_what_came_with_the_corpus_counts_as_it_came():
    project = plannable(examples=1, sentences=2, slug="whole")
    sentence = models.Sentence.objects.first()
    UnitFactory(example=sentence.reference.example, kind="scu", reference=sentence.reference, sentence=sentence)
    assert half_written(project, current_units(project, ["scu"])) == set()


def test_a_late_text_is_news_only_if_it_did_not_count_in_time(anton, aisha):
    project = project_of()
    task = claim(project, anton)
    written = read_content({"units": [{"text": SHUT}]})
    save_draft(task.pk, anton, task.lease_token, base=0, content=written, now=NOW)
    release(task.pk, anton, task.lease_token, now=NOW)
    again = claim(project, aisha)
    assert again.pk == task.pk
    save_draft(task.pk, anton, task.lease_token, base=1, content=written, now=NOW)
    assert late_texts(project) == [], "the same text is kept in time"
    more = read_content({"units": [{"text": SHUT}, {"text": PLACE}]})
    save_draft(task.pk, anton, task.lease_token, base=1, content=more, now=NOW)
    assert [late.texts for late in late_texts(project)] == [[SHUT, PLACE]]
