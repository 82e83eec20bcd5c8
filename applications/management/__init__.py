"""Lookup of the account that a command is about."""

from typing import Any

from applications import privacy
from jobsite.ops.commands import UsageError


def account(username: str) -> Any:
    """Return the account `username`. Raise UsageError."""
    try:
        return privacy.find(username=username)
    except privacy.NoSuchAccountError as error:
        raise UsageError(str(error)) from None
