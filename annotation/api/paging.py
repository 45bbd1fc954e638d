"""Lists come in pages, in the order of their ids: no offset is ever counted off."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, ParseError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class IdPages(CursorPagination):
    """Pages by cursor. A page size that is too large is refused, not quietly cut."""

    ordering = "pk"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    def get_page_size(self, request: Request) -> int:
        text = request.query_params.get(self.page_size_query_param, str(self.page_size))
        if not (text.isascii() and text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= self.max_page_size):
            raise ParseError(
                _("page_size must be a whole number from 1 to %(largest)s.") % {"largest": self.max_page_size}
            )
        return int(text)

    def decode_cursor(self, request: Request) -> Any:
        text = request.query_params.get(self.cursor_query_param)
        if text is not None and not re.fullmatch(r"[A-Za-z0-9+/]+=*", text):
            raise NotFound(self.invalid_cursor_message)
        cursor = super().decode_cursor(request)
        # The library trusts what it finds inside; a forged one would end in the database.
        if cursor and cursor.position is not None and not re.fullmatch(r"\d{1,18}", str(cursor.position), re.ASCII):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = super().get_paginated_response_schema(schema)
        described["required"] = ["next", "previous", "results"]
        return described


class NewestFirst(IdPages):
    ordering = "-pk"
