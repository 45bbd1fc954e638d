"""Routes of the API of the corpus."""

from django.urls import URLPattern, path

from annotation.api import judging, plans, views, writing

IN_PROJECT = "projects/<slug:slug>/"
IN_TASK = f"{IN_PROJECT}tasks/<int:task_id>/"

urlpatterns: list[URLPattern] = [
    path("projects/", views.ProjectList.as_view(), name="api-projects"),
    path(IN_PROJECT, views.ProjectDetail.as_view(), name="api-project"),
    path(f"{IN_PROJECT}examples/", views.ExampleList.as_view(), name="api-examples"),
    path(f"{IN_PROJECT}sentences/", views.SentenceList.as_view(), name="api-sentences"),
    path(f"{IN_PROJECT}units/", views.UnitList.as_view(), name="api-units"),
    path(f"{IN_PROJECT}systems/", views.SystemList.as_view(), name="api-systems"),
    path(f"{IN_PROJECT}summaries/", views.SummaryList.as_view(), name="api-summaries"),
    path(f"{IN_PROJECT}labels/", views.LabelList.as_view(), name="api-labels"),
    path(f"{IN_PROJECT}judgements/", judging.JudgementList.as_view(), name="api-judgements"),
    path(f"{IN_PROJECT}agreement/", judging.AgreementDetail.as_view(), name="api-agreement"),
    path(f"{IN_PROJECT}runs/", views.RunList.as_view(), name="api-runs"),
    path(f"{IN_PROJECT}runs/<int:run_id>/", views.RunDetail.as_view(), name="api-run"),
    path(f"{IN_PROJECT}runs/<int:run_id>/cancel/", views.RunCancel.as_view(), name="api-cancel-run"),
    path(f"{IN_PROJECT}cost/", plans.Cost.as_view(), name="api-cost"),
    path(f"{IN_PROJECT}curve/", plans.CurveDetail.as_view(), name="api-curve"),
    path(f"{IN_PROJECT}plans/", plans.PlanList.as_view(), name="api-plans"),
    path(f"{IN_PROJECT}plans/<int:number>/sentences/", plans.PlannedSentenceList.as_view(), name="api-plan-sentences"),
    path(f"{IN_PROJECT}claim/", writing.Claim.as_view(), name="api-claim"),
    path(IN_TASK, writing.TaskDetail.as_view(), name="api-task"),
    path(f"{IN_TASK}draft/", writing.Draft.as_view(), name="api-draft"),
    path(f"{IN_TASK}submit/", writing.Submit.as_view(), name="api-submit"),
    path(f"{IN_TASK}beat/", writing.Beat.as_view(), name="api-beat"),
    path(f"{IN_TASK}release/", writing.Release.as_view(), name="api-release"),
    path(f"{IN_TASK}skip/", writing.SkipTask.as_view(), name="api-skip"),
    path(f"{IN_PROJECT}imports/", views.ImportStart.as_view(), name="api-imports"),
]
