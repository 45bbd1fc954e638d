"""Every route of the product."""

from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_http_methods, require_POST

from annotation.views.account import ResetPassword
from workbench import health, plan_page, views

# Django's own views answer PUT and more; ours say what they take.
form_page = require_http_methods(["GET", "HEAD", "POST"])
sign_in = login_not_required(form_page(auth_views.LoginView.as_view(redirect_authenticated_user=True)))
reset_password = login_not_required(form_page(ResetPassword.as_view()))

handler400 = "workbench.views.bad_request"
handler404 = "workbench.views.not_found"
handler500 = "workbench.views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.project_list, name="project-list"),
    path("projects/new/", views.new_project, name="new-project"),
    path("projects/<slug:slug>/", views.project_home, name="project-home"),
    path("projects/<slug:slug>/plan/", plan_page.plan, name="plan"),
    path("projects/<slug:slug>/plan/freeze/", plan_page.freeze, name="freeze-plan"),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("", include("mturk.urls")),
    path("exchange/", include("mturk.exchange.urls")),
    path("sign-in/", sign_in, name="login"),
    path("sign-out/", require_POST(auth_views.LogoutView.as_view()), name="logout"),
    path("password/reset/<uidb64>/<token>/", reset_password, name="password-reset"),
    path("api/v1/", include("workbench.api_urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
