"""What the log shows."""

from __future__ import annotations

import logging


class WithoutTraceback(logging.Filter):
    """A refused request is one line. Tracebacks are for faults, or these would be lost among the refusals."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.request" and record.levelno < logging.ERROR:
            record.exc_info = record.exc_text = None
        return True
