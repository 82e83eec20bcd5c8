"""Credentials of the interface: bearer tokens, beside Django's session."""

from typing import Any

from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class BearerAuthentication(TokenAuthentication):
    """Knox tokens. Bytes that are no text are a wrong token, not a crash."""

    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)
