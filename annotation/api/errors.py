"""Errors of the API: one shape, a reason in words, nothing of our insides."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation.services.jobs import TooManyJobs


class TooManyRequests(APIException):
    status_code = 429
    default_code = "too_many_jobs"


class TooMuchData(APIException):
    status_code = 413
    default_code = "too_much_data"


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Our own refusals as answers of the API."""
    if isinstance(error, BadRequest):
        error = ParseError(str(error))
    elif isinstance(error, RecursionError):
        error = ParseError(_("This is nested too deeply."))
    elif isinstance(error, RequestDataTooBig):
        error = TooMuchData(_("This is more than one request may hold. Send it as a file."))
    elif isinstance(error, TooManyJobs):
        error = TooManyRequests(str(error))
    return exception_handler(error, context)
