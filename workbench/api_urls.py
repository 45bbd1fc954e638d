"""Routes of /api/v1/: the resources of every app, the schema and its documentation."""

from django.contrib.auth.decorators import login_required
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# The page of the documentation loads its script from this address, since the policy allows no script in the page.
docs = login_required(SpectacularSwaggerSplitView.as_view(url_name="api-schema", template_name="api/docs.html"))

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.api.urls")),
    path("", include("scoring.api.urls")),
    path("", include("mturk.api.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", docs, name="api-docs"),
]
