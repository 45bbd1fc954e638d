"""Who does HITs, how they came, and what requesters tell them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from mturk.exchange.models.checks import one_of
from mturk.exchange.models.requesters import Requester


class LinkKind(models.TextChoices):
    IN_HOUSE = "in_house"  # people with an account of ours
    PARTICIPANT = "participant"  # a participant id in the address, a completion code at the end


class RecruitmentLink(models.Model):
    """An address that makes workers of people, and may give them a qualification."""

    token = models.CharField(max_length=64, unique=True)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="links")
    name = models.CharField(max_length=120, blank=True)
    kind = models.CharField(max_length=16, choices=LinkKind.choices)
    completion_code = models.CharField(max_length=64, blank=True)
    qualification_type = models.ForeignKey(
        "QualificationType", on_delete=models.PROTECT, null=True, blank=True, related_name="links"
    )
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            one_of("kind", LinkKind, "exchange_link_kind_known"),
            models.CheckConstraint(
                condition=~Q(kind=LinkKind.PARTICIPANT) | ~Q(completion_code=""),
                name="exchange_link_participant_has_code",
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(self.pk)  # never the token, which is a key


class Worker(models.Model):
    """Who does HITs: somebody with an account, a participant who came by a link, or a simulated worker."""

    worker_id = models.CharField(max_length=64, unique=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="exchange_worker"
    )
    link = models.ForeignKey(RecruitmentLink, on_delete=models.PROTECT, null=True, blank=True, related_name="workers")
    participant = models.CharField(max_length=200, blank=True)
    locale = models.CharField(max_length=5, blank=True)  # "DE", "US-NY"; empty: not known
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["link", "participant"], condition=~Q(participant=""), name="exchange_worker_participant_once"
            ),
        ]

    def __str__(self) -> str:
        return self.worker_id


class Block(models.Model):
    """A worker whom a requester does not let work on their HITs."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="blocks", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="exchange_block_once")]

    def __str__(self) -> str:
        return f"{self.requester} blocks {self.worker}"


class Message(models.Model):
    """What a requester wrote to a worker."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="messages")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.subject
