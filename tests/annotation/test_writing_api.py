"""Writing through the API: the same queue, leases and drafts as on the pages, for programs."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import models
from annotation.api.writing import ContentSerializer, RejectedSerializer, WrittenTextSerializer
from annotation.services.accounts import create_token
from annotation.services.drafts import WritingPolicy, change_draft
from annotation.services.queue import LEASE, reserve
from annotation.services.reopening import reopen
from annotation.writing.content import Content, WrittenText, as_json
from tests.conftest import NOW
from tests.factories import MembershipFactory, SheetFactory, TaskFactory, UnitFactory
from tests.planning import freeze, plannable

pytestmark = pytest.mark.django_db

SHUT = "The mill number 0 shut."
PLACE = "Place 0 had a mill."
EMPTY = as_json(Content())
BODIES = {
    "api-draft": {"version": 0, "content": {}},
    "api-submit": {"key": str(uuid.uuid4()), "content": {}},
    "api-beat": {},
    "api-release": {},
    "api-skip": {"reason": "no English"},
}


def project_of(
    *, writers: int = 1, second_look: int = 0, sentences: int = 2, arm: str = "after", slug: str = "plan"
) -> models.Project:
    project = plannable(examples=1, sentences=sentences, slug=slug)
    policy = WritingPolicy(guideline="single-1", arm=arm, control=0, second_look=second_look)
    change_draft(project, share=0, assumptions={"writers": writers}, policy=policy, now=NOW)
    freeze(project)
    return project


@pytest.fixture
def project() -> models.Project:
    return project_of()


class Writer:
    """Somebody who works by a program."""

    def __init__(self, project: models.Project, name: str, role: str = "annotator") -> None:
        self.user = MembershipFactory(project=project, user__username=name, role=role).user
        self.slug, self.client = project.slug, Client()
        self.client.force_login(self.user)

    def send(self, name: str, task: int | None = None, **body):
        arguments = [self.slug] if task is None else [self.slug, task]
        call = self.client.put if name == "api-draft" else self.client.post
        return call(reverse(name, args=arguments), body, content_type="application/json")

    def claim(self, kind: str = "write") -> dict:
        answer = self.send("api-claim", kind=kind)
        assert (answer.status_code, answer.json()["why"]) == (200, ""), answer.text
        return answer.json()["task"]

    def look(self, task: int):
        return self.client.get(reverse("api-task", args=[self.slug, task]))

    def draft(self, task: dict, *texts: str, version: int = 0):
        content = {"units": [{"text": text} for text in texts]}
        return self.send("api-draft", task["id"], token=task["token"], version=version, content=content)

    def hand_in(self, task: dict, *units: str | dict, key: uuid.UUID | None = None, **more):
        content = {"units": [unit if isinstance(unit, dict) else {"text": unit} for unit in units], **more}
        return self.send("api-submit", task["id"], token=task["token"], key=str(key or uuid.uuid4()), content=content)


@pytest.fixture
def anton(project) -> Writer:
    return Writer(project, "anton")


@pytest.fixture
def aisha(project) -> Writer:
    return Writer(project, "aisha")


def run_out() -> None:
    """All leases, at once."""
    models.Task.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(seconds=1))


# --- the walk ---------------------------------------------------------------------------------------------------------


def test_the_whole_walk(project, anton):
    task = anton.claim()
    assert anton.claim() == task  # what is on the desk stays there
    saved = anton.draft(task, "The mill")
    assert (saved.status_code, saved.json()) == (200, {"state": "saved", "version": 1, "holds": True})
    again = anton.look(task["id"]).json()
    assert (again["version"], [unit["text"] for unit in again["content"]["units"]]) == (1, ["The mill"])
    assert anton.draft(task, SHUT, version=1).json()["version"] == 2
    done = anton.hand_in(task, SHUT, {"text": PLACE, "extends": 0, "overrides": ["near"]}, seconds=40)
    assert (done.status_code, done.json()["units"]) == (201, 2)
    submission = models.Submission.objects.get(pk=done.json()["submission"])
    assert (submission.author, submission.seconds) == (anton.user, 40)
    units = models.Unit.objects.filter(kind="scu", sentence=task["sentence"]["id"]).order_by("position")
    assert [(unit.text, unit.guideline_version) for unit in units] == [(SHUT, "single-1"), (PLACE, "single-1")]
    following = anton.claim()
    assert following["id"] != task["id"]
    assert (following["version"], following["content"]) == (0, EMPTY)


def test_a_task_tells_what_a_writer_needs(project, anton):
    task = anton.claim()
    row = models.Task.objects.get(pk=task["id"])
    sentence = row.sentence
    assert task == {
        "id": row.pk, "kind": "write", "state": "leased", "token": str(row.lease_token),
        "leased_until": row.leased_until.isoformat().replace("+00:00", "Z"), "arm": "after", "guideline": "single-1",
        "sentence": {"id": sentence.pk, "text": sentence.text, "start": sentence.start, "end": sentence.end},
        "reference": sentence.reference.text, "document": sentence.reference.example.document, "example": "e0",
        "version": 0, "content": EMPTY,
        "drafts": [{"id": unit.pk, "text": unit.text} for unit in models.Unit.objects.filter(sentence=sentence)],
        "sets": [],
    }  # fmt: skip
    assert task["reference"][task["sentence"]["start"] : task["sentence"]["end"]] == task["sentence"]["text"]
    assert anton.look(row.pk).json() == task


def test_a_program_works_with_a_token_alone(project, anton):
    client = Client(headers={"Authorization": f"Bearer {create_token(anton.user, name='t', now=timezone.now())}"})
    answer = client.generic("POST", reverse("api-claim", args=[project.slug]))  # without a body: something to write
    assert (answer.status_code, answer.json()["task"]["kind"]) == (200, "write")


def test_whoever_is_to_see_no_drafts_gets_none(aisha):
    project = project_of(arm="none", slug="none")
    task = Writer(project, "ben").claim()
    assert (task["arm"], task["drafts"]) == ("none", [])
    assert models.Unit.objects.filter(kind="stu", sentence=task["sentence"]["id"]).exists()


def test_a_task_that_was_opened_again_holds_what_was_handed_in(project, anton):
    task = anton.claim()
    anton.hand_in(task, SHUT)
    reopen(task["id"], anton.user, now=timezone.now())
    again = anton.claim()
    assert (again["id"], [unit["text"] for unit in again["content"]["units"]]) == (task["id"], [SHUT])
    assert again["token"] != task["token"]
    assert anton.hand_in(again, PLACE).status_code == 201


# --- an empty queue ---------------------------------------------------------------------------------------------------


def test_an_empty_queue_says_why(project, anton):
    nothing = anton.send("api-claim", kind="review")
    assert nothing.status_code == 200
    assert nothing.json()["task"] is None
    assert "Nothing to look at yet" in nothing.json()["why"]
    reserve(models.Task.objects.all(), MembershipFactory().user, project=project, now=NOW, actor=None)
    assert "reserved for others" in anton.send("api-claim").json()["why"]
    reserve(models.Task.objects.all(), None, project=project, now=NOW, actor=None)
    for _ in range(2):
        assert anton.hand_in(anton.claim(), f"The mill {uuid.uuid4().hex} of the place shut.").status_code == 201
    assert anton.send("api-claim").json() == {"task": None, "why": "Everything is done. More may come with a new plan."}


def test_a_project_without_a_plan_says_so():
    plain = plannable(slug="plain")
    assert "when a lead freezes a plan" in Writer(plain, "ben").send("api-claim").json()["why"]


# --- drafts and lost leases -------------------------------------------------------------------------------------------


def test_a_late_save_with_an_old_token_is_kept_beside(project, anton, aisha):
    old = anton.claim()
    run_out()
    new = aisha.claim()
    assert (new["id"], new["token"] == old["token"]) == (old["id"], False)
    assert aisha.draft(new, "by Aisha").json()["state"] == "saved"
    late = anton.draft(old, "by Anton, late")
    assert (late.status_code, late.json()) == (200, {"state": "late", "version": 1, "holds": False})
    kept = models.DraftVersion.objects.get(is_late=True)
    assert (kept.author, kept.content["units"][0]["text"]) == (anton.user, "by Anton, late")
    assert aisha.look(new["id"]).json()["content"]["units"][0]["text"] == "by Aisha"


def test_a_program_that_has_not_seen_the_newest_draft_overwrites_nothing(project, anton):
    task = anton.claim()
    anton.draft(task, "first")
    assert anton.draft(task, "from elsewhere").json() == {"state": "late", "version": 1, "holds": True}
    assert anton.look(task["id"]).json()["content"]["units"][0]["text"] == "first"


def test_nobody_sees_what_another_has_under_work(project, anton, aisha):
    task = anton.claim()
    anton.draft(task, "a secret of Anton")
    assert anton.send("api-release", task["id"], token=task["token"]).json() == {"released": True}
    answer = aisha.send("api-claim")
    assert answer.json()["task"]["id"] == task["id"]
    assert (answer.json()["task"]["content"], answer.json()["task"]["version"]) == (EMPTY, 1)
    assert "secret" not in answer.text + aisha.look(task["id"]).text
    assert anton.look(task["id"]).status_code == 409


def test_two_writers_see_nothing_of_each_other(project):
    double = project_of(writers=2, sentences=1, slug="double")
    ben, carla = Writer(double, "ben"), Writer(double, "carla")
    assert ben.hand_in(ben.claim(), SHUT).status_code == 201
    task = carla.claim()
    assert task["sets"] == []
    assert SHUT not in json.dumps({**task, "reference": "", "document": ""})
    assert carla.hand_in(task, SHUT).status_code == 201  # not even as a duplicate


@pytest.mark.parametrize("name", ["api-beat", "api-submit", "api-skip"])
def test_what_is_not_yours_any_more_is_a_conflict(project, anton, aisha, name):
    task = anton.claim()
    run_out()
    aisha.claim()
    body = BODIES[name] | ({"content": {"units": [{"text": SHUT}]}} if name == "api-submit" else {})
    answer = anton.send(name, task["id"], token=task["token"], **body)
    assert (answer.status_code, "not yours any more" in answer.json()["detail"]) == (409, True)
    assert (models.Submission.objects.count(), models.Skip.objects.count()) == (0, 0)
    assert models.Task.objects.get(pk=task["id"]).holder == aisha.user


def test_what_comes_too_late_to_be_handed_in_is_kept_as_a_draft(project, anton, aisha):
    task = anton.claim()
    run_out()
    aisha.claim()
    assert anton.hand_in(task, SHUT).status_code == 409
    kept = models.DraftVersion.objects.get()
    assert (kept.author, kept.is_late, kept.content["units"][0]["text"]) == (anton.user, True, SHUT)


def test_a_task_of_nobody_is_not_yours(project, anton):
    task = models.Task.objects.first()
    answer = anton.look(task.pk)
    assert (answer.status_code, "not yours now" in answer.json()["detail"]) == (409, True)
    assert anton.send("api-release", task.pk, token=str(uuid.uuid4())).json() == {"released": False}


def test_a_beat_lengthens_the_lease(project, anton):
    task = anton.claim()
    models.Task.objects.filter(pk=task["id"]).update(leased_until=timezone.now() + timedelta(seconds=9))
    answer = anton.send("api-beat", task["id"], token=task["token"])
    until = models.Task.objects.get(pk=task["id"]).leased_until
    assert (answer.status_code, answer.json()) == (200, {"until": until.isoformat().replace("+00:00", "Z")})
    assert until > timezone.now() + LEASE - timedelta(minutes=1)


def test_a_skip_needs_a_reason_and_is_for_good(project, anton):
    task = anton.claim()
    refused = anton.send("api-skip", task["id"], token=task["token"], reason="  ")
    assert (refused.status_code, refused.json()) == (400, {"reason": ["Say why, in a word or two."]})
    assert anton.look(task["id"]).status_code == 200
    answer = anton.send("api-skip", task["id"], token=task["token"], reason="no  English")
    assert (answer.status_code, answer.json()) == (200, {"skipped": True})
    assert models.Skip.objects.get().reason == "no English"
    assert anton.claim()["id"] != task["id"]


# --- handing in -------------------------------------------------------------------------------------------------------


def test_the_same_key_twice_is_one_submission(project, anton):
    task, key = anton.claim(), uuid.uuid4()
    first, second = anton.hand_in(task, SHUT, key=key), anton.hand_in(task, SHUT, key=key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json() == {"submission": models.Submission.objects.get().pk, "units": 1}
    assert models.Unit.objects.filter(kind="scu").count() == 1
    assert models.DraftVersion.objects.count() == 0


def test_a_key_is_for_one_task(project, anton, aisha):
    key = uuid.uuid4()
    anton.hand_in(anton.claim(), SHUT, key=key)
    task = anton.claim()
    for writer in (anton, aisha):
        answer = writer.hand_in(task, PLACE, key=key)
        assert (answer.status_code, set(answer.json())) == (400, {"content"})
    assert anton.hand_in(task, PLACE).status_code == 201


def test_what_is_not_ready_comes_back_with_findings(project, anton):
    task = anton.claim()
    nothing = anton.hand_in(task)
    assert (nothing.status_code, nothing.json()["findings"]) == (422, {})
    assert "at least one unit" in nothing.json()["detail"]
    answer = anton.hand_in(task, SHUT, " ", "It shut in the year", SHUT)
    assert answer.status_code == 422
    assert answer.json() == {
        "detail": "Some units need another look.",
        "findings": {
            "0": [{"check": "duplicate", "level": "error", "twin": SHUT, "words": []}],
            "1": [{"check": "pronoun", "level": "warning", "twin": "", "words": ["it"]}],
            "2": [{"check": "duplicate", "level": "error", "twin": SHUT, "words": []}],
        },
    }
    assert (models.Submission.objects.count(), anton.look(task["id"]).status_code) == (0, 200)


def test_a_sentence_without_a_fact(project, anton):
    answer = anton.hand_in(anton.claim(), no_fact=True)
    assert (answer.status_code, answer.json()["units"]) == (201, 0)


def test_a_draft_of_the_machine_is_named_by_its_id(project, anton):
    task = anton.claim()
    foreign = UnitFactory(kind="stu")
    refused = anton.hand_in(task, {"text": SHUT, "draft": foreign.pk})
    assert (refused.status_code, refused.json()) == (400, {"content": ["A draft of another text was named."]})
    draft = task["drafts"][0]
    assert anton.hand_in(task, {"text": draft["text"], "draft": draft["id"]}).status_code == 201
    assert models.Unit.objects.get(kind="scu").provenance == "accepted"


def test_whoever_writes_can_name_no_text_of_others(project, anton):
    task = anton.claim()
    for answer in (
        anton.hand_in(task, {"text": SHUT, "origins": [[1, 1]]}),
        anton.hand_in(task, SHUT, dropped=[[1, 1]]),
    ):
        assert (answer.status_code, set(answer.json())) == (400, {"content"})
    assert models.Submission.objects.count() == 0


# --- the second look --------------------------------------------------------------------------------------------------


def test_a_second_look_through_the_api():
    project = project_of(writers=2, sentences=1, slug="look")
    ben, carla, lena = (Writer(project, name) for name in ("ben", "carla", "lena"))
    long = "The mill shut in the year 1900."
    one = ben.hand_in(ben.claim(), SHUT, " ", {"text": long, "extends": 0, "overrides": ["near"]}).json()["submission"]
    other = carla.hand_in(carla.claim(), no_fact=True).json()["submission"]
    assert "not for you" in ben.send("api-claim", kind="review").json()["why"]
    task = lena.claim("review")
    assert (task["kind"], task["arm"], task["drafts"], task["content"]) == ("review", None, [], EMPTY)
    assert task["sets"] == [
        {
            "submission": one,
            "no_fact": False,
            "units": [
                {"place": 1, "text": SHUT, "overrides": [], "extends": None},
                {"place": 2, "text": long, "overrides": ["near"], "extends": 1},
            ],
        },
        {"submission": other, "no_fact": True, "units": []},
    ]
    assert not {"ben", "carla"} & set(json.dumps(task).replace('"', " ").split())
    open_text = lena.hand_in(task, {"text": SHUT, "origins": [[one, 1]]})
    assert (open_text.status_code, open_text.json()) == (
        422, {"detail": "Decide on every text first: 1 are open.", "findings": {}},
    )  # fmt: skip
    unknown = lena.hand_in(task, {"text": SHUT, "origins": [[one, 9]]})
    assert (unknown.status_code, set(unknown.json())) == (400, {"content"})
    lena.draft(task, SHUT)
    assert lena.look(task["id"]).json()["version"] == 1
    done = lena.hand_in(task, {"text": SHUT, "origins": [[one, 1]]}, dropped=[[one, 2]], comment="One fact is enough.")
    assert (done.status_code, done.json()["units"]) == (201, 1)
    unit = models.Unit.objects.get(kind="scu")
    assert (unit.text, unit.author.user) == (SHUT, ben.user)
    assert lena.send("api-claim", kind="review").json()["task"] is None


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_task_of_another_project_is_not_there(project, anton, name):
    foreign = Writer(project_of(slug="foreign"), "ben").claim()
    body = {**BODIES[name], "token": foreign["token"]}
    assert anton.send(name, foreign["id"], **body).status_code == 404
    assert anton.look(foreign["id"]).status_code == 404
    assert models.Task.objects.get(pk=foreign["id"]).state == "leased"
    assert not models.DraftVersion.objects.exists()


def test_a_task_of_judging_and_a_number_of_nothing_are_not_there(project, anton):
    summary = models.Summary.objects.first()
    sheet = SheetFactory(batch__project=project, summary=summary)
    judging = TaskFactory(project=project, kind="judge", sentence=None, summary=summary, sheet=sheet)
    assert [anton.look(number).status_code for number in (judging.pk, 10**25, 0)] == [404] * 3
    assert anton.send("api-claim", kind="judge").status_code == 400


@pytest.mark.parametrize("role", ["viewer", "lead", "adjudicator"])
def test_a_viewer_is_refused_and_those_who_write_are_not(project, role):
    somebody = Writer(project, "somebody", role)
    refused = role == "viewer"
    assert somebody.send("api-claim").status_code == (403 if refused else 200)
    task = models.Task.objects.order_by("-state").first()
    answers = [somebody.send(name, task.pk, token=str(uuid.uuid4()), **body) for name, body in BODIES.items()]
    assert all((answer.status_code == 403) == refused for answer in [*answers, somebody.look(task.pk)])


@pytest.mark.parametrize("name", ["api-claim", *sorted(BODIES)])
def test_unknown_fields_are_refused(project, anton, name):
    task = anton.claim()
    where = {} if name == "api-claim" else {"task": task["id"], "token": task["token"], **BODIES[name]}
    answer = anton.send(name, **where, user="aisha")
    assert (answer.status_code, answer.json()) == (400, {"user": ["This field is not known here."]})
    assert anton.client.get(reverse("api-task", args=["plan", task["id"]]) + "?as=aisha").status_code == 400


@pytest.mark.parametrize(
    "content",
    [
        None, [], "x", {"units": "x"}, {"units": [{"text": 1}]}, {"units": [{"text": "x" * 3000}]},
        {"units": [{"text": "x", "extends": 7}]}, {"units": [{"text": "x"}] * 101}, {"unit": []}, {"nofact": True},
        {"units": [{"text": "x", "overides": []}]}, {"rejected": [{"unit": 1, "reason": "other", "why": "x"}]},
        {"units": [{"text": "x", "overrides": ["a\0"]}]}, {"units": [{"text": "x", "shown": ["\ud800"]}]},
        {"units": [{"text": "x", "spans": [[1, 2]] * 70_000}]}, {"seconds": 10**9},
    ],
    ids=range(16),
)  # fmt: skip
def test_content_that_cannot_be_is_refused(project, anton, content):
    task = anton.claim()
    body = {"token": task["token"], "content": content}
    for answer in (
        anton.send("api-draft", task["id"], version=0, **body),
        anton.send("api-submit", task["id"], key=str(uuid.uuid4()), **body),
    ):
        assert (answer.status_code, set(answer.json())) == (400, {"content"})
    assert not models.DraftVersion.objects.exists()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("api-draft", {"token": "x"}), ("api-draft", {"version": -1}), ("api-draft", {"version": "new"}),
        ("api-submit", {"key": "1"}), ("api-submit", {"key": None}), ("api-submit", {"token": None}),
        ("api-beat", {"token": 7.5}), ("api-release", {"token": ""}), ("api-skip", {"reason": "x" * 301}),
        ("api-skip", {"reason": "a\0"}),
    ],
)  # fmt: skip
def test_odd_bodies_are_refused(project, anton, name, wrong):
    task = anton.claim()
    answer = anton.send(name, task["id"], **{"token": task["token"], **BODIES[name], **wrong})
    assert (answer.status_code, set(answer.json())) == (400, set(wrong))
    assert anton.look(task["id"]).status_code == 200


def test_bodies_are_json_and_bounded(project, anton):
    task = anton.claim()
    address = reverse("api-draft", args=["plan", task["id"]])
    assert anton.client.put(address, "token=x", content_type="application/x-www-form-urlencoded").status_code == 415
    assert anton.client.put(address, "[1]", content_type="application/json").status_code == 400
    assert anton.client.put(address, "{", content_type="application/json").status_code == 400
    assert anton.client.put(address, f'"{"x" * 3_000_000}"', content_type="application/json").status_code == 413


def test_the_schema_names_what_content_holds():
    shape = as_json(Content(units=(WrittenText(""),), rejected=((0, "other"),)))
    assert set(ContentSerializer().fields) == set(shape)
    assert set(WrittenTextSerializer().fields) == set(shape["units"][0])
    assert set(RejectedSerializer().fields) == set(shape["rejected"][0])
