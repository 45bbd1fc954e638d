"""Routes of the API of the crowd."""

from django.urls import URLPattern, path

from mturk.api import views

IN_PROJECT = "projects/<slug:slug>/crowd-batches/"

urlpatterns: list[URLPattern] = [
    path(IN_PROJECT, views.CrowdBatchList.as_view(), name="api-crowd-batches"),
    path(f"{IN_PROJECT}<int:number>/dry-run/", views.CrowdDryRun.as_view(), name="api-crowd-dry-run"),
]
