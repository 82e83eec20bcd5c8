"""Cursors as clients keep them: numbers and texts in the base64url alphabet, opaque to clients. They
are not signed, because they grant nothing.
"""

import base64
import json
import re
from typing import Any

END = 2**63 - 1  # after every id
_TEXT = re.compile(r"[A-Za-z0-9_-]{1,400}", re.ASCII)


class CursorError(Exception):
    """The text is no cursor of what is read."""


class CursorExpiredError(Exception):
    """What changed after the cursor is not known any more: the client has to begin anew."""


def encode(values: object) -> str:
    text = json.dumps(values, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str) -> Any:
    """Return what `text` was made of. Raises ValueError."""
    if not _TEXT.fullmatch(text):
        raise ValueError("not of the alphabet")
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def is_number(value: object) -> bool:
    return type(value) is int and -1 <= value <= END
