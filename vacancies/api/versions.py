"""The lists of every version of the interface."""

from vacancies.api import v0_1
from vacancies.api.v1.vacancies import VacancyViewSet

LIST_VIEWS = (VacancyViewSet, v0_1.VacancyViewSet)
