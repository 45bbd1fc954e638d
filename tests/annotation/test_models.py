"""Every rule that the database holds, broken once."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import factory
import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from annotation import models
from tests import factories as make
from tests.conftest import NOW


def twice(factory: type, **fields: object) -> Callable[[], object]:
    """Two rows that agree in the given fields; values that are factories are made once and shared."""

    def attempt() -> None:
        shared = {name: value() if isinstance(value, type) else value for name, value in fields.items()}
        factory(**shared)
        factory(**shared)

    return attempt


def once(factory: type, **fields: object) -> Callable[[], object]:
    return lambda: factory(**{name: value() if isinstance(value, type) else value for name, value in fields.items()})


BREAKS: dict[str, Callable[[], object]] = {
    "annotation_task_arm_known": once(make.TaskFactory, arm="always"),
    "annotation_draftversion_once": twice(make.DraftVersionFactory, task=make.TaskFactory),
    "annotation_draftversion_from_1": once(make.DraftVersionFactory, version=0),
    "annotation_submission_key_once": twice(make.SubmissionFactory, key="0" * 32),
    "annotation_submission_seconds_from_0": once(make.SubmissionFactory, seconds=-1),
    "annotation_writtenunit_seconds_from_0": once(make.WrittenUnitFactory, seconds=-1),
    "annotation_skip_once": twice(make.SkipFactory, task=make.TaskFactory, user=make.UserFactory),
    "annotation_skip_has_reason": once(make.SkipFactory, reason=""),
    "annotation_textcheck_once": twice(make.TextCheckFactory, sentence=make.SentenceFactory),
    "annotation_textcheck_follows_is_probability": once(make.TextCheckFactory, follows=1.5),
    "annotation_plandraft_other_shares_are_ones": once(make.PlanDraftFactory, control=1001),
    "annotation_flag_has_note": once(make.FlagFactory, note=""),
    "annotation_plandraft_share_is_one": once(make.PlanDraftFactory, share=1001),
    "annotation_pin_one_live": twice(make.PinFactory, sentence=make.SentenceFactory),
    "annotation_pin_route_known": once(make.PinFactory, route="nowhere"),
    "annotation_route_rank_once": twice(make.RouteFactory, project=make.ProjectFactory, rank=1),
    "annotation_route_position_once": twice(make.RouteFactory, project=make.ProjectFactory, position=1),
    "annotation_route_rank_from_1": once(make.RouteFactory, rank=0),
    "annotation_route_pin_known": once(make.RouteFactory, pin="nowhere"),
    "annotation_plan_number_once": twice(make.PlanFactory, project=make.ProjectFactory),
    "annotation_plan_number_from_1": once(make.PlanFactory, number=0),
    "annotation_plan_share_is_one": once(make.PlanFactory, share=1001),
    "annotation_plan_has_rule": once(make.PlanFactory, rule=""),
    "annotation_plan_has_digest": once(make.PlanFactory, digest=""),
    "annotation_plannedsentence_rank_once": twice(make.PlannedSentenceFactory, plan=make.PlanFactory),
    "annotation_plannedsentence_once": twice(
        make.PlannedSentenceFactory,
        plan=make.PlanFactory,
        sentence=make.SentenceFactory,
        rank=factory.Sequence(lambda n: n + 1),
    ),
    "annotation_plannedsentence_rank_from_1": once(make.PlannedSentenceFactory, rank=0),
    "annotation_plannedsentence_route_known": once(make.PlannedSentenceFactory, route="nowhere"),
    "annotation_ratiocurve_has_signature": once(make.RatioCurveFactory, signature=""),
    "scoring_judgeversion_once": twice(make.JudgeVersionFactory, name="j", revision="1"),
    "scoring_judgeversion_has_name": once(make.JudgeVersionFactory, name=""),
    "scoring_judgeversion_has_revision": once(make.JudgeVersionFactory, revision=""),
    "scoring_presence_once_per_content": twice(
        make.PresenceFactory, judge=make.JudgeVersionFactory, summary_digest="s", unit_digest="u"
    ),
    "scoring_presence_p_is_a_probability": once(make.PresenceFactory, p=1.01),
    "scoring_scorepart_once": twice(make.ScorePartFactory, run=make.RunFactory, number=1),
    "scoring_scorepart_state_known": once(make.ScorePartFactory, state="lost"),
    "scoring_scorepart_claimed_has_claim": once(make.ScorePartFactory, state="claimed"),
    "scoring_scorepart_done_has_time": once(make.ScorePartFactory, state="done"),
    "scoring_summaryscore_once": twice(make.SummaryScoreFactory, run=make.RunFactory, summary=make.SummaryFactory),
    "scoring_systemscore_once": twice(make.SystemScoreFactory, run=make.RunFactory, system=make.SystemFactory),
    "scoring_systemscore_variant_known": once(make.SystemScoreFactory, variant="short"),
    "scoring_systemscore_has_signature": once(make.SystemScoreFactory, signature=""),
    "scoring_systemscore_ranked_has_value": once(make.SystemScoreFactory, value=None),
    "scoring_systemscore_unranked_has_reason": once(make.SystemScoreFactory, place=None),
    "scoring_systemscore_by_people_is_a_share": once(make.SystemScoreFactory, by_people=1.5),
    "annotation_project_name_once": lambda: (make.ProjectFactory(name="Ä b"), make.ProjectFactory(name="Ä B")),
    "annotation_project_slug_once": lambda: (make.ProjectFactory(slug="s"), make.ProjectFactory(slug="s")),
    "annotation_project_has_name": once(make.ProjectFactory, name=""),
    "annotation_project_has_slug": once(make.ProjectFactory, slug=""),
    "annotation_membership_one_active": twice(
        make.MembershipFactory, project=make.ProjectFactory, user=make.UserFactory
    ),
    "annotation_membership_role_known": once(make.MembershipFactory, role="owner"),
    "annotation_membership_left_after_joined": once(make.MembershipFactory, left_at=NOW.replace(year=2020)),
    "annotation_invitation_token_once": twice(make.InvitationFactory, token_hash="x"),
    "annotation_invitation_role_known": once(make.InvitationFactory, role="owner"),
    "annotation_invitation_expires_later": once(make.InvitationFactory, expires_at=NOW),
    "annotation_invitation_used_whole": once(make.InvitationFactory, used_at=NOW),
    "annotation_user_theme_known": once(make.UserFactory, theme="pink"),
    "annotation_apitoken_has_name": once(make.ApiTokenFactory, name=""),
    "annotation_person_key_once": twice(make.PersonFactory, project=make.ProjectFactory, key="w"),
    "annotation_person_user_once": twice(make.PersonFactory, project=make.ProjectFactory, user=make.UserFactory),
    "annotation_person_has_key": once(make.PersonFactory, key=""),
    "annotation_example_key_once": twice(make.ExampleFactory, project=make.ProjectFactory, key="k"),
    "annotation_example_position_once": twice(make.ExampleFactory, project=make.ProjectFactory, position=1),
    "annotation_example_position_from_1": once(make.ExampleFactory, position=0),
    "annotation_example_has_key": once(make.ExampleFactory, key=""),
    "annotation_reference_key_once": twice(make.ReferenceFactory, example=make.ExampleFactory, key="1"),
    "annotation_reference_position_once": twice(make.ReferenceFactory, example=make.ExampleFactory, position=1),
    "annotation_reference_position_from_1": once(make.ReferenceFactory, position=0),
    "annotation_reference_has_key": once(make.ReferenceFactory, key=""),
    "annotation_sentence_position_once": lambda: [
        make.SentenceFactory(reference=reference, position=1, start=start, end=start + 10)
        for reference in [make.ReferenceFactory()]
        for start in (0, 20)
    ],
    "annotation_sentence_start_once": lambda: [
        make.SentenceFactory(reference=reference, position=position)
        for reference in [make.ReferenceFactory()]
        for position in (1, 2)
    ],
    "annotation_sentence_start_before_end": once(make.SentenceFactory, start=5, end=5, text=""),
    "annotation_sentence_text_fits_offsets": once(make.SentenceFactory, start=0, end=11),
    "annotation_sentence_position_from_1": once(make.SentenceFactory, revision=0),
    "annotation_ranking_revision_once": twice(make.RankingFactory, sentence=make.SentenceFactory),
    "annotation_ranking_easiness_is_a_share": once(make.RankingFactory, easiness=1.5),
    "annotation_ranking_has_ranker": once(make.RankingFactory, ranker=""),
    "annotation_ranking_has_basis": once(make.RankingFactory, basis=""),
    "annotation_system_name_once": twice(make.SystemFactory, project=make.ProjectFactory, name="s"),
    "annotation_system_has_name": once(make.SystemFactory, name=""),
    "annotation_summary_once_per_system": twice(
        make.SummaryFactory, example=make.ExampleFactory, system=make.SystemFactory
    ),
    "annotation_fold_name_once": twice(make.FoldFactory, project=make.ProjectFactory, name="f"),
    "annotation_fold_axis_known": once(make.FoldFactory, axis="words"),
    "annotation_fold_has_name": once(make.FoldFactory, name=""),
    "annotation_foldmember_position_once": twice(make.FoldMemberFactory, fold=make.FoldFactory, position=1),
    "annotation_foldmember_example_once": twice(
        make.FoldMemberFactory, fold=make.FoldFactory, example=make.ExampleFactory
    ),
    "annotation_foldmember_system_once": twice(
        make.FoldMemberFactory, fold=make.FoldFactory, system=make.SystemFactory, example=None
    ),
    "annotation_foldmember_one_kind": once(make.FoldMemberFactory, system=make.SystemFactory),
    "annotation_unit_revision_once": twice(make.UnitFactory, example=make.ExampleFactory, key="u", superseded_at=NOW),
    "annotation_unit_one_current_revision": lambda: [
        make.UnitFactory(example=example, key="u", revision=revision)
        for example in [make.ExampleFactory()]
        for revision in (1, 2)
    ],
    "annotation_unit_sentence_needs_reference": once(make.UnitFactory, sentence=make.SentenceFactory),
    "annotation_unit_weight_from_1": once(make.UnitFactory, weight=0),
    "annotation_unit_position_from_1": once(make.UnitFactory, position=0),
    "annotation_unit_kind_known": once(make.UnitFactory, kind="acu"),
    "annotation_unit_provenance_known": once(make.UnitFactory, provenance="dreamt"),
    "annotation_unit_has_text": once(make.UnitFactory, text=""),
    "annotation_unit_has_key": once(make.UnitFactory, key=""),
    "annotation_contributor_position_once": twice(make.ContributorFactory, unit=make.UnitFactory, position=1),
    "annotation_contributor_position_from_1": once(make.ContributorFactory, position=0),
    "annotation_contributor_start_before_end": once(make.ContributorFactory, start=None, end=5),
    "annotation_mix_once_per_reference": twice(make.MixFactory, reference=make.ReferenceFactory, name="m"),
    "annotation_mix_has_name": once(make.MixFactory, name=""),
    "annotation_label_once_per_rule": twice(make.LabelFactory, unit=make.UnitFactory, summary=make.SummaryFactory),
    "annotation_label_has_rule": once(make.LabelFactory, rule=""),
    "annotation_judgement_once_per_judge": twice(
        make.JudgementFactory, unit=make.UnitFactory, summary=make.SummaryFactory, judge=make.PersonFactory
    ),
    "annotation_judgement_answer_known": once(make.JudgementFactory, answer="perhaps"),
    "annotation_judgementversion_once": twice(make.JudgementVersionFactory, judgement=make.JudgementFactory),
    "annotation_judgementversion_from_1": once(make.JudgementVersionFactory, version=0),
    "annotation_judgementversion_answer_known": once(make.JudgementVersionFactory, answer="perhaps"),
    "annotation_task_kind_known": once(make.TaskFactory, kind="dance"),
    "annotation_task_state_known": once(make.TaskFactory, state="lost"),
    "annotation_task_target_fits_kind": once(make.TaskFactory, kind=models.TaskKind.JUDGE),
    "annotation_task_lease_whole": once(make.TaskFactory, lease_token=uuid.uuid4()),
    "annotation_task_done_has_time": once(make.TaskFactory, state=models.TaskState.DONE),
    "annotation_task_slot_from_1": once(make.TaskFactory, slot=0),
    "annotation_task_one_live_per_sentence_slot": twice(make.TaskFactory, sentence=make.SentenceFactory),
    "annotation_task_one_live_per_sheet_slot": twice(
        make.TaskFactory,
        kind=models.TaskKind.JUDGE,
        sentence=None,
        summary=make.SummaryFactory,
        sheet=make.SheetFactory,
    ),
    "annotation_batch_number_once": twice(make.BatchFactory, project=make.ProjectFactory, number=1),
    "annotation_batch_votes_in_range": once(make.BatchFactory, votes=0),
    "annotation_batch_share_in_range": once(make.BatchFactory, share=1001),
    "annotation_sheet_once": twice(make.SheetFactory, batch=make.BatchFactory, summary=make.SummaryFactory),
    "annotation_sheet_number_from_1": once(make.SheetFactory, number=0),
    "annotation_sheetunit_once": twice(make.SheetUnitFactory, sheet=make.SheetFactory, unit=make.UnitFactory),
    "annotation_sheetunit_position_from_1": once(make.SheetUnitFactory, position=0),
    "annotation_assignment_key_once": twice(make.AssignmentFactory, project=make.ProjectFactory, key="a"),
    "annotation_assignment_origin_known": once(make.AssignmentFactory, origin="dream"),
    "annotation_assignment_has_key": once(make.AssignmentFactory, key=""),
    "annotation_assignment_seconds_from_0": once(make.AssignmentFactory, seconds=-1),
    "annotation_filleranswer_once": twice(make.FillerAnswerFactory, assignment=make.AssignmentFactory),
    "annotation_filleranswer_position_from_1": once(make.FillerAnswerFactory, position=0),
    "annotation_filleranswer_answer_known": once(make.FillerAnswerFactory, answer="perhaps"),
    "annotation_exclusion_one_active": twice(make.ExclusionFactory, person=make.PersonFactory),
    "annotation_exclusion_has_reason": once(make.ExclusionFactory, reason=""),
    "annotation_workeridentity_has_name": once(make.WorkerIdentityFactory, name=""),
    "annotation_judgement_seconds_from_0": once(make.JudgementFactory, seconds=-1),
    "annotation_run_running_has_start": once(
        make.RunFactory, state=models.RunState.RUNNING, claim=uuid.uuid4(), heartbeat_at=NOW
    ),
    "annotation_run_ends_after_start": once(
        make.RunFactory, state=models.RunState.DONE, started_at=NOW, ended_at=NOW.replace(year=2020)
    ),
    "annotation_run_stage_known": once(make.RunFactory, stage="dream"),
    "annotation_run_queue_known": once(make.RunFactory, queue="gpu"),
    "annotation_run_running_is_claimed": once(make.RunFactory, state=models.RunState.RUNNING, started_at=NOW),
    "annotation_worker_name_once": twice(make.WorkerFactory, name="w"),
    "annotation_worker_has_name": once(make.WorkerFactory, name=""),
    "annotation_run_state_known": once(make.RunFactory, state="lost"),
    "annotation_run_ended_has_time": once(make.RunFactory, state=models.RunState.DONE, started_at=NOW),
    "annotation_run_failed_has_error": once(make.RunFactory, state=models.RunState.FAILED, ended_at=NOW),
    "annotation_run_progress_bounded": once(make.RunFactory, steps_done=5, steps_total=4),
    "annotation_auditentry_has_action": once(make.AuditEntryFactory, action=""),
}


def test_every_constraint_has_its_break():
    named = {
        constraint.name
        for app in ("annotation", "scoring")  # the crowd has its own list
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }
    assert named == set(BREAKS)


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(BREAKS))
def test_the_database_refuses(name):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        BREAKS[name]()
    model = name.split("_")[1]
    # PostgreSQL and SQLite's CHECK name the constraint, SQLite's UNIQUE the columns.
    assert name in str(caught.value) or "UNIQUE constraint failed" in str(caught.value)
    assert model in str(caught.value)


@pytest.mark.django_db
def test_a_lease_and_a_second_slot_are_allowed():
    task = make.TaskFactory(leased=True)
    other = make.TaskFactory(sentence=task.sentence, project=task.project, slot=2)
    assert models.Task.objects.filter(sentence=task.sentence).count() == 2
    assert (task.state, other.state) == ("leased", "open")


@pytest.mark.django_db
def test_a_new_revision_may_follow_a_superseded_one():
    old = make.UnitFactory(key="u", superseded_at=NOW)
    new = make.UnitFactory(example=old.example, key="u", revision=2)
    assert list(models.Unit.objects.current()) == [new]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "factory",
    [
        make.ProjectFactory, make.InvitationFactory, make.MembershipFactory, make.PersonFactory, make.ExampleFactory, make.ReferenceFactory,
        make.SentenceFactory, make.SystemFactory, make.SummaryFactory, make.UnitFactory, make.ContributorFactory,
        make.JudgementFactory, make.JudgementVersionFactory, make.LabelFactory, make.TaskFactory,
        make.AuditEntryFactory,
    ],
)  # fmt: skip
def test_rows_with_human_work_cannot_be_deleted(factory):
    row = factory()
    with pytest.raises(models.HardDeleteRefused):
        row.delete()
    for manager in (type(row).objects, type(row)._base_manager, type(row)._default_manager):
        with pytest.raises(models.HardDeleteRefused):
            manager.all().delete()
    assert type(row).objects.filter(pk=row.pk).exists()


@pytest.mark.django_db
def test_what_was_written_once_cannot_be_changed():
    entry = make.AuditEntryFactory()
    version = make.JudgementVersionFactory()
    entry.action = "other"
    for row in (entry, version):
        with pytest.raises(models.HardDeleteRefused):
            row.save()
    with pytest.raises(models.HardDeleteRefused):
        models.AuditEntry.objects.update(action="other")
    with pytest.raises(models.HardDeleteRefused):
        models.JudgementVersion.objects.filter(pk=version.pk).update(answer="unsure")
    assert models.AuditEntry.objects.get().action == "import"


@pytest.mark.django_db
def test_a_user_with_work_cannot_be_deleted():
    membership = make.MembershipFactory()
    with pytest.raises(IntegrityError):  # ProtectedError
        membership.user.delete()
    assert models.User.objects.filter(pk=membership.user.pk).exists()


@pytest.mark.django_db
def test_who_sees_a_project():
    project, other = make.ProjectFactory(), make.ProjectFactory()
    member = make.MembershipFactory(project=project).user
    gone = make.MembershipFactory(project=project, left_at=NOW).user
    staff = make.UserFactory(is_staff=True)
    visible = models.Project.objects.visible_to
    assert list(visible(member)) == [project]
    assert list(visible(gone)) == []
    assert set(visible(staff)) == {project, other}
    models.Project.objects.filter(pk=project.pk).update(trashed_at=NOW)
    assert list(visible(member)) == []
