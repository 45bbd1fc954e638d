"""Drafts and submissions: everything is kept, nothing is overwritten, the same twice is once."""

from __future__ import annotations

import uuid

import pytest

from annotation import models
from annotation.services.drafts import change_draft
from annotation.services.freezing import freeze_plan
from annotation.services.queue import LeaseLost, claim_next, release
from annotation.services.writing import flag, newest_draft, save_draft, submit
from annotation.writing.content import BadContent, NotReady, as_json, read_content, require_ready
from tests.conftest import NOW
from tests.factories import PersonFactory, UnitFactory, UserFactory
from tests.planning import plannable

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> models.Project:
    project = plannable()
    change_draft(project, share=0, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    return project


@pytest.fixture
def anton() -> models.User:
    return UserFactory(username="anton")


@pytest.fixture
def task(project, anton) -> models.Task:
    return claim_next(project, anton, "write", now=NOW)


def content(*texts: str, **more):
    return read_content({"units": [{"text": text} for text in texts], **more})


def save(task, user, *texts, base=0, token=None):
    return save_draft(task.pk, user, token or task.lease_token, base=base, content=content(*texts), now=NOW)


def hand_in(task, user, given, *, key=None, token=None):
    return submit(task.pk, user, token or task.lease_token, key=key or uuid.uuid4(), content=given, now=NOW)


GOOD = "The mill number 0 shut."
OTHER = "Place 0 had a mill."


def test_every_version_is_kept(task, anton):
    assert save(task, anton, "The").version == 1
    assert save(task, anton, "The mill", base=1).version == 2
    assert save(task, anton, "The mill", base=2).version == 2  # nothing new
    texts = [row.content["units"][0]["text"] for row in models.DraftVersion.objects.order_by("version")]
    assert texts == ["The", "The mill"]


def test_a_second_tab_overwrites_nothing(task, anton):
    save(task, anton, "from the first tab")
    late = save(task, anton, "from the second tab", base=0)
    assert (late.state, late.version, late.content["units"][0]["text"]) == ("late", 1, "from the first tab")
    assert newest_draft(task).content["units"][0]["text"] == "from the first tab"
    assert models.DraftVersion.objects.filter(is_late=True).get().content["units"][0]["text"] == "from the second tab"
    assert save(task, anton, "on from the first", base=1).state == "saved"


def test_a_late_save_with_an_old_token_is_kept_for_the_lead(project, task, anton):
    old = task.lease_token
    release(task.pk, anton, old, now=NOW)
    aisha = UserFactory()
    again = claim_next(project, aisha, "write", now=NOW)
    assert again.pk == task.pk
    save(again, aisha, "by Aisha")
    late = save(task, anton, "by Anton, late", base=0, token=old)
    assert late.state == "late"
    assert newest_draft(task).author == aisha
    assert models.DraftVersion.objects.get(is_late=True).author == anton
    with pytest.raises(LeaseLost, match="kept for your lead"):
        hand_in(task, anton, content(GOOD), token=old)
    assert models.Unit.objects.filter(kind="scu").count() == 0


def test_handing_in_makes_units_with_their_history(task, anton, project):
    stu = models.Unit.objects.get(kind="stu", sentence=task.sentence)
    given = read_content(
        {
            "units": [
                {"text": GOOD, "spans": [[0, 8]], "seconds": 12.34},
                {"text": stu.text, "draft": stu.pk},
                {
                    "text": f"{stu.text} Number 0 it was",
                    "draft": stu.pk,
                    "extends": 1,
                    "overrides": ["long", "foreign"],
                },
                {"text": "  "},
            ],
            "seconds": 40,
        }
    )
    submission = hand_in(task, anton, given)
    units = list(models.Unit.objects.filter(kind="scu").order_by("position"))
    assert [unit.provenance for unit in units] == ["written", "accepted", "edited"]
    assert [unit.guideline_version for unit in units] == ["fine-1"] * 3
    assert {unit.author.user for unit in units} == {anton}
    assert {unit.sentence for unit in units} == {task.sentence}
    assert units[0].spans == [[0, 8]]
    assert (units[0].written.seconds, units[1].written.source, units[2].written.extends) == (12.3, stu, units[1])
    assert units[2].written.overrides == ["long", "foreign"]
    task.refresh_from_db()
    assert (task.state, task.done_by, task.holder, submission.seconds) == ("done", anton, None, 40)
    assert models.AuditEntry.objects.get(action="submit task").detail == {"units": 3, "seconds": 40.0}
    assert models.PlanDraft.objects.get(project=project).basis == ""


def test_the_same_key_twice_is_one_submission(task, anton):
    key = uuid.uuid4()
    first = hand_in(task, anton, content(GOOD), key=key)
    assert hand_in(task, anton, content(GOOD), key=key) == first
    assert models.Unit.objects.filter(kind="scu").count() == 1
    with pytest.raises(LeaseLost):
        hand_in(task, anton, content(GOOD))


def test_a_key_of_another_task_and_texts_of_others_are_refused(project, task, anton):
    key = uuid.uuid4()
    hand_in(task, anton, content(GOOD), key=key)
    other = claim_next(project, anton, "write", now=NOW)
    with pytest.raises(BadContent, match="something else"):
        hand_in(other, anton, content(OTHER), key=key)
    with pytest.raises(BadContent, match="texts of others"):
        hand_in(other, anton, read_content({"units": [{"text": OTHER, "origins": [[1, 1]]}]}))


def test_halves_of_letters_are_no_text():
    assert read_content({"units": [{"text": "The \ud800mill shut"}]}).units[0].text == "The mill shut"


def test_what_is_not_ready_stays_with_the_writer(task, anton):
    with pytest.raises(NotReady, match="at least one unit"):
        hand_in(task, anton, content())
    with pytest.raises(NotReady, match="there is a fact"):
        hand_in(task, anton, content(GOOD, no_fact=True))
    with pytest.raises(NotReady, match="another look") as caught:
        hand_in(task, anton, content(GOOD, "Too short", GOOD))
    assert [(place, finding.check) for place, own in caught.value.findings.items() for finding in own] == [
        (0, "duplicate"), (1, "short"), (2, "duplicate"),
    ]  # fmt: skip
    task.refresh_from_db()
    assert (task.state, models.Submission.objects.count()) == ("leased", 0)


def test_warnings_are_overridden_errors_are_not(task, anton):
    warned = {"text": "The mill and the place shut in 1900", "overrides": []}
    with pytest.raises(NotReady):
        hand_in(task, anton, read_content({"units": [warned]}))
    with pytest.raises(NotReady):
        hand_in(task, anton, read_content({"units": [{"text": "No", "overrides": ["short"]}]}))
    hand_in(task, anton, read_content({"units": [{**warned, "overrides": ["and"]}]}))
    assert models.WrittenUnit.objects.get().overrides == ["and"]


def test_a_sentence_without_a_fact_is_done_without_units(task, anton):
    hand_in(task, anton, content(no_fact=True))
    task.refresh_from_db()
    assert (task.state, models.Unit.objects.filter(kind="scu").count()) == ("done", 0)


def test_a_unit_that_another_sentence_has_is_a_duplicate(task, anton):
    sentence = models.Sentence.objects.filter(reference=task.sentence.reference).exclude(pk=task.sentence_id).first()
    UnitFactory(
        example=sentence.reference.example,
        reference=sentence.reference,
        sentence=sentence,
        text="the mill number 0 shut",
    )
    with pytest.raises(NotReady):
        hand_in(task, anton, content(GOOD))


def test_two_writers_wait_for_the_second_look(anton):
    project = plannable(examples=1, sentences=1, slug="two")
    change_draft(project, share=0, assumptions={"writers": 2}, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    hand_in(claim_next(project, anton, "write", now=NOW), anton, content(GOOD))
    assert not models.Task.objects.filter(kind="review").exists()
    aisha = UserFactory()
    hand_in(claim_next(project, aisha, "write", now=NOW), aisha, content(OTHER))
    assert models.Unit.objects.filter(kind="scu").count() == 0
    review = models.Task.objects.get(kind="review")
    assert (review.state, review.sentence, models.Submission.objects.count()) == (
        "open", models.Sentence.objects.get(), 2,
    )  # fmt: skip


def test_a_draft_of_another_text_is_refused(task, anton):
    foreign = plannable(slug="foreign")
    stu = models.Unit.objects.filter(kind="stu", example__project=foreign).first()
    with pytest.raises(BadContent):
        hand_in(task, anton, read_content({"units": [{"text": GOOD, "draft": stu.pk}]}))
    assert models.Submission.objects.count() == 0


def test_a_pseudonym_that_reads_like_a_user_is_somebody_else(project, task, anton):
    PersonFactory(project=project, key="anton")
    hand_in(task, anton, content(GOOD))
    author = models.Unit.objects.get(kind="scu").author
    assert (author.user, author.key) == (anton, f"anton ({anton.pk})")


def test_a_flag_is_kept_for_the_lead(task, anton):
    flag(task, anton, " Is this  English? ", now=NOW)
    assert models.Flag.objects.get().note == "Is this English?"
    with pytest.raises(BadContent):
        flag(task, anton, " ", now=NOW)


@pytest.mark.parametrize(
    "given",
    [
        [], {"units": "x"}, {"units": [1]}, {"units": [{"text": 1}]}, {"units": [{"text": "x" * 3000}]},
        {"units": [{"text": "x"}] * 101}, {"units": [{"text": "x", "spans": [[2, 1]]}]},
        {"units": [{"text": "x", "extends": 5}]}, {"units": [{"text": "x", "seconds": -1}]},
        {"units": [{"text": "x", "seconds": float("nan")}]}, {"units": [{"text": "x", "draft": "1"}]},
        {"rejected": [{"unit": 1, "reason": "ugly"}]}, {"units": [{"text": "x", "overrides": [1]}]},
        {"units": [{"text": "x", "extends": True}]}, {"seconds": "1"}, {"units": [{"text": "x", "shown": ["a\0b"]}]},
        {"units": [{"text": "x", "origins": [1]}]}, {"dropped": "x"}, {"comment": 1}, {"comment": "x" * 3000},
    ],
)  # fmt: skip
def test_what_no_page_sends_is_refused(given):
    with pytest.raises(BadContent):
        read_content(given)


def test_content_comes_back_as_it_was_stored():
    given = {
        "units": [
            {
                "text": "a\u0000b\nc",
                "draft": 3,
                "spans": [[0, 4]],
                "extends": None,
                "overrides": ["and"],
                "seconds": 1.5,
            }
        ],
        "no_fact": False,
        "rejected": [{"unit": 4, "reason": "fragment"}],
        "seconds": 9.0,
    }
    read = read_content(given)
    assert read.units[0].text == "a b c"
    assert read_content(as_json(read)) == read


def test_a_unit_and_what_it_extends_are_alike_on_purpose():
    """Rule 5 of the guidelines asks for it; without the mark they are nearly the same."""
    one, two = "The storm has injured many people.", "The storm has injured many old people."
    texts = [{"text": one}, {"text": two, "extends": 0}, {"text": f"{two[:-1]} here.", "extends": 0}]
    reference = "The storm has injured many old people here."
    require_ready(read_content({"units": texts}), [], reference)
    with pytest.raises(NotReady):
        require_ready(read_content({"units": [*texts[:1], {"text": two}]}), [], reference)
    circle = read_content({"units": [{"text": one, "extends": 1}, {"text": two, "extends": 0}]})
    require_ready(circle, [], reference)
