"""All routes, and those of the control interface."""

from django.urls import include, path

from mturk.exchange.control_urls import urlpatterns as control_urlpatterns
from workbench.urls import handler400, handler404, handler500  # noqa: F401 (Django reads them here)
from workbench.urls import urlpatterns as all_urlpatterns

urlpatterns = [path("exchange/", include(control_urlpatterns)), *all_urlpatterns]
