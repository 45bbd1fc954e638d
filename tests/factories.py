"""One factory per model, for tests that need a row without the story around it."""

from __future__ import annotations

import datetime as dt
import uuid

import factory
from factory.django import DjangoModelFactory

from annotation import models
from scoring import models as scoring
from tests.conftest import NOW


class UserFactory(DjangoModelFactory):
    class Meta:
        model = models.User

    username = factory.Sequence("user{}".format)


class ProjectFactory(DjangoModelFactory):
    class Meta:
        model = models.Project

    name = factory.Sequence("Project {}".format)
    slug = factory.Sequence("project-{}".format)
    created_at = NOW


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = models.Membership

    project = factory.SubFactory(ProjectFactory)
    user = factory.SubFactory(UserFactory)
    role = models.Role.ANNOTATOR
    joined_at = NOW


class InvitationFactory(DjangoModelFactory):
    class Meta:
        model = models.Invitation

    project = factory.SubFactory(ProjectFactory)
    role = models.Role.ANNOTATOR
    token_hash = factory.Sequence("{:064d}".format)
    created_by = factory.SubFactory(UserFactory)
    created_at = NOW
    expires_at = NOW + dt.timedelta(days=7)


class PersonFactory(DjangoModelFactory):
    class Meta:
        model = models.Person

    project = factory.SubFactory(ProjectFactory)
    key = factory.Sequence("worker{}".format)


class ExampleFactory(DjangoModelFactory):
    class Meta:
        model = models.Example

    project = factory.SubFactory(ProjectFactory)
    key = factory.Sequence("example{}".format)
    position = factory.Sequence(lambda number: number + 1)
    created_at = NOW


class ReferenceFactory(DjangoModelFactory):
    class Meta:
        model = models.Reference

    example = factory.SubFactory(ExampleFactory)
    key = factory.Sequence("{}".format)
    position = factory.Sequence(lambda number: number + 1)
    text = "Snow fell."


class SentenceFactory(DjangoModelFactory):
    class Meta:
        model = models.Sentence

    reference = factory.SubFactory(ReferenceFactory)
    position = 1
    start = 0
    end = 10
    text = "Snow fell."


class SystemFactory(DjangoModelFactory):
    class Meta:
        model = models.System

    project = factory.SubFactory(ProjectFactory)
    name = factory.Sequence("system{}".format)


class SummaryFactory(DjangoModelFactory):
    class Meta:
        model = models.Summary

    example = factory.SubFactory(ExampleFactory)
    system = factory.SubFactory(SystemFactory)
    text = "It snowed."


class RankingFactory(DjangoModelFactory):
    class Meta:
        model = models.Ranking

    sentence = factory.SubFactory(SentenceFactory)
    revision = 1
    easiness = 0.5
    ranker = "easiness 0 n=1"
    basis = "0"
    created_at = NOW


class PlanDraftFactory(DjangoModelFactory):
    class Meta:
        model = models.PlanDraft

    project = factory.SubFactory(ProjectFactory)
    changed_at = NOW


class PinFactory(DjangoModelFactory):
    class Meta:
        model = models.Pin

    sentence = factory.SubFactory(SentenceFactory)
    route = models.Destination.PEOPLE
    pinned_at = NOW


class RouteFactory(DjangoModelFactory):
    class Meta:
        model = models.Route

    project = factory.SubFactory(ProjectFactory)
    sentence = factory.SubFactory(SentenceFactory)
    rank = factory.Sequence(lambda number: number + 1)
    position = factory.Sequence(lambda number: number + 1)
    easiness = 0.5
    words = 2
    stus = 1


class PlanFactory(DjangoModelFactory):
    class Meta:
        model = models.Plan

    project = factory.SubFactory(ProjectFactory)
    number = 1
    share = 500
    effective = 500
    rule = "exact"
    ranker = "easiness 0 n=1"
    parser = "embedded-0"
    assumptions = factory.Dict({})
    forecast = factory.LazyFunction(
        lambda: dict.fromkeys(("to_people", "to_stus", "sentences", "writing", "judging", "fees", "total"), 1)
    )
    changes = factory.LazyFunction(lambda: dict.fromkeys(("opened", "withdrawn", "kept", "under_work"), 0))
    digest = "0"
    frozen_at = NOW


