"""The languages in which applicants read their status, and the choice between them."""

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

LANGUAGES = {"en": "English", "nl": "Dutch", "fr": "French", "de": "German"}


def site_language() -> str:
    """The site's language if it is one of ours, else English."""
    code = settings.LANGUAGE_CODE.split("-")[0]
    return code if code in LANGUAGES else "en"


def preferred(header: str) -> str:
    """Return the one of our languages that Accept-Language asks for most, else the site's. Of a header
    that is too long, Django reads the ranges that are whole."""
    asked = parse_accept_lang_header(header)
    named = {wanted for wanted, _ in asked}
    for wanted, quality in asked:
        # RFC 9110: "*" is every language that the header does not name
        others = (code for code in (site_language(), *LANGUAGES) if code not in named)
        code = next(others, "") if wanted == "*" else wanted.split("-")[0]
        if quality and code in LANGUAGES:
            return code
    return site_language()
