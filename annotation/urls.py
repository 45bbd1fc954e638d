"""Routes of the corpus and the people who work on it."""

from django.urls import URLPattern, path

from annotation.views import account, desk, examples, judging, keeping, people, plan, quality, runs, work, writing

app_name = "annotation"

IN_PROJECT = "projects/<slug:slug>/"
IN_RUN = f"{IN_PROJECT}runs/<int:run_id>/"
IN_WRITING = f"{IN_PROJECT}write/<int:task_id>/"
IN_JUDGING = f"{IN_PROJECT}judge/<int:task_id>/"
IN_MEMBER = f"{IN_PROJECT}members/<int:membership_id>/"

urlpatterns: list[URLPattern] = [
    path(f"{IN_PROJECT}examples/", examples.examples, name="examples"),
    path(f"{IN_PROJECT}examples/<int:position>/", examples.example, name="example"),
    path(f"{IN_PROJECT}import/", runs.import_page, name="import"),
    path(f"{IN_PROJECT}decompose/", runs.decompose_page, name="decompose"),
    path(f"{IN_PROJECT}plan/sentences/", plan.sentences, name="plan-sentences"),
    path(f"{IN_PROJECT}plan/pin/", plan.pin, name="plan-pin"),
    path(f"{IN_PROJECT}plans/<int:number>/", plan.frozen, name="plan-frozen"),
    path(f"{IN_PROJECT}plans/<int:number>/units/", plan.plan_units, name="plan-units"),
    path(f"{IN_PROJECT}write/", writing.write, name="write"),
    path(f"{IN_PROJECT}write/next/", writing.claim, name="write-next"),
    path(IN_WRITING, writing.task, name="write-task"),
    path(f"{IN_WRITING}draft/", desk.save, name="write-draft"),
    path(f"{IN_WRITING}state/", desk.state, name="write-state"),
    path(f"{IN_WRITING}beat/", desk.beat, name="write-beat"),
    path(f"{IN_WRITING}submit/", writing.hand_in, name="write-submit"),
    path(f"{IN_WRITING}leave/", desk.leave, name="write-leave"),
    path(f"{IN_PROJECT}judge/", judging.judge, name="judge"),
    path(f"{IN_PROJECT}judge/next/", judging.claim, name="judge-next"),
    path(IN_JUDGING, judging.task, name="judge-task"),
    path(f"{IN_JUDGING}draft/", desk.save, name="judge-draft"),
    path(f"{IN_JUDGING}state/", desk.state, name="judge-state"),
    path(f"{IN_JUDGING}beat/", desk.beat, name="judge-beat"),
    path(f"{IN_JUDGING}again/", desk.again, name="judge-again"),
    path(f"{IN_JUDGING}submit/", judging.hand_in, name="judge-submit"),
    path(f"{IN_JUDGING}leave/", desk.leave, name="judge-leave"),
    path(f"{IN_PROJECT}judging/", quality.batches, name="batches"),
    path(f"{IN_PROJECT}judging/<int:number>/close/", quality.close, name="close-batch"),
    path(f"{IN_PROJECT}judging/open/", quality.open_units, name="open-units"),
    path(f"{IN_PROJECT}judging/labels/", quality.labels, name="make-labels"),
    path(f"{IN_PROJECT}judging/judges/", quality.judges, name="judges"),
    path(f"{IN_PROJECT}judging/judges/<int:person_id>/", quality.one_judge, name="judge-quality"),
    path(f"{IN_PROJECT}tasks/", plan.tasks, name="tasks"),
    path(f"{IN_PROJECT}tasks/reserve/", work.reserve, name="reserve"),
    path(f"{IN_PROJECT}tasks/<int:task_id>/second-look/", work.order_look, name="order-look"),
    path(f"{IN_PROJECT}write/second-look/next/", writing.claim_review, name="review-next"),
    path(f"{IN_PROJECT}write/history/", work.history, name="write-history"),
    path(f"{IN_WRITING}again/", desk.again, name="write-again"),
    path(f"{IN_PROJECT}write/<int:task_id>/reopen/", work.reopen, name="write-reopen"),
    path(f"{IN_PROJECT}write/time-sheet/", work.time_sheet, name="time-sheet"),
    path(f"{IN_PROJECT}write/notes/", work.notes, name="write-notes"),
    path(f"{IN_PROJECT}write/notes/<int:flag_id>/settle/", work.settle, name="settle-flag"),
    path(f"{IN_PROJECT}export/", runs.export_page, name="export"),
    path(f"{IN_PROJECT}runs/", runs.runs, name="runs"),
    path(IN_RUN, runs.run, name="run"),
    path(f"{IN_RUN}progress/", runs.run_progress, name="run-progress"),
    path(f"{IN_RUN}import/", runs.start_import, name="start-import"),
    path(f"{IN_RUN}cancel/", runs.cancel, name="cancel-run"),
    path(f"{IN_RUN}retry/", runs.retry, name="retry-run"),
    path(f"{IN_RUN}download/", runs.download, name="download"),
    path(f"{IN_PROJECT}trash/", keeping.trash, name="trash"),
    path(f"{IN_PROJECT}trash/system/", keeping.move_system, name="trash-system"),
    path(f"{IN_PROJECT}trash/project/", keeping.move_project, name="trash-project"),
    path(f"{IN_PROJECT}trash/<str:kind>/<int:pk>/", keeping.move, name="trash-row"),
    path(f"{IN_PROJECT}trash/<str:kind>/<int:pk>/restore/", keeping.restore, name="restore-row"),
    path("trash/<slug:slug>/restore/", keeping.restore_project, name="restore-project"),
    path(f"{IN_PROJECT}audit/", keeping.audit, name="audit"),
    path(f"{IN_PROJECT}members/", people.members, name="members"),
    path(f"{IN_PROJECT}members/invite/", people.invite, name="invite"),
    path(f"{IN_MEMBER}role/", people.change_role, name="change-role"),
    path(f"{IN_MEMBER}remove/", people.remove_member, name="remove-member"),
    path(f"{IN_PROJECT}invitations/<int:invitation_id>/revoke/", people.revoke_invitation, name="revoke-invitation"),
    path("join/<str:token>/", people.join, name="join"),
    path("account/", account.account, name="account"),
    path("account/theme/", account.set_theme, name="theme"),
    path("account/tokens/", account.create_token, name="create-token"),
    path("account/tokens/<slug:token_key>/revoke/", account.revoke_token, name="revoke-token"),
]
