"""Simulated workers one click away, where the server is set up for it (the demo is)."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Membership, Role, User
from mturk.exchange.services.simulated import WORKERS, standing
from mturk.exchange.tasks import simulate_task


def may_simulate(request: HttpRequest) -> bool:
    """Staff, and leads: those who could publish what is done here."""
    user = request.user
    return isinstance(user, User) and (user.is_staff or Membership.objects.filter(user=user, role=Role.LEAD).exists())


@require_http_methods(["GET", "HEAD", "POST"])
def simulated(request: HttpRequest) -> HttpResponse:
    """How much is open, and a button that lets simulated workers do it."""
    if not settings.EXCHANGE_SIMULATION or not may_simulate(request):
        raise Http404
    if request.method == "POST":
        try:
            simulate_task.apply_async(queue="io", retry=False)
            messages.success(request, _("Simulated workers begin as soon as a worker process is free."))
        except (OSError, BrokerError):
            messages.error(request, _("The queue cannot be reached now. Try again in a minute."))
        return redirect("exchange:simulated")
    return render(request, "exchange/simulated.html", {"standing": standing(), "workers": WORKERS})
