"""The languages in which applicants read their status, and the choice between them."""

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

LANGUAGES = {"en": "English", "nl": "Dutch", "fr": "French", "de": "German"}
HEADER_MAX = 500  # characters of Accept-Language that are read


def site_language() -> str:
    """The site's language if it is one of ours, else English."""
    code = settings.LANGUAGE_CODE.split("-")[0]
    return code if code in LANGUAGES else "en"


def preferred(header: str) -> str:
    """Return the one of our languages that Accept-Language asks for most, else the site's."""
    for wanted, quality in parse_accept_lang_header(header[:HEADER_MAX].lower()):
        code = site_language() if wanted == "*" else wanted.split("-")[0]
        if quality and code in LANGUAGES:
            return code
    return site_language()
