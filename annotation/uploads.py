"""Taking in files: only where they are wanted, spooled to disk, never more than the limit in one request."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.urls import Resolver404, resolve

TOO_BIG = "upload_is_too_big"
# Routes that take files. The API reads the body only after it knows who calls; a page is read before its view begins,
# since the CSRF token is in it, so there the session decides.
PAGES = {"annotation:import", "scoring:add-system"}
RESOURCES = {"api-imports", "api-systems"}


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Stops at the limit. The rest of the request is read away, so that the page can say what was wrong."""

    received = 0

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        self.wanted = self.request is not None and takes_files(self.request)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if not self.wanted:
            raise SkipFile
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.received += len(raw_data)  # over all files of the request
        if self.received > settings.IMPORT_MAX_BYTES:
            if self.request is not None:
                setattr(self.request, TOO_BIG, True)
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)
        return None


def takes_files(request: HttpRequest) -> bool:
    try:
        name = resolve(request.path).view_name
    except Resolver404:
        return False
    user = getattr(request, "user", None)
    return name in RESOURCES or (name in PAGES and user is not None and user.is_authenticated)


def is_too_big(request: HttpRequest) -> bool:
    """Whether the files of this request were larger than the limit. Ask after its files were read."""
    return getattr(request, TOO_BIG, False)
