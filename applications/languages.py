"""The choice between the languages in which applicants read their status."""

from django.utils.translation.trans_real import parse_accept_lang_header

from jobsite.languages import LANGUAGES, site_language


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
