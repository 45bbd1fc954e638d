"""Every route of the product."""

from django.contrib.auth import views as auth_views
from django.urls import URLPattern, URLResolver, path

from workbench import health, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.project_list, name="project-list"),
    path("projects/<slug:slug>/", views.project_home, name="project-home"),
    path("sign-in/", auth_views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("sign-out/", auth_views.LogoutView.as_view(), name="logout"),
]
