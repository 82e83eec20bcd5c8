"""Signs that nobody sees, in what a program reads: address books and web pages add them to what is copied.

static/forms_structure/form/fields.js has the same rules.
"""

import re
import unicodedata

FILLERS = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_SPACE = re.compile(r"\s")


def visible(text: str) -> str:
    """Return `text` without what nobody sees, and with plain spaces, none at its ends."""
    if not text.isascii():
        text = "".join(c for c in FILLERS.sub("", text) if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", text).strip()


def plain_number(text: str) -> str:
    """Return a telephone number or a date as `visible` does, with the hyphen of keyboards."""
    return DASHES.sub("-", visible(text))