class PlannedSentenceFactory(DjangoModelFactory):
    class Meta:
        model = models.PlannedSentence

    plan = factory.SubFactory(PlanFactory)
    sentence = factory.SubFactory(SentenceFactory)
    rank = 1
    route = models.Destination.PEOPLE


class RatioCurveFactory(DjangoModelFactory):
    class Meta:
        model = models.RatioCurve

    project = factory.SubFactory(ProjectFactory)
    signature = "curve"
    content = factory.Dict({})
    created_at = NOW


class UnitFactory(DjangoModelFactory):
    class Meta:
        model = models.Unit

    example = factory.SubFactory(ExampleFactory)
    kind = models.UnitKind.SCU
    key = factory.Sequence("scu-{}".format)
    position = 1
    text = "Snow fell."
    provenance = models.Provenance.WRITTEN
    created_at = NOW


class ContributorFactory(DjangoModelFactory):
    class Meta:
        model = models.Contributor

    unit = factory.SubFactory(UnitFactory)
    reference = factory.SubFactory(ReferenceFactory)
    position = 1


class MixFactory(DjangoModelFactory):
    class Meta:
        model = models.Mix

    reference = factory.SubFactory(ReferenceFactory)
    name = "mix"
    texts = factory.List(["Snow fell."])


class FoldFactory(DjangoModelFactory):
    class Meta:
        model = models.Fold

    project = factory.SubFactory(ProjectFactory)
    axis = models.FoldAxis.EXAMPLES
    name = factory.Sequence("fold{}".format)


class FoldMemberFactory(DjangoModelFactory):
    class Meta:
        model = models.FoldMember

    fold = factory.SubFactory(FoldFactory)
    position = factory.Sequence(lambda number: number + 1)
    example = factory.SubFactory(ExampleFactory)


class LabelFactory(DjangoModelFactory):
    class Meta:
        model = models.Label

    unit = factory.SubFactory(UnitFactory)
    summary = factory.SubFactory(SummaryFactory)
    rule = models.Label.IMPORTED
    present = True


class BatchFactory(DjangoModelFactory):
    class Meta:
        model = models.Batch

    project = factory.SubFactory(ProjectFactory)
    number = factory.Sequence(lambda n: n + 1)
    votes = 3
    created_at = NOW


class SheetFactory(DjangoModelFactory):
    class Meta:
        model = models.Sheet

    batch = factory.SubFactory(BatchFactory)
    summary = factory.SubFactory(SummaryFactory)


class SheetUnitFactory(DjangoModelFactory):
    class Meta:
        model = models.SheetUnit

    sheet = factory.SubFactory(SheetFactory)
    unit = factory.SubFactory(UnitFactory)
    position = 1


class AssignmentFactory(DjangoModelFactory):
    class Meta:
        model = models.Assignment

    project = factory.SubFactory(ProjectFactory)
    key = factory.Sequence("assignment{}".format)
    summary = factory.SubFactory(SummaryFactory)
    judge = factory.SubFactory(PersonFactory)
    origin = models.Origin.IN_HOUSE


class FillerAnswerFactory(DjangoModelFactory):
    class Meta:
        model = models.FillerAnswer

    assignment = factory.SubFactory(AssignmentFactory)
    position = 1
    text = "BLANK"
    answer = models.Answer.NOT_PRESENT


class ExclusionFactory(DjangoModelFactory):
    class Meta:
        model = models.Exclusion

    person = factory.SubFactory(PersonFactory)
    reason = "clicks only"
    excluded_at = NOW


class WorkerIdentityFactory(DjangoModelFactory):
    class Meta:
        model = models.WorkerIdentity

    person = factory.SubFactory(PersonFactory)
    name = "A1B2C3"


class JudgementFactory(DjangoModelFactory):
    class Meta:
        model = models.Judgement

    unit = factory.SubFactory(UnitFactory)
    summary = factory.SubFactory(SummaryFactory)
    judge = factory.SubFactory(PersonFactory)
    answer = models.Answer.PRESENT
    judged_at = NOW


class JudgementVersionFactory(DjangoModelFactory):
    class Meta:
        model = models.JudgementVersion

    judgement = factory.SubFactory(JudgementFactory)
    version = 1
    answer = models.Answer.PRESENT
    judged_at = NOW


