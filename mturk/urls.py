"""Routes of the requester: batches of HITs, and the pages that workers see inside a frame."""

from django.urls import URLPattern, path

from mturk.views import batches, people, review, task, wizard, written

app_name = "mturk"

CROWD = "projects/<slug:slug>/crowd"

urlpatterns: list[URLPattern] = [
    path(f"{CROWD}/", batches.batches, name="batches"),
    path(f"{CROWD}/new/", wizard.new, name="new"),
    path(f"{CROWD}/people/", people.people, name="people"),
    path(f"{CROWD}/<int:number>/", batches.batch, name="batch"),
    path(f"{CROWD}/<int:number>/publish/", wizard.publish, name="publish"),
    path(f"{CROWD}/<int:number>/act/", batches.act, name="act"),
    path(f"{CROWD}/<int:number>/review/", review.review, name="review"),
    path(f"{CROWD}/<int:number>/written/", written.written, name="written"),
    path("task/<str:token>/", task.task, name="task"),
]
