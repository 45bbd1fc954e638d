"""Rows of the exchange for tests."""

from __future__ import annotations

import datetime as dt
from typing import Any

import factory
from factory.django import DjangoModelFactory

from mturk.exchange import models
from tests.conftest import NOW


class RequesterFactory(DjangoModelFactory[models.Requester]):
    class Meta:
        model = models.Requester

    name = factory.Sequence(lambda number: f"Lab {number}")
    key_id = factory.Sequence(lambda number: f"LOCAL{number:015d}")
    secret = "not-a-secret"
    created_at = NOW


class HitTypeFactory(DjangoModelFactory[models.HitType]):
    class Meta:
        model = models.HitType

    requester = factory.SubFactory(RequesterFactory)
    hit_type_id = factory.Sequence(lambda number: f"3LOCALT{number:023d}")
    digest = factory.Sequence(lambda number: f"{number:064d}")
    title = "Is it in the summary?"
    description = "Read and judge."
    reward_cents = 20
    duration_s = 600
    auto_approval_s = 86_400
    created_at = NOW


class HitFactory(DjangoModelFactory[models.Hit]):
    """A HIT without its money: what is held is the matter of the services."""

    class Meta:
        model = models.Hit

    requester = factory.SubFactory(RequesterFactory)
    hit_type = factory.SubFactory(HitTypeFactory, requester=factory.SelfAttribute("..requester"))
    hit_id = factory.Sequence(lambda number: f"3LOCALH{number:023d}")
    question = "<ExternalQuestion/>"
    max_assignments = 3
    created_max = factory.SelfAttribute("max_assignments")
    created_at = NOW
    expires_at = NOW + dt.timedelta(days=7)


class WorkerFactory(DjangoModelFactory[models.Worker]):
    class Meta:
        model = models.Worker

    worker_id = factory.Sequence(lambda number: f"ALOCAL{number:012d}")
    created_at = NOW


class HitAssignmentFactory(DjangoModelFactory[models.HitAssignment]):
    class Meta:
        model = models.HitAssignment

    hit = factory.SubFactory(HitFactory)
    worker = factory.SubFactory(WorkerFactory)
    assignment_id = factory.Sequence(lambda number: f"3LOCALA{number:023d}")
    accepted_at = NOW
    deadline = NOW + dt.timedelta(minutes=10)


class QualificationTypeFactory(DjangoModelFactory[models.QualificationType]):
    class Meta:
        model = models.QualificationType

    requester = factory.SubFactory(RequesterFactory)
    qualification_type_id = factory.Sequence(lambda number: f"3LOCALQ{number:023d}")
    name = factory.Sequence(lambda number: f"Trained judges {number}")
    description = "Passed the training."
    status = "Active"
    created_at = NOW


class RecruitmentLinkFactory(DjangoModelFactory[models.RecruitmentLink]):
    class Meta:
        model = models.RecruitmentLink

    token = factory.Sequence(lambda number: f"link{number}")
    requester = factory.SubFactory(RequesterFactory)
    kind = "in_house"
    created_at = NOW


def submitted(**values: Any) -> models.HitAssignment:
    """An assignment that was handed in."""
    times = {"submitted_at": NOW, "auto_approve_at": NOW + dt.timedelta(days=1)}
    return HitAssignmentFactory.create(**{"state": "submitted", **times, **values})
