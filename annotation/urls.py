"""Routes of the corpus and the people who work on it."""

from django.urls import path

from annotation.views import examples, people

app_name = "annotation"
urlpatterns = [
    path("projects/<slug:slug>/examples/", examples.examples, name="examples"),
    path("projects/<slug:slug>/examples/<int:position>/", examples.example, name="example"),
    path("projects/<slug:slug>/members/", people.members, name="members"),
    path("projects/<slug:slug>/members/invite/", people.invite, name="invite"),
    path("projects/<slug:slug>/members/<int:membership_id>/role/", people.change_role, name="change-role"),
    path("projects/<slug:slug>/members/<int:membership_id>/remove/", people.remove_member, name="remove-member"),
    path(
        "projects/<slug:slug>/invitations/<int:invitation_id>/revoke/",
        people.revoke_invitation,
        name="revoke-invitation",
    ),
    path("join/<str:token>/", people.join, name="join"),
]
