"""Routes of the corpus and the people who work on it."""

from django.urls import path

from annotation import views

app_name = "annotation"
urlpatterns = [
    path("projects/<slug:slug>/members/", views.members, name="members"),
    path("projects/<slug:slug>/members/invite/", views.invite, name="invite"),
    path("projects/<slug:slug>/members/<int:membership_id>/role/", views.change_role, name="change-role"),
    path("projects/<slug:slug>/members/<int:membership_id>/remove/", views.remove_member, name="remove-member"),
    path(
        "projects/<slug:slug>/invitations/<int:invitation_id>/revoke/",
        views.revoke_invitation,
        name="revoke-invitation",
    ),
    path("join/<str:token>/", views.join, name="join"),
]
