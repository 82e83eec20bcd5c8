"""What commands about one account share."""

from typing import Any

from applications import privacy
from jobsite.ops.commands import UsageError


def account(username: str) -> Any:
    """Return the account called `username`. Raises UsageError."""
    try:
        return privacy.find(username=username)
    except privacy.NoSuchAccountError as error:
        raise UsageError(str(error)) from None
