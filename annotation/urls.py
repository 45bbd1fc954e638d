"""Routes of the corpus and the people who work on it."""

from django.urls import URLPattern, path

from annotation.views import account, examples, keeping, people, runs

app_name = "annotation"

IN_PROJECT = "projects/<slug:slug>/"
IN_RUN = f"{IN_PROJECT}runs/<int:run_id>/"
IN_MEMBER = f"{IN_PROJECT}members/<int:membership_id>/"

urlpatterns: list[URLPattern] = [
    path(f"{IN_PROJECT}examples/", examples.examples, name="examples"),
    path(f"{IN_PROJECT}examples/<int:position>/", examples.example, name="example"),
    path(f"{IN_PROJECT}import/", runs.import_page, name="import"),
    path(f"{IN_PROJECT}decompose/", runs.decompose_page, name="decompose"),
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
