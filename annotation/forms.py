"""What a person may send, and the message when it is wrong."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.translation import gettext_lazy as _

from annotation.models import Role, Theme, User
from annotation.readers import FORMATS
from annotation.services.projects import BadProjectName, checked_project_name

FORMAT_NAMES = {
    "jsonl": _("JSON lines, one example a line"),
    "csv": _("CSV tables, one file or a zip of them"),
    "lite2-3pyramid": _("Lite2-3Pyramid, a zip of the folder"),
}
FORMAT_CHOICES = [(name, FORMAT_NAMES[name]) for name in sorted(FORMATS, key=list(FORMAT_NAMES).index)]


JUDGEMENT_NAMES = {
    "judgements-jsonl": _("Judgements, one vote a line (JSON lines)"),
    "judgements-csv": _("Judgements, one vote a row (CSV)"),
    "judgements-amt": _("Judgements, batch results of Mechanical Turk (CSV)"),
}


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


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=200, label=_("Name"))

    def clean_name(self) -> str:
        try:
            return checked_project_name(self.cleaned_data["name"])
        except BadProjectName as error:
            raise forms.ValidationError(str(error)) from error


class ImportForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        max_length=500,
        error_messages={
            "required": _("Choose a file."),
            "missing": _("Choose a file."),
            "empty": _("The file is empty. There is nothing to import."),
        },
    )
    format = forms.ChoiceField(choices=[*FORMAT_CHOICES, *JUDGEMENT_NAMES.items()], label=_("Format"))
    system_prefix = forms.CharField(max_length=100, required=False, label=_("Prefix of system names"))
    blank = forms.BooleanField(required=False, label=_("A blank answer counts as present (LitePyramid)"))


EXPORT_CHOICES = [
    ("jsonl", _("JSON lines, which hold everything")),
    ("csv", _("CSV tables")),
    ("lite2-3pyramid", _("Lite2-3Pyramid folder, for one reference per example")),
    *JUDGEMENT_NAMES.items(),
]


class ExportForm(forms.Form):
    format = forms.ChoiceField(choices=EXPORT_CHOICES, label=_("Format"))


class ThemeForm(forms.Form):
    theme = forms.ChoiceField(choices=Theme.choices)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label=_("Name"))
