"""Names of countries, languages and currencies, by ISO code, from the Unicode CLDR (Babel)."""

from functools import cache

from babel import Locale
from babel.numbers import list_currencies
from django.utils.translation import get_language


def country_name(code: str, language: str | None = None) -> str:
    """Return the name of the country `code` (ISO 3166-1) in `language`, by
    default the active one.
    """
    return locale(language).territories.get(code, code)


def language_name(code: str, language: str | None = None) -> str:
    """Return the name of the language `code` (ISO 639-1) in `language`, by
    default the active one.
    """
    return locale(language).languages.get(code, code)


@cache
def currency_codes() -> frozenset[str]:
    """Return the codes of ISO 4217, also of former currencies."""
    return frozenset(list_currencies())


def locale(language: str | None = None) -> Locale:
    """Return the names and formats of `language`, by default the active one."""
    return _locale(language or get_language() or "en")


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language, sep="-")
