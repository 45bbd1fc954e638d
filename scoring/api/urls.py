"""Routes of the API of scores."""

from django.urls import URLPattern, path

from scoring.api import views

IN_PROJECT = "projects/<slug:slug>/"

urlpatterns: list[URLPattern] = [
    path(f"{IN_PROJECT}scorings/", views.ScoreStart.as_view(), name="api-scorings"),
    path(f"{IN_PROJECT}scores/", views.ScoreList.as_view(), name="api-scores"),
]
