"""What a person may send, and the message when it is wrong."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.translation import gettext_lazy as _

from annotation.models import Role, User


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, label=_("Role"))
    note = forms.CharField(max_length=200, required=False, label=_("For whom"))


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, label=_("Role"))


class JoinForm(UserCreationForm):
    """What a new account needs. It is made by the service, through an invitation only."""

    class Meta:
        model = User
        fields = ("username",)
