"""One factory per model, for tests that need a row without the story around it."""

from __future__ import annotations

import datetime as dt
import uuid

import factory
from factory.django import DjangoModelFactory

from annotation import models
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
