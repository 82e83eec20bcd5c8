"""The lists of every version of the interface."""

from jobsite.languages import text_languages
from vacancies.api import v0_1
from vacancies.api.rendered_items import in_language, stored_version
from vacancies.api.v1.vacancies import VacancyViewSet

LIST_VIEWS = (VacancyViewSet, v0_1.VacancyViewSet)


def stored_versions() -> list[str]:
    """Return the versions of the stored items that readers may use."""
    return [
        stored_version(in_language(view.item_version, language))
        for view in LIST_VIEWS
        for language in ("", *(text_languages() if view.has_texts else ()))
    ]
