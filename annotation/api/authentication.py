"""Who calls the API: a token of a user in the header."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class BearerToken(TokenAuthentication):
    """Tokens as Knox keeps them: hashed, with an end, revocable."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():  # Knox would stumble over it
            raise AuthenticationFailed(_("Invalid token."))
        return super().authenticate_credentials(token)


class BearerTokenScheme(OpenApiAuthenticationExtension):
    """The same, for the schema."""

    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token from the page “Your account”."}
