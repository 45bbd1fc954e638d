"""Routes of the control interface, which are mounted only where a token is set."""

from django.urls import URLPattern, path

from mturk.exchange.views import control

urlpatterns: list[URLPattern] = [
    path("_control/clock", control.time, name="control-clock"),
    path("_control/faults", control.failures, name="control-faults"),
    path("_control/balance", control.balance, name="control-balance"),
    path("_control/reset", control.reset, name="control-reset"),
]
