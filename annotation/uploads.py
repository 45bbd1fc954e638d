"""Taking in files: spooled to disk, never more than the limit, nothing kept of an upload that was cut off."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest

TOO_BIG = "upload_is_too_big"


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Stops at the limit. The rest of the request is read away, so that the page can say what was wrong."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.received += len(raw_data)
        if self.received > settings.IMPORT_MAX_BYTES:
            if self.request is not None:
                setattr(self.request, TOO_BIG, True)
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)
        return None


def is_too_big(request: HttpRequest) -> bool:
    """Whether a file of this request was larger than the limit. Ask after its files were read."""
    return getattr(request, TOO_BIG, False)
