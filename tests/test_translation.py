"""Texts are translatable: under a language that marks every translated text, no other word of ours is left."""

from __future__ import annotations

import datetime as dt
from html.parser import HTMLParser

import pytest
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import trans_real

from annotation import models
from annotation.services.accounts import create_token
from annotation.services.inviting import invite
from mturk.models import CrowdBatch
from tests.conftest import NOW
from tests.factories import (
    AuditEntryFactory,
    BatchFactory,
    ExampleFactory,
    LabelFactory,
    MembershipFactory,
    PinFactory,
    PlanFactory,
    ProjectFactory,
    RankingFactory,
    ReferenceFactory,
    RunFactory,
    SentenceFactory,
    SummaryFactory,
    SystemFactory,
    TaskFactory,
    UnitFactory,
    UserFactory,
)
from tests.test_access import make_crowd_batch
from tests.test_injection import addresses

pytestmark = pytest.mark.django_db

OPEN, CLOSE = "⟦", "⟧"
# Names, codes and words of the files stay as they are in every language.
STAYS = {
    "Pyramid Workbench", "Pyramid", "Workbench", "SHA", "API", "Authorization", "Bearer", "pyramid", "bytes", "MB", "KB", "s",
    # one word per stage, in the pages as in the code
    "import", "split", "decompose", "rank", "plan", "write", "judge", "publish", "aggregate", "score", "evaluate", "export",
    # rules and acts are stored words
    "imported",
}  # fmt: skip


class Texts(HTMLParser):
    """Texts that people read or hear, without code and without what stands between the marks."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: list[str] = []
        self.found: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "code", "kbd"):
            self.silent.append(tag)
        for name, value in attrs:
            if name in ("aria-label", "title", "placeholder", "alt", "data-label") and value:
                self.read(value)

    def handle_endtag(self, tag: str) -> None:
        if self.silent and self.silent[-1] == tag:
            self.silent.pop()

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.read(data)

    def read(self, text: str) -> None:
        left = []
        for character in text:
            self.depth += (character == OPEN) - (character == CLOSE)
            left.append(character if self.depth == 0 and character.isascii() else " ")
        words = "".join(left)
        for word in sorted(STAYS, key=len, reverse=True):
            words = words.replace(word, " ")
        words = "".join(letter if letter.isalpha() else " " for letter in words).split()
        self.found += [word for word in words if len(word) > 1]


@pytest.fixture
def marked(monkeypatch):
    """A language that puts marks around everything that is translated."""

    def mark(name: str):
        translate = getattr(trans_real, name)
        return lambda *words: f"{OPEN}{translate(*words)}{CLOSE}" if words[0] else ""

    for name in ("gettext", "pgettext", "ngettext", "npgettext"):
        monkeypatch.setattr(translation._trans, name, mark(name), raising=False)


@pytest.fixture
def project() -> models.Project:
    """A project in Greek, so that every Latin letter on a page is ours."""
    project = ProjectFactory(name="Ωμέγα", slug="omega")
    lead = UserFactory(username="λένα")
    MembershipFactory(project=project, user=lead, role="lead")
    MembershipFactory(project=project, user=UserFactory(username="άντον"))
    example = ExampleFactory(project=project, key="α", position=1, document="Έπεσε χιόνι.")
    reference = ReferenceFactory(example=example, key="1", text="Έπεσε χιόνι.")
    sentence = SentenceFactory(reference=reference, text="Έπεσε χιόνι.", end=12)
    RankingFactory(sentence=sentence, ranker="ρ")
    bare = ReferenceFactory(example=example, key="2", text="Έβρεξε.")
    PinFactory(sentence=SentenceFactory(reference=bare, text="Έβρεξε.", end=7), pinned_by=lead, note="ναι")
    unit = UnitFactory(example=example, reference=reference, key="μ", text="Έπεσε χιόνι.", weight=2)
    UnitFactory(example=example, reference=reference, key="ν", text="Χιόνι.", kind="stu", provenance="derived")
    system = SystemFactory(project=project, name="άτλας")
    summary = SummaryFactory(example=example, system=system, text="Χιόνι.")
    LabelFactory(unit=unit, summary=summary)
    ExampleFactory(project=project, key="β", position=2, trashed_at=NOW)
    for number in (1, 2):
        PlanFactory(project=project, number=number, frozen_by=lead)
    TaskFactory(project=project, sentence=sentence)
    TaskFactory(
        project=project, sentence=sentence, slot=2, state="leased", holder=lead, lease_token="0" * 32,
        leased_until=timezone.now() + dt.timedelta(hours=1), arm="before",
    )  # fmt: skip
    counts = {"file": {"examples": 1}, "new": {"examples": 1}, "problems": [{"file": "α", "line": 1, "message": "β"}]}
    counts |= {"problem_count": 3, "notes": ["γ"], "note_count": 2, "first_units": ["δ"]}
    ended = {"started_at": NOW, "ended_at": NOW, "started_by": lead, "project": project}
    RunFactory(**ended, state="done", parameters={"file": "α", "dry_run": True, "upload": "x/y"}, counts=counts)
    RunFactory(**ended, state="failed", error="λάθος", parameters={"file": "α"})
    RunFactory(**ended, state="cancelled", parameters={"file": "α"})
    RunFactory(project=project)
    RunFactory(**ended, stage="export", state="done", counts={"examples": 1, "left_out": {"ε": 1}})
    BatchFactory(project=project, number=1)
    make_crowd_batch(project, 1)
    CrowdBatch.objects.update(title="Τίτλος", rewards=[{"name": "όλα", "systems": [], "cents": 1}])
    AuditEntryFactory(project=project, actor=lead, action="import", target="α", detail={"ζ": "η"})
    invite(project, role="viewer", note="κάποιος", actor=lead, now=NOW)
    create_token(lead, name="σενάριο", now=NOW)
    return project


def unmarked(text: str) -> list[str]:
    reader = Texts()
    reader.feed(text)
    assert reader.depth == 0
    return reader.found


def test_every_text_of_every_page_can_be_translated(client, project, marked):
    client.force_login(models.User.objects.get(username="λένα"))
    pages = [address for address in addresses(project) if "/api/" not in address and "/state/" not in address]
    left = {address: found for address in pages if (found := unmarked(client.get(address).text))}
    assert left == {}


def test_the_door_can_be_translated(client, marked):
    for address in (
        reverse("login"),
        reverse("annotation:join", args=["x"]),
        reverse("password-reset", args=["MQ", "x"]),
    ):
        assert unmarked(client.get(address).text) == []
    assert unmarked(client.post(reverse("login"), {"username": "λ", "password": "x"}).text) == []


def test_a_word_that_is_not_translated_would_be_found():
    assert unmarked(f"<p>{OPEN}Sign in{CLOSE} now</p><code>ls</code>") == ["now"]
