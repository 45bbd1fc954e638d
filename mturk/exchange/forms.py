"""What staff may send about requesters and pay."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _


class DollarField(forms.DecimalField):
    """An amount in dollars, as cents."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=Decimal("0.01"), max_value=Decimal(10**9), decimal_places=2, **options)

    def clean(self, value: Any) -> int | None:
        amount = super().clean(value)
        return None if amount is None else int(amount * 100)


class RequesterForm(forms.Form):
    name = forms.CharField(max_length=120, label=_("Name"))
    deposit = DollarField(required=False, label=_("Deposit in dollars"))


class DepositForm(forms.Form):
    deposit = DollarField(label=_("Deposit in dollars"))


class PaidForm(forms.Form):
    requester = forms.IntegerField()
    worker = forms.IntegerField()
    cents = forms.IntegerField(min_value=1)
