"""Pages and words of the career site in several languages (TEXT_LANGUAGES)."""

from collections.abc import Mapping
from copy import copy

from jobsite.languages import LANGUAGES, site_language, supported, text_languages
from jobsite.site.hosts import Site
from vacancies.models import Filter, FilterOption, Vacancy, VacancyText


def page_paths(vacancy: Vacancy, titles: Mapping[str, str]) -> dict[str, str]:
    """Return the paths of the pages of `vacancy` by language, that of its own first. `titles` are
    those of its ready translations, by language.
    """
    own, translated = vacancy.shown_language, copy(vacancy)
    paths = {own: vacancy.site_path}
    for code, translated.title in titles.items():
        if code in LANGUAGES and code != supported(own):
            paths[code] = f"/{code}{translated.site_path}"
    return paths


def ready_titles(pks: list[int]) -> dict[int, dict[str, str]]:
    """Return the titles of the ready translations of the vacancies `pks`, by id and language, in
    the order of the languages.
    """
    found: dict[int, dict[str, str]] = {pk: {} for pk in pks}
    if codes := text_languages():
        rows = VacancyText.objects.filter(vacancy__in=pks, is_ready=True, language__in=codes)
        titles = rows.values_list("vacancy", "language", "texts__title")
        for pk, code, title in sorted(titles, key=lambda row: codes.index(row[1])):
            found[pk][code] = title
    return found


def alternates(site: Site, paths: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return language and address of each page of a vacancy, and the one for visitors with another
    language; none if there is only one page.
    """
    urls = [(code, site.url(path)) for code, path in paths.items()]
    return [*urls, ("x-default", urls[0][1])] if len(urls) > 1 else []


def foreign_words(language: str) -> set[str]:
    """Return the labels of filters and options that pages in `language` show in the language of the
    site, because they are not translated. Without TEXT_LANGUAGES, nothing is.
    """
    if language == site_language() or language not in text_languages():
        return set()
    filters, options = (
        each._default_manager.order_by().exclude(translations__has_key=language)
        for each in (Filter, FilterOption)
    )
    labels = options.values_list("label", flat=True)
    return set(filters.values_list("label", flat=True).union(labels).order_by())
