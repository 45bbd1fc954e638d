"""The trash and the audit log."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation import models
from tests.conftest import NOW
from tests.factories import (
    AuditEntryFactory,
    ExampleFactory,
    MembershipFactory,
    ProjectFactory,
    SystemFactory,
    UnitFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client) -> models.Project:
    membership = MembershipFactory(role="lead")
    client.force_login(membership.user)
    return membership.project


def page(name: str, project: models.Project, *args: object) -> str:
    return reverse(f"annotation:{name}", args=[project.slug, *args])


def test_rows_go_to_the_trash_and_come_back(client, project):
    example = ExampleFactory(project=project, key="story-9")
    rows = {
        "example": example,
        "unit": UnitFactory(example=example, text="Snow."),
        "system": SystemFactory(project=project),
    }
    for kind, row in rows.items():
        told = client.post(page("trash-row", project, kind, row.pk), follow=True)
        assert "Moved to the trash" in told.text
    shown = client.get(page("trash", project)).text
    assert all(word in shown for word in ("story-9", "Snow.", rows["system"].name))
    for kind, row in rows.items():
        client.post(page("restore-row", project, kind, row.pk))
        row.refresh_from_db()
        assert row.trashed_at is None
    assert "The trash is empty" in client.get(page("trash", project)).text
    assert models.AuditEntry.objects.filter(project=project).count() == 6


def test_a_system_is_chosen_from_a_list(client, project):
    system = SystemFactory(project=project)
    for odd in ("", "x", "-1", "1" * 30):
        assert "That is no system" in client.post(page("trash-system", project), {"system": odd}, follow=True).text
    assert client.post(page("trash-system", project), {"system": SystemFactory().pk}).status_code == 404
    client.post(page("trash-system", project), {"system": system.pk})
    system.refresh_from_db()
    assert system.trashed_at is not None


@pytest.mark.parametrize("kind", ["project", "user", "label", "x"])
def test_other_kinds_cannot_be_trashed(client, project, kind):
    assert client.post(page("trash-row", project, kind, 1)).status_code == 404


def test_a_project_goes_to_the_trash_and_its_lead_brings_it_back(client, project):
    told = client.post(page("trash-project", project), follow=True)
    assert "is in the trash" in told.text
    assert "Projects in the trash" in told.text
    assert client.get(reverse("project-home", args=[project.slug])).status_code == 404
    client.post(reverse("annotation:restore-project", args=[project.slug]))
    assert client.get(reverse("project-home", args=[project.slug])).status_code == 200


def test_only_leads_and_staff_bring_a_project_back(client, project):
    models.Project.objects.filter(pk=project.pk).update(trashed_at=NOW)
    annotator = MembershipFactory(project=project).user
    former = MembershipFactory(project=project, role="lead", left_at=NOW).user
    target = reverse("annotation:restore-project", args=[project.slug])
    for user in (annotator, former, UserFactory()):
        client.force_login(user)
        assert client.post(target).status_code == 404
        assert "Projects in the trash" not in client.get(reverse("project-list")).text
    client.force_login(UserFactory(is_staff=True))
    assert client.post(target).status_code == 302


def test_the_audit_log_tells_who_did_what(client, project):
    actor = UserFactory(first_name="Lena", last_name="Marsh")
    AuditEntryFactory(
        project=project,
        actor=actor,
        action="import",
        target="corpus.jsonl",
        detail={"new": {"examples": 3, "folds": 0}},
    )
    AuditEntryFactory(project=ProjectFactory(), action="secret act", target="elsewhere")
    shown = client.get(page("audit", project)).text
    assert all(word in shown for word in ("Lena Marsh", "corpus.jsonl", "new: examples 3"))
    assert "secret act" not in shown
    assert client.get(page("audit", project) + "?actor__password=x").status_code == 400


def test_the_audit_log_is_read_page_by_page(client, project):
    made = [AuditEntryFactory(project=project).pk for _ in range(51)]
    first = client.get(page("audit", project)).context["entries"]
    second = client.get(f"{page('audit', project)}?before={first.older}").context["entries"]
    assert [entry.pk for entry in (*first.rows, *second.rows)] == made[::-1]
    assert second.older is None
