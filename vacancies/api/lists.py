"""What the vacancy lists of every version share: their vacancies, their next change, who may cache them."""

from datetime import datetime
from typing import ClassVar

from jobsite.api.permissions import is_protected
from jobsite.api.viewsets import ReadOnlyViewSet
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList, VacancyQuerySet


class ListViewSet(ReadOnlyViewSet):
    """A list of published vacancies."""

    vacancy_list: ClassVar[VacancyList] = VacancyList.EXTERNAL

    def listed(self) -> VacancyQuerySet:
        return Vacancy.objects.published(at=self.now).in_list(self.vacancy_list).newest_first()

    def next_change(self) -> datetime | None:
        return Vacancy.objects.next_change(after=self.now)

    def is_private(self) -> bool:
        return is_protected() and self.vacancy_list.is_internal
