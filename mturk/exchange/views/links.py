"""Recruitment links, for staff: addresses that make workers of people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mturk.exchange.models import HANDED_IN, LinkKind, QualificationType, RecruitmentLink, Requester
from mturk.exchange.services import clock, recruiting
from mturk.exchange.views.keys import actor_of, staff_view

KINDS = {
    LinkKind.PARTICIPANT: gettext_lazy("people of a panel, by their participant id"),
    LinkKind.IN_HOUSE: gettext_lazy("people with an account here"),
}


class LinkForm(forms.Form):
    """A new link. The completion code may be left out; one is drawn then."""

    requester = forms.ModelChoiceField(Requester.objects.none(), label=gettext_lazy("For whom they work"))
    kind = forms.ChoiceField(choices=list(KINDS.items()), label=gettext_lazy("Who comes"))
    name = forms.CharField(max_length=120, label=gettext_lazy("A name for you"))
    completion_code = forms.RegexField(
        r"^[A-Za-z0-9_-]{1,64}\Z", required=False, strip=True, label=gettext_lazy("Completion code")
    )
    qualification_type = forms.ModelChoiceField(
        QualificationType.objects.none(), required=False, label=gettext_lazy("Qualification that they get")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["requester"].queryset = Requester.objects.filter(revoked_at__isnull=True)  # type: ignore[attr-defined]
        types = QualificationType.objects.filter(deleted_at__isnull=True, requester__revoked_at__isnull=True)
        self.fields["qualification_type"].queryset = types.select_related("requester")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        kind, requester = given.get("qualification_type"), given.get("requester")
        if kind is not None and requester is not None and kind.requester_id != requester.pk:
            self.add_error("qualification_type", _("This qualification is another requester’s."))
        return given


@staff_view("GET", "HEAD", "POST")
def links(request: HttpRequest) -> HttpResponse:
    form = LinkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        recruiting.create_link(**form.cleaned_data, now=clock.now(), actor=actor_of(request))
        messages.success(request, _("The link is made. Copy it from the list."))
        return redirect("exchange:links")
    status = 422 if request.method == "POST" else 200
    done = Count("workers__assignments", filter=Q(workers__assignments__state__in=HANDED_IN))
    rows = RecruitmentLink.objects.select_related("requester", "qualification_type").order_by("-pk")
    listed = [
        {"link": link, "address": address_of(link), "kind": KINDS[LinkKind(link.kind)]}
        for link in rows.annotate(number=Count("workers", distinct=True), done=done)
    ]
    return render(request, "exchange/links.html", {"form": form, "links": listed}, status=status)


@staff_view("POST")
def revoke_link(request: HttpRequest, link_id: int) -> HttpResponse:
    link = get_object_or_404(RecruitmentLink, pk=link_id)
    if recruiting.revoke_link(link, now=clock.now(), actor=actor_of(request)):
        messages.success(request, _("The link is withdrawn. What its people have earned stays owed."))
    return redirect("exchange:links")


def address_of(link: RecruitmentLink) -> str:
    """The address to give to people. A panel puts the id of its participant into it."""
    tail = "?PROLIFIC_PID={{%PROLIFIC_PID%}}" if link.kind == LinkKind.PARTICIPANT else ""
    return f"{settings.PUBLIC_URL}{reverse('exchange:join', args=[link.token])}{tail}"
