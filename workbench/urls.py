"""Every route of the product."""

from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, include, path, reverse_lazy
from django.views.decorators.http import require_http_methods, require_POST

from workbench import health, views

# Django's own views answer PUT and more; ours say what they take.
form_page = require_http_methods(["GET", "HEAD", "POST"])
sign_in = login_not_required(form_page(auth_views.LoginView.as_view(redirect_authenticated_user=True)))
change_password = form_page(auth_views.PasswordChangeView.as_view(success_url=reverse_lazy("project-list")))
reset_password = login_not_required(
    form_page(auth_views.PasswordResetConfirmView.as_view(success_url=reverse_lazy("login")))
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.project_list, name="project-list"),
    path("projects/<slug:slug>/", views.project_home, name="project-home"),
    path("", include("annotation.urls")),
    path("sign-in/", sign_in, name="login"),
    path("sign-out/", require_POST(auth_views.LogoutView.as_view()), name="logout"),
    path("password/", change_password, name="password-change"),
    path("password/reset/<uidb64>/<token>/", reset_password, name="password-reset"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