class TaskFactory(DjangoModelFactory):
    class Meta:
        model = models.Task

    class Params:
        leased = factory.Trait(
            state=models.TaskState.LEASED,
            holder=factory.SubFactory(UserFactory),
            lease_token=factory.LazyFunction(uuid.uuid4),
            leased_until=NOW,
        )

    project = factory.SubFactory(ProjectFactory)
    kind = models.TaskKind.WRITE
    sentence = factory.SubFactory(SentenceFactory)
    created_at = NOW


class DraftVersionFactory(DjangoModelFactory):
    class Meta:
        model = models.DraftVersion

    task = factory.SubFactory(TaskFactory)
    version = 1
    author = factory.SubFactory(UserFactory)
    token = factory.LazyFunction(uuid.uuid4)
    content = factory.Dict({"units": []})
    saved_at = NOW


class SubmissionFactory(DjangoModelFactory):
    class Meta:
        model = models.Submission

    task = factory.SubFactory(TaskFactory)
    author = factory.SubFactory(UserFactory)
    key = factory.LazyFunction(uuid.uuid4)
    content = factory.Dict({"units": []})
    submitted_at = NOW


class WrittenUnitFactory(DjangoModelFactory):
    class Meta:
        model = models.WrittenUnit

    unit = factory.SubFactory(UnitFactory)
    submission = factory.SubFactory(SubmissionFactory)


class TextCheckFactory(DjangoModelFactory):
    class Meta:
        model = models.TextCheck

    sentence = factory.SubFactory(SentenceFactory)
    digest = "0" * 64
    has_verb = True
    follows = 0.5
    checker = "checker@1"
    checked_at = NOW


class SkipFactory(DjangoModelFactory):
    class Meta:
        model = models.Skip

    task = factory.SubFactory(TaskFactory)
    user = factory.SubFactory(UserFactory)
    reason = "not English"
    skipped_at = NOW


class FlagFactory(DjangoModelFactory):
    class Meta:
        model = models.Flag

    task = factory.SubFactory(TaskFactory)
    user = factory.SubFactory(UserFactory)
    note = "look"
    raised_at = NOW


class RunFactory(DjangoModelFactory):
    class Meta:
        model = models.Run

    stage = models.Stage.IMPORT
    created_at = NOW


class AuditEntryFactory(DjangoModelFactory):
    class Meta:
        model = models.AuditEntry

    action = "import"
    target = "corpus"
    at = NOW


class WorkerFactory(DjangoModelFactory):
    class Meta:
        model = models.Worker

    name = factory.Sequence("celery@host {}".format)
    queues = factory.List(["io", "nlp"])
    started_at = NOW
    seen_at = NOW


class ApiTokenFactory(DjangoModelFactory):
    class Meta:
        model = models.ApiToken
        # The manager of tokens returns the key as well.
        skip_postgeneration_save = True

    digest = factory.Sequence("{:0128d}".format)
    token_key = factory.Sequence("pyramid{:08d}".format)
    user = factory.SubFactory(UserFactory)
    name = "script"

    @classmethod
    def _create(cls, model_class, *args, **kwargs):
        token = model_class(*args, **kwargs)
        token.save(force_insert=True)
        return token


class JudgeVersionFactory(DjangoModelFactory):
    class Meta:
        model = scoring.JudgeVersion

    name = factory.Sequence("judge{}".format)
    revision = "1"
    created_at = NOW


class PresenceFactory(DjangoModelFactory):
    class Meta:
        model = scoring.Presence

    judge = factory.SubFactory(JudgeVersionFactory)
    summary_digest = factory.Sequence("{:032d}".format)
    unit_digest = "0"
    p = 0.5


class ScorePartFactory(DjangoModelFactory):
    class Meta:
        model = scoring.ScorePart

    run = factory.SubFactory(RunFactory)
    number = 1
    judge = factory.SubFactory(JudgeVersionFactory)
    wanted = factory.List([])
    pairs = 0


class SummaryScoreFactory(DjangoModelFactory):
    class Meta:
        model = scoring.SummaryScore

    run = factory.SubFactory(RunFactory)
    summary = factory.SubFactory(SummaryFactory)
    value = 0.5


class SystemScoreFactory(DjangoModelFactory):
    class Meta:
        model = scoring.SystemScore

    run = factory.SubFactory(RunFactory)
    system = factory.SubFactory(SystemFactory)
    variant = "plain"
    value = 0.5
    low = 0.4
    high = 0.6
    examples = 1
    place = 1
    letters = "a"
    signature = "lite2|n=1"
