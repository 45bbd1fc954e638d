"""Routes of scores."""

from django.urls import URLPattern, path

from scoring.views import checking, results, starting

app_name = "scoring"

RESULTS = "projects/<slug:slug>/results/"
IN_RUN = f"{RESULTS}<int:run_id>/"

urlpatterns: list[URLPattern] = [
    path("projects/<slug:slug>/write/<int:task_id>/checks/", checking.unit_checks, name="unit-checks"),
    path(RESULTS, results.results, name="results"),
    path(f"{RESULTS}start/", starting.start, name="start"),
    path(f"{RESULTS}add-system/", starting.add_system_page, name="add-system"),
    path(f"{IN_RUN}table.csv", results.table, name="table"),
    path(f"{IN_RUN}differences/", results.differences, name="differences"),
    path(f"{IN_RUN}systems/<int:system_id>/", results.system, name="system"),
    path(f"{IN_RUN}systems/<int:system_id>/<int:position>/", results.summary, name="summary"),
    path(f"{IN_RUN}units/<int:unit_id>/", results.unit, name="unit"),
]
