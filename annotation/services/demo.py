"""The demo: a corpus written for this project, and people to look at it with."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from annotation.models import Membership, Project, Role, User
from annotation.services.batches import BatchOptions, create_batch
from annotation.services.importing import import_corpus
from annotation.services.projects import add_member

DEMO_PROJECT = "Demo: twelve stories"
DEMO_CORPUS = Path(__file__).resolve().parent.parent / "demo" / "corpus.jsonl"
DEMO_LEAD = "lena"
DEMO_USERS = (
    (DEMO_LEAD, "Lena Marsh", Role.LEAD),
    ("anton", "Anton Reyes", Role.ANNOTATOR),
    ("aisha", "Aisha Novak", Role.ANNOTATOR),
    ("judit", "Judit Okafor", Role.ADJUDICATOR),
    ("viktor", "Viktor Lund", Role.VIEWER),
)


@dataclass(frozen=True, slots=True)
class DemoLogin:
    username: str
    role: str


@transaction.atomic
def load_demo(*, password: str, now: dt.datetime) -> list[DemoLogin]:
    """Load what is missing of the demo. What is there, changed by people or not, stays as it is."""
    users = [_demo_user(username, name, password) for username, name, _ in DEMO_USERS]
    project = Project.objects.filter(name=DEMO_PROJECT).first()
    if project is None:
        import_corpus(DEMO_CORPUS, corpus_format="jsonl", project_name=DEMO_PROJECT, now=now, actor=users[0])
        project = Project.objects.get(name=DEMO_PROJECT)
        # Something to judge from the first minute on: a fifth of the summaries.
        create_batch(project, BatchOptions(is_adaptive=True, share=200), now=now, actor=users[0])
    for user, (_, _, role) in zip(users, DEMO_USERS, strict=True):
        # Somebody who was removed stays removed.
        if not Membership.objects.filter(project=project, user=user).exists():
            add_member(project, user, role=role, now=now)
    return [DemoLogin(username, role) for username, _, role in DEMO_USERS]


def _demo_user(username: str, full_name: str, password: str) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        first, _, last = full_name.partition(" ")
        # The lead of the demo keeps the keys and the pay list of the exchange as well.
        user = User.objects.create_user(
            username, password=password, first_name=first, last_name=last, is_staff=username == DEMO_LEAD
        )
    return user
