"""Signs that nobody sees, in what a program reads: address books and web pages add them to what is
copied.

static/forms_structure/form/fields.js has the same rules.
"""

import re
import unicodedata

FILLERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufffc\U000e0100-\U000e01ef]"
)
DASHES = re.compile(r"[\u02d7\u2010-\u2015\u2043\u207b\u2212\ufe58\ufe63\uff0d]")
_SPACE = re.compile(r"[\s\u2800]")
CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")  # NUL is refused, and the others are spaces


def visible(text: str) -> str:
    """Return `text` without what nobody sees, and with plain spaces, none at its ends."""
    if not text.isascii():
        text = "".join(c for c in FILLERS.sub("", text) if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", CONTROL.sub("", text)).strip()


def plain_number(text: str) -> str:
    """Return a telephone number or a date as `visible` does, with the hyphen of keyboards."""
    return DASHES.sub("-", visible(text))
