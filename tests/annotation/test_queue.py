"""The queue: leases, tokens, two writers, reservations, skips, and many people at once."""

from __future__ import annotations

import datetime as dt
import threading
import uuid

import pytest
from django.db import connection

from annotation import models
from annotation.services import queue
from annotation.services.drafts import change_draft
from annotation.services.freezing import freeze_plan
from annotation.services.queue import LEASE, CannotSkip, LeaseLost, claim_next, explain_empty, extend_lease
from annotation.services.trashing import move_to_trash
from tests.conftest import NOW
from tests.factories import ProjectFactory, SentenceFactory, TaskFactory, UserFactory
from tests.planning import plannable

pytestmark = pytest.mark.django_db
LATER = NOW + LEASE + dt.timedelta(seconds=1)


@pytest.fixture
def project() -> models.Project:
    project = plannable()
    change_draft(project, share=0, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    return project


def claim(project, user, **given):
    return claim_next(project, user, given.pop("kind", "write"), **{"now": NOW, **given})


def test_next_is_the_hardest_open_sentence_and_the_same_until_it_is_done(project):
    anton, aisha = UserFactory(), UserFactory()
    first = claim(project, anton)
    assert first.sentence.route.rank == 1
    assert (first.state, first.holder, first.leased_until) == ("leased", anton, NOW + LEASE)
    assert claim(project, anton).pk == first.pk
    assert claim(project, aisha).sentence.route.rank == 2


def test_a_lease_that_runs_out_returns_by_itself_and_its_token_holds_no_more(project):
    anton, aisha = UserFactory(), UserFactory()
    task = claim(project, anton)
    token = task.lease_token
    extend_lease(task.pk, anton, token, now=NOW + dt.timedelta(minutes=10))
    assert claim(project, aisha, now=NOW + dt.timedelta(minutes=20)).pk != task.pk
    with pytest.raises(LeaseLost, match="What you wrote is kept"):
        extend_lease(task.pk, anton, token, now=NOW + dt.timedelta(minutes=26))
    judit = UserFactory()
    again = claim(project, judit, now=NOW + dt.timedelta(minutes=26))
    assert (again.pk, again.holder) == (task.pk, judit)
    assert again.lease_token != token
    with pytest.raises(LeaseLost):
        extend_lease(task.pk, anton, token, now=NOW)


def test_signing_out_gives_everything_back(client, project):
    anton = UserFactory()
    client.force_login(anton)
    task = claim(project, anton)
    client.post("/sign-out/")
    task.refresh_from_db()
    assert (task.state, task.holder, task.lease_token) == ("open", None, None)


def test_giving_back_needs_the_token(project):
    anton = UserFactory()
    task = claim(project, anton)
    assert not queue.release(task.pk, anton, uuid.uuid4(), now=NOW)
    assert not queue.release(task.pk, UserFactory(), task.lease_token, now=NOW)
    assert queue.release(task.pk, anton, task.lease_token, now=NOW)
    assert not queue.release(task.pk, anton, task.lease_token, now=NOW)


def test_nobody_writes_the_same_sentence_twice():
    project = plannable(examples=1, sentences=1, slug="two")
    change_draft(project, share=0, assumptions={"writers": 2}, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    anton, aisha = UserFactory(), UserFactory()
    first = claim(project, anton)
    models.Task.objects.filter(pk=first.pk).update(
        state="done", done_at=NOW, done_by=anton, holder=None, lease_token=None, leased_until=None
    )
    assert claim(project, anton) is None
    assert "written the same sentences" in explain_empty(project, anton, "write").why
    assert claim(project, aisha).slot == 2


def test_a_review_goes_to_somebody_else():
    writer, other = UserFactory(), UserFactory()
    sentence = SentenceFactory()
    project = sentence.reference.example.project
    TaskFactory(project=project, sentence=sentence, state="done", done_at=NOW, done_by=writer)
    review = TaskFactory(project=project, sentence=sentence, kind="review")
    assert claim(project, writer, kind="review") is None
    assert claim(project, other, kind="review") == review


def test_reserved_tasks_are_for_one_person(project):
    anton, aisha = UserFactory(), UserFactory()
    assert queue.reserve(models.Task.objects.all(), anton, project=project, now=NOW, actor=None) == 12
    assert claim(project, aisha) is None
    assert "reserved for others" in explain_empty(project, aisha, "write").why
    assert claim(project, anton) is not None
    assert models.AuditEntry.objects.get(action="reserve tasks").detail == {"tasks": 12}
    assert queue.reserve(models.Task.objects.all(), None, project=ProjectFactory(), now=NOW, actor=None) == 0


def test_a_skipped_task_is_not_offered_again(project):
    anton = UserFactory()
    task = claim(project, anton)
    with pytest.raises(CannotSkip):
        queue.skip(task, anton, task.lease_token, "  ", now=NOW)
    queue.skip(task, anton, task.lease_token, "not English", now=NOW)
    assert claim(project, anton).pk != task.pk
    assert claim(project, UserFactory()).pk == task.pk
    with pytest.raises(LeaseLost):
        queue.skip(task, anton, uuid.uuid4(), "again", now=NOW)
    assert models.Skip.objects.get().reason == "not English"


def test_the_trash_is_not_in_the_queue(project):
    for example in project.examples.all():
        move_to_trash(example, now=NOW)
    assert claim(project, UserFactory()) is None


def test_an_empty_queue_says_why(project):
    user = UserFactory()
    assert "when a lead freezes a plan" in explain_empty(ProjectFactory(), user, "write").why
    held = TaskFactory(leased=True)
    assert "comes back after 15 minutes" in explain_empty(held.project, user, "write").why
    done = TaskFactory(state="done", done_at=NOW)
    assert "Everything is done" in explain_empty(done.project, user, "write").why


def test_a_control_share_sees_no_drafts():
    project = plannable(examples=40, sentences=5, slug="arms")
    change_draft(project, share=0, now=NOW)
    freeze_plan(project, after=0, now=NOW)
    arms = [task.arm for task in models.Task.objects.all()]
    assert 8 <= arms.count("none") <= 35  # a tenth of 200
    assert set(arms) == {"after", "none"}


@pytest.mark.django_db(transaction=True)
def test_many_people_claim_at_once(project):
    """Fifty on PostgreSQL, ten on SQLite: each gets a task of their own until there are none, and none is lost."""
    people = [UserFactory() for _ in range(50 if connection.vendor == "postgresql" else 10)]
    models.Task.objects.filter(pk__in=list(models.Task.objects.values_list("pk", flat=True)[10:])).update(
        state="withdrawn"
    )
    extra = len(people) - 10
    sentences = [SentenceFactory(reference__example__project=project) for _ in range(extra)]
    models.Task.objects.bulk_create(
        models.Task(project=project, kind="write", sentence=sentence, created_at=NOW) for sentence in sentences
    )
    start, found, errors = threading.Barrier(len(people)), [], []

    def go(user: models.User) -> None:
        try:
            start.wait(30)
            task = claim(project, user)
            found.append(task.pk if task else None)
        except Exception as error:
            errors.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=[user]) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert None not in found
    assert len(set(found)) == len(people)
    assert models.Task.objects.filter(state="leased").count() == len(people)
