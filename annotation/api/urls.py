"""Routes of the API of the corpus."""

from django.urls import URLPattern, path

from annotation.api import views

IN_PROJECT = "projects/<slug:slug>/"

urlpatterns: list[URLPattern] = [
    path("projects/", views.ProjectList.as_view(), name="api-projects"),
    path(IN_PROJECT, views.ProjectDetail.as_view(), name="api-project"),
    path(f"{IN_PROJECT}examples/", views.ExampleList.as_view(), name="api-examples"),
    path(f"{IN_PROJECT}sentences/", views.SentenceList.as_view(), name="api-sentences"),
    path(f"{IN_PROJECT}units/", views.UnitList.as_view(), name="api-units"),
    path(f"{IN_PROJECT}systems/", views.SystemList.as_view(), name="api-systems"),
    path(f"{IN_PROJECT}summaries/", views.SummaryList.as_view(), name="api-summaries"),
    path(f"{IN_PROJECT}labels/", views.LabelList.as_view(), name="api-labels"),
    path(f"{IN_PROJECT}runs/", views.RunList.as_view(), name="api-runs"),
    path(f"{IN_PROJECT}runs/<int:run_id>/", views.RunDetail.as_view(), name="api-run"),
    path(f"{IN_PROJECT}imports/", views.ImportStart.as_view(), name="api-imports"),
]
