"""The lists of every version of the interface."""

from vacancies.api import v0_1, v1

LIST_VIEWS = (v1.VacancyViewSet, v0_1.VacancyViewSet)
